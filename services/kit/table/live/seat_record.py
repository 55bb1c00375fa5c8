"""Keeps on record who sits where at one table, behind the table's back: no player waits for it.

Only the difference between the seats and the record is written, so nothing queues up, however often players come and go
while the database is away (G11).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Protocol

from services.kit import background
from services.kit.clock import Clock
from services.kit.table.fencing import StaleOwner
from services.kit.table.journal.seats import KeptSeat
from services.kit.table.seat import Seat

# The pause after a failure, doubled each time up to the longest (G11).
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 5.0
# How long a table that is handed over waits for its last seats to be on record.
FLUSH_TIMEOUT_S = 1.0

_log = logging.getLogger(__name__)


class SeatStore(Protocol):
    """Keeps the seats of the tables of one game; every write is fenced by the writer's epoch (G8)."""

    async def take(self, placement_id: str, table_id: str, epoch: int, seat: KeptSeat) -> None: ...

    async def leave(
        self, placement_id: str, table_id: str, epoch: int, seat: int, session_id: str, at: datetime
    ) -> None: ...

    async def of_table(self, table_id: str) -> list[KeptSeat]: ...

    async def keep_lineup(self, placement_id: str, table_id: str, epoch: int, state: bytes, at: datetime) -> None: ...

    async def lineup(self, table_id: str) -> bytes: ...


class SeatRecord:
    """The seats of one table, as its owner of one epoch keeps them on record."""

    def __init__(self, store: SeatStore, placement_id: str, table_id: str, epoch: int, clock: Clock) -> None:
        self._store = store
        self._placement_id = placement_id
        self._table_id = table_id
        self._epoch = epoch
        self._clock = clock
        # By session, as everything here: a player who comes again has another one.
        self._seats: dict[str, KeptSeat] = {}
        self._recorded: dict[str, KeptSeat] = {}
        self._changed = asyncio.Event()
        self._written = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None

    async def read(self) -> list[KeptSeat]:
        """Reads the seats that a former owner has left on record."""
        kept = await self._store.of_table(self._table_id)
        self._recorded = {seat.session_id: seat for seat in kept}
        return kept

    def note(self, seats: Iterable[Seat]) -> None:
        """Notes who sits where now."""
        now = self._clock.now()
        self._seats = {
            seat.session_id: KeptSeat(seat.number, seat.player_id, seat.account_id, seat.session_id, now)
            for seat in seats
        }
        self._written.clear()
        self._changed.set()

    def start(self) -> None:
        """Writes what changes, until `close`."""
        self._changed.set()
        self._writing = asyncio.create_task(self._write())

    async def close(self) -> None:
        """Writes nothing more; what is left a moment later, the next owner learns from the sessions."""
        if self._writing is not None:
            if not self._writing.done():
                await background.wait_for_event(self._written, FLUSH_TIMEOUT_S)
            await background.cancel_and_wait([self._writing])

    async def _write(self) -> None:
        pause_s = FIRST_PAUSE_S
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                await self._write_difference()
            except StaleOwner:
                # The next owner keeps the record.
                self._written.set()
                return
            except Exception as failed:  # noqa: BLE001 - no fault here stops the table
                _log.warning("seats are not on record yet", extra={"table_id": self._table_id, "error": str(failed)})
                await asyncio.sleep(pause_s)
                pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
                await self._read_again()
                self._changed.set()
            else:
                pause_s = FIRST_PAUSE_S

    async def _write_difference(self) -> None:
        """Writes the seats that were left, and then those that were taken: others may sit there now."""
        store = self._store
        for left in [seat for session_id, seat in self._recorded.items() if not self._is_seated(session_id, seat)]:
            await store.leave(
                self._placement_id, self._table_id, self._epoch, left.seat, left.session_id, self._clock.now()
            )
            del self._recorded[left.session_id]
        for taken in [seat for session_id, seat in self._seats.items() if session_id not in self._recorded]:
            await store.take(self._placement_id, self._table_id, self._epoch, taken)
            self._recorded[taken.session_id] = taken
        if not self._changed.is_set():
            self._written.set()

    def _is_seated(self, session_id: str, recorded: KeptSeat) -> bool:
        seat = self._seats.get(session_id)
        return seat is not None and seat.seat == recorded.seat

    async def _read_again(self) -> None:
        """Reads what is on record, whatever became of the write that failed."""
        try:
            await self.read()
        except Exception as failed:  # noqa: BLE001 - it is tried again
            _log.warning("seats on record cannot be read", extra={"table_id": self._table_id, "error": str(failed)})
