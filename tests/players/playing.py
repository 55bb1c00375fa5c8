"""Players of every game who play on and on, while something happens to the platform."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import asynccontextmanager
from dataclasses import dataclass

import aiohttp

from tests.players.client import Entrance
from tests.players.table import TABLES, TablePlayers, play_round, sit_down

# Rounds that each player has to begin before and after something happens to the platform: one is played to its end.
ROUNDS_AROUND = 2
# Between two rounds, so that players leave the processors to what starts and stops.
THINKING_S = 0.5
# How long play may stand still before it is called a hang.
WITHIN_S = 180
_POLL_S = 0.1
SETTLED = frozenset({"ROUND_STATE_SETTLED"})
# A new owner voids the round that a killed one left open for bets, and gives its stakes back.
SETTLED_OR_VOID = SETTLED | {"ROUND_STATE_VOID"}


@dataclass(frozen=True, slots=True)
class Play:
    """Players at tables of every game."""

    players: Sequence[TablePlayers]

    async def goes_on(self) -> None:
        """Waits until everybody has begun so many rounds more."""
        wanted = [len(each.rounds) + ROUNDS_AROUND for each in self.players]
        async with asyncio.timeout(WITHIN_S):
            while any(len(each.rounds) < rounds for each, rounds in zip(self.players, wanted, strict=True)):
                await asyncio.sleep(_POLL_S)


@asynccontextmanager
async def seated(entrance: Entrance) -> AsyncIterator[list[TablePlayers]]:
    """Players with money at tables of every game."""
    # Connections end often: where one address stands for all gateways, each chooses one of them anew.
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=5)
    async with aiohttp.ClientSession(connector=connector) as session:
        yield list(await asyncio.gather(*(sit_down(entrance, session, table) for table in TABLES)))


@asynccontextmanager
async def under_play(entrance: Entrance, endings: AbstractSet[str] = SETTLED) -> AsyncIterator[Play]:
    """Has players play meanwhile; afterwards all rounds have ended, once, in one of these ways, and money agrees."""
    async with seated(entrance) as players:
        stopping = asyncio.Event()

        async def play_on(player: TablePlayers) -> None:
            while not stopping.is_set():
                await play_round(player)
                await asyncio.sleep(THINKING_S)

        async with asyncio.TaskGroup() as playing:
            for player in players:
                playing.create_task(play_on(player))
            play = Play(players)
            await play.goes_on()
            try:
                yield play
                await play.goes_on()
            finally:
                stopping.set()
        for player in players:
            assert await player.assert_rounds_ended_once() <= endings
