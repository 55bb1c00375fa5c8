"""Tells the bus what happens at tables: for each table in order, numbered without a gap, and by its owner alone.

Each message expects the one before it to be the last of its table in the stream, so a former owner's voice adds nothing
(G8) and a message whose acknowledgement was lost is not doubled. What happens while one message is under way is
gathered and leaves as the next one. Before each a moment passes: whoever is to be answered for what is told hears it
first, and a message costs more than what it holds. Money does not wait for the bus: what cannot leave waits within a
limit, and beyond it is replaced by a picture of the whole table (G11).

Events are numbered when they leave, not when they are said. Whoever hears a `SnapshotPublished` believes it whatever
its number: after something was dropped, or lost with its owner, numbers that had been counted on may be given again.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable

import nats.js.errors
from nats.aio.client import Client as Nats
from nats.js.api import DiscardPolicy, Header, PubAck, RawStreamMsg, StorageType, StreamConfig
from prometheus_client import Counter

from feltro.table.v1 import events_pb2
from services.kit import background
from services.kit.bus.connection import require_connection
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.bus.streams import ensure_stream, is_sequence_conflict
from services.kit.bus.subjects import EVENTS_STREAM, EVENTS_SUBJECTS, table_subject
from services.kit.table.events import messages as appearance
from services.kit.wire_format import embedded

# How long, and how many messages of one table, the stream keeps for those who were away.
RETENTION_S = 2 * 3600
RETENTION_MESSAGES = 2_000
# One message, and what may wait to become one, for one table (G11). Every event fits into one: those about a stake or a
# seat are small, and a picture with more on its felt than this is told in parts.
MESSAGE_BYTES_LIMIT = 512 * 1024
SNAPSHOT_BYTES_LIMIT = MESSAGE_BYTES_LIMIT // 2
WAITING_EVENTS_LIMIT = 5_000
FULL_FROM_EVENTS = WAITING_EVENTS_LIMIT // 2
# How long what is said waits for company, and lets answers leave before it.
GATHER_FOR_S = 0.003
ACKNOWLEDGE_TIMEOUT_S = 2.0
RETRY_AFTER_S = 0.05
RETRY_AFTER_MAX_S = 1.0

_DUPLICATES_FOR_S = 10
# `TableEvents.events`
_EVENTS = 1

_log = logging.getLogger(__name__)
_PUBLISHED = Counter("feltro_table_events_published", "Events of tables that have left for the bus")
_DROPPED = Counter("feltro_table_events_dropped", "Events of tables that a picture of the table replaced")


class EventStream:
    """What the voices of one process have in common."""

    def __init__(self, bus: Nats) -> None:
        self._bus = bus
        self._jetstream = bus.jetstream(timeout=ACKNOWLEDGE_TIMEOUT_S)
        self.outage = Outage(_log, "events of tables")

    async def open_publisher(self, table_id: str, last_seq: int, epoch: int = 0) -> TablePublisher:
        """The voice of a table's owner; it counts on from the stream, or from what was noted if that is more.

        `epoch` is the owner's: it outdoes a voice of a lower epoch that gets a word in, and is silenced by a higher
        one. Among equals whoever has spoken last goes on. A bus that is away delays nobody: the voice finds its place
        when it is back.
        """
        voice = TablePublisher(self, table_id, last_seq, epoch)
        await voice.start()
        return voice

    async def last_message(self, table_id: str) -> RawStreamMsg | None:
        """The last message of a table that the stream holds; makes the stream if there is none."""
        require_connection(self._bus)
        try:
            async with asyncio.timeout(ACKNOWLEDGE_TIMEOUT_S):
                return await self._jetstream.get_last_msg(EVENTS_STREAM, table_subject(table_id))
        except nats.js.errors.NotFoundError:
            await self.ensure_stream()
            return None

    async def publish(self, subject: str, payload: bytes, headers: dict[str, str]) -> PubAck:
        require_connection(self._bus)
        async with asyncio.timeout(ACKNOWLEDGE_TIMEOUT_S):
            return await self._jetstream.publish(subject, payload, headers=headers)

    async def ensure_stream(self) -> None:
        config = StreamConfig(
            name=EVENTS_STREAM,
            subjects=EVENTS_SUBJECTS,
            storage=StorageType.FILE,
            max_age=RETENTION_S,
            max_msgs_per_subject=RETENTION_MESSAGES,
            discard=DiscardPolicy.OLD,
            duplicate_window=_DUPLICATES_FOR_S,
        )
        await ensure_stream(self._jetstream, config)


class TablePublisher:
    """Says what happens at one table, as long as its owner owns it.

    Change the table and say so without waiting in between: a picture may be asked for whenever the owner waits.
    """

    def __init__(self, stream: EventStream, table_id: str, last_seq: int, epoch: int) -> None:
        self.table_id = table_id
        self.stopped = False
        """Another owner speaks for the table, or this voice has failed: it says nothing any more."""
        self.overflowed = False
        """Events were dropped and nothing has replaced them yet."""
        self.on_overflow: Callable[[], events_pb2.TableEvent] | None = None
        """Gives a `SnapshotPublished` of the table as it stands. Without it the owner has to say one when `behind`."""
        self._bus = stream
        self._subject = table_subject(table_id)
        self._epoch = epoch
        self._id = f"{epoch}-{secrets.token_hex(8)}"
        self._messages = 0
        # The stream's sequence of this table's last message; None until it is known.
        self._place: int | None = None
        # The last number given: to an event that has left, or is leaving.
        self._numbered = last_seq
        self._waiting: deque[events_pb2.TableEvent] = deque()
        # The message under way, until it is acknowledged.
        self._leaving: list[events_pb2.TableEvent] = []
        self._payload = b""
        self._spoke = False
        # Events said, and those of them that are acknowledged or dropped.
        self._said = 0
        self._done = 0
        self._woken = asyncio.Event()
        self._moved = asyncio.Event()
        self._speaking: asyncio.Task[None] | None = None

    @property
    def seq(self) -> int:
        """The number that the last event said has or will have: what a picture given to someone now includes."""
        return self._numbered + len(self._waiting)

    @property
    def full(self) -> bool:
        """So much waits for the bus that nothing new should be begun: those who watch would not see it."""
        return self.overflowed or len(self._waiting) > FULL_FROM_EVENTS

    async def start(self) -> None:
        """For `TableBus.open`."""
        try:
            await self._find_place()
        except BUS_FAILURES as failed:
            self._bus.outage.failed(failed)
        self._speaking = asyncio.create_task(self._speak())
        self._speaking.add_done_callback(self._spoken)

    def publish(self, *events: events_pb2.TableEvent) -> None:
        """Takes events over, in order; they are given their table and number when they leave. Never blocks."""
        if self.stopped:
            return
        parts = [part for event in events for part in _in_parts(event)]
        self._said += len(parts)
        for event in parts:
            if self._owes_picture or (self.overflowed and not event.HasField("snapshot_published")):
                # The picture to come shows it.
                _DROPPED.inc()
                continue
            self.overflowed = False
            self._waiting.append(event)
            if len(self._waiting) > WAITING_EVENTS_LIMIT:
                self._fall_behind("too many events are waiting")
        if self.overflowed:
            self._finish()
        self._woken.set()

    async def flush(self) -> None:
        """Returns when all that was said so far is acknowledged, or the voice is silenced."""
        wanted = self._said
        while self._done < wanted and not self.stopped:
            await self._moved.wait()

    async def close(self) -> None:
        """Ends the voice. What is not acknowledged may be lost: `flush` first."""
        self._silence()
        if self._speaking is not None:
            await background.cancel_and_wait([self._speaking])

    def _silence(self) -> None:
        self.stopped = True
        self._waiting.clear()
        self._leaving.clear()
        self._move()

    def _move(self) -> None:
        """Wakes whoever waits in `flush`."""
        self._moved.set()
        self._moved = asyncio.Event()

    def _finish(self) -> None:
        """All that is neither leaving nor waiting, nor owed a picture, is done with."""
        if not self._owes_picture and not self._leaving:
            self._done = self._said - len(self._waiting)
            self._move()

    @property
    def _owes_picture(self) -> bool:
        return self.overflowed and self.on_overflow is not None

    def _fall_behind(self, why: str) -> None:
        _log.warning("a table's events are dropped: %s", why, extra={"table_id": self.table_id})
        _DROPPED.inc(len(self._waiting))
        self._waiting.clear()
        self.overflowed = True
        self._finish()

    async def _speak(self) -> None:
        pause = RETRY_AFTER_S
        while not self.stopped:
            if not (self._leaving or self._waiting or self._owes_picture):
                self._woken.clear()
                await self._woken.wait()
                continue
            if not self._leaving:
                await asyncio.sleep(GATHER_FOR_S)
            try:
                await self._step()
            except BUS_FAILURES as failed:
                self._bus.outage.failed(failed)
                await asyncio.sleep(pause)
                pause = min(2 * pause, RETRY_AFTER_MAX_S)
            else:
                self._bus.outage.recovered()
                pause = RETRY_AFTER_S

    def _spoken(self, speaking: asyncio.Task[None]) -> None:
        """It ends by itself only when silenced; if it failed, nobody may believe that it still speaks."""
        if not speaking.cancelled() and (failed := speaking.exception()) is not None:
            _log.error("a table's voice has failed", extra={"table_id": self.table_id}, exc_info=failed)
            self._silence()

    async def _step(self) -> None:
        """Comes closer to having said what waits, or raises what the bus fails with."""
        if self._place is None:
            await self._find_place()
            return
        if not self._leaving:
            self._payload = self._compose()
            if not self._leaving:
                self._finish()
                return
        headers = {
            Header.MSG_ID.value: f"{self._id}.{self._messages}",
            Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value: str(self._place),
        }
        try:
            acknowledged = await self._bus.publish(self._subject, self._payload, headers)
        except nats.js.errors.NoStreamResponseError:
            await self._bus.ensure_stream()
            raise
        except nats.js.errors.APIError as refused:
            if not is_sequence_conflict(refused) or not await self._look_again():
                raise
        else:
            self._has_left(acknowledged.seq)

    def _has_left(self, place: int) -> None:
        self._place = place
        self._spoke = True
        _PUBLISHED.inc(len(self._leaving))
        self._leaving.clear()
        self._finish()

    def _compose(self) -> bytes:
        """Numbers what waits, as much as fits into one message, and encodes each event once."""
        if self.overflowed and self.on_overflow is not None:
            self._waiting.extendleft(reversed(_in_parts(self.on_overflow())))
            self.overflowed = False
        self._messages += 1
        parts: list[bytes] = []
        size = 0
        while self._waiting:
            event = self._waiting[0]
            event.table_id = self.table_id
            event.seq = self._numbered + 1
            if event.HasField("snapshot_published"):
                event.snapshot_published.snapshot.seq = event.seq
            # Messages of one repeated field, put together, are one message with all of it.
            part = embedded(_EVENTS, event.SerializeToString())
            if parts and size + len(part) > MESSAGE_BYTES_LIMIT:
                break
            self._waiting.popleft()
            if len(part) > MESSAGE_BYTES_LIMIT:
                self._drop_too_large(event, len(part))
                continue
            self._numbered += 1
            self._leaving.append(event)
            parts.append(part)
            size += len(part)
        return b"".join(parts)

    def _drop_too_large(self, event: events_pb2.TableEvent, size: int) -> None:
        _DROPPED.inc()
        _log.error("an event is larger than a message may be", extra={"table_id": self.table_id, "bytes": size})
        if not event.HasField("snapshot_published"):
            self._fall_behind("one was too large")

    def _take_back(self) -> None:
        """What was leaving waits again: it has to be numbered anew."""
        self._numbered -= len(self._leaving)
        self._waiting.extendleft(reversed(self._leaving))
        self._leaving.clear()

    async def _look_again(self) -> bool:
        """The table's last message is not the one expected; false if that explains nothing."""
        last = await self._bus.last_message(self.table_id)
        expected, self._place = self._place, _place(last)
        author = _message_id(last)
        if author == f"{self._id}.{self._messages}":
            # Only the acknowledgement was lost.
            self._has_left(self._place)
        elif last is None or author.startswith(f"{self._id}."):
            # The stream forgets in time, or was lost: the numbers go on all the same.
            return self._place != expected
        elif _epoch(author) >= self._epoch:
            self._stand_down(author)
        else:
            self._speak_over(last)
        return True

    def _speak_over(self, last: RawStreamMsg) -> None:
        _log.warning("a former owner's voice is spoken over", extra={"table_id": self.table_id})
        self._take_back()
        self._numbered = max(self._numbered, _last_seq(last))
        if self._spoke:
            # What it said came after something of ours: only a picture puts that right.
            self._fall_behind("a former owner has spoken in between")

    def _stand_down(self, author: str) -> None:
        _log.warning("another owner speaks for the table", extra={"table_id": self.table_id, "message_id": author})
        self._silence()

    async def _find_place(self) -> None:
        last = await self._bus.last_message(self.table_id)
        if _epoch(_message_id(last)) > self._epoch > 0:
            self._stand_down(_message_id(last))
        self._place = _place(last)
        self._numbered = max(self._numbered, _last_seq(last))


def _in_parts(event: events_pb2.TableEvent) -> list[events_pb2.TableEvent]:
    return appearance.split_snapshot(event, SNAPSHOT_BYTES_LIMIT) if event.HasField("snapshot_published") else [event]


def _place(message: RawStreamMsg | None) -> int:
    return (message.seq or 0) if message is not None else 0


def _message_id(message: RawStreamMsg | None) -> str:
    return str((message.headers or {}).get(Header.MSG_ID, "")) if message is not None else ""


def _epoch(message_id: str) -> int:
    epoch = message_id.partition("-")[0]
    return int(epoch) if epoch.isdecimal() else 0


def _last_seq(message: RawStreamMsg | None) -> int:
    events = events_pb2.TableEvents.FromString(message.data or b"").events if message is not None else ()
    return events[-1].seq if events else 0
