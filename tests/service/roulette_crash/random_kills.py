"""Kills the processes of the platform at random moments."""

from __future__ import annotations

import asyncio
from random import Random

from tests.service.roulette_crash.crash_run import CrashRun

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
