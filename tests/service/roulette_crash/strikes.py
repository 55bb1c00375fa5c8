"""Kills whatever the casino runs on, at moments that dice decide."""

from __future__ import annotations

import asyncio
from random import Random

from tests.service.roulette_crash.casino import Casino

# Bets between one strike and the next.
FEWEST, MOST = 1, 80
LONGEST_DOWN_S = 1.5
# No strike may stop the casino for longer.
BETS_AGAIN_WITHIN_S = 60.0


class Strikes:
    """Everything is hit in turn, in an order and at moments of its own; sometimes two parts at once."""

    def __init__(self, casino: Casino, dice: Random) -> None:
        self._casino = casino
        self._dice = dice
        self._left: list[str] = []

    async def strike(self) -> None:
        """Waits for some bets, kills, and starts again what was killed."""
        await self._casino.bets(self._dice.randint(FEWEST, MOST), BETS_AGAIN_WITHIN_S)
        # Somewhere within a round, and not only after an answer.
        await asyncio.sleep(self._dice.uniform(0, 0.3))
        victims = [self._next()]
        if self._dice.randint(1, 3) == 1 and self._left and self._left[-1] != victims[0]:
            victims.append(self._next())
        self._casino.tell(f"kill -9 {' and '.join(victims)}")
        for name in victims:
            await asyncio.to_thread(self._casino.machines.kill, name)
        await asyncio.gather(*(self._start_again(name, self._dice.uniform(0, LONGEST_DOWN_S)) for name in victims))

    async def _start_again(self, name: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        self._casino.machines.start(name)

    def _next(self) -> str:
        if not self._left:
            self._left = self._dice.sample(sorted(self._casino.machines.parts), len(self._casino.machines.parts))
        return self._left.pop()
