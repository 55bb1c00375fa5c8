"""The events of tables on a real JetStream: only the owner publishes, without a gap, through every outage."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import nats.errors
import nats.js.errors
import pytest
from nats.aio.client import Client as Nats
from nats.js import JetStreamContext
from nats.js.api import PubAck

from feltro.table.v1 import events_pb2, types_pb2
from services.kit.bus.subjects import EVENTS_STREAM, table_subject
from services.kit.table.events import publisher as event_publisher
from services.kit.table.events.publisher import EventStream
from services.kit.telemetry import trace
from tests.kit.recorded_spans import linked_traces, recorded_spans, trace_of
from tests.processes.bus import connect_bus, stream_config
from tests.service.table.events.published import GAME, expect_no_gap, flush, published_messages, seat_taken
from tests.service.table.stoppable_nats import StoppableNats

TIMEOUT_S = 240.0


async def connect(server: StoppableNats) -> Nats:
    """Connects as a service does: through every outage."""
    return await connect_bus(server.url)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)


def snapshot_published(seated: int = 0) -> events_pb2.TableEvent:
    return events_pb2.TableEvent(
        snapshot_published=events_pb2.SnapshotPublished(snapshot=types_pb2.TableSnapshot(seated=seated))
    )


async def published_events(bus: Nats, table_id: str) -> list[events_pb2.TableEvent]:
    return [event for message in await published_messages(bus, table_id) for event in message]


async def test_events_arrive_in_order_with_table_and_number(bus: Nats, table_id: str) -> None:
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    publisher.publish(snapshot_published())
    for seat in range(1, 30):
        publisher.publish(seat_taken(seat))
        await asyncio.sleep(0)
    assert publisher.seq == 30
    await flush(publisher)
    events = await published_events(bus, table_id)
    expect_no_gap(events)
    assert {event.table_id for event in events} == {table_id}
    assert events[0].snapshot_published.snapshot.seq == 1
    assert [event.seat_taken.seat for event in events[1:]] == list(range(1, 30))
    await publisher.close()


async def test_events_gathered_while_busy_leave_as_one_message(bus: Nats, table_id: str) -> None:
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    publisher.publish(*(seat_taken(seat) for seat in range(10)))
    async with asyncio.timeout(TIMEOUT_S):
        while not publisher._under_way:
            await asyncio.sleep(0)
    for seat in range(10, 100):
        publisher.publish(seat_taken(seat))
    await flush(publisher)
    assert [len(message) for message in await published_messages(bus, table_id)] == [10, 90]
    await publisher.close()


async def test_a_decision_leaves_at_once_with_what_waits(
    bus: Nats, table_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_publisher, "GATHER_FOR_S", 10 * TIMEOUT_S)
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    for position in range(1, 4):
        decided = events_pb2.TableEvent(move_made=events_pb2.MoveMade(position=position))
        publisher.publish(seat_taken(position), decided)
        await flush(publisher)
    assert [len(message) for message in await published_messages(bus, table_id)] == [2, 2, 2]
    await publisher.close()


@pytest.mark.guarantee("G11")
async def test_g11_a_message_has_a_size_limit(bus: Nats, table_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_publisher, "MESSAGE_BYTES_LIMIT", 200)
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    publisher.publish(*(seat_taken(seat) for seat in range(100)))
    await flush(publisher)
    messages = await published_messages(bus, table_id)
    assert len(messages) > 5
    assert all(events_pb2.TableEvents(events=message).ByteSize() <= 200 for message in messages)
    expect_no_gap(await published_events(bus, table_id))
    await publisher.close()


@pytest.mark.guarantee("G11")
async def test_g11_an_oversized_event_is_replaced_by_a_snapshot(
    bus: Nats, table_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_publisher, "MESSAGE_BYTES_LIMIT", 200)
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    publisher.on_overflow = lambda: snapshot_published(7)
    oversized = events_pb2.TableEvent(round_voided=events_pb2.RoundVoided(reason="x" * 300))
    publisher.publish(seat_taken(1), oversized, seat_taken(2))
    await flush(publisher)
    events = await published_events(bus, table_id)
    expect_no_gap(events)
    assert [event.WhichOneof("event") for event in events] == ["seat_taken", "snapshot_published"]
    await publisher.close()


@pytest.mark.guarantee("G8")
async def test_g8_the_next_owner_continues_without_a_gap_and_the_former_is_stopped(bus: Nats, table_id: str) -> None:
    former = await EventStream(bus, GAME).open_publisher(table_id, 0, 1)
    former.publish(snapshot_published(), seat_taken(1))
    await flush(former)
    owner = await EventStream(bus, GAME).open_publisher(table_id, 1, 2)
    assert owner.seq == 2
    owner.publish(snapshot_published())
    await flush(owner)
    former.publish(seat_taken(66))
    await flush(former)
    assert former.stopped
    former.publish(seat_taken(66))
    owner.publish(seat_taken(3))
    await flush(owner)
    events = await published_events(bus, table_id)
    expect_no_gap(events)
    assert [event.seat_taken.seat for event in events] == [0, 1, 0, 3]
    await former.close()
    await owner.close()


@pytest.mark.guarantee("G8")
async def test_g8_a_former_owner_that_publishes_in_between_stops_nobody(bus: Nats, table_id: str) -> None:
    former = await EventStream(bus, GAME).open_publisher(table_id, 0, 1)
    owner = await EventStream(bus, GAME).open_publisher(table_id, 0, 2)
    former.publish(seat_taken(66), seat_taken(67))
    await flush(former)
    owner.publish(snapshot_published(), seat_taken(2))
    await flush(owner)
    former.publish(seat_taken(68))
    await flush(former)
    assert (former.stopped, owner.stopped) == (True, False)
    events = await published_events(bus, table_id)
    expect_no_gap(events)
    assert [event.seat_taken.seat for event in events] == [66, 67, 0, 2]
    assert events[2].snapshot_published.snapshot.seq == 3
    await former.close()
    await owner.close()


@pytest.mark.guarantee("G8")
async def test_g8_without_epochs_the_last_publisher_continues(bus: Nats, table_id: str) -> None:
    former = await EventStream(bus, GAME).open_publisher(table_id, 0)
    owner = await EventStream(bus, GAME).open_publisher(table_id, 0)
    owner.publish(snapshot_published())
    await flush(owner)
    former.publish(seat_taken(66))
    await flush(former)
    assert (former.stopped, owner.stopped) == (True, False)
    assert len(await published_events(bus, table_id)) == 1
    await former.close()
    await owner.close()


async def test_numbers_continue_from_the_given_number_when_the_stream_is_behind(bus: Nats, table_id: str) -> None:
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 41)
    publisher.publish(seat_taken(1))
    await flush(publisher)
    expect_no_gap(await published_events(bus, table_id), first=42)
    await publisher.close()


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("remembered_for_s", [10, 0.1], ids=["remembered", "forgotten"])
async def test_g3_a_message_whose_acknowledgement_was_lost_is_not_doubled(
    own_nats: StoppableNats, monkeypatch: pytest.MonkeyPatch, remembered_for_s: float
) -> None:
    """Whether the stream still knows the message's id or not: its configuration is the operator's."""
    bus = await connect(own_nats)
    config = stream_config(EVENTS_STREAM).evolve(duplicate_window=remembered_for_s)
    await bus.jetstream(timeout=TIMEOUT_S).update_stream(config)
    monkeypatch.setattr(event_publisher, "RETRY_AFTER_S", 0.2)
    publish: Callable[..., Any] = JetStreamContext.publish
    lost = 0

    async def lose(self: JetStreamContext, *args: object, **kwargs: object) -> PubAck:
        nonlocal lost
        acknowledged: PubAck = await publish(self, *args, **kwargs)
        if lost < 3 and not acknowledged.duplicate:
            lost += 1
            raise nats.errors.TimeoutError
        return acknowledged

    monkeypatch.setattr(JetStreamContext, "publish", lose)
    publisher = await EventStream(bus, GAME).open_publisher("t", 0)
    for seat in range(5):
        publisher.publish(seat_taken(seat))
        await flush(publisher)
    assert lost == 3
    events = await published_events(bus, "t")
    expect_no_gap(events)
    assert [event.seat_taken.seat for event in events] == [0, 1, 2, 3, 4]
    await publisher.close()
    await bus.close()


@pytest.mark.guarantee("G11")
async def test_g11_an_absent_bus_delays_nobody_and_a_snapshot_replaces_the_overflow(
    own_nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_publisher, "WAITING_EVENTS_LIMIT", 50)
    bus = await connect(own_nats)
    publisher = await EventStream(bus, GAME).open_publisher("t", 0)
    seated = 0

    def snapshot() -> events_pb2.TableEvent:
        return snapshot_published(seated)

    publisher.on_overflow = snapshot
    publisher.publish(snapshot_published())
    await flush(publisher)
    own_nats.stop()
    await until(lambda: not bus.is_connected)
    for seated in range(1, 200):
        publisher.publish(seat_taken(seated))
        assert len(publisher._waiting) <= 50
    assert (publisher.overflowed, publisher.full, publisher.seq) == (True, True, 1)
    own_nats.start()
    await flush(publisher)
    assert (publisher.overflowed, publisher.full) == (False, False)
    seated += 1
    publisher.publish(seat_taken(seated))
    await flush(publisher)
    events = await published_events(bus, "t")
    expect_no_gap(events)
    assert [event.WhichOneof("event") for event in events] == ["snapshot_published", "snapshot_published", "seat_taken"]
    assert events[1].snapshot_published.snapshot.seated == 199
    assert events[1].snapshot_published.snapshot.seq == 2
    await publisher.close()
    await bus.close()


@pytest.mark.guarantee("G11")
async def test_g11_without_on_overflow_the_owner_sees_the_overflow(
    bus: Nats, table_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_publisher, "WAITING_EVENTS_LIMIT", 5)
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    publisher.publish(*(seat_taken(seat) for seat in range(10)))
    await flush(publisher)
    assert [publisher.overflowed] == [True]
    publisher.publish(seat_taken(11), snapshot_published(), seat_taken(12))
    assert [publisher.overflowed] == [False]
    await flush(publisher)
    events = await published_events(bus, table_id)
    expect_no_gap(events)
    assert [event.WhichOneof("event") for event in events] == ["snapshot_published", "seat_taken"]
    await publisher.close()


@pytest.mark.guarantee("G11")
async def test_g11_a_table_opens_while_the_bus_is_away_and_continues_later(own_nats: StoppableNats) -> None:
    bus = await connect(own_nats)
    stream = EventStream(bus, GAME)
    former = await stream.open_publisher("t", 0)
    former.publish(snapshot_published(), seat_taken(1))
    await flush(former)
    await former.close()
    own_nats.stop()
    await until(lambda: not bus.is_connected)
    publisher = await stream.open_publisher("t", 1)
    publisher.publish(snapshot_published())
    own_nats.start()
    await flush(publisher)
    expect_no_gap(await published_events(bus, "t"))
    assert publisher.seq == 3
    await publisher.close()
    await bus.close()


async def test_the_age_of_the_oldest_event_that_waits_is_known(
    own_nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_publisher, "ACKNOWLEDGE_TIMEOUT_S", 0.2)
    bus = await connect(own_nats)
    stream = EventStream(bus, GAME)
    idle, publisher = await stream.open_publisher("idle", 0), await stream.open_publisher("t", 0)
    for each in (idle, publisher):
        each.publish(snapshot_published())
        await flush(each)
    assert await stream.oldest_s() == 0.0
    own_nats.fill_disk()
    failures = event_publisher._FAILURES._value.get()
    publisher.publish(seat_taken(1))
    loop = asyncio.get_running_loop()
    published_at = loop.time()
    await until(lambda: event_publisher._FAILURES._value.get() > failures)
    publisher.publish(seat_taken(2))
    waited = loop.time() - published_at
    assert await stream.oldest_s() >= waited > 0.0
    own_nats.stop()
    own_nats.start()
    await flush(publisher)
    assert await stream.oldest_s() == 0.0
    events = await published_events(bus, "t")
    expect_no_gap(events)
    assert [event.seat_taken.seat for event in events[1:]] == [1, 2]
    for each in (idle, publisher):
        await each.close()
    assert await stream.oldest_s() == 0.0
    await bus.close()


async def test_numbers_continue_after_the_bus_lost_everything(
    own_nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_publisher, "ACKNOWLEDGE_TIMEOUT_S", 0.5)
    bus = await connect(own_nats)
    stream = EventStream(bus, GAME)
    publishers = [await stream.open_publisher(f"t{number}", 0) for number in range(5)]
    for publisher in publishers:
        publisher.publish(snapshot_published(), seat_taken(1))
        await flush(publisher)
    own_nats.stop(forget=True)
    for publisher in publishers:
        publisher.publish(seat_taken(2))
    own_nats.start()
    for publisher in publishers:
        await flush(publisher)
        publisher.publish(seat_taken(3))
        await flush(publisher)
        expect_no_gap(await published_events(bus, publisher.table_id), first=3)
        assert publisher.seq == 4
        await publisher.close()
    await bus.close()


async def test_numbers_continue_after_the_stream_dropped_a_table(bus: Nats, table_id: str) -> None:
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    publisher.publish(seat_taken(1))
    await flush(publisher)
    await bus.jetstream(timeout=TIMEOUT_S).purge_stream(EVENTS_STREAM, subject=table_subject(GAME, table_id))
    publisher.publish(seat_taken(2))
    await flush(publisher)
    expect_no_gap(await published_events(bus, table_id), first=2)
    await publisher.close()


@pytest.mark.parametrize("message_id", ["", "not-an-epoch", "9" * 5_000 + "-"], ids=["none", "text", "long"])
@pytest.mark.parametrize("when", ["before", "while"])
async def test_an_unreadable_message_of_a_table_stops_no_publisher(
    bus: Nats, table_id: str, message_id: str, when: str
) -> None:
    async def spoil() -> None:
        headers = {"Nats-Msg-Id": f"{message_id}{table_id}"} if message_id else None
        subject = table_subject(GAME, table_id)
        await bus.jetstream(timeout=TIMEOUT_S).publish(subject, b"\xff\xfe not a message", headers=headers)

    if when == "before":
        await spoil()
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0, 7)
    publisher.on_overflow = snapshot_published
    publisher.publish(snapshot_published(), seat_taken(1))
    await flush(publisher)
    if when == "while":
        await spoil()
    publisher.publish(seat_taken(2))
    await flush(publisher)
    assert not publisher.stopped
    last = await bus.jetstream(timeout=TIMEOUT_S).get_last_msg(EVENTS_STREAM, table_subject(GAME, table_id))
    (event, *_) = events_pb2.TableEvents.FromString(last.data or b"").events
    # After a stranger's message only a snapshot is to be believed.
    assert event.WhichOneof("event") == ("seat_taken" if when == "before" else "snapshot_published")
    await publisher.close()


async def test_a_failed_publisher_stops_and_blocks_nobody(
    bus: Nats, table_id: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_publisher, "WAITING_EVENTS_LIMIT", 5)
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)

    def fail() -> events_pb2.TableEvent:
        raise ZeroDivisionError

    publisher.on_overflow = fail
    publisher.publish(*(seat_taken(seat) for seat in range(10)))
    await flush(publisher)
    assert publisher.stopped
    assert "the publisher of a table has failed" in caplog.text
    await publisher.close()


async def test_events_leave_in_the_trace_of_their_only_cause_and_linked_to_each_of_several(
    bus: Nats, table_id: str
) -> None:
    publisher = await EventStream(bus, GAME).open_publisher(table_id, 0)
    causes: list[int] = []

    def publish(*seats: int) -> None:
        with trace.start_span("a call") as call:
            publisher.publish(*(seat_taken(seat) for seat in seats))
        causes.append(call.get_span_context().trace_id)

    with recorded_spans() as spans:
        publish(1, 2)
        await flush(publisher)
        publish(3)
        publish(4)
        await flush(publisher)
        # Of the clock: nobody's call has caused it.
        publisher.publish(seat_taken(5))
        await flush(publisher)
        of_one, of_two = spans.named("publish events")
    await publisher.close()
    assert trace_of(of_one) == causes[0]
    assert linked_traces(of_two) == set(causes[1:])
    assert [dict(span.attributes or {}) for span in (of_one, of_two)] == [
        {"feltro.table_id": table_id, "feltro.events": 2}
    ] * 2
    # Who receives the events goes on in that trace.
    stream = bus.jetstream(timeout=TIMEOUT_S)
    last = await stream.get_last_msg(EVENTS_STREAM, table_subject(GAME, table_id))
    assert trace.HEADER not in (last.headers or {})
    assert last.seq is not None
    before = await stream.get_msg(EVENTS_STREAM, last.seq - 1)
    assert int((before.headers or {})[trace.HEADER].split("-")[1], 16) == trace_of(of_two)
