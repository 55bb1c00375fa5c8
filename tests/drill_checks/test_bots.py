"""Bots are spread over the tables of all games, and none waits alone where a game needs company."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from tests.drill.play.games import DrillPoker, games, spread


@pytest.mark.parametrize("bots", [1, 2, 9, 12, 13, 30, 44, 200])
def test_every_table_with_bots_has_enough_of_them(bots: int) -> None:
    seats = spread(games(), bots)
    assert len(seats) == bots
    at_table = Counter(table_id for _, table_id, _ in seats)
    for game, table_id, individual in seats:
        assert at_table[table_id] >= game.least_players
        # As many as the smallest table seats.
        assert individual or at_table[table_id] <= 4


def test_thirty_bots_play_at_every_table_of_every_game() -> None:
    tables = {table_id for game in games() for table_id in game.tables()}
    assert {table_id for _, table_id, _ in spread(games(), 30)} == tables


def test_a_player_of_poker_fills_an_empty_cave_and_comes_back() -> None:
    dice = Random(1)
    poker = DrillPoker()
    for cave in (None, {"seat": 1, "standing": "CAVE_STANDING_SHORT"}):
        filled = poker.prepare(cave, dice)
        assert filled is not None
        assert filled.word == "buyIn"
        assert filled.body["amount_cents"] == filled.cents > 0
    back = poker.prepare({"seat": 1, "standing": "CAVE_STANDING_AWAY"}, dice)
    assert back is not None
    assert back.word == "setPresence"
    assert poker.prepare({"seat": 1, "standing": "CAVE_STANDING_PLAYING"}, dice) is None
