"""When a decision is due: no time runs before the cards lie on the table, nor while the wallet is asked for money."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from feltro.table.v1 import types_pb2
from services.kit.table.game import Turn
from services.kit.wire_format import timestamp

# How the turn after the deal is named.
FIRST_TURN = 1


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a round with decisions goes on."""

    dealing: timedelta
    """How long one card takes to be dealt."""
    decision: timedelta | None
    """How long a player has for a decision; None where all of them are due at one deadline."""
    deadline: datetime | None
    """Of an individual hand, which stays open for its player: when the published defaults are taken."""


def next_turn_number(number: int, before: Turn | None, after: Turn | None, position: int) -> int:
    """Returns how the turn is named after so many decisions; a question to several seats keeps its name."""
    if after is None:
        return 0
    same_question = before is not None and before.at_once and after.at_once
    return number if same_question else position + 1


class TurnClock:
    """Names the turn under way and says until when it may be decided."""

    def __init__(self, pace: Pace, turn: Turn | None, number: int, shown_at: datetime, now: datetime) -> None:
        """`shown_at` is when the cards lie: at a takeover perhaps long ago, and the time to decide begins again."""
        self._pace = pace
        self._turn = turn
        self.number = number
        # When the cards that were dealt last lie on the table.
        self.shown_at = shown_at
        # Since when it stands still.
        self._still_since: datetime | None = None
        self.decide_by = self._due(max(now, shown_at))

    def go_on(self, turn: Turn | None, position: int, cards_dealt: int, now: datetime) -> None:
        """Notes the turn after so many decisions, the last of which has brought so many cards."""
        self.shown_at = max(now, self.shown_at) + self._pace.dealing * cards_dealt
        number = next_turn_number(self.number, self._turn, turn, position)
        is_new = number != self.number
        self._turn, self.number = turn, number
        if is_new:
            self.decide_by = self._due(self.shown_at)

    def _due(self, begins_at: datetime) -> datetime | None:
        """Returns until when a turn may be decided that begins then."""
        if self._turn is None:
            return None
        return self._pace.deadline if self._pace.decision is None else begins_at + self._pace.decision

    @contextmanager
    def standing_still(self, now: Callable[[], datetime]) -> Iterator[None]:
        """Stands still while money is asked for: nobody's time is up meanwhile, and afterwards it is given back."""
        self._still_since = now()
        try:
            yield
        finally:
            if self._pace.decision is not None and self.decide_by is not None:
                self.decide_by += now() - self._still_since
            self._still_since = None

    def is_up(self, now: datetime) -> bool:
        """Whether the time to decide is over."""
        return self.decide_by is not None and (self._still_since or now) >= self.decide_by

    def message(self) -> types_pb2.Turn | None:
        """Builds the public message of the turn; None if nobody decides."""
        if self._turn is None:
            return None
        return types_pb2.Turn(
            turn=self.number,
            seats=self._turn.seats,
            decide_by=None if self.decide_by is None else timestamp(self.decide_by),
        )
