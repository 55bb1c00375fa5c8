"""Who plays at a table, whatever the game: one player alone, or two against each other."""

from __future__ import annotations

from typing import Protocol

import aiohttp

from tests.players import own_table, poker_table
from tests.players.client import Entrance


class TablePlayers(Protocol):
    """They play round after round; what they did is compared with what the platform tells."""

    rounds: list[str]
    """The rounds in which they have bet or decided."""

    @property
    def unanswered(self) -> int:
        """How many attempts got no answer."""

    async def begin_round(self) -> None:
        """Leaves a round in its middle."""

    async def finish_round(self) -> None:
        """Plays that round to its end."""

    async def assert_rounds_ended_once(self) -> set[str]:
        """Compares rounds and money; returns how the rounds have ended."""


async def sit_down(entrance: Entrance, session: aiohttp.ClientSession, table: str) -> TablePlayers:
    """Seats players with money at a table that is configured: one at a table for one, two at a table of poker."""
    if table in poker_table.TABLES:
        return await poker_table.sit_as_pair(entrance, session, table)
    game = next(game for game in own_table.GAMES if game.entry_table == table)
    return await own_table.sit_alone(entrance, session, game)


async def play_round(players: TablePlayers) -> None:
    await players.begin_round()
    await players.finish_round()


# A table of each game at which one plays alone, and tables at which two play against each other.
TABLES = (*(game.entry_table for game in own_table.GAMES), *poker_table.TABLES)
