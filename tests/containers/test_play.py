"""Rounds and hands through the gateways, on a platform whose every process is a container."""

from __future__ import annotations

import aiohttp
import pytest

from tests.containers.books import assert_books_are_right
from tests.containers.platform import Platform
from tests.players.table import TABLES, play_round, sit_down

ROUNDS = 3


@pytest.mark.parametrize("table", TABLES)
async def test_a_game_is_played_through_the_gateways(platform: Platform, table: str) -> None:
    async with aiohttp.ClientSession() as session:
        players = await sit_down(platform.entrance, session, table)
        for _ in range(ROUNDS):
            await play_round(players)
        await assert_books_are_right(platform, [players])
