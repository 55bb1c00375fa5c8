"""Who sits at one table, by the sessions that the wallet tells of."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import session_pb2
from services.kit.table.banked.felt import Seat

# Sessions that have ended lately: what is heard of them late is not believed (G11).
ENDED_SESSIONS_REMEMBERED = 1_000


class Seating:
    """The seats of a table. A seat is its player's for as long as his session lasts."""

    def __init__(self, publish: Callable[[events_pb2.TableEvent], None]) -> None:
        self._say = publish
        self._seats: dict[str, Seat] = {}
        self._ending: set[str] = set()
        # Over, but their seats are kept until the round in which they have a stake is told.
        self._over: set[str] = set()
        self._ended: deque[str] = deque(maxlen=ENDED_SESSIONS_REMEMBERED)

    def __len__(self) -> int:
        return len(self._seats)

    def seat_of(self, player_id: str) -> Seat | None:
        return self._seats.get(player_id)

    def session_ids(self) -> list[str]:
        return [seat.session_id for seat in self._seats.values()]

    @property
    def has_ending_session(self) -> bool:
        """A session takes no more bets and waits for the end of the round."""
        return any(seat.session_id in self._ending for seat in self._seats.values())

    def seat_session(self, session: session_pb2.Session) -> None:
        """A session runs, or is ending."""
        if session.session_id in self._ended:
            # The first answer to a click on «enter» that was repeated after he had left, or one that took its time.
            return
        if session.state == session_pb2.SESSION_STATE_ENDING:
            self._ending.add(session.session_id)
        known = self._seats.get(session.player_id)
        if known is not None and known.session_id == session.session_id:
            return
        taken = {seat.number for seat in self._seats.values()}
        number = known.number if known else next(n for n in range(1, len(taken) + 2) if n not in taken)
        self._seats[session.player_id] = Seat(number, session.player_id, session.account_id, session.session_id)
        if known is None:
            self._say(events_pb2.TableEvent(seat_taken=events_pb2.SeatTaken(seat=number)))

    def keep_until_result(self, session_id: str) -> None:
        """The session is over, the round in which it has a stake is not."""
        self._over.add(session_id)

    def free_kept_seats(self) -> None:
        over, self._over = self._over, set()
        self.free_seats(over)

    def free_seats(self, session_ids: Iterable[str]) -> None:
        """These sessions are over."""
        gone = set(session_ids)
        for player_id, seat in list(self._seats.items()):
            if seat.session_id in gone:
                del self._seats[player_id]
                self._say(events_pb2.TableEvent(seat_left=events_pb2.SeatLeft(seat=seat.number)))
        self._ending -= gone
        self._ended.extend(gone)
