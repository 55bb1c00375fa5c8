"""The platform on a real API server and kubelet, in the order in which an operator meets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from services.kit.bus.streams import PLATFORM_STREAMS
from stack.games import GAMES
from tests.cluster.installation import COMPONENT, Installation
from tests.players.client import Entrance
from tests.players.table import TABLES, TablePlayers, play_round, sit_down

STREAMS = sorted(str(config.name) for config in PLATFORM_STREAMS)
# Rounds that each player has to finish before and after something happens to the platform.
ROUNDS_AROUND = 2
SETTLED = frozenset({"ROUND_STATE_SETTLED"})
# A new owner voids the round that a killed one left open for bets, and gives its stakes back.
SETTLED_OR_VOID = SETTLED | {"ROUND_STATE_VOID"}


@asynccontextmanager
async def seated(platform: Installation) -> AsyncIterator[list[TablePlayers]]:
    """Players with money at tables of every game."""
    entrance = Entrance(lambda _: platform.url, platform.issuer)
    # Connections end often: the Service of the gateways chooses one for each.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=5)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield list(await asyncio.gather(*(sit_down(entrance, session, table) for table in TABLES)))


@asynccontextmanager
async def under_play(platform: Installation, endings: AbstractSet[str] = SETTLED) -> AsyncIterator[None]:
    """Players play on and on meanwhile; afterwards rounds have ended so and no other way, and the ledger agrees."""
    async with seated(platform) as players:
        stopping = asyncio.Event()

        async def play_on(player: TablePlayers) -> None:
            while not stopping.is_set():
                await play_round(player)

        async with asyncio.TaskGroup() as playing:
            for player in players:
                playing.create_task(play_on(player))
            await _played(players, [0] * len(players))
            try:
                yield
                await _played(players, [len(player.rounds) for player in players])
            finally:
                stopping.set()
        for player in players:
            assert await player.assert_rounds_ended_once() <= endings
    await asyncio.to_thread(platform.audit)


async def _played(players: list[TablePlayers], before: list[int]) -> None:
    """Waits until everybody has begun so many rounds more."""
    wanted = [rounds + ROUNDS_AROUND for rounds in before]
    await _until(lambda: all(len(each.rounds) >= rounds for each, rounds in zip(players, wanted, strict=True)))


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(180):
        while not is_so():
            await asyncio.sleep(0.1)


async def test_all_pods_become_ready_and_a_round_of_each_game_is_played(platform: Installation) -> None:
    async with seated(platform) as players:
        for player in players:
            await play_round(player)
            assert await player.assert_rounds_ended_once() == SETTLED
    platform.audit()


def test_every_stream_and_bucket_is_kept_by_three_servers(platform: Installation) -> None:
    def led_streams(server: str) -> list[dict[str, Any]]:
        """The streams that a server leads: it alone knows how far the others are."""
        answer = platform.cluster.ask_pod(server, 8222, "jsz?streams=true&config=true&accounts=true")
        streams = [stream for account in answer["account_details"] for stream in account.get("stream_detail", [])]
        return [stream for stream in streams if stream["cluster"]["leader"] == server]

    def are_kept() -> bool:
        streams = [stream for server in ("nats-0", "nats-1", "nats-2") for stream in led_streams(server)]
        followers = [peer for stream in streams for peer in stream["cluster"]["replicas"]]
        names = sorted(stream["name"] for stream in streams)
        return names == STREAMS and len(followers) == 2 * len(names) and all(peer["current"] for peer in followers)

    platform.cluster.wait("every stream has two followers that are current", are_kept)


def test_the_migrations_have_run_once_and_are_repeated_without_harm(platform: Installation) -> None:
    platform.cluster.kubectl("delete", "jobs", "--selector", f"{COMPONENT}=migration")
    platform.install()

    assert "newest schema" in platform.cluster.kubectl("logs", "job/migrate-wallet")


@pytest.mark.parametrize("component", ["game", "gateway", "wallet", "bus", "database"])
async def test_a_pod_of_each_kind_is_killed_under_play(component: str, platform: Installation) -> None:
    async with under_play(platform, SETTLED_OR_VOID):
        pod = platform.cluster.pods(f"{COMPONENT}={component}")[0]["metadata"]["name"]
        kill = ("delete", "pod", pod, "--grace-period=0", "--force")
        await asyncio.to_thread(platform.cluster.kubectl, *kill)
        await asyncio.to_thread(platform.wait_until_ready)


async def test_everything_is_restarted_one_by_one_under_play(platform: Installation) -> None:
    async with under_play(platform):
        await asyncio.to_thread(platform.cluster.kubectl, "rollout", "restart", "deployment")
        await asyncio.to_thread(platform.cluster.kubectl, "rollout", "restart", "statefulset/nats")
        await asyncio.to_thread(platform.wait_until_ready)


async def test_tables_move_when_a_game_gets_two_more_replicas(platform: Installation) -> None:
    game = GAMES[0].name
    scale = ("scale", f"deployment/game-{game}")
    async with under_play(platform):
        await asyncio.to_thread(platform.cluster.kubectl, *scale, "--replicas=3")
        await asyncio.to_thread(platform.wait_until_ready)
        await asyncio.to_thread(
            platform.cluster.wait,
            "each replica has tables",
            lambda: len(found := platform.placements(game)) == 3 and all(found.values()),
        )
    async with under_play(platform):
        await asyncio.to_thread(platform.cluster.kubectl, *scale, "--replicas=1")
        await asyncio.to_thread(
            platform.cluster.wait, "one replica has all tables", lambda: len(platform.placements(game)) == 1
        )


async def test_a_release_that_needs_more_memory_than_its_limit_stops_before_it_replaces_the_last(
    platform: Installation,
) -> None:
    """The kernel ends its processes (OOMKilled), and the gateways of the last release serve on."""
    deployment = "deployment/gateway"
    async with under_play(platform):
        too_little = ("--requests=memory=32Mi", "--limits=memory=32Mi")
        await asyncio.to_thread(platform.cluster.kubectl, "set", "resources", deployment, *too_little)
        await asyncio.to_thread(
            platform.cluster.wait, "a container is ended", lambda: "OOMKilled" in _endings(platform)
        )
        ready = await asyncio.to_thread(platform.cluster.get, "deployment", "gateway")
        assert ready["status"]["readyReplicas"] == ready["spec"]["replicas"]
        await asyncio.to_thread(platform.cluster.kubectl, "rollout", "undo", deployment)
        await asyncio.to_thread(platform.wait_until_ready)


def _endings(platform: Installation) -> set[str]:
    """Why containers of gateways have ended."""
    statuses = [
        status
        for pod in platform.cluster.pods(f"{COMPONENT}=gateway")
        for status in pod["status"].get("containerStatuses", [])
    ]
    states = [state for status in statuses for state in (status["state"], status["lastState"]) if "terminated" in state]
    return {state["terminated"]["reason"] for state in states}
