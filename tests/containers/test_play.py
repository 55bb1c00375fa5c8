"""Rounds and hands through the gateways, on a platform whose every process is a container."""

from __future__ import annotations

import aiohttp
import pytest

from tests.containers.books import assert_books_are_right
from tests.containers.platform import Platform
from tests.containers.players import GAMES, Game, new_player

ROUNDS = 3


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
async def test_a_game_is_played_through_the_gateways(platform: Platform, game: Game) -> None:
    async with aiohttp.ClientSession() as session:
        player = await new_player(platform.entrance, session, game)
        for _ in range(ROUNDS):
            await player.begin_round()
            await player.finish_round()
        await assert_books_are_right(platform, [player])
