"""Tables learn who is connected, and can tell a player's own line from a gateway that has died (G9)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest
from nats.aio.client import Client as Nats

from gateway.live import connected_players
from gateway.live.connected_players import ConnectedPlayers
from gateway.live.connections import event_stream
from gateway.live.private_facts import PlayerConnections
from services.kit import background
from services.kit.bus.connection import connect
from services.kit.bus.connections import GATEWAY_LIFETIME_S, Connections, Line, player_key
from services.kit.bus.permissions import GATEWAY
from services.kit.bus.streams import CONNECTIONS_KEPT_S
from services.kit.bus.subjects import CONNECTIONS_BUCKET, bucket_stream
from services.kit.clock import seconds_since_boot
from tests.gateway.live_gateway import GAME, LiveGateway, live_gateway, wait_until
from tests.processes.bus import endpoint, user_url
from tests.service.table.stoppable_nats import StoppableNats

pytestmark = pytest.mark.guarantee("G9")


@pytest.fixture(autouse=True)
def quick_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connected_players, "GATEWAY_HEARTBEAT_S", 0.02)


class Reader:
    """What a game service knows of who is connected, by a clock that the test may move ahead."""

    def __init__(self, bus: Nats) -> None:
        self.ahead_s = 0.0
        self.connections = Connections(bus, lambda: None, lambda: seconds_since_boot() + self.ahead_s)

    async def wait_for(self, player_id: str, line: Line) -> None:
        await wait_until(lambda: self.connections.line_of(player_id) is line)


@asynccontextmanager
async def reading(url: str) -> AsyncIterator[Reader]:
    bus = await connect(endpoint(url, GAME), GAME)
    reader = Reader(bus)
    task = asyncio.create_task(reader.connections.run())
    yield reader
    await background.cancel_and_wait([task])
    await bus.close()


@asynccontextmanager
async def gateway_at(url: str) -> AsyncIterator[LiveGateway]:
    async with live_gateway(url, gateway_url=user_url(url, GATEWAY)) as (gateway, _, _):
        yield gateway


@pytest.fixture
async def reader(nats_url: str) -> AsyncIterator[Reader]:
    async with reading(nats_url) as reader:
        yield reader


@pytest.fixture
def player() -> str:
    return f"p{uuid4().hex[:12]}"


async def test_a_player_is_connected_while_any_connection_is_open(nats_url: str, reader: Reader, player: str) -> None:
    async with gateway_at(nats_url) as gateway:
        await reader.wait_for(player, Line.AWAY)
        async with gateway.connect(f"player:{player}"):
            await reader.wait_for(player, Line.CONNECTED)
            async with gateway.connect() as second:
                await second.result("authenticate", token=f"player:{player}")
        await reader.wait_for(player, Line.AWAY)


async def test_a_stream_of_a_table_is_a_connection(
    nats_url: str, reader: Reader, player: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A stream that its client has left is noticed when something is sent.
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.05)
    async with live_gateway(nats_url, gateway_url=user_url(nats_url, GATEWAY)) as (gateway, tables, _):
        table = await tables.open(f"t{uuid4().hex[:12]}")
        headers = {"Authorization": f"Bearer player:{player}"}
        async with gateway.client.get(f"/v1/tables/{table.table_id}/events", headers=headers):
            await reader.wait_for(player, Line.CONNECTED)
        await reader.wait_for(player, Line.AWAY)


async def test_nobody_but_players_is_told_of(nats_url: str, reader: Reader, player: str) -> None:
    async with (
        gateway_at(nats_url) as gateway,
        gateway.connect(f"operator:{player}x"),
        gateway.connect("player:no.key"),
        gateway.connect(f"player:{player}"),
    ):
        await reader.wait_for(player, Line.CONNECTED)
        assert reader.connections.line_of(f"{player}x") is Line.AWAY
        known = [key for key in reader.connections._bucket.entries if key.startswith("players.")]
        assert not [key for key in known if "no" in key.split(".")]


async def test_g9_a_gateway_that_has_died_says_nothing_about_its_players(
    nats_url: str, reader: Reader, player: str
) -> None:
    async with gateway_at(nats_url) as gateway, gateway.connect(f"player:{player}"):
        await reader.wait_for(player, Line.CONNECTED)
        tasks = [task for task in gateway.background_tasks if "ConnectedPlayers" in str(task.get_coro())]
        await background.cancel_and_wait(tasks)
        gateway.background_tasks = [task for task in gateway.background_tasks if task not in tasks]
        assert len(tasks) == 1
    # Its connections have ended as well, but nobody was there to say so.
    reader.ahead_s += GATEWAY_LIFETIME_S
    assert reader.connections.line_of(player) is Line.UNKNOWN
    async with gateway_at(nats_url) as other, other.connect(f"player:{player}"):
        await reader.wait_for(player, Line.CONNECTED)
    reader.ahead_s += GATEWAY_LIFETIME_S
    assert reader.connections.line_of(player) is Line.UNKNOWN
    # Not for ever: a player who never comes back is away.
    reader.ahead_s += CONNECTIONS_KEPT_S
    assert reader.connections.line_of(player) is Line.AWAY


@pytest.mark.guarantee("G11")
async def test_g11_a_reader_forgets_who_is_gone(nats_url: str, reader: Reader, player: str) -> None:
    async with gateway_at(nats_url) as gateway:
        async with gateway.connect(f"player:{player}"):
            await reader.wait_for(player, Line.CONNECTED)
        await reader.wait_for(player, Line.AWAY)
    entries = reader.connections._bucket.entries
    assert player not in reader.connections._gateways
    assert not [key for key in entries if player in key]
    reader.ahead_s += CONNECTIONS_KEPT_S
    reader.connections._forget_expired()
    assert not entries, "what has expired on the bus has expired here"


@pytest.fixture
def own_nats() -> Iterator[StoppableNats]:
    """A NATS of this test alone, which it may stop."""
    with StoppableNats() as server:
        yield server


async def test_g9_nothing_is_known_while_the_bus_is_away_and_all_is_told_again(own_nats: StoppableNats) -> None:
    async with (
        reading(own_nats.url) as reader,
        gateway_at(own_nats.url) as gateway,
        gateway.connect("player:ana"),
    ):
        await reader.wait_for("ana", Line.CONNECTED)
        own_nats.stop(forget=True)
        await reader.wait_for("ana", Line.UNKNOWN)
        own_nats.start()
        await reader.wait_for("ana", Line.CONNECTED)
        assert reader.connections.line_of("rui") is Line.AWAY


async def test_an_entry_is_repeated_before_it_expires(
    nats_url: str, player: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert connected_players.REPEAT_AFTER_S * 2 < CONNECTIONS_KEPT_S
    monkeypatch.setattr(connected_players, "REPEAT_AFTER_S", 0.05)
    bus = await connect(endpoint(nats_url, "operator"), "operator")
    stream, key = bucket_stream(CONNECTIONS_BUCKET), player_key(player, "g1")
    writer = ConnectedPlayers(bus, "g1", [connections := PlayerConnections()])
    connections._players[player] = {}
    task = asyncio.create_task(writer.run())
    seen: set[int | None] = set()
    jetstream = bus.jetstream(timeout=60.0)
    await wait_until(lambda: player in writer._written)
    while len(seen) < 3:
        seen.add((await jetstream.get_last_msg(stream, f"$KV.{CONNECTIONS_BUCKET}.{key}")).seq)
    await background.cancel_and_wait([task])
    await bus.close()


async def test_changes_of_one_moment_are_told_at_once(nats_url: str) -> None:
    """Otherwise a thousand players who come back together would have all tables look for them a thousand times."""
    bus = await connect(endpoint(nats_url, GAME), GAME)
    told: asyncio.Queue[None] = asyncio.Queue()
    connections = Connections(bus, lambda: told.put_nowait(None))
    for _ in range(2):
        for _ in range(1_000):
            connections._receive()
        assert told.empty()
        await told.get()
        assert told.empty()
    await bus.close()
