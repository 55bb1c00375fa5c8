"""The first tables of a fresh platform, and what the rest of the platform has to allow them."""

from __future__ import annotations

import json

import pytest

from stack.commands.programs import AUDIT_ROUND_HOURS
from stack.games import GAMES, StackGame


@pytest.mark.parametrize("game", GAMES, ids=lambda game: game.name)
def test_no_hand_that_waits_for_its_player_is_a_finding_of_the_audit(game: StackGame) -> None:
    tables = json.loads(game.tables.read_text(encoding="utf-8"))
    hours = [int(table["configuration"].get("open_hand_hours", 0)) for table in tables]

    assert hours
    assert max(hours) < AUDIT_ROUND_HOURS
