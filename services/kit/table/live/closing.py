"""When a round takes no more bets, and on whose word: the clock's, the player's, or the platform's for an absent one.

At a table of many the clock closes. An individual round waits for its player, but not for ever: the platform launches
the ball for one whose session has ended with a bet on the felt (GLI-19 4.16), and where the table is handed over. His
bets stand.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Generic

from services.kit.clock import Clock
from services.kit.table.banked.round import Round
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import DrawTrigger
from services.kit.table.live.dependencies import TableHost
from services.kit.table.live.seating import Seating

# At an individual table that is handed over: how long a player with a bet on it may still launch the ball himself.
HANDOVER_DRAW_TIMEOUT_S = 10.0
ALL_BETS_CANCELLED = "every bet was taken back"


class BettingClose(Generic[Bets, Outcome]):
    """The close of one round."""

    def __init__(
        self, round_: Round[Bets, Outcome], seating: Seating, host: TableHost[Bets, Outcome], clock: Clock
    ) -> None:
        self._round = round_
        self._seating = seating
        self._premises = host
        self._clock = clock
        self._given_up_at: datetime | None = None

    @property
    def _untouched(self) -> bool:
        """An individual round that nobody has bet in: it never was, and takes no more bets without being launched."""
        return self._round.closes_at is None and self._round.felt.is_empty and not self._round.opening_journalled

    def is_due(self, *, handing_over: bool) -> bool:
        """Whether the round takes no more bets; if it is to be drawn, the round says on whose word."""
        round_ = self._round
        if round_.failed or round_.void_reason or round_.draw_trigger:
            return True
        if self._untouched:
            return handing_over or self._may_not_begin()
        if self._emptied and (handing_over or self._deserted):
            # There is nobody and nothing to launch the ball for.
            round_.void_reason = ALL_BETS_CANCELLED
            return True
        round_.draw_trigger = self._on_whose_word(leaving=handing_over)
        return bool(round_.draw_trigger)

    def next_check_s(self) -> float | None:
        """How soon it may be due although nothing has changed.

        Counted anew each time: neither what wakes the table in between nor a timer that is a little early delays it.
        """
        due_at = self._round.closes_at or self._given_up_at
        return None if due_at is None else (due_at - self._clock.now()).total_seconds()

    @property
    def must_be_drawn(self) -> bool:
        """Whether there is anything to end, once it is due."""
        return not self._untouched

    @property
    def _emptied(self) -> bool:
        """An individual round from which every bet was taken back."""
        return self._round.closes_at is None and self._round.felt.is_empty and self._round.opening_journalled

    @property
    def _deserted(self) -> bool:
        """The player has left, or is about to."""
        return self._seating.has_ending_session or not self._seating

    def _may_not_begin(self) -> bool:
        return (
            not self._seating
            or self._premises.closed_reason() is not None
            or self._premises.rules_in_force().version.version != self._round.configuration_version
        )

    def _on_whose_word(self, *, leaving: bool) -> DrawTrigger:
        """Whose word it is that closes the round now, if it is anybody's."""
        if self._round.closes_at is not None:
            return DrawTrigger.CLOCK if self._clock.now() >= self._round.closes_at else DrawTrigger.UNKNOWN
        if self._deserted:
            return DrawTrigger.SESSION_ENDED
        if leaving and self._given_up():
            return DrawTrigger.TABLE_HANDED_OVER
        return DrawTrigger.UNKNOWN

    def _given_up(self) -> bool:
        """The player has had his time, which begins when this is asked for the first time."""
        if self._given_up_at is None:
            self._given_up_at = self._clock.now() + timedelta(seconds=HANDOVER_DRAW_TIMEOUT_S)
        return self._clock.now() >= self._given_up_at
