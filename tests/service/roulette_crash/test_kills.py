"""Replicas, wallet, bus and database are killed at random moments; every bet counts or is returned, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.roulette_crash.games import ROULETTE
from tests.service.roulette_crash.random_kills import kill_at_random


@pytest.mark.slow
@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G5")
@pytest.mark.guarantee("G6")
@pytest.mark.guarantee("G8")
@pytest.mark.guarantee("G9")
@pytest.mark.guarantee("G10")
@pytest.mark.rule("804/2015:20", "804/2015:21", "804/2015:22", "804/2015:23")
@pytest.mark.rule("807/2015:22", "807/2015:23", "807/2015:24", "807/2015:25")
@pytest.mark.rule("903-B/2015:6.3.2", "903-B/2015:6.3.4", "GLI-19 A.6.4")
async def test_every_bet_counts_once_whatever_is_killed(seed_database: Path) -> None:
    await kill_at_random(seed_database, ROULETTE)
