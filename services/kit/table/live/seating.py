"""The seats of one table, which follow the sessions that the wallet reports."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import session_pb2
from services.kit.table.seat import Seat

# Sessions that ended last, so that a late report of one seats nobody (G11).
ENDED_SESSIONS_REMEMBERED = 1_000


class Seating:
    """Keeps a seat for a player as long as their session lasts."""

    def __init__(self, publish: Callable[[events_pb2.TableEvent], None], on_change: Callable[[], None]) -> None:
        """Calls `on_change` when a seat was taken or left."""
        self._publish = publish
        self._on_change = on_change
        self._seats: dict[str, Seat] = {}
        self._ending: set[str] = set()
        # Sessions that have ended, whose seats are kept until the results of the round are published.
        self._kept: set[str] = set()
        self._ended: deque[str] = deque(maxlen=ENDED_SESSIONS_REMEMBERED)
        # The seats that players have asked for who are about to sit down.
        self._wanted: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._seats)

    def seat_of(self, player_id: str) -> Seat | None:
        return self._seats.get(player_id)

    def seats(self) -> list[Seat]:
        return list(self._seats.values())

    def session_ids(self) -> list[str]:
        return [seat.session_id for seat in self._seats.values()]

    @property
    def has_ending_session(self) -> bool:
        """Whether a session takes no more bets and waits for the end of the round."""
        return any(seat.session_id in self._ending for seat in self._seats.values())

    def is_ending(self, player_id: str) -> bool:
        """Whether a player's session takes no more bets and waits for the end of the round."""
        seat = self._seats.get(player_id)
        return seat is not None and seat.session_id in self._ending

    def holder_of(self, number: int) -> str | None:
        """Returns the player who sits on a seat; None if it is free."""
        return next((seat.player_id for seat in self._seats.values() if seat.number == number), None)

    def is_free_for(self, player_id: str, number: int) -> bool:
        """Whether a player may ask for a seat: nobody else has it, nor is just sitting down there."""
        others = {other for other, wanted in self._wanted.items() if wanted == number}
        return {self.holder_of(number), *others} <= {None, player_id}

    def seat_session(self, session: session_pb2.Session) -> None:
        """Seats the player of a session that is running or ending."""
        if session.session_id in self._ended:
            # A late answer, or the first answer again to a request to enter that is repeated after the player has left.
            return
        if session.state == session_pb2.SESSION_STATE_ENDING:
            self._ending.add(session.session_id)
        present = self._seats.get(session.player_id)
        if present is not None and present.session_id == session.session_id:
            return
        number = present.number if present else self._free_number(session.player_id)
        self._seats[session.player_id] = Seat(number, session.player_id, session.account_id, session.session_id)
        if present is None:
            self._publish(events_pb2.TableEvent(seat_taken=events_pb2.SeatTaken(seat=number)))
        self._on_change()

    def sit(self, seat: Seat) -> None:
        """Seats a player whom no session seats, on a seat that is free."""
        if self._seats.get(seat.player_id) == seat:
            return
        self.stand(seat.player_id)
        self._seats[seat.player_id] = seat
        self._publish(events_pb2.TableEvent(seat_taken=events_pb2.SeatTaken(seat=seat.number)))
        self._on_change()

    def stand(self, player_id: str) -> None:
        """Frees the seat of a player whom no session seats."""
        seat = self._seats.pop(player_id, None)
        if seat is not None:
            self._publish(events_pb2.TableEvent(seat_left=events_pb2.SeatLeft(seat=seat.number)))
            self._on_change()

    def note_ending(self, session_id: str) -> None:
        """Notes that a session takes no more bets and is about to end."""
        if any(seat.session_id == session_id for seat in self._seats.values()):
            self._ending.add(session_id)

    def want_seat(self, player_id: str, number: int) -> None:
        """Notes which seat a player has asked for, until they sit down; 0 for any."""
        if number:
            self._wanted[player_id] = number

    def forget_wanted(self, player_id: str) -> None:
        """Forgets what seat a player has asked for: they sit, or do not come."""
        self._wanted.pop(player_id, None)

    def _free_number(self, player_id: str) -> int:
        """Returns the seat that a player has asked for, if it is free, or the lowest that nobody has asked for."""
        taken = {seat.number for seat in self._seats.values()}
        wanted = self._wanted.get(player_id)
        if wanted is not None and wanted not in taken:
            return wanted
        others = taken | {number for other, number in self._wanted.items() if other != player_id}
        return next(number for number in range(1, len(others) + 2) if number not in others)

    def keep_until_result(self, session_id: str) -> None:
        """Keeps the seat of an ended session until the round in which it has a stake is settled."""
        self._kept.add(session_id)

    def free_kept_seats(self) -> None:
        """Frees the seats that were kept for the result."""
        kept, self._kept = self._kept, set()
        self.free_seats(kept)

    def free_seats(self, session_ids: Iterable[str]) -> None:
        """Frees the seats of sessions that have ended."""
        ended = set(session_ids)
        for player_id, seat in list(self._seats.items()):
            if seat.session_id in ended:
                del self._seats[player_id]
                self._publish(events_pb2.TableEvent(seat_left=events_pb2.SeatLeft(seat=seat.number)))
        self._ending -= ended
        self._ended.extend(ended)
        self._on_change()
