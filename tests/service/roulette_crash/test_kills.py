"""Replicas, wallet, bus and database are killed at random moments; every bet counts or is returned, once."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random, SystemRandom

import pytest

from tests.service.roulette_crash.crash_run import start_crash_run
from tests.service.roulette_crash.random_kills import RandomKills

# FELTRO_TEST_EFFORT=10 kills ten times as often; FELTRO_TEST_SEED repeats the random choices of a run.
EFFORT = int(os.environ.get("FELTRO_TEST_EFFORT", "1"))
KILLS = 6 * EFFORT


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
    seed = int(os.environ.get("FELTRO_TEST_SEED") or SystemRandom().randrange(10**9))
    print(f"\nFELTRO_TEST_SEED={seed}")
    dice = Random(seed)
    async with start_crash_run(dice, seed_database) as crash_run:
        kills = RandomKills(crash_run, dice)
        for _ in range(KILLS):
            await kills.kill_and_restart()
        await crash_run.wait_until_all_bet()
        await crash_run.wait_until_disconnected_bet_counts()
        totals = await crash_run.close()
    assert totals.stakes_of_disconnected
    assert not crash_run.processes.unexpected_exits
