"""The waiting list of a full table: who comes first gets the next free seat, which is kept for a while.

The regulations leave it open for tables that are always open (A-27).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from feltro.table.v1 import events_pb2, kept_pb2
from services.kit.table import refusals
from services.kit.wire_format import timestamp

# Players who may wait at one table (G11).
WAITING_LIMIT = 50
# How long a free seat is kept for the first on the list.
SEAT_KEPT_FOR = timedelta(seconds=30)


@dataclass(frozen=True, slots=True)
class _KeptSeat:
    seat: int
    until: datetime


class WaitingList:
    """Who waits for a seat, the first in line first."""

    def __init__(self, table_id: str) -> None:
        self._table_id = table_id
        self._waiting: dict[str, _KeptSeat | None] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, player_id: object) -> bool:
        return player_id in self._waiting

    def join(self, player_id: str) -> None:
        """Puts a player at the end; a waiting player keeps their place."""
        if player_id in self._waiting:
            return
        if len(self._waiting) >= WAITING_LIMIT:
            raise refusals.waiting_list_full(self._table_id, WAITING_LIMIT)
        self._waiting[player_id] = None

    def leave(self, player_id: str) -> None:
        """Takes a player off the list."""
        self._waiting.pop(player_id, None)

    def kept_seats(self) -> dict[str, int]:
        """Returns the seats that are kept, by their players."""
        return {player_id: kept.seat for player_id, kept in self._waiting.items() if kept is not None}

    def next_end(self) -> datetime | None:
        """Returns the time at which the next kept seat becomes free for all."""
        return min((kept.until for kept in self._waiting.values() if kept is not None), default=None)

    def follow(self, free_seats: Collection[int], now: datetime) -> None:
        """Keeps free seats for those who come first; who has not taken theirs in time is off the list."""
        for player_id, kept in list(self._waiting.items()):
            if kept is not None and now >= kept.until:
                del self._waiting[player_id]
            elif kept is not None and kept.seat not in free_seats:
                self._waiting[player_id] = None
        taken = set(self.kept_seats().values())
        free = iter(sorted(set(free_seats) - taken))
        for player_id, kept in self._waiting.items():
            if kept is None:
                seat = next(free, None)
                if seat is None:
                    return
                self._waiting[player_id] = _KeptSeat(seat, now + SEAT_KEPT_FOR)

    def places(self) -> dict[str, events_pb2.WaitingPlace]:
        """Builds the message of their place for each waiting player."""
        return {player_id: self._place(at, kept) for at, (player_id, kept) in enumerate(self._waiting.items(), 1)}

    @staticmethod
    def _place(position: int, kept: _KeptSeat | None) -> events_pb2.WaitingPlace:
        if kept is None:
            return events_pb2.WaitingPlace(position=position)
        return events_pb2.WaitingPlace(position=position, seat=kept.seat, kept_until=timestamp(kept.until))

    def messages(self) -> Iterator[kept_pb2.KeptWaiting]:
        """Builds what is kept on record."""
        for player_id, kept in self._waiting.items():
            yield kept_pb2.KeptWaiting(
                player_id=player_id,
                seat=0 if kept is None else kept.seat,
                kept_until=None if kept is None else timestamp(kept.until),
            )

    def restore(self, messages: Iterable[kept_pb2.KeptWaiting]) -> None:
        """Goes on with the list of a former owner."""
        for each in messages:
            until = each.kept_until.ToDatetime(UTC)
            self._waiting[each.player_id] = _KeptSeat(each.seat, until) if each.seat else None
