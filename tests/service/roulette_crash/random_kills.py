"""Kills the processes of the platform at random moments."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from random import Random, SystemRandom
from typing import Any

from tests.service.roulette_crash.crash_run import CrashRun, start_crash_run
from tests.service.roulette_crash.games import CrashGame
from tests.service.roulette_crash.verification import Totals

# FELTRO_TEST_EFFORT=10 kills ten times as often; FELTRO_TEST_SEED repeats the random choices of a run.
EFFORT = int(os.environ.get("FELTRO_TEST_EFFORT", "1"))
KILLS = 6 * EFFORT
# Bets between one kill and the next.
MIN_BETS_BETWEEN_KILLS, MAX_BETS_BETWEEN_KILLS = 1, 80
LONGEST_DOWN_S = 1.5
# No kill may stop all bets for longer.
BETS_RESUME_WITHIN_S = 120.0


class RandomKills:
    """Kills every process in turn, in random order and at random moments; sometimes two at once."""

    def __init__(self, crash_run: CrashRun, dice: Random) -> None:
        self._crash_run = crash_run
        self._dice = dice
        self._left: list[str] = []

    async def kill_and_restart(self) -> None:
        """Waits for some bets, kills one process or two, and starts them again."""
        await self._crash_run.wait_for_bets(
            self._dice.randint(MIN_BETS_BETWEEN_KILLS, MAX_BETS_BETWEEN_KILLS), BETS_RESUME_WITHIN_S
        )
        # At any moment of a round, and not only after an answer.
        await asyncio.sleep(self._dice.uniform(0, 0.3))
        victims = [self._next()]
        if self._dice.randint(1, 3) == 1 and self._left and self._left[-1] != victims[0]:
            victims.append(self._next())
        self._crash_run.report(f"kill -9 {' and '.join(victims)}")
        for name in victims:
            await asyncio.to_thread(self._crash_run.processes.kill, name)
        await asyncio.gather(*(self._start_again(name, self._dice.uniform(0, LONGEST_DOWN_S)) for name in victims))

    async def _start_again(self, name: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        self._crash_run.processes.start(name)

    def _next(self) -> str:
        if not self._left:
            self._left = self._dice.sample(
                sorted(self._crash_run.processes.by_name), len(self._crash_run.processes.by_name)
            )
        return self._left.pop()


async def kill_at_random(seed_database: Path, game: CrashGame[Any]) -> Totals:
    """Kills processes while bots play, and compares all records in the end; fails if anything differs."""
    seed = int(os.environ.get("FELTRO_TEST_SEED") or SystemRandom().randrange(10**9))
    print(f"\nFELTRO_TEST_SEED={seed}")
    dice = Random(seed)
    async with start_crash_run(dice, seed_database, game) as crash_run:
        kills = RandomKills(crash_run, dice)
        for _ in range(KILLS):
            await kills.kill_and_restart()
        await crash_run.wait_until_all_bet()
        await crash_run.wait_until_disconnected_bet_counts()
        totals = await crash_run.close()
    assert totals.stakes_of_disconnected
    assert not crash_run.processes.unexpected_exits
    return totals
