"""When a round takes no more bets, and on whose word: the clock's, the player's, or the platform's for an absent one.

At a table of many the clock closes. An individual round waits for its player, but not for ever: the platform launches
the ball for one whose session has ended with a bet on the felt (GLI-19 4.16), and where the table is handed over. His
bets stand.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Generic

from services.kit.clock import Clock
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal import Launch
from services.kit.table.round import Round
from services.kit.table.seating import Seating
from services.kit.table.surroundings import Premises

# At an individual table that is handed over: how long a player with a bet on it may still launch the ball himself.
LAUNCH_WITHIN_S = 10.0
EMPTIED = "every bet was taken back"


class Closing(Generic[Bets, Outcome]):
    """The close of one round."""

    def __init__(
        self, round_: Round[Bets, Outcome], seating: Seating, premises: Premises[Bets, Outcome], clock: Clock
    ) -> None:
        self._round = round_
        self._seating = seating
        self._premises = premises
        self._clock = clock
        self._given_up_at: datetime | None = None

    @property
    def _untouched(self) -> bool:
        """An individual round that nobody has bet in: it never was, and takes no more bets without being launched."""
        return self._round.closes_at is None and self._round.felt.empty and not self._round.begun

    def due(self, *, leaving: bool) -> bool:
        """Whether the round takes no more bets; if it is to be drawn, the round says on whose word."""
        round_ = self._round
        if round_.stuck or round_.void_reason or round_.launch:
            return True
        if self._untouched:
            return leaving or self._may_not_begin()
        if self._emptied and (leaving or self._deserted):
            # There is nobody and nothing to launch the ball for.
            round_.void_reason = EMPTIED
            return True
        round_.launch = self._on_whose_word(leaving=leaving)
        return bool(round_.launch)

    def look_again_in_s(self) -> float | None:
        """How soon it may be due although nothing has changed.

        Counted anew each time: neither what wakes the table in between nor a timer that is a little early delays it.
        """
        due_at = self._round.closes_at or self._given_up_at
        return None if due_at is None else (due_at - self._clock.now()).total_seconds()

    @property
    def to_be_drawn(self) -> bool:
        """Whether there is anything to end, once it is due."""
        return not self._untouched

    @property
    def _emptied(self) -> bool:
        """An individual round from which every bet was taken back."""
        return self._round.closes_at is None and self._round.felt.empty and self._round.begun

    @property
    def _deserted(self) -> bool:
        """The player has left, or is about to."""
        return self._seating.somebody_is_leaving or not self._seating

    def _may_not_begin(self) -> bool:
        return (
            not self._seating
            or self._premises.closed_because() is not None
            or self._premises.configured().version.version != self._round.configuration_version
        )

    def _on_whose_word(self, *, leaving: bool) -> Launch:
        """Whose word it is that closes the round now, if it is anybody's."""
        if self._round.closes_at is not None:
            return Launch.CLOCK if self._clock.now() >= self._round.closes_at else Launch.UNKNOWN
        if self._deserted:
            return Launch.PLATFORM_SESSION_ENDED
        if leaving and self._given_up():
            return Launch.PLATFORM_TABLE_HANDED_OVER
        return Launch.UNKNOWN

    def _given_up(self) -> bool:
        """The player has had his time, which begins when this is asked for the first time."""
        if self._given_up_at is None:
            self._given_up_at = self._clock.now() + timedelta(seconds=LAUNCH_WITHIN_S)
        return self._clock.now() >= self._given_up_at
