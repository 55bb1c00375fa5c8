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
NO_TIME = timedelta(0)


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


def no_bank(_: Turn) -> timedelta:
    """Gives no player a time bank."""
    return NO_TIME


class TurnClock:
    """Names the turn under way and says until when it may be decided."""

    def __init__(
        self,
        pace: Pace,
        turn: Turn | None,
        number: int,
        shown_at: datetime,
        now: datetime,
        bank_of: Callable[[Turn], timedelta] = no_bank,
    ) -> None:
        """`shown_at` is when the cards lie: at a takeover perhaps long ago, and the time to decide begins again.

        `bank_of` says how much extra time the player in turn has when it begins.
        """
        self._pace = pace
        self._turn = turn
        self._bank_of = bank_of
        self.number = number
        # When the cards that were dealt last lie on the table.
        self.shown_at = shown_at
        # Since when it stands still: for the wallet, and because the platform's line to the player has failed.
        self._still_since: datetime | None = None
        self.paused_since: datetime | None = None
        # From when extra time is used up, how much of it was in the bank, and until when the turn may be decided.
        self.extra_from: datetime | None = None
        self._bank = self._spent_before_pause = NO_TIME
        self.decide_by: datetime | None = None
        self._begin(max(now, shown_at))

    def go_on(self, turn: Turn | None, position: int, cards_dealt: int, now: datetime) -> None:
        """Notes the turn after so many decisions, the last of which has brought so many cards."""
        self.deal(cards_dealt, now)
        number = next_turn_number(self.number, self._turn, turn, position)
        is_new = number != self.number
        self._turn, self.number = turn, number
        if is_new:
            self._spent_before_pause = NO_TIME
            self._begin(self.shown_at)

    def deal(self, cards: int, now: datetime) -> None:
        """Notes that so many cards are being dealt."""
        self.shown_at = max(now, self.shown_at) + self._pace.dealing * cards

    def _begin(self, at: datetime, bank: timedelta | None = None) -> None:
        """Begins the time of the turn, with what its player has in the bank."""
        self.paused_since = self.extra_from = self.decide_by = None
        self._bank = NO_TIME
        if self._turn is None:
            return
        if self._pace.decision is None:
            self.decide_by = self._pace.deadline
            return
        self._bank = self._bank_of(self._turn) if bank is None else bank
        due_at = at + self._pace.decision
        self.decide_by = due_at + self._bank
        self.extra_from = due_at if self._bank else None

    def spent(self, now: datetime) -> timedelta:
        """Returns how much of the bank this turn has used up."""
        if self.extra_from is None:
            return self._spent_before_pause
        used = min(max((self.paused_since or now) - self.extra_from, NO_TIME), self._bank)
        return self._spent_before_pause + used

    @contextmanager
    def standing_still(self, now: Callable[[], datetime]) -> Iterator[None]:
        """Stands still while money is asked for: nobody's time is up meanwhile, and afterwards it is given back."""
        self._still_since = now()
        try:
            yield
        finally:
            if self._pace.decision is not None and self.decide_by is not None:
                stood = now() - self._still_since
                self.decide_by += stood
                self.extra_from = None if self.extra_from is None else self.extra_from + stood
            self._still_since = None

    def pause(self, now: datetime) -> None:
        """Stands still until `resume`, because the player cannot be reached and it is the platform's doing."""
        self.paused_since = now

    def resume(self, now: datetime) -> None:
        """Goes on with a fresh time to decide, and what was left in the bank (A-28)."""
        spent, bank = self.spent(now), self._bank + self._spent_before_pause
        self._spent_before_pause = spent
        self._begin(max(now, self.shown_at), bank - spent)

    def add(self, extra: timedelta, now: datetime) -> None:
        """Gives the turn more time."""
        if self.decide_by is not None:
            begins = max(now, self.decide_by)
            self.extra_from = self.extra_from or begins
            self.decide_by = begins + extra

    def is_up(self, now: datetime) -> bool:
        """Whether the time to decide is over."""
        return self.decide_by is not None and (self._still_since or self.paused_since or now) >= self.decide_by

    def message(self) -> types_pb2.Turn | None:
        """Builds the public message of the turn; None if nobody decides."""
        if self._turn is None:
            return None
        return types_pb2.Turn(
            turn=self.number,
            seats=self._turn.seats,
            decide_by=timestamp(self.decide_by),
            extra_time_from=timestamp(self.extra_from),
            paused_since=timestamp(self.paused_since),
        )
