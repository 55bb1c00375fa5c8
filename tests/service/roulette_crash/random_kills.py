"""Kills whatever the casino runs on, at moments that dice decide."""

from __future__ import annotations

import asyncio
from random import Random

from tests.service.roulette_crash.crash_run import CrashRun

# Bets between one strike and the next.
MIN_BETS_BETWEEN_KILLS, MAX_BETS_BETWEEN_KILLS = 1, 80
LONGEST_DOWN_S = 1.5
# No strike may stop the casino for longer.
BETS_RESUME_WITHIN_S = 60.0


class RandomKills:
    """Everything is hit in turn, in an order and at moments of its own; sometimes two parts at once."""

    def __init__(self, casino: CrashRun, dice: Random) -> None:
        self._casino = casino
        self._dice = dice
        self._left: list[str] = []

    async def kill_and_restart(self) -> None:
        """Waits for some bets, kills, and starts again what was killed."""
        await self._casino.wait_for_bets(
            self._dice.randint(MIN_BETS_BETWEEN_KILLS, MAX_BETS_BETWEEN_KILLS), BETS_RESUME_WITHIN_S
        )
        # Somewhere within a round, and not only after an answer.
        await asyncio.sleep(self._dice.uniform(0, 0.3))
        victims = [self._next()]
        if self._dice.randint(1, 3) == 1 and self._left and self._left[-1] != victims[0]:
            victims.append(self._next())
        self._casino.report(f"kill -9 {' and '.join(victims)}")
        for name in victims:
            await asyncio.to_thread(self._casino.processes.kill, name)
        await asyncio.gather(*(self._start_again(name, self._dice.uniform(0, LONGEST_DOWN_S)) for name in victims))

    async def _start_again(self, name: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        self._casino.processes.start(name)

    def _next(self) -> str:
        if not self._left:
            self._left = self._dice.sample(sorted(self._casino.processes.by_name), len(self._casino.processes.by_name))
        return self._left.pop()
