"""What one player alone may see at a table reaches that player, on every connection, and nobody else (G7)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from typing import Any
from uuid import uuid4

import aiohttp
import pytest
from google.protobuf.any_pb2 import Any as AnyMessage
from nats.aio.client import Client as Nats
from prometheus_client import generate_latest

from feltro.table.v1 import events_pb2, types_pb2
from services.kit.bus.connection import connect
from services.kit.bus.permissions import GATEWAY
from services.kit.bus.subjects import own_view_subject
from services.kit.table.encoding import packed
from tests.gateway.live.test_event_stream import EventStreamReader
from tests.gateway.live_gateway import GAME, FakeTable, LiveGateway, live_gateway, wait_until
from tests.processes.bus import endpoint, user_url
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.guarantee("G7")

OTHER_GAME = "other_game"
# What must be in no log, metric and trace.
HIDDEN = "asdecopas"


def own_view(table: FakeTable | str, player_id: str, turn: int = 1) -> events_pb2.OwnViewChanged:
    table_id = table if isinstance(table, str) else table.table_id
    # Any message stands for a game's.
    content = packed(types_pb2.LocalizedText(pt=HIDDEN, en=HIDDEN))
    return events_pb2.OwnViewChanged(
        table_id=table_id, round_id=f"{table_id}.1", turn=turn, player_id=player_id, own_view=content
    )


async def tell(bus: Nats, view: events_pb2.OwnViewChanged, game: str = GAME, to: str = "") -> None:
    await bus.publish(own_view_subject(game, to or view.player_id), view.SerializeToString())
    await bus.flush()


class Setting:
    """A gateway as its own user on the bus, and the services of two games."""

    def __init__(self, gateway: LiveGateway, table: FakeTable, game: Nats, other_game: Nats) -> None:
        self.gateway = gateway
        self.table = table
        self.game = game
        self.other_game = other_game
        self.player = f"p{uuid4().hex[:12]}"


@pytest.fixture
async def setting(nats_url: str) -> AsyncIterator[Setting]:
    async with AsyncExitStack() as stack:
        gateway, tables, _ = await stack.enter_async_context(
            live_gateway(nats_url, gateway_url=user_url(nats_url, GATEWAY))
        )
        games = []
        for user in (GAME, OTHER_GAME):
            games.append(await connect(endpoint(nats_url, user), user))
            stack.push_async_callback(games[-1].close)
        await wait_until(lambda: gateway.own_views.is_listening)
        yield Setting(gateway, await tables.open(f"t{uuid4().hex[:12]}"), *games)


async def test_g7_a_view_reaches_all_connections_of_its_player_and_nobody_else(setting: Setting) -> None:
    gateway, player = setting.gateway, setting.player
    async with (
        gateway.connect(f"player:{player}") as first,
        gateway.connect() as later,
        gateway.connect("player:somebody-else") as other,
        gateway.connect("demo:demo-guest") as guest,
        gateway.connect(f"operator:{player}") as operator,
        gateway.connect() as anonymous,
    ):
        await later.result("authenticate", token=f"player:{player}")
        others = (other, guest, operator, anonymous)
        for client in (first, *others):
            await client.result("subscribe", table_id=setting.table.table_id)
        await tell(setting.game, own_view(setting.table, player))
        for client in (first, later):
            received = await client.next_notification("own_view")
            assert (received["table_id"], received["turn"], received["player_id"]) == (
                setting.table.table_id,
                1,
                player,
            )
            assert received["own_view"] == {
                "@type": "type.googleapis.com/feltro.table.v1.LocalizedText",
                "pt": HIDDEN,
                "en": HIDDEN,
            }
        for client in others:
            await client.result("ping")
            assert client.notifications == []


async def test_g7_a_guest_of_a_demonstration_gets_their_own(setting: Setting) -> None:
    async with setting.gateway.connect("demo:demo-guest") as guest:
        await guest.result("ping")
        await tell(setting.game, own_view(setting.table, "demo-guest"))
        assert (await guest.next_notification())["player_id"] == "demo-guest"


def stream(setting: Setting, token: str, table: FakeTable) -> Any:  # noqa: ANN401 - aiohttp's own context manager
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return setting.gateway.client.get(f"/v1/tables/{table.table_id}/events", headers=headers)


@pytest.mark.parametrize("version", [aiohttp.HttpVersion11, aiohttp.HttpVersion10])
async def test_g7_a_stream_of_the_table_has_the_views_of_its_own_player(
    setting: Setting, version: aiohttp.HttpVersion
) -> None:
    table, player = setting.table, setting.player
    base = setting.gateway.client._base_url
    async with (
        aiohttp.ClientSession(base, version=version) as client,
        client.get(
            f"/v1/tables/{table.table_id}/events", headers={"Authorization": f"Bearer player:{player}"}
        ) as response,
        stream(setting, "player:somebody-else", table) as other_response,
        stream(setting, f"operator:{player}", table) as operator_response,
        stream(setting, "", table) as anonymous_response,
    ):
        reader = EventStreamReader(response)
        strangers = [EventStreamReader(each) for each in (other_response, operator_response, anonymous_response)]
        for each in (reader, *strangers):
            assert (await each.next())[0] == "snapshot"
        last_id = reader.last_id
        await tell(setting.game, own_view("another-table", player))
        await tell(setting.game, own_view(table, player, 2))
        name, content = await reader.next()
        assert (name, content["table_id"], content["turn"]) == ("own_view", table.table_id, 2)
        assert reader.last_id == last_id, "a stream is resumed after an event of the table, not after a view"
        table.publish()
        for each in (reader, *strangers):
            assert (await each.next())[0] == "table"


async def test_g7_no_other_game_tells_a_player_anything_about_a_table(setting: Setting) -> None:
    async with setting.gateway.connect(f"player:{setting.player}") as client:
        await client.result("ping")
        await tell(setting.other_game, own_view(setting.table, setting.player, 1), OTHER_GAME)
        await tell(setting.other_game, own_view(setting.table, setting.player, 2), GAME)
        await tell(setting.game, own_view(setting.table, setting.player, 3))
        assert (await client.next_notification("own_view"))["turn"] == 3


@pytest.mark.parametrize("garbage", ["text", "inside", "another player's"])
async def test_a_view_that_cannot_be_read_or_names_another_player_stops_no_other(
    setting: Setting, garbage: str
) -> None:
    player = setting.player
    wrong = own_view(setting.table, "somebody-else" if garbage == "another player's" else player)
    if garbage == "inside":
        wrong.own_view.CopyFrom(
            AnyMessage(type_url="type.googleapis.com/feltro.table.v1.LocalizedText", value=b"\x0a\xff")
        )
    payload = b"\xff\xfe not a message" if garbage == "text" else wrong.SerializeToString()
    async with setting.gateway.connect(f"player:{player}") as client:
        await client.result("ping")
        await setting.game.publish(own_view_subject(GAME, player), payload)
        await tell(setting.game, own_view(setting.table, player, 2))
        assert (await client.next_notification("own_view"))["turn"] == 2


async def test_g7_logs_metrics_and_traces_have_nothing_of_a_view(
    setting: Setting, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        async with setting.gateway.connect(f"player:{setting.player}") as client:
            await client.result("ping")
            await tell(setting.game, own_view(setting.table, setting.player))
            await tell(setting.game, own_view(setting.table, "somebody-else"), to=setting.player)
            await tell(setting.game, own_view(setting.table, setting.player, 2))
            for turn in (1, 2):
                assert (await client.next_notification("own_view"))["turn"] == turn
            # The end of a connection is logged with its player, whatever was sent there.
            written = "".join(str(vars(record)) for record in caplog.records) + generate_latest().decode()
    assert "feltro_edge_own_views_total" in written
    for private in (HIDDEN, setting.player, "somebody-else", setting.table.table_id):
        assert private not in written


async def test_views_are_received_again_after_the_bus_was_away(own_nats: StoppableNats) -> None:
    url = own_nats.url
    async with live_gateway(url, gateway_url=user_url(url, GATEWAY)) as (gateway, tables, _):
        table = await tables.open("salon")
        game = await connect(endpoint(url, GAME), GAME)
        await wait_until(lambda: gateway.own_views.is_listening)
        async with gateway.connect("player:ana") as client:
            await client.result("ping")
            own_nats.stop()
            await wait_until(lambda: not game.is_connected)
            own_nats.start()
            await wait_until(lambda: game.is_connected and gateway.hub.is_listening)
            turn = 0

            async def told_again() -> bool:
                await tell(game, own_view(table, "ana", turn))
                await client.result("ping")
                return bool(client.notifications)

            while not await told_again():
                turn += 1
            assert (await client.next_notification("own_view"))["table_id"] == "salon"
        await game.close()


@pytest.fixture
def own_nats() -> Iterator[StoppableNats]:
    """A NATS of this test alone, which it may stop."""
    with StoppableNats() as server:
        yield server
