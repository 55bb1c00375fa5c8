"""Receives a stream of the bus from now on: in order, each message once, and after an outage from where it stopped.

It follows what the stream has stored, not the subject, where there are also duplicates and messages of former owners.
One listener receives all tables, or all players: a message that nobody watches costs one look-up, and one number says
what was missed. A gateway keeps no other state, so that any other gateway can take over its clients.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

import nats.js.errors
from nats.aio.client import Client as Nats
from nats.js.api import StreamInfo
from opentelemetry.trace import SpanKind
from prometheus_client import Counter

from services.kit.bus.connection import require_connection
from services.kit.bus.follower import StreamFollower
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.bus.stored import StoredMessage
from services.kit.bus.subjects import API_PREFIX
from services.kit.telemetry import trace

ANSWERED_WITHIN_S = 2.0
# How often the stream is asked whether everything was received.
CHECK_EVERY_S = 1.0
RETRY_AFTER_S = 0.2
# A longer backlog is skipped after an outage: watchers get snapshots instead (G11).
BACKLOG_LIMIT = 50_000

_log = logging.getLogger(__name__)
_MESSAGES = Counter("feltro_edge_bus_messages", "Messages received from the bus", ["stream"])
_GAPS = Counter("feltro_edge_bus_gaps", "Times that messages of the bus were missed for good", ["stream"])


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
        self._jetstream = bus.jetstream(prefix=API_PREFIX, timeout=ANSWERED_WITHIN_S)
        self._outage = Outage(_log, f"receiving {stream}")
        self._message_count = _MESSAGES.labels(stream)
        # The stream's number of the last message received; None before the stream was first looked at.
        self._last_seq: int | None = None
        self._stream_created: object = None

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
        require_connection(self._bus)
        info = await self._jetstream.stream_info(self._stream)
        self._find_start(info)
        follower = StreamFollower(
            self._bus,
            self._stream,
            self._subject,
            self._receive,
            check_every_s=CHECK_EVERY_S,
            answered_within_s=ANSWERED_WITHIN_S,
        )
        await follower.follow(info, self._last_seq or 0, self._caught_up)

    def _caught_up(self) -> None:
        self.is_listening = True
        self._outage.recovered()

    def _find_start(self, info: StreamInfo) -> None:
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

    def _receive(self, message: StoredMessage) -> None:
        self._last_seq = message.seq
        self._message_count.inc()
        try:
            if trace.is_recording() and (cause := message.headers.get(trace.HEADER)):
                with trace.start_span(
                    "deliver", cause, kind=SpanKind.CONSUMER, attributes={"feltro.stream": self._stream}
                ):
                    self._on_message(message.subject, message.data)
            else:
                self._on_message(message.subject, message.data)
        except Exception:  # noqa: BLE001 - one unreadable message must not stop all others
            _log.exception("a message of the bus cannot be read", extra={"subject": message.subject})
