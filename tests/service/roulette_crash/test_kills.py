"""Owner, wallet, bus and database are killed at moments that nobody chooses; every bet counts or went back, once."""

from __future__ import annotations

import os
from random import Random, SystemRandom

import pytest

from tests.service.roulette_crash.crash_run import start_crash_run
from tests.service.roulette_crash.random_kills import RandomKills

# FELTRO_TEST_EFFORT=10 strikes ten times as often; FELTRO_TEST_SEED repeats the dice of a run.
EFFORT = int(os.environ.get("FELTRO_TEST_EFFORT", "1"))
STRIKES = 6 * EFFORT


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
async def test_every_bet_counts_once_whatever_is_killed() -> None:
    seed = int(os.environ.get("FELTRO_TEST_SEED") or SystemRandom().randrange(10**9))
    print(f"\nFELTRO_TEST_SEED={seed}")
    dice = Random(seed)
    async with start_crash_run(dice) as casino:
        strikes = RandomKills(casino, dice)
        for _ in range(STRIKES):
            await strikes.kill_and_restart()
        await casino.wait_until_all_bet()
        account = await casino.close()
    assert account.stakes_of_disconnected, "nobody's connection was lost at the wrong moment"
    assert not casino.processes.unexpected_exits
