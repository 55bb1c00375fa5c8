"""The platform on a real API server and kubelet, in the order in which an operator meets it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from typing import Any

from services.kit.bus.streams import PLATFORM_STREAMS
from stack.games import GAMES
from tests.cluster.installation import COMPONENT, Installation
from tests.players import playing
from tests.players.playing import SETTLED, SETTLED_OR_VOID, Play
from tests.players.table import play_round

STREAMS = sorted(str(config.name) for config in PLATFORM_STREAMS)
NAME = "app.kubernetes.io/name"


@asynccontextmanager
async def under_play(platform: Installation, endings: AbstractSet[str] = SETTLED) -> AsyncIterator[Play]:
    """Players play meanwhile, and the ledger agrees afterwards."""
    async with playing.under_play(platform.entrance, endings) as play:
        yield play
    await asyncio.to_thread(platform.audit)


async def test_all_pods_become_ready_and_a_round_of_each_game_is_played(platform: Installation) -> None:
    async with playing.seated(platform.entrance) as players:
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


async def test_pods_of_each_kind_are_killed_under_play(platform: Installation) -> None:
    async with under_play(platform, SETTLED_OR_VOID) as play:
        for component in ("game", "gateway", "wallet", "bus", "database"):
            # Of each game, each service and each kind of server the first.
            pods = {pod["metadata"]["labels"][NAME]: pod for pod in platform.cluster.pods(f"{COMPONENT}={component}")}
            killed = [pod["metadata"]["name"] for pod in pods.values()]
            await asyncio.to_thread(
                platform.cluster.kubectl, "delete", "pod", *killed, "--grace-period=0", "--force", "--wait=false"
            )
            await play.goes_on()
        await asyncio.to_thread(platform.wait_until_ready)


async def test_everything_is_replaced_one_by_one_under_play(platform: Installation) -> None:
    """A release: the migrations run while the last one serves, with `--from` an earlier one; no round ends early."""
    async with under_play(platform):
        await asyncio.to_thread(platform.release)

    repeated = await asyncio.to_thread(platform.cluster.kubectl, "logs", "job/migrate-wallet")
    assert platform.earlier is not None or "newest schema" in repeated


async def test_tables_move_when_a_game_gets_two_more_replicas(platform: Installation) -> None:
    game = GAMES[0].name
    scale = ("scale", f"deployment/game-{game}")
    async with under_play(platform) as play:
        await asyncio.to_thread(platform.cluster.kubectl, *scale, "--replicas=3")
        await asyncio.to_thread(platform.wait_until_ready)
        await asyncio.to_thread(
            platform.cluster.wait,
            "each replica has tables",
            lambda: len(found := platform.placements(game)) == 3 and all(found.values()),
        )
        await play.goes_on()
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
