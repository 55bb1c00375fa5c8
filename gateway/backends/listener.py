"""Hears a stream of the bus from now on: in order, each message once, and after an outage from where it left off.

It asks JetStream and not the subject itself, where a former owner's voice, or the same message once more, is heard too.
One listener hears all tables, or all players: what nobody watches costs a look-up, and what was missed is known from
one number. A gateway holds nothing else, so any other one can take over its clients.
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
# The server says so often that there is nothing to say; twice as long without a word is an outage.
HEARTBEAT_S = 1.0
SILENCE_LIMIT_S = 2.5
CHECK_EVERY_S = 0.1
RETRY_AFTER_S = 0.2
CONSUMER_EXPIRES_AFTER_S = 10.0
# More than so many are not heard again after an outage: those who watch get pictures instead (G11).
BACKLOG_LIMIT = 50_000

_log = logging.getLogger(__name__)
_HEARD = Counter("feltro_edge_heard", "Messages of the bus that were heard", ["stream"])
_MISSED = Counter("feltro_edge_missed", "Times that messages of the bus were missed for good", ["stream"])


class _Broken(nats.errors.Error):
    """The server does not send what is in the stream."""


class StreamListener:
    """Hears what matches a subject in a stream that another service writes."""

    def __init__(
        self,
        bus: Nats,
        stream: str,
        subject: str,
        on_message: Callable[[str, bytes], None],
        on_gap: Callable[[], None],
    ) -> None:
        """`missed` is called when something may have been said that nobody here heard."""
        self.is_listening = False
        self._bus = bus
        self._stream = stream
        self._subject = subject
        self._heard = on_message
        self._missed = on_gap
        self._jetstream = bus.jetstream(timeout=ANSWERED_WITHIN_S)
        self._outage = Outage(_log, f"hearing {stream}")
        self._counted = _HEARD.labels(stream)
        # The stream's number of the last message heard; None before the first look.
        self._place: int | None = None
        self._born: object = None
        self._delivered = 0
        self._spoken_to_at = 0.0
        self._wrong = ""

    async def run(self) -> None:
        """Listens for ever."""
        while True:
            try:
                await self._listen()
            except nats.js.errors.NotFoundError:
                # Nothing was ever said: all that will be said is news.
                self._born = None
                if self._place != 0:
                    self._skip_to(0)
            except BUS_FAILURES as failed:
                self._outage.failed(failed)
            finally:
                self.is_listening = False
            await asyncio.sleep(RETRY_AFTER_S)

    async def _listen(self) -> None:
        connection = self._connection()
        await self._find_place()
        inbox = self._bus.new_inbox()
        name = f"edge-{secrets.token_hex(8)}"
        self._delivered, self._wrong, self._spoken_to_at = 0, "", asyncio.get_running_loop().time()
        subscription = await self._bus.subscribe(inbox, cb=self._receive)
        try:
            await self._jetstream.add_consumer(self._stream, self._consumer(name, inbox))
            self.is_listening = True
            self._outage.recovered()
            while not self._wrong:
                await asyncio.sleep(CHECK_EVERY_S)
                silent_for = asyncio.get_running_loop().time() - self._spoken_to_at
                if self._connection() != connection:
                    raise ConnectionReconnectingError
                if silent_for > SILENCE_LIMIT_S:
                    raise _Broken(f"nothing was heard for {silent_for:.1f} s")
            raise _Broken(self._wrong)
        finally:
            await self._stop(subscription.unsubscribe(), name)

    def _connection(self) -> int:
        """Which of the connections to the bus it is."""
        require_connection(self._bus)
        return self._bus.stats["reconnects"]

    async def _stop(self, unsubscribing: object, name: str) -> None:
        # What is said from here on is heard again.
        self._wrong = "it has ended"
        try:
            async with asyncio.timeout(ANSWERED_WITHIN_S):
                await unsubscribing  # type: ignore[misc]
                if self._bus.is_connected:
                    await self._jetstream.delete_consumer(self._stream, name)
        except BUS_FAILURES:
            # The server forgets it by itself.
            return

    def _consumer(self, name: str, inbox: str) -> ConsumerConfig:
        return ConsumerConfig(
            name=name,
            deliver_subject=inbox,
            filter_subject=self._subject,
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=(self._place or 0) + 1,
            ack_policy=AckPolicy.NONE,
            max_deliver=1,
            idle_heartbeat=HEARTBEAT_S,
            inactive_threshold=CONSUMER_EXPIRES_AFTER_S,
            mem_storage=True,
            num_replicas=1,
        )

    async def _find_place(self) -> None:
        info = await self._jetstream.stream_info(self._stream)
        first, last, place = info.state.first_seq, info.state.last_seq, self._place
        if place is None or (self._born is not None and info.created != self._born):
            self._skip_to(last)
        elif last < place or first > place + 1 or last - place > BACKLOG_LIMIT:
            _log.warning("missed what was said", extra={"stream": self._stream, "heard": place, "first": first})
            self._skip_to(last)
        self._born = info.created

    def _skip_to(self, place: int) -> None:
        self._place = place
        _MISSED.labels(self._stream).inc()
        self._missed()

    async def _receive(self, message: Msg) -> None:
        if self._wrong:
            return
        self._spoken_to_at = asyncio.get_running_loop().time()
        if not message.reply:
            last = (message.headers or {}).get(Header.LAST_CONSUMER, "")
            if last and int(last) != self._delivered:
                self._wrong = "messages were lost on the way"
            return
        parts = message.reply.split(".")
        # `$JS.ACK.<stream>…`, or `$JS.ACK.<domain>.<account>.<stream>…` of newer servers.
        at = 5 if len(parts) == 9 else 7
        place, delivered = int(parts[at]), int(parts[at + 1])
        if delivered != self._delivered + 1:
            self._wrong = "messages were lost on the way"
            return
        self._delivered, self._place = delivered, place
        self._counted.inc()
        try:
            self._heard(message.subject, message.data)
        except Exception:  # noqa: BLE001 - one message that cannot be read must not end the hearing of all others
            _log.exception("a message of the bus was not understood", extra={"subject": message.subject})
