"""A table that is open for a time fixed beforehand, and for registered players only (`806/2015:6.b`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from feltro.table.v1 import kept_pb2
from services.kit.table import refusals
from services.kit.wire_format import timestamp

# Players who may be registered for one period (G11).
REGISTRATIONS_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Period:
    """The time for which a table is open."""

    begins_at: datetime
    ends_at: datetime
    completes_lap: bool
    """Whether the button goes round to where it was first before the table closes (A-29)."""


class TablePeriod:
    """The period of one table, if it has one: who is registered, and when its last hand is over."""

    def __init__(self, table_id: str, kept: kept_pb2.KeptPeriod) -> None:
        """`kept` is what a former owner has left on record."""
        self._table_id = table_id
        self._period: Period | None = None
        self._kept_of = kept.begins_at.ToDatetime(UTC)
        # In their order, without values.
        self._registered = dict.fromkeys(kept.registered)
        self._first_button = kept.first_button

    def follow(self, period: Period | None) -> None:
        """Goes on with the period that the specific rules fix now; registrations are for a beginning."""
        self._period = period
        if period is None or period.begins_at != self._kept_of:
            self._registered.clear()
            self._first_button = 0
        if period is not None:
            self._kept_of = period.begins_at

    def message(self) -> kept_pb2.KeptPeriod | None:
        """Builds what is kept on record."""
        if self._period is None:
            return None
        return kept_pb2.KeptPeriod(
            begins_at=timestamp(self._period.begins_at), registered=self._registered, first_button=self._first_button
        )

    # -- who is registered -------------------------------------------------------------------------------------------

    @property
    def registered_count(self) -> int:
        return len(self._registered)

    def is_registered(self, player_id: str) -> bool:
        return player_id in self._registered

    def register(self, player_id: str, now: datetime) -> None:
        """Registers a player; refused once the period has begun, for registration is beforehand."""
        if player_id in self._registered:
            return
        if self._period is None or now >= self._period.begins_at:
            raise refusals.period_begun(self._table_id, None if self._period is None else self._period.begins_at)
        if len(self._registered) >= REGISTRATIONS_LIMIT:
            raise refusals.period_full(self._table_id, REGISTRATIONS_LIMIT)
        self._registered[player_id] = None

    def cancel(self, player_id: str) -> None:
        """Takes a player's registration back."""
        self._registered.pop(player_id, None)

    def verify_entry(self, player_id: str, now: datetime) -> None:
        """Refuses a player who may not take a seat now."""
        period = self._period
        if period is None:
            return
        if not period.begins_at <= now < period.ends_at:
            raise refusals.outside_period(self._table_id, period.begins_at, period.ends_at)
        if player_id not in self._registered:
            raise refusals.not_registered_for_period(self._table_id)

    # -- its beginning and its end -----------------------------------------------------------------------------------

    def has_begun(self, now: datetime) -> bool:
        """Whether hands may be dealt, as far as the period goes; without one they always may."""
        return self._period is None or now >= self._period.begins_at

    def next_change(self, now: datetime) -> datetime | None:
        """Returns when it begins or ends next."""
        if self._period is None:
            return None
        return next((at for at in (self._period.begins_at, self._period.ends_at) if now < at), None)

    def note_button(self, seat: int | None) -> None:
        """Notes where the button was in a hand that has ended: the lap goes from the first of them to itself."""
        if self._period is not None and not self._first_button and seat is not None:
            self._first_button = seat

    def is_over(self, now: datetime, seats: int, button: int | None, next_button: int | None) -> bool:
        """Whether no other hand is dealt: the time is up, and the lap complete where that is waited for.

        `button` is the seat that had the button in the last hand and `next_button` the one that has it in the next;
        None where it would be drawn by lot or nobody could play.
        """
        period = self._period
        if period is None or now < period.ends_at:
            return False
        if not period.completes_lap or not self._first_button or button is None or next_button is None:
            return True
        # The button comes to the first seat, or passes it because nobody sits there any more.
        to_first = (self._first_button - button - 1) % seats
        to_next = (next_button - button - 1) % seats
        return to_first <= to_next
