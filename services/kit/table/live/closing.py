"""Decides when a round takes no more bets, and what triggers its draw: the clock, the player, or the platform.

At a multi-player table the clock closes betting. An individual round waits for its player, but not for ever: the
platform launches the ball when the session has ended with a bet on the felt (GLI-19 4.16), and when the table is handed
over. The player's bets stand.
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

# At an individual table that is handed over: how long a player with a bet may still launch the ball themselves.
HANDOVER_DRAW_TIMEOUT_S = 10.0
NO_BETS_LEFT = "no bet was left"


class BettingClose(Generic[Bets, Outcome]):
    """The close of betting in one round."""

    def __init__(
        self, round_: Round[Bets, Outcome], seating: Seating, host: TableHost[Bets, Outcome], clock: Clock
    ) -> None:
        self._round = round_
        self._seating = seating
        self._host = host
        self._clock = clock
        self._handover_ends_at: datetime | None = None

    def is_due(self, *, handing_over: bool) -> bool:
        """Whether betting closes now; if the round is to be drawn, its draw trigger is set."""
        round_ = self._round
        if round_.failed or round_.void_reason or round_.draw_trigger:
            return True
        if self._untouched:
            return handing_over or self._opening_is_withdrawn()
        if self._emptied and (handing_over or self._deserted or self._opening_is_withdrawn()):
            # There is no bet to launch the ball for.
            round_.void_reason = NO_BETS_LEFT
            return True
        round_.draw_trigger = self._draw_trigger(handing_over=handing_over)
        return bool(round_.draw_trigger)

    def next_check_s(self) -> float | None:
        """Returns how soon betting may close although nothing changes.

        It is computed anew each time, so that neither an event in between nor a timer that is a little early delays the
        close.
        """
        due_at = self._round.closes_at or self._handover_ends_at
        return None if due_at is None else (due_at - self._clock.now()).total_seconds()

    @property
    def must_end(self) -> bool:
        """Whether the round, once closed, has to be drawn or made void."""
        return not self._untouched

    @property
    def _untouched(self) -> bool:
        """An individual round without any bet: it leaves no record, and closes without being drawn."""
        return self._round.closes_at is None and self._round.felt.is_empty and not self._round.opening_journalled

    @property
    def _emptied(self) -> bool:
        """An individual round in which every bet was cancelled."""
        return self._round.closes_at is None and self._round.felt.is_empty and self._round.opening_journalled

    @property
    def _deserted(self) -> bool:
        """Whether the player has left, or is about to."""
        return self._seating.has_ending_session or not self._seating

    def _opening_is_withdrawn(self) -> bool:
        return (
            not self._seating
            or self._host.closed_reason() is not None
            or self._host.rules_in_force().version.version != self._round.configuration_version
        )

    def _draw_trigger(self, *, handing_over: bool) -> DrawTrigger:
        """Returns what closes the round now; `UNKNOWN` if nothing does."""
        if self._round.closes_at is not None:
            return DrawTrigger.CLOCK if self._clock.now() >= self._round.closes_at else DrawTrigger.UNKNOWN
        if self._deserted:
            return DrawTrigger.SESSION_ENDED
        if handing_over and self._handover_time_is_up():
            return DrawTrigger.TABLE_HANDED_OVER
        return DrawTrigger.UNKNOWN

    def _handover_time_is_up(self) -> bool:
        """Whether the player has had the time to launch, which begins with the first call."""
        if self._handover_ends_at is None:
            self._handover_ends_at = self._clock.now() + timedelta(seconds=HANDOVER_DRAW_TIMEOUT_S)
        return self._clock.now() >= self._handover_ends_at
