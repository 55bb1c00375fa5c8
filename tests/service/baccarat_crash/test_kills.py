"""Replicas, wallet, bus and database are killed at random moments; every bet counts or is returned, once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.baccarat_crash.games import BACCARAT
from tests.service.roulette_crash.random_kills import kill_at_random


@pytest.mark.slow
@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G8", "G9", "G10")
@pytest.mark.rule("812/2015:13", "812/2015:29", "812/2015:30", "812/2015:43")
@pytest.mark.rule("903-B/2015:6.3.2", "903-B/2015:6.3.4", "GLI-19 A.6.4")
async def test_every_bet_counts_once_whatever_is_killed(seed_database: Path) -> None:
    """And when betting closes, ponto and banca differ and the table keeps within its cap."""
    await kill_at_random(seed_database, BACCARAT)
