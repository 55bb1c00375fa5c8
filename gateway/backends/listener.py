"""Receives a stream of the bus from now on: in order, each message once, and after an outage from where it stopped.

It consumes the JetStream stream, not the subject, which would also deliver duplicates and messages of former owners.
One listener receives all tables, or all players: a message that nobody watches costs one look-up, and one number says
what was missed. A gateway keeps no other state, so that any other gateway can take over its clients.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable

import nats.js.errors
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.errors import ConnectionReconnectingError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, Header
from prometheus_client import Counter

from services.kit.bus.connection import require_connection
from services.kit.bus.outages import BUS_FAILURES, Outage

ANSWERED_WITHIN_S = 2.0
# The server sends idle heartbeats; more than twice as long without any message is an outage.
HEARTBEAT_S = 1.0
SILENCE_LIMIT_S = 2.5
CHECK_EVERY_S = 0.1
RETRY_AFTER_S = 0.2
CONSUMER_EXPIRES_AFTER_S = 10.0
# A longer backlog is skipped after an outage: watchers get snapshots instead (G11).
BACKLOG_LIMIT = 50_000

_log = logging.getLogger(__name__)
_MESSAGES = Counter("feltro_edge_bus_messages", "Messages received from the bus", ["stream"])
_GAPS = Counter("feltro_edge_bus_gaps", "Times that messages of the bus were missed for good", ["stream"])


class _Broken(nats.errors.Error):
    """The server does not deliver what is in the stream."""


class StreamListener:
    """Receives what matches a subject in a stream that another service writes."""

    def __init__(
        self,
        bus: Nats,
        stream: str,
        subject: str,
        on_message: Callable[[str, bytes], None],
        on_gap: Callable[[], None],
    ) -> None:
        """`on_gap` is called when messages may have been missed for good."""
        self.is_listening = False
        self._bus = bus
        self._stream = stream
        self._subject = subject
        self._on_message = on_message
        self._on_gap = on_gap
        self._jetstream = bus.jetstream(timeout=ANSWERED_WITHIN_S)
        self._outage = Outage(_log, f"receiving {stream}")
        self._message_count = _MESSAGES.labels(stream)
        # The stream's number of the last message received; None before the stream was first looked at.
        self._last_seq: int | None = None
        self._stream_created: object = None
        self._delivered = 0
        self._last_received_at = 0.0
        self._failure = ""

    async def run(self) -> None:
        """Listens until cancelled."""
        while True:
            try:
                await self._listen()
            except nats.js.errors.NotFoundError:
                # The stream does not exist yet: every message in it will be new.
                self._stream_created = None
                if self._last_seq != 0:
                    self._skip_to(0)
            except BUS_FAILURES as failed:
                self._outage.failed(failed)
            finally:
                self.is_listening = False
            await asyncio.sleep(RETRY_AFTER_S)

    async def _listen(self) -> None:
        connection = self._connection()
        await self._find_start()
        inbox = self._bus.new_inbox()
        name = f"edge-{secrets.token_hex(8)}"
        self._delivered, self._failure, self._last_received_at = 0, "", asyncio.get_running_loop().time()
        subscription = await self._bus.subscribe(inbox, cb=self._receive)
        try:
            await self._jetstream.add_consumer(self._stream, self._consumer(name, inbox))
            self.is_listening = True
            self._outage.recovered()
            while not self._failure:
                await asyncio.sleep(CHECK_EVERY_S)
                silent_for = asyncio.get_running_loop().time() - self._last_received_at
                if self._connection() != connection:
                    raise ConnectionReconnectingError
                if silent_for > SILENCE_LIMIT_S:
                    raise _Broken(f"nothing was received for {silent_for:.1f} s")
            raise _Broken(self._failure)
        finally:
            await self._stop(subscription.unsubscribe(), name)

    def _connection(self) -> int:
        """Returns the number of the present connection to the bus."""
        require_connection(self._bus)
        return self._bus.stats["reconnects"]

    async def _stop(self, unsubscribing: object, name: str) -> None:
        # Messages from here on are received again by the next consumer.
        self._failure = "it has ended"
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                await unsubscribing  # type: ignore[misc]
                if self._bus.is_connected:
                    await self._jetstream.delete_consumer(self._stream, name)
        except BUS_FAILURES:
            # The server deletes the consumer by itself.
            return

    def _consumer(self, name: str, inbox: str) -> ConsumerConfig:
        return ConsumerConfig(
            name=name,
            deliver_subject=inbox,
            filter_subject=self._subject,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=(self._last_seq or 0) + 1,
            ack_policy=AckPolicy.NONE,
            max_deliver=1,
            idle_heartbeat=HEARTBEAT_S,
            inactive_threshold=CONSUMER_EXPIRES_AFTER_S,
            mem_storage=True,
            num_replicas=1,
        )

    async def _find_start(self) -> None:
        info = await self._jetstream.stream_info(self._stream)
        first, last, received = info.state.first_seq, info.state.last_seq, self._last_seq
        if received is None or (self._stream_created is not None and info.created != self._stream_created):
            self._skip_to(last)
        elif last < received or first > received + 1 or last - received > BACKLOG_LIMIT:
            _log.warning(
                "messages of the bus were missed", extra={"stream": self._stream, "received": received, "first": first}
            )
            self._skip_to(last)
        self._stream_created = info.created

    def _skip_to(self, seq: int) -> None:
        self._last_seq = seq
        _GAPS.labels(self._stream).inc()
        self._on_gap()

    async def _receive(self, message: Msg) -> None:
        if self._failure:
            return
        self._last_received_at = asyncio.get_running_loop().time()
        if not message.reply:
            last = (message.headers or {}).get(Header.LAST_CONSUMER, "")
            if last and int(last) != self._delivered:
                self._failure = "messages were lost on the way"
            return
        parts = message.reply.split(".")
        # `$JS.ACK.<stream>…`, or `$JS.ACK.<domain>.<account>.<stream>…` of newer servers.
        index = 5 if len(parts) == 9 else 7
        seq, delivered = int(parts[index]), int(parts[index + 1])
        if delivered != self._delivered + 1:
            self._failure = "messages were lost on the way"
            return
        self._delivered, self._last_seq = delivered, seq
        self._message_count.inc()
        try:
            self._on_message(message.subject, message.data)
        except Exception:  # noqa: BLE001 - one unreadable message must not stop all others
            _log.exception("a message of the bus cannot be read", extra={"subject": message.subject})
