"""Keeps who sits where: a seat that a player has chosen outlives the process that runs the table.

Every write is fenced by the epoch of the writer's lease (G8). A seat that was left stays on record. Of a table with
caves the state of its lineup is kept, too: the last one alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.table.fencing import StaleOwner

# Waits for a takeover of the placement that is under way.
_FENCE = text("SELECT epoch FROM placements WHERE placement_id = :placement_id FOR SHARE")
_TAKE = text("""
INSERT INTO seats (placement_id, table_id, seat, player_id, account_id, session_id, epoch, taken_at)
VALUES (:placement_id, :table_id, :seat, :player_id, :account_id, :session_id, :epoch, :at)
""")
_LEAVE = text("""
UPDATE seats SET left_at = :at
WHERE table_id = :table_id AND seat = :seat AND session_id = :session_id AND left_at IS NULL
""")
_OF_TABLE = text("""
SELECT seat, player_id, account_id, session_id, taken_at FROM seats
WHERE table_id = :table_id AND left_at IS NULL ORDER BY seat
""")
_KEEP_LINEUP = text("""
INSERT INTO kept_lineups (table_id, placement_id, epoch, state, kept_at)
VALUES (:table_id, :placement_id, :epoch, :state, :at)
ON CONFLICT (table_id) DO UPDATE SET epoch = :epoch, state = :state, kept_at = :at
""")
_LINEUP = text("SELECT state FROM kept_lineups WHERE table_id = :table_id")


class SeatTaken(Exception):
    """Another player has the seat, or the player has another seat at the table."""


@dataclass(frozen=True, slots=True)
class KeptSeat:
    """A seat with its player."""

    seat: int
    player_id: str
    account_id: str
    session_id: str
    taken_at: datetime


class Seats:
    """The seats of the tables of one game."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine

    async def take(self, placement_id: str, table_id: str, epoch: int, seat: KeptSeat) -> None:
        """Gives a seat to a player; a seat that the same session has already stays as it is."""
        values = {
            "placement_id": placement_id,
            "table_id": table_id,
            "epoch": epoch,
            "seat": seat.seat,
            "player_id": seat.player_id,
            "account_id": seat.account_id,
            "session_id": seat.session_id,
            "at": seat.taken_at,
        }
        try:
            async with self._engine.begin() as connection:
                await _verify_epoch(connection, placement_id, epoch)
                for held in await self._read(connection, table_id):
                    if (held.seat, held.player_id, held.session_id) == (seat.seat, seat.player_id, seat.session_id):
                        return
                await connection.execute(_TAKE, values)
        except IntegrityError as violated:
            raise SeatTaken(f"seat {seat.seat} of {table_id} cannot be {seat.player_id}'s") from violated

    async def leave(
        self, placement_id: str, table_id: str, epoch: int, seat: int, session_id: str, at: datetime
    ) -> None:
        """Frees the seat of a session; a seat that it has left already stays as it is."""
        async with self._engine.begin() as connection:
            await _verify_epoch(connection, placement_id, epoch)
            await connection.execute(_LEAVE, {"table_id": table_id, "seat": seat, "session_id": session_id, "at": at})

    async def of_table(self, table_id: str) -> list[KeptSeat]:
        """Returns the seats that are taken, by their numbers."""
        async with self._engine.connect() as connection:
            return await self._read(connection, table_id)

    async def keep_lineup(self, placement_id: str, table_id: str, epoch: int, state: bytes, at: datetime) -> None:
        """Keeps what a next owner of a table with caves goes on with, besides seats; it replaces what was kept."""
        values = {"table_id": table_id, "placement_id": placement_id, "epoch": epoch, "state": state, "at": at}
        async with self._engine.begin() as connection:
            await _verify_epoch(connection, placement_id, epoch)
            await connection.execute(_KEEP_LINEUP, values)

    async def lineup(self, table_id: str) -> bytes:
        """Returns what was kept of a table's lineup; nothing if it never was."""
        async with self._engine.connect() as connection:
            return (await connection.execute(_LINEUP, {"table_id": table_id})).scalar_one_or_none() or b""

    async def _read(self, connection: AsyncConnection, table_id: str) -> list[KeptSeat]:
        return [KeptSeat(*row) for row in await connection.execute(_OF_TABLE, {"table_id": table_id})]


async def _verify_epoch(connection: AsyncConnection, placement_id: str, epoch: int) -> None:
    if (await connection.execute(_FENCE, {"placement_id": placement_id})).scalar_one_or_none() != epoch:
        raise StaleOwner
