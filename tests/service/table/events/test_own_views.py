"""What one player alone may see, on a real bus: the gateway hears it, and a table never waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from feltro.table.v1 import events_pb2
from services.kit import background
from services.kit.bus.connection import connect
from services.kit.bus.permissions import GATEWAY
from services.kit.bus.subjects import own_view_subject
from services.kit.table.events import own_views
from services.kit.table.events.own_views import BusOwnViews
from tests.processes.bus import endpoint
from tests.service.table.events.published import GAME
from tests.service.table.stoppable_nats import StoppableNats

TIMEOUT_S = 240.0


def view(player_id: str, turn: int, table_id: str = "salon") -> events_pb2.OwnViewChanged:
    return events_pb2.OwnViewChanged(table_id=table_id, round_id=f"{table_id}.1", turn=turn, player_id=player_id)


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.005)


@asynccontextmanager
async def running(publisher: BusOwnViews) -> AsyncIterator[None]:
    task = asyncio.create_task(publisher.run())
    yield
    ended = task.done()
    await background.cancel_and_wait([task])
    assert not ended, "a task that never ends has ended"


class Heard:
    """What a gateway hears of a game's own views."""

    def __init__(self, bus: Nats) -> None:
        self.bus = bus
        self.views: list[tuple[str, events_pb2.OwnViewChanged]] = []

    async def listen(self) -> None:
        async def hear(message: Msg) -> None:
            self.views.append((message.subject, events_pb2.OwnViewChanged.FromString(message.data)))

        await self.bus.subscribe(own_view_subject(GAME, "*"), cb=hear)
        await self.bus.flush()


@pytest.fixture
async def heard(nats_url: str) -> AsyncIterator[Heard]:
    async with AsyncExitStack() as stack:
        bus = await connect(endpoint(nats_url, GATEWAY), GATEWAY)
        stack.push_async_callback(bus.close)
        heard = Heard(bus)
        await heard.listen()
        yield heard


@pytest.fixture
async def game_bus(nats_url: str) -> AsyncIterator[Nats]:
    bus = await connect(endpoint(nats_url, GAME), GAME)
    yield bus
    await bus.close()


async def test_each_players_view_goes_to_the_players_own_subject(heard: Heard, game_bus: Nats) -> None:
    publisher = BusOwnViews(game_bus, GAME)
    async with running(publisher):
        publisher.publish(view("ana", 1))
        publisher.publish(view("rui", 1))
        await until(lambda: len(heard.views) == 2)
        publisher.publish(view("ana", 2))
        await until(lambda: len(heard.views) == 3)
    assert heard.views == [
        (own_view_subject(GAME, "ana"), view("ana", 1)),
        (own_view_subject(GAME, "rui"), view("rui", 1)),
        (own_view_subject(GAME, "ana"), view("ana", 2)),
    ]


async def test_a_newer_view_replaces_one_that_still_waits_at_the_same_table(heard: Heard, game_bus: Nats) -> None:
    publisher = BusOwnViews(game_bus, GAME)
    for turn in (1, 2, 3):
        publisher.publish(view("ana", turn))
    publisher.publish(view("ana", 1, "other"))
    async with running(publisher):
        await until(lambda: len(heard.views) == 2)
    assert [changed for _, changed in heard.views] == [view("ana", 3), view("ana", 1, "other")]


async def test_a_view_and_a_place_on_the_waiting_list_do_not_replace_each_other(heard: Heard, game_bus: Nats) -> None:
    place = events_pb2.OwnViewChanged(table_id="salon", player_id="ana", waiting=events_pb2.WaitingPlace())
    publisher = BusOwnViews(game_bus, GAME)
    publisher.publish(place)
    publisher.publish(view("ana", 1))
    async with running(publisher):
        await until(lambda: len(heard.views) == 2)
    assert [changed for _, changed in heard.views] == [place, view("ana", 1)]


@pytest.mark.guarantee("G11")
async def test_g11_only_so_many_views_wait(heard: Heard, game_bus: Nats, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_views, "WAITING_LIMIT", 2)
    publisher = BusOwnViews(game_bus, GAME)
    for player_id in ("ana", "rui", "eva"):
        publisher.publish(view(player_id, 1))
    # One that waits may still be replaced.
    publisher.publish(view("ana", 2))
    async with running(publisher):
        await until(lambda: len(heard.views) == 2)
        publisher.publish(view("eva", 2))
        await until(lambda: len(heard.views) == 3)
    assert [changed for _, changed in heard.views] == [view("ana", 2), view("rui", 1), view("eva", 2)]


async def test_a_view_of_an_outage_is_never_sent_late(own_nats: StoppableNats) -> None:
    """The client of the bus would keep it, and the player would see a turn that is long over."""
    game_bus = await connect(endpoint(own_nats.url, GAME), GAME)
    gateway_bus = await connect(endpoint(own_nats.url, GATEWAY), GATEWAY)
    heard, publisher = Heard(gateway_bus), BusOwnViews(game_bus, GAME)
    await heard.listen()
    async with running(publisher):
        own_nats.stop()
        await until(lambda: not game_bus.is_connected and not gateway_bus.is_connected)
        publisher.publish(view("ana", 1))
        await until(lambda: not publisher._waiting)
        own_nats.start()
        await until(lambda: game_bus.is_connected and gateway_bus.is_connected)
        await gateway_bus.flush()
        publisher.publish(view("ana", 2))
        await until(lambda: heard.views)
    assert [changed for _, changed in heard.views] == [view("ana", 2)]
    await game_bus.close()
    await gateway_bus.close()


@pytest.mark.guarantee("G7")
async def test_g7_the_log_names_no_player_and_no_view(
    own_nats: StoppableNats, caplog: pytest.LogCaptureFixture
) -> None:
    game_bus = await connect(endpoint(own_nats.url, GAME), GAME)
    publisher = BusOwnViews(game_bus, GAME)
    async with running(publisher):
        own_nats.stop()
        await until(lambda: not game_bus.is_connected)
        publisher.publish(view("ana-secret", 1, "table-secret"))
        await until(lambda: "private views of tables: failing" in caplog.text)
    written = "".join(str(vars(record)) for record in caplog.records)
    assert "secret" not in written
    await game_bus.close()
