"""When a decision is due: no time runs before the cards lie on the table, nor while the wallet is asked for money."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from feltro.table.v1 import types_pb2
from services.kit.table.game import Turn
from services.kit.wire_format import timestamp


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast a round with decisions goes on."""

    dealing: timedelta
    """How long one card takes to be dealt."""
    decision: timedelta | None
    """How long a player has for a decision; None where all of them are due at one deadline."""
    deadline: datetime | None
    """Of an individual hand, which stays open for its player: when the published defaults are taken."""


class TurnClock:
    """Names the turn under way and says until when it may be decided."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self._turn: Turn | None = None
        self.number = 0
        self.decide_by: datetime | None = None
        # When the cards that were dealt last lie on the table.
        self.shown_at: datetime | None = None

    def go_on(self, turn: Turn | None, next_position: int, cards_dealt: int, now: datetime) -> None:
        """Notes the turn after a deal or a decision, which has brought so many cards."""
        begun = now if self.shown_at is None else max(now, self.shown_at)
        self.shown_at = begun + self._pace.dealing * cards_dealt if cards_dealt else begun
        is_same_question = self._turn is not None and self._turn.at_once and turn is not None and turn.at_once
        self._turn = turn
        if turn is None:
            self.number, self.decide_by = 0, None
        elif not is_same_question:
            self.number = next_position
            self.decide_by = self._pace.deadline if self._pace.decision is None else self.shown_at + self._pace.decision

    def stand_still_for(self, duration: timedelta) -> None:
        """Gives back the time for which a player could not decide because money was asked for."""
        if self._pace.decision is not None and self.decide_by is not None:
            self.decide_by += duration

    def is_up(self, now: datetime) -> bool:
        """Whether the time to decide is over."""
        return self.decide_by is not None and now >= self.decide_by

    def message(self) -> types_pb2.Turn | None:
        """Builds what everybody is told of the turn; None if nobody decides."""
        if self._turn is None:
            return None
        return types_pb2.Turn(
            turn=self.number,
            seats=self._turn.seats,
            decide_by=None if self.decide_by is None else timestamp(self.decide_by),
        )
