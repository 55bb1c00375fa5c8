"""Removes revocations that have expired, from time to time."""

from __future__ import annotations

import asyncio
import logging

from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.clock import Clock
from services.wallet.revocations import rows

SWEEP_EVERY_S = 60.0
# Rows of one transaction (G11).
SWEEP_ROWS_LIMIT = 5_000

_log = logging.getLogger(__name__)


class RevocationSweep:
    """Sweeps in every replica: what one has removed the others do not find."""

    def __init__(self, engine: AsyncEngine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    async def run(self) -> None:
        """Sweeps until it is cancelled, also while the database is away."""
        while True:
            try:
                while await self.sweep() == SWEEP_ROWS_LIMIT:
                    pass
            except Exception:  # noqa: BLE001 - whatever failed, the next sweep tries again
                _log.exception("expired revocations could not be removed")
            await asyncio.sleep(SWEEP_EVERY_S)

    async def sweep(self) -> int:
        """Removes some expired revocations; returns how many."""
        async with self._engine.begin() as connection:
            return await rows.remove_expired(connection, self._clock.now(), SWEEP_ROWS_LIMIT)
