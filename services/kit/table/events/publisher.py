"""Publishes the events of tables on the bus: in order, numbered without a gap, and by the table's owner alone.

Each message expects the one before it to be the last of its table in the stream, so a former owner's publisher adds
nothing (G8) and a message whose acknowledgement was lost is not doubled. Events that come while one message is under
way leave together as the next one. A moment passes before each message, because the answer to a command should arrive
before its event, and because a message costs more than the events in it. Cards and decisions wait for the answer alone:
the next player cannot decide before they arrive, and few of them come together. Money does not wait for the bus: events
that cannot leave wait within a limit, and beyond it a snapshot of the whole table replaces them (G11).

Events get their numbers when they leave, not when they are published. A client takes a `SnapshotPublished` whatever its
number: after events were dropped, or lost with their owner, numbers may be given again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable

import nats.js.errors
from google.protobuf.message import DecodeError
from nats.aio.client import Client as Nats
from nats.js.api import Header, PubAck, RawStreamMsg
from opentelemetry.trace import Span, SpanKind
from prometheus_client import Counter, Gauge, Histogram

from feltro.table.v1 import events_pb2
from services.kit import background
from services.kit.bus.connection import require_connection
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.bus.streams import is_sequence_conflict
from services.kit.bus.subjects import API_PREFIX, EVENTS_STREAM, table_subject
from services.kit.table.events import messages
from services.kit.telemetry import trace
from services.kit.wire_format import embedded

# The limits of one message, and of the events of one table that wait (G11). Every event fits into one message: those
# about a stake or a seat are small, and a snapshot with more on its felt than this is split.
MESSAGE_BYTES_LIMIT = 512 * 1024
SNAPSHOT_BYTES_LIMIT = MESSAGE_BYTES_LIMIT // 2
WAITING_EVENTS_LIMIT = 5_000
FULL_FROM_EVENTS = WAITING_EVENTS_LIMIT // 2
# How long events wait for others to travel with them, while answers leave first.
GATHER_FOR_S = 0.003
# Events that would take this moment from the players who decide next: they leave right behind the answer.
LEAVING_AT_ONCE = frozenset({"round_dealt", "move_made", "turn_changed"})
# Turns of the event loop in which the answer to a command leaves, which is set right after its events are published: on
# the way to the bus stands a write that takes as long as all of them.
ANSWER_TURNS = 3
ACKNOWLEDGE_TIMEOUT_S = 2.0
RETRY_AFTER_S = 0.05
RETRY_AFTER_MAX_S = 1.0

# No table counts so far: a message with such a number is none of the platform's.
EVENT_NUMBER_LIMIT = 2**62
NUMBER_DIGITS_LIMIT = 19

# `TableEvents.events`
_EVENTS = 1

_log = logging.getLogger(__name__)
_PUBLISHED = Counter("feltro_table_events_published", "Events of tables that have left for the bus")
_BATCHES = Histogram("feltro_table_event_batch", "Events per message", buckets=(1, 2, 5, 10, 20, 50, 100, 200, 500))
_FAILURES = Counter("feltro_table_event_failures", "Attempts to publish events of tables that have failed")
OLDEST = Gauge(
    "feltro_table_events_oldest_seconds", "Age of the oldest event that waits to be published; 0 if none does"
)
_DROPPED = Counter("feltro_table_events_dropped", "Events of tables that a snapshot of the table replaced")


class EventStream:
    """The stream of all tables' events, as the publishers of one process share it."""

    def __init__(self, bus: Nats, game: str) -> None:
        self.game = game
        self._bus = bus
        self._jetstream = bus.jetstream(prefix=API_PREFIX, timeout=ACKNOWLEDGE_TIMEOUT_S)
        self.outage = Outage(_log, "events of tables")
        self._publishers: set[TablePublisher] = set()

    async def open_publisher(self, table_id: str, last_seq: int, epoch: int = 0) -> TablePublisher:
        """Opens the publisher of a table's owner, which counts on from the stream, or from `last_seq` if that is more.

        `epoch` is the owner's: it prevails over a publisher of a lower epoch that gets an event in, and is stopped by a
        higher one. Of two publishers with the same epoch the one that published last goes on. A bus that is away delays
        nothing: the publisher finds its place in the stream when the bus is back.
        """
        publisher = TablePublisher(self, table_id, last_seq, epoch)
        await publisher.start()
        self._publishers.add(publisher)
        return publisher

    async def oldest_s(self) -> float:
        """Returns how long the oldest event of any table of this process has waited at most; 0 if none waits."""
        now = asyncio.get_running_loop().time()
        self._publishers = {publisher for publisher in self._publishers if not publisher.stopped}
        return max(
            (now - publisher.waiting_since for publisher in self._publishers if publisher.has_waiting), default=0.0
        )

    async def last_message(self, table_id: str) -> RawStreamMsg | None:
        """Reads the last message of a table."""
        require_connection(self._bus)
        subject = table_subject(self.game, table_id)
        try:
            async with asyncio.timeout(ACKNOWLEDGE_TIMEOUT_S):
                return await self._jetstream.get_last_msg(EVENTS_STREAM, subject, direct=True)
        except nats.js.errors.NotFoundError:
            return None

    async def publish(self, subject: str, payload: bytes, headers: dict[str, str]) -> PubAck:
        require_connection(self._bus)
        async with asyncio.timeout(ACKNOWLEDGE_TIMEOUT_S):
            return await self._jetstream.publish(subject, payload, headers=headers)


class TablePublisher:
    """Publishes the events of one table, as long as its owner owns it.

    An owner changes the table and publishes the event without an await in between: a snapshot may be built whenever the
    owner waits.
    """

    def __init__(self, stream: EventStream, table_id: str, last_seq: int, epoch: int) -> None:
        self.table_id = table_id
        self.stopped = False
        """Whether it publishes nothing any more, because another owner does or because it has failed."""
        self.overflowed = False
        """Whether events were dropped, and no snapshot has replaced them yet."""
        self.on_overflow: Callable[[], events_pb2.TableEvent] | None = None
        """Builds a `SnapshotPublished`. Without it the owner has to publish one when `overflowed` is set."""
        self.waiting_since = 0.0
        """Since when the oldest event has waited at most, while one does."""
        self._stream = stream
        self._subject = table_subject(stream.game, table_id)
        self._epoch = epoch
        self._id = f"{epoch}-{secrets.token_hex(8)}"
        self._messages = 0
        # The sequence of this table's last message in the stream; None until it is known.
        self._stream_sequence: int | None = None
        # The last number that was given to an event, one under way included.
        self._last_number = last_seq
        self._waiting: deque[events_pb2.TableEvent] = deque()
        # Whether one of them does not wait for others to travel with.
        self._leaves_at_once = False
        # The events of the message under way, until it is acknowledged.
        self._under_way: list[events_pb2.TableEvent] = []
        self._payload = b""
        # The calls that have caused the events that wait, and the span of the message under way, if spans are recorded.
        self._causes: dict[str, None] = {}
        self._span: Span | None = None
        self._composed_at = 0.0
        self._has_published = False
        # Events that were published, and those of them that are acknowledged or dropped.
        self._published_count = 0
        self._done_count = 0
        self._wake = asyncio.Event()
        self._progress = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    @property
    def seq(self) -> int:
        """The number that the last published event has or will have: a snapshot built now includes it."""
        return self._last_number + len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether so much waits for the bus that nothing new should begin: watchers would not see it."""
        return self.overflowed or len(self._waiting) > FULL_FROM_EVENTS

    @property
    def has_waiting(self) -> bool:
        """Whether events wait to be published, or to be acknowledged."""
        return bool(self._waiting or self._under_way or self._owes_snapshot)

    async def start(self) -> None:
        """Starts publishing; for `EventStream.open_publisher`."""
        try:
            await self._find_last_message()
        except BUS_FAILURES as failed:
            self._stream.outage.failed(failed)
        self._task = asyncio.create_task(self._publish_loop())
        self._task.add_done_callback(self._ended)

    def publish(self, *events: events_pb2.TableEvent) -> None:
        """Takes events, in order, and never blocks; they get their table and number when they leave."""
        if self.stopped:
            return
        if not self.has_waiting:
            self.waiting_since = asyncio.get_running_loop().time()
        if (cause := trace.recorded_traceparent()) and len(self._causes) < trace.LINKS_LIMIT:
            self._causes[cause] = None
        parts = [part for event in events for part in _split(event)]
        self._published_count += len(parts)
        for event in parts:
            if self._owes_snapshot or (self.overflowed and not event.HasField("snapshot_published")):
                # The snapshot to come shows it.
                _DROPPED.inc()
                continue
            self.overflowed = False
            self._waiting.append(event)
            self._leaves_at_once |= event.WhichOneof("event") in LEAVING_AT_ONCE
            if len(self._waiting) > WAITING_EVENTS_LIMIT:
                self._overflow("too many events are waiting")
        if self.overflowed:
            self._count_done()
        self._wake.set()

    async def flush(self) -> None:
        """Returns when every event so far is acknowledged, or the publisher has stopped."""
        published_count = self._published_count
        while self._done_count < published_count and not self.stopped:
            await self._progress.wait()

    async def close(self) -> None:
        """Stops publishing. What is not acknowledged may be lost: `flush` first."""
        self._stop()
        if self._task is not None:
            await background.cancel_and_wait([self._task])

    def _stop(self) -> None:
        self.stopped = True
        self._waiting.clear()
        self._under_way.clear()
        self._note_progress()

    def _note_progress(self) -> None:
        """Wakes the callers of `flush`."""
        self._progress.set()
        self._progress = asyncio.Event()

    def _count_done(self) -> None:
        """Counts as done what neither waits nor is under way, unless a snapshot is still owed."""
        if not self._owes_snapshot and not self._under_way:
            self._done_count = self._published_count - len(self._waiting)
            self._note_progress()

    @property
    def _owes_snapshot(self) -> bool:
        return self.overflowed and self.on_overflow is not None

    def _overflow(self, reason: str) -> None:
        _log.warning("a table's events are dropped: %s", reason, extra={"table_id": self.table_id})
        _DROPPED.inc(len(self._waiting))
        self._waiting.clear()
        self.overflowed = True
        self._count_done()

    async def _publish_loop(self) -> None:
        pause = RETRY_AFTER_S
        while not self.stopped:
            if not self.has_waiting:
                self._wake.clear()
                await self._wake.wait()
                continue
            if not self._under_way:
                await self._let_answers_leave()
            try:
                await self._step()
            except BUS_FAILURES as failed:
                _FAILURES.inc()
                self._stream.outage.failed(failed)
                await asyncio.sleep(pause)
                pause = min(2 * pause, RETRY_AFTER_MAX_S)
            else:
                self._stream.outage.recovered()
                pause = RETRY_AFTER_S

    async def _let_answers_leave(self) -> None:
        if not self._leaves_at_once:
            await asyncio.sleep(GATHER_FOR_S)
            return
        for _ in range(ANSWER_TURNS):
            await asyncio.sleep(0)

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Stops after a failure: nothing may believe that this publisher still works."""
        if not task.cancelled() and (failed := task.exception()) is not None:
            _log.error("the publisher of a table has failed", extra={"table_id": self.table_id}, exc_info=failed)
            self._stop()

    async def _step(self) -> None:
        """Finds the place in the stream or sends one message; raises what the bus fails with."""
        if self._stream_sequence is None:
            await self._find_last_message()
            return
        if not self._under_way:
            self._payload = self._compose()
            if not self._under_way:
                self._count_done()
                return
        headers = {
            Header.MSG_ID.value: f"{self._id}.{self._messages}",
            Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(self._stream_sequence),
        }
        if self._span is not None:
            headers[trace.HEADER] = trace.header_of(self._span)
        try:
            acknowledgement = await self._stream.publish(self._subject, self._payload, headers)
        except nats.js.errors.APIError as refused:
            if not is_sequence_conflict(refused) or not await self._resolve_conflict():
                raise
        else:
            self._acknowledged(acknowledgement.seq)

    def _acknowledged(self, sequence: int) -> None:
        self._stream_sequence = sequence
        # What still waits came after the message that has just been acknowledged was composed.
        self.waiting_since = self._composed_at
        self._has_published = True
        _PUBLISHED.inc(len(self._under_way))
        _BATCHES.observe(len(self._under_way))
        if self._span is not None:
            self._span.end()
            self._span = None
        self._under_way.clear()
        self._count_done()

    def _compose(self) -> bytes:
        """Numbers the waiting events that fit into one message, and encodes each of them once."""
        if self.overflowed and self.on_overflow is not None:
            self._waiting.extendleft(reversed(_split(self.on_overflow())))
            self.overflowed = False
        self._messages += 1
        self._composed_at = asyncio.get_running_loop().time()
        self._leaves_at_once = False
        parts: list[bytes] = []
        size = 0
        while self._waiting:
            event = self._waiting[0]
            event.table_id = self.table_id
            event.seq = self._last_number + 1
            if event.HasField("snapshot_published"):
                event.snapshot_published.snapshot.seq = event.seq
            # Encoded messages with one repeated field, put together, are one message with all its elements.
            part = embedded(_EVENTS, event.SerializeToString())
            if parts and size + len(part) > MESSAGE_BYTES_LIMIT:
                break
            self._waiting.popleft()
            if len(part) > MESSAGE_BYTES_LIMIT:
                self._drop_too_large(event, len(part))
                continue
            self._last_number += 1
            self._under_way.append(event)
            parts.append(part)
            size += len(part)
        self._begin_span()
        return b"".join(parts)

    def _begin_span(self) -> None:
        """Begins the span of the message under way: in the trace of its cause, or linked to each of several."""
        causes, self._causes = self._causes, {}
        if causes:
            parent = next(iter(causes)) if len(causes) == 1 else ""
            facts: dict[str, str | int] = {"feltro.table_id": self.table_id, "feltro.events": len(self._under_way)}
            self._span = trace.begin(
                "publish events", parent, kind=SpanKind.PRODUCER, links=() if parent else causes, attributes=facts
            )

    def _drop_too_large(self, event: events_pb2.TableEvent, size: int) -> None:
        _DROPPED.inc()
        _log.error("an event is larger than a message may be", extra={"table_id": self.table_id, "bytes": size})
        if not event.HasField("snapshot_published"):
            self._overflow("one was too large")

    def _withdraw(self) -> None:
        """Lets the events under way wait again: they have to be numbered anew."""
        self._last_number -= len(self._under_way)
        self._waiting.extendleft(reversed(self._under_way))
        self._under_way.clear()

    async def _resolve_conflict(self) -> bool:
        """Finds out why the table's last message is not the expected one; false if that explains nothing."""
        last = await self._stream.last_message(self.table_id)
        expected, self._stream_sequence = self._stream_sequence, _sequence(last)
        author = _message_id(last)
        if author == f"{self._id}.{self._messages}":
            # Only the acknowledgement was lost.
            self._acknowledged(self._stream_sequence)
        elif last is None or author.startswith(f"{self._id}."):
            # The stream drops old messages, or was lost: the numbers go on all the same.
            return self._stream_sequence != expected
        elif _epoch(author) >= self._epoch:
            self._yield_to(author)
        else:
            self._override(last)
        return True

    def _override(self, last: RawStreamMsg) -> None:
        _log.warning("events of a former owner are overridden", extra={"table_id": self.table_id})
        self._withdraw()
        self._last_number = max(self._last_number, _last_seq(last))
        if self._has_published:
            # Its events came after some of this publisher: only a snapshot corrects that.
            self._overflow("a former owner has published in between")

    def _yield_to(self, author: str) -> None:
        _log.warning("another owner publishes for the table", extra={"table_id": self.table_id, "message_id": author})
        self._stop()

    async def _find_last_message(self) -> None:
        last = await self._stream.last_message(self.table_id)
        if _epoch(_message_id(last)) > self._epoch > 0:
            self._yield_to(_message_id(last))
        self._stream_sequence = _sequence(last)
        self._last_number = max(self._last_number, _last_seq(last))


def _split(event: events_pb2.TableEvent) -> list[events_pb2.TableEvent]:
    return messages.split_snapshot(event, SNAPSHOT_BYTES_LIMIT) if event.HasField("snapshot_published") else [event]


def _sequence(message: RawStreamMsg | None) -> int:
    return (message.seq or 0) if message is not None else 0


def _message_id(message: RawStreamMsg | None) -> str:
    return str((message.headers or {}).get(Header.MSG_ID, "")) if message is not None else ""


def _epoch(message_id: str) -> int:
    epoch = message_id.partition("-")[0]
    return int(epoch) if len(epoch) <= NUMBER_DIGITS_LIMIT and epoch.isascii() and epoch.isdecimal() else 0


def _last_seq(message: RawStreamMsg | None) -> int:
    """Returns the number of the last event in a message; 0 if it cannot be read, for the next event replaces it."""
    if message is None:
        return 0
    try:
        events = events_pb2.TableEvents.FromString(message.data or b"").events
    except DecodeError:
        _log.error("the last message of a table cannot be read", extra={"subject": message.subject})
        return 0
    return events[-1].seq if events and 0 <= events[-1].seq <= EVENT_NUMBER_LIMIT else 0
