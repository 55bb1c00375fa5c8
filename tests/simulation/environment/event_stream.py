"""The event stream in memory, for the real publishers of the tables."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import nats.errors
import nats.js.errors
from nats.js.api import Header, PubAck, RawStreamMsg

from feltro.table.v1 import events_pb2
from services.kit.bus.outages import Outage
from services.kit.bus.subjects import EVENTS_STREAM, table_subject
from services.kit.table.events.publisher import ACKNOWLEDGE_TIMEOUT_S, EventStream, TablePublisher
from tests.simulation.environment.network import Network, NoAnswer
from tests.simulation.environment.virtual_time import Process

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_WRONG_LAST_SEQUENCE = 10071


@dataclass(frozen=True, slots=True)
class PublishedEvent:
    """An event on the bus, and the epoch of its publisher."""

    epoch: int
    event: events_pb2.TableEvent


class StoredEvents:
    """The messages of all tables, as JetStream keeps them."""

    def __init__(self, game: str, trace: Callable[[str], None]) -> None:
        self.game = game
        self._messages: dict[str, list[RawStreamMsg]] = {}
        self._ids: dict[str, int] = {}
        self._last = 0
        self._trace = trace

    def last(self, table_id: str) -> RawStreamMsg | None:
        messages = self._messages.get(table_subject(self.game, table_id))
        return messages[-1] if messages else None

    def append(self, subject: str, payload: bytes, headers: dict[str, str]) -> PubAck:
        message_id = headers[Header.MSG_ID.value]
        if message_id in self._ids:
            return PubAck(stream=EVENTS_STREAM, seq=self._ids[message_id], duplicate=True)
        messages = self._messages.setdefault(subject, [])
        last = messages[-1].seq if messages else 0
        if str(last) != headers[Header.EXPECTED_LAST_SUBJECT_SEQUENCE.value]:
            raise nats.js.errors.APIError(code=400, err_code=_WRONG_LAST_SEQUENCE, description="wrong last sequence")
        self._last += 1
        self._ids[message_id] = self._last
        messages.append(RawStreamMsg(subject=subject, seq=self._last, data=payload, headers=dict(headers)))
        for event in events_pb2.TableEvents.FromString(payload).events:
            self._trace(f"published at {event.table_id} {event.seq}: {event.WhichOneof('event')}")
        return PubAck(stream=EVENTS_STREAM, seq=self._last)

    def published(self) -> dict[str, list[PublishedEvent]]:
        """Returns the events by table, in order."""
        found: dict[str, list[PublishedEvent]] = {}
        for subject, messages in self._messages.items():
            events = found.setdefault(subject.rpartition(".")[2], [])
            for message in messages:
                epoch = int((message.headers or {})[Header.MSG_ID.value].partition("-")[0])
                stored = events_pb2.TableEvents.FromString(message.data or b"").events
                events += [PublishedEvent(epoch, event) for event in stored]
        return found


class ReplicaEventStream(EventStream):
    """The bus as one process reaches it."""

    def __init__(  # without the NATS client of the real one
        self, process: Process, network: Network, stream: StoredEvents, observe: Callable[[events_pb2.TableEvent], None]
    ) -> None:
        self.game = stream.game
        self.outage = Outage(_log, "events of tables")
        self._process = process
        self._network = network
        self._stream = stream
        self._observe = observe

    async def publisher_of(self, table_id: str, epoch: int) -> ObservedPublisher:
        publisher = ObservedPublisher(self, table_id, 0, epoch)
        publisher.observe = self._observe
        await publisher.start()
        return publisher

    async def last_message(self, table_id: str) -> RawStreamMsg | None:
        return await self._call("last", lambda: self._stream.last(table_id))

    async def publish(self, subject: str, payload: bytes, headers: dict[str, str]) -> PubAck:
        return await self._call("publish", lambda: self._stream.append(subject, payload, headers))

    async def _call(self, method: str, handle: Callable[[], _T]) -> _T:
        try:
            return await self._network.call(self._process, "bus", method, handle, timeout_s=ACKNOWLEDGE_TIMEOUT_S)
        except NoAnswer:
            raise nats.errors.TimeoutError from None


class ObservedPublisher(TablePublisher):
    """Shows each event to an observer before it is published."""

    observe: Callable[[events_pb2.TableEvent], None]

    def publish(self, *events: events_pb2.TableEvent) -> None:
        if not self.stopped:
            for event in events:
                event.table_id = self.table_id
                self.observe(event)
        super().publish(*events)
