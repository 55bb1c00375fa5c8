"""The voices of tables and a real JetStream: one owner is heard, without a gap, whatever happens to the bus."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import nats
import nats.errors
import nats.js.errors
import pytest
import pytest_asyncio
from nats.aio.client import Client as Nats
from nats.js import JetStreamContext
from nats.js.api import PubAck, StreamConfig

from feltro.table.v1 import events_pb2, types_pb2
from services.kit.table import table_bus
from services.kit.table.table_bus import STREAM, TableBus, TableVoice, table_subject
from tests.service.table.stoppable_nats import StoppableNats

WITHIN_S = 60.0

_numbers = itertools.count(1)


@pytest_asyncio.fixture
async def bus(nats_url: str) -> AsyncIterator[Nats]:
    connection = await nats.connect(nats_url)
    yield connection
    await connection.close()


@pytest.fixture
def own_nats() -> Iterator[StoppableNats]:
    with StoppableNats() as server:
        yield server


async def connect(server: StoppableNats) -> Nats:
    """As a service connects: for as long as it runs, whatever the bus does."""

    async def ignore(error: Exception) -> None:
        """The client would print it."""

    return await nats.connect(server.url, error_cb=ignore, max_reconnect_attempts=-1, reconnect_time_wait=0.05)


async def until(so: Callable[[], bool]) -> None:
    async with asyncio.timeout(WITHIN_S):
        while not so():
            await asyncio.sleep(0.01)


@pytest.fixture
def table_id() -> str:
    """A table that no test has spoken of before."""
    return f"voice-{next(_numbers)}"


def seat_taken(seat: int) -> events_pb2.TableEvent:
    return events_pb2.TableEvent(seat_taken=events_pb2.SeatTaken(seat=seat))


def table_taken(seated: int = 0) -> events_pb2.TableEvent:
    return events_pb2.TableEvent(table_taken=events_pb2.TableTaken(snapshot=types_pb2.TableSnapshot(seated=seated)))


async def heard(bus: Nats, table_id: str) -> list[list[events_pb2.TableEvent]]:
    """Every message of a table in the stream."""
    jetstream = bus.jetstream(timeout=WITHIN_S)
    state = (await jetstream.stream_info(STREAM)).state
    messages = []
    for number in range(max(state.first_seq, 1), state.last_seq + 1):
        try:
            message = await jetstream.get_msg(STREAM, number)
        except nats.js.errors.NotFoundError:
            continue
        if message.subject == table_subject(table_id):
            messages.append(list(events_pb2.TableEvents.FromString(message.data or b"").events))
    return messages


async def heard_events(bus: Nats, table_id: str) -> list[events_pb2.TableEvent]:
    return [event for message in await heard(bus, table_id) for event in message]


async def flush(voice: TableVoice) -> None:
    async with asyncio.timeout(WITHIN_S):
        await voice.flush()


def expect_no_gap(events: list[events_pb2.TableEvent], first: int = 1) -> None:
    assert [event.seq for event in events] == list(range(first, first + len(events)))


async def test_events_are_heard_in_order_with_their_table_and_number(bus: Nats, table_id: str) -> None:
    voice = await TableBus(bus).open(table_id, 0)
    voice.say(table_taken())
    for seat in range(1, 30):
        voice.say(seat_taken(seat))
        await asyncio.sleep(0)
    assert voice.seq == 30
    await flush(voice)
    events = await heard_events(bus, table_id)
    expect_no_gap(events)
    assert {event.table_id for event in events} == {table_id}
    assert events[0].table_taken.snapshot.seq == 1
    assert [event.seat_taken.seat for event in events[1:]] == list(range(1, 30))
    await voice.close()


async def test_what_happens_while_a_message_is_under_way_leaves_as_one(bus: Nats, table_id: str) -> None:
    voice = await TableBus(bus).open(table_id, 0)
    voice.say(*(seat_taken(seat) for seat in range(10)))
    async with asyncio.timeout(WITHIN_S):
        while not voice._leaving:
            await asyncio.sleep(0)
    for seat in range(10, 100):
        voice.say(seat_taken(seat))
    await flush(voice)
    assert [len(message) for message in await heard(bus, table_id)] == [10, 90]
    await voice.close()


@pytest.mark.guarantee("G11")
async def test_g11_a_message_is_limited(bus: Nats, table_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table_bus, "MESSAGE_BYTES_LIMIT", 200)
    voice = await TableBus(bus).open(table_id, 0)
    voice.say(*(seat_taken(seat) for seat in range(100)))
    await flush(voice)
    messages = await heard(bus, table_id)
    assert len(messages) > 5
    assert all(events_pb2.TableEvents(events=message).ByteSize() <= 200 for message in messages)
    expect_no_gap(await heard_events(bus, table_id))
    await voice.close()


@pytest.mark.guarantee("G11")
async def test_g11_an_event_that_no_message_may_hold_is_replaced(
    bus: Nats, table_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_bus, "MESSAGE_BYTES_LIMIT", 200)
    voice = await TableBus(bus).open(table_id, 0)
    voice.on_behind = lambda: table_taken(7)
    vast = events_pb2.TableEvent(round_void=events_pb2.RoundVoid(reason="x" * 300))
    voice.say(seat_taken(1), vast, seat_taken(2))
    await flush(voice)
    events = await heard_events(bus, table_id)
    expect_no_gap(events)
    assert [event.WhichOneof("event") for event in events] == ["seat_taken", "table_taken"]
    await voice.close()


@pytest.mark.guarantee("G8")
async def test_g8_the_next_owner_goes_on_without_a_gap_and_the_former_is_silenced(bus: Nats, table_id: str) -> None:
    former = await TableBus(bus).open(table_id, 0, 1)
    former.say(table_taken(), seat_taken(1))
    await flush(former)
    owner = await TableBus(bus).open(table_id, 1, 2)
    assert owner.seq == 2
    owner.say(table_taken())
    await flush(owner)
    former.say(seat_taken(66))
    await flush(former)
    assert former.silenced
    former.say(seat_taken(66))
    owner.say(seat_taken(3))
    await flush(owner)
    events = await heard_events(bus, table_id)
    expect_no_gap(events)
    assert [event.seat_taken.seat for event in events] == [0, 1, 0, 3]
    await former.close()
    await owner.close()


@pytest.mark.guarantee("G8")
async def test_g8_a_former_owner_that_gets_a_word_in_silences_nobody(bus: Nats, table_id: str) -> None:
    former = await TableBus(bus).open(table_id, 0, 1)
    owner = await TableBus(bus).open(table_id, 0, 2)
    former.say(seat_taken(66), seat_taken(67))
    await flush(former)
    owner.say(table_taken(), seat_taken(2))
    await flush(owner)
    former.say(seat_taken(68))
    await flush(former)
    assert (former.silenced, owner.silenced) == (True, False)
    events = await heard_events(bus, table_id)
    expect_no_gap(events)
    assert [event.seat_taken.seat for event in events] == [66, 67, 0, 2]
    assert events[2].table_taken.snapshot.seq == 3
    await former.close()
    await owner.close()


@pytest.mark.guarantee("G8")
async def test_g8_without_epochs_whoever_spoke_last_goes_on(bus: Nats, table_id: str) -> None:
    former = await TableBus(bus).open(table_id, 0)
    owner = await TableBus(bus).open(table_id, 0)
    owner.say(table_taken())
    await flush(owner)
    former.say(seat_taken(66))
    await flush(former)
    assert (former.silenced, owner.silenced) == (True, False)
    assert len(await heard_events(bus, table_id)) == 1
    await former.close()
    await owner.close()


async def test_numbers_go_on_from_what_was_noted_when_the_stream_knows_less(bus: Nats, table_id: str) -> None:
    voice = await TableBus(bus).open(table_id, 41)
    voice.say(seat_taken(1))
    await flush(voice)
    expect_no_gap(await heard_events(bus, table_id), first=42)
    await voice.close()


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("remembered_for_s", [10, 0.1], ids=["remembered", "forgotten"])
async def test_g3_a_message_whose_acknowledgement_was_lost_is_not_doubled(
    own_nats: StoppableNats, monkeypatch: pytest.MonkeyPatch, remembered_for_s: float
) -> None:
    """Whether the stream still knows the message's id or not; its configuration is the operator's."""
    bus = await connect(own_nats)
    config = StreamConfig(name=STREAM, subjects=table_bus.SUBJECTS, duplicate_window=remembered_for_s)
    await bus.jetstream(timeout=WITHIN_S).add_stream(config)
    monkeypatch.setattr(table_bus, "RETRY_AFTER_S", 0.2)
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
    voice = await TableBus(bus).open("t", 0)
    for seat in range(5):
        voice.say(seat_taken(seat))
        await flush(voice)
    assert lost == 3
    events = await heard_events(bus, "t")
    expect_no_gap(events)
    assert [event.seat_taken.seat for event in events] == [0, 1, 2, 3, 4]
    await voice.close()
    await bus.close()


@pytest.mark.guarantee("G11")
async def test_g11_a_bus_that_is_away_holds_nobody_up_and_a_picture_replaces_what_was_too_much(
    own_nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_bus, "WAITING_EVENTS_LIMIT", 50)
    bus = await connect(own_nats)
    voice = await TableBus(bus).open("t", 0)
    seated = 0

    def picture() -> events_pb2.TableEvent:
        return table_taken(seated)

    voice.on_behind = picture
    voice.say(table_taken())
    await flush(voice)
    own_nats.stop()
    await until(lambda: not bus.is_connected)
    for seated in range(1, 200):
        voice.say(seat_taken(seated))
        assert len(voice._waiting) <= 50
    assert (voice.behind, voice.full, voice.seq) == (True, True, 1)
    own_nats.start()
    await flush(voice)
    assert (voice.behind, voice.full) == (False, False)
    seated += 1
    voice.say(seat_taken(seated))
    await flush(voice)
    events = await heard_events(bus, "t")
    expect_no_gap(events)
    assert [event.WhichOneof("event") for event in events] == ["table_taken", "table_taken", "seat_taken"]
    assert events[1].table_taken.snapshot.seated == 199
    assert events[1].table_taken.snapshot.seq == 2
    await voice.close()
    await bus.close()


@pytest.mark.guarantee("G11")
async def test_g11_without_a_picture_the_owner_is_told_that_one_is_owed(
    bus: Nats, table_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_bus, "WAITING_EVENTS_LIMIT", 5)
    voice = await TableBus(bus).open(table_id, 0)
    voice.say(*(seat_taken(seat) for seat in range(10)))
    await flush(voice)
    assert [voice.behind] == [True]
    voice.say(seat_taken(11), table_taken(), seat_taken(12))
    assert [voice.behind] == [False]
    await flush(voice)
    events = await heard_events(bus, table_id)
    expect_no_gap(events)
    assert [event.WhichOneof("event") for event in events] == ["table_taken", "seat_taken"]
    await voice.close()


@pytest.mark.guarantee("G11")
async def test_g11_a_table_opens_while_the_bus_is_away_and_finds_its_place_later(own_nats: StoppableNats) -> None:
    bus = await connect(own_nats)
    tables = TableBus(bus)
    former = await tables.open("t", 0)
    former.say(table_taken(), seat_taken(1))
    await flush(former)
    await former.close()
    own_nats.stop()
    await until(lambda: not bus.is_connected)
    voice = await tables.open("t", 1)
    voice.say(table_taken())
    own_nats.start()
    await flush(voice)
    expect_no_gap(await heard_events(bus, "t"))
    assert voice.seq == 3
    await voice.close()
    await bus.close()


async def test_a_bus_that_has_forgotten_everything_hears_the_numbers_go_on(
    own_nats: StoppableNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_bus, "ACKNOWLEDGED_WITHIN_S", 0.5)
    bus = await connect(own_nats)
    tables = TableBus(bus)
    voices = [await tables.open(f"t{number}", 0) for number in range(5)]
    for voice in voices:
        voice.say(table_taken(), seat_taken(1))
        await flush(voice)
    own_nats.stop(forget=True)
    for voice in voices:
        voice.say(seat_taken(2))
    own_nats.start()
    for voice in voices:
        await flush(voice)
        voice.say(seat_taken(3))
        await flush(voice)
        expect_no_gap(await heard_events(bus, voice.table_id), first=3)
        assert voice.seq == 4
        await voice.close()
    await bus.close()


async def test_a_table_that_the_stream_has_forgotten_goes_on(bus: Nats, table_id: str) -> None:
    voice = await TableBus(bus).open(table_id, 0)
    voice.say(seat_taken(1))
    await flush(voice)
    await bus.jetstream(timeout=WITHIN_S).purge_stream(STREAM, subject=table_subject(table_id))
    voice.say(seat_taken(2))
    await flush(voice)
    expect_no_gap(await heard_events(bus, table_id), first=2)
    await voice.close()


async def test_a_voice_that_fails_is_silent_and_keeps_nobody_waiting(
    bus: Nats, table_id: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table_bus, "WAITING_EVENTS_LIMIT", 5)
    voice = await TableBus(bus).open(table_id, 0)

    def fail() -> events_pb2.TableEvent:
        raise ZeroDivisionError

    voice.on_behind = fail
    voice.say(*(seat_taken(seat) for seat in range(10)))
    await flush(voice)
    assert voice.silenced
    assert "a table's voice has failed" in caplog.text
    await voice.close()
