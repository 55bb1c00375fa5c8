"""A clock that stands while the event loop does not run, so that deadlines do not depend on how busy the machine is."""

from __future__ import annotations

import asyncio

from services.kit import background
from services.kit.clock import seconds_since_boot

TICK_S = 0.005
# No more than this is counted of a time in which the loop did not run.
LONGEST_STEP_S = 0.02


class LoopClock:
    """A clock for everything on the loop that it is made on."""

    def __init__(self) -> None:
        self._now = 0.0
        self._ticking = asyncio.create_task(self._tick())

    def __call__(self) -> float:
        return self._now

    async def stop(self) -> None:
        """Stops the clock: what waits for this time waits for ever."""
        await background.cancel_and_wait([self._ticking])

    async def _tick(self) -> None:
        last = seconds_since_boot()
        while True:
            await asyncio.sleep(TICK_S)
            now = seconds_since_boot()
            self._now += min(now - last, LONGEST_STEP_S)
            last = now
