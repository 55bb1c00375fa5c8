"""Replicas, wallet, bus and database are killed at random moments; every bet and every decision counts once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.blackjack_crash.games import BLACKJACK
from tests.service.roulette_crash.random_kills import kill_at_random


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G8", "G9", "G10")
@pytest.mark.rule("805/2015:27", "805/2015:28", "903-B/2015:6.3.2", "903-B/2015:6.3.4", "GLI-19 A.6.4")
async def test_every_bet_and_decision_counts_once_whatever_is_killed(seed_database: Path) -> None:
    """And no round that was dealt is void: it goes on with its very cards."""
    totals = await kill_at_random(seed_database, BLACKJACK)
    assert totals.decisions
    assert totals.decided_by_another_owner
