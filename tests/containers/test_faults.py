"""Containers are killed, stopped, paused and cut off in the middle of rounds, which end all the same, each once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp
import pytest

from tests.containers.books import assert_books_are_right
from tests.containers.nodes import Node
from tests.containers.platform import Platform, each
from tests.players import poker_table
from tests.players.client import PAUSE_S, TIMEOUT_S
from tests.players.own_table import GAMES, SoloPlayer
from tests.players.table import TablePlayers, play_round, sit_down

PLAYERS_OF_A_GAME = 2
# At a table of poker two play against each other.
SEATED = (*(game.entry_table for game in GAMES for _ in range(PLAYERS_OF_A_GAME)), *poker_table.TABLES)


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a container, and how it is mended."""

    name: str
    happen: Callable[[Node], None]
    mend: Callable[[Node], None]


STOPPED = Fault("stopped", Node.stop, Node.start_again)
FAULTS = (
    Fault("killed", Node.kill, Node.start_again),
    STOPPED,
    Fault("paused", Node.pause, Node.unpause),
    Fault("cut_off", Node.cut_off, Node.connect_again),
)

every_fault = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


@every_fault
@pytest.mark.guarantee("G5")
@pytest.mark.guarantee("G8")
async def test_the_other_replica_of_each_game_finishes_its_rounds(platform: Platform, fault: Fault) -> None:
    async with players_in_mid_round(platform) as players:
        entrances = [*((game.name, game.entry_table) for game in GAMES), (poker_table.GAME, poker_table.TABLES[0])]
        owners = await asyncio.gather(*(platform.owner(*entrance) for entrance in entrances))
        await rounds_end_without(platform, list(owners), fault, players)


@every_fault
async def test_the_other_gateway_serves_the_players_of_one(platform: Platform, fault: Fault) -> None:
    async with players_in_mid_round(platform) as players:
        await rounds_end_without(platform, platform.gateways[:1], fault, players)


@every_fault
@pytest.mark.guarantee("G5")
async def test_play_goes_on_without_one_of_the_servers_of_the_bus(platform: Platform, fault: Fault) -> None:
    async with players_in_mid_round(platform) as players:
        await rounds_end_without(platform, platform.bus[:1], fault, players)


@every_fault
@pytest.mark.guarantee("G3")
async def test_rounds_wait_for_the_wallet_and_end_when_it_is_back(platform: Platform, fault: Fault) -> None:
    async with players_in_mid_round(platform) as players:
        await rounds_wait_for(platform, platform.wallet, fault, players)


@every_fault
@pytest.mark.guarantee("G3")
async def test_rounds_wait_for_the_databases_and_end_when_they_are_back(platform: Platform, fault: Fault) -> None:
    async with players_in_mid_round(platform) as players:
        await rounds_wait_for(platform, platform.postgres, fault, players)


@asynccontextmanager
async def players_in_mid_round(platform: Platform) -> AsyncIterator[list[TablePlayers]]:
    """Players of every game with money on the felt; afterwards each plays once more, and the books are right."""
    async with aiohttp.ClientSession() as session:
        players = list(await asyncio.gather(*(sit_down(platform.entrance, session, table) for table in SEATED)))
        await asyncio.gather(*(player.begin_round() for player in players))
        yield players
        await asyncio.gather(*(play_round(player) for player in players))
        await assert_books_are_right(platform, players)


async def rounds_end_without(platform: Platform, nodes: list[Node], fault: Fault, players: list[TablePlayers]) -> None:
    """Lets the fault happen, and the rounds end while it lasts; then mends it."""
    happening = asyncio.create_task(asyncio.to_thread(each, fault.happen, nodes))
    if fault is not STOPPED:
        # A replica that is asked to stop may wait for its players; any other fault is there before they go on.
        await happening
    try:
        await finish_rounds(players)
    finally:
        await happening
        await mend(platform, nodes, fault)


async def rounds_wait_for(platform: Platform, node: Node, fault: Fault, players: list[TablePlayers]) -> None:
    """Lets the fault happen to what there is one of: nothing ends before it is mended."""
    await asyncio.to_thread(fault.happen, node)
    # Decisions at a table of poker ask for no money: only the end of their hand waits.
    waiting = [player for player in players if isinstance(player, SoloPlayer)]
    before = [player.unanswered for player in waiting]
    finishing = asyncio.create_task(finish_rounds(players))
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while not all(player.unanswered > count for player, count in zip(waiting, before, strict=True)):
                await asyncio.sleep(PAUSE_S)
        assert not finishing.done()
    finally:
        await mend(platform, [node], fault)
    await finishing


async def finish_rounds(players: list[TablePlayers]) -> None:
    await asyncio.gather(*(player.finish_round() for player in players))


async def mend(platform: Platform, nodes: list[Node], fault: Fault) -> None:
    await asyncio.to_thread(each, fault.mend, nodes)
    await asyncio.to_thread(platform.wait_until_ready)
