"""Keeps on record what a next owner of a table goes on with: who sits out, time banks, rests, and who waits.

It is written behind the table's back, the newest state alone, so nothing queues up while the database is away (G11).
"""

from __future__ import annotations

import asyncio
import logging

from feltro.table.v1 import kept_pb2
from services.kit import background
from services.kit.clock import Clock
from services.kit.table.fencing import StaleOwner
from services.kit.table.live.seat_record import FIRST_PAUSE_S, FLUSH_TIMEOUT_S, LONGEST_PAUSE_S, SeatStore

_log = logging.getLogger(__name__)


class LineupRecord:
    """The record of one table, as its owner of one epoch keeps it."""

    def __init__(self, store: SeatStore, placement_id: str, table_id: str, epoch: int, clock: Clock) -> None:
        self._store = store
        self._placement_id = placement_id
        self._table_id = table_id
        self._epoch = epoch
        self._clock = clock
        self._state = self._written = b""
        self._settled = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    async def read(self) -> kept_pb2.KeptLineup:
        """Reads what a former owner has left on record."""
        self._state = self._written = await self._store.lineup(self._table_id)
        return kept_pb2.KeptLineup.FromString(self._state)

    def note(self, kept: kept_pb2.KeptLineup) -> None:
        """Notes the state of the table."""
        self._state = kept.SerializeToString(deterministic=True)
        if self._state == self._written:
            return
        self._settled.clear()
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())

    async def flush(self) -> bool:
        """Waits a moment until what was noted is on record; returns whether it is."""
        if self._state != self._written:
            await background.wait_for_event(self._settled, FLUSH_TIMEOUT_S)
        return self._state == self._written

    async def close(self) -> None:
        """Writes nothing more."""
        if self._writing is not None:
            if not self._writing.done():
                await self.flush()
            await background.cancel_and_wait([self._writing])

    async def _write(self) -> None:
        """Writes until the record is as the table is."""
        pause_s = FIRST_PAUSE_S
        while self._state != self._written:
            state = self._state
            try:
                await self._store.keep_lineup(self._placement_id, self._table_id, self._epoch, state, self._clock.now())
            except StaleOwner:
                # The next owner keeps the record.
                break
            except Exception as failed:  # noqa: BLE001 - no fault here stops the table
                _log.warning("a lineup is not on record yet", extra={"table_id": self._table_id, "error": str(failed)})
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
            else:
                self._written = state
                pause_s = FIRST_PAUSE_S
        self._settled.set()
