"""Seconds as an event loop lives them: on a machine that is busy with other things they pass more slowly than outside.

What has to happen in time is judged by these: a loop that was not let run was not late.
"""

from __future__ import annotations

import asyncio

from services.kit import background
from services.kit.clock import seconds_since_boot

LOOK_EVERY_S = 0.005
# However long the loop stood still, it has not lived more of it.
LONGEST_STEP_S = 0.02


class LoopClock:
    """A clock for all that runs on the loop it is made on."""

    def __init__(self) -> None:
        self._now = 0.0
        self._passing = asyncio.create_task(self._pass())

    def __call__(self) -> float:
        return self._now

    async def stop(self) -> None:
        """From now on no time passes, and nothing that is waited for by this clock comes."""
        await background.cancel_and_wait([self._passing])

    async def _pass(self) -> None:
        last = seconds_since_boot()
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            now = seconds_since_boot()
            self._now += min(now - last, LONGEST_STEP_S)
            last = now
