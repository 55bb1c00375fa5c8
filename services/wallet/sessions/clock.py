"""The clock that sessions live by: the machine's, and in development as far ahead of it as somebody has moved it."""

from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.clock import Clock
from services.wallet.model import refusals
from services.wallet.settings import SessionClockKind, WalletSettings

# However often it is moved, it stays within this (dates have an end).
AHEAD_LIMIT = timedelta(days=3660)

_READ = text("SELECT ahead_us FROM session_clock")
_ADVANCE = text(
    "UPDATE session_clock SET ahead_us = ahead_us + :by_us WHERE ahead_us + :by_us <= :limit_us RETURNING ahead_us"
)
_MICROSECOND = timedelta(microseconds=1)


class SessionClock:
    """Tells sessions the time. Replicas agree on it after `refresh`, which the watch calls before every sweep.

    A clock that is real ignores what development may have left in the database: no session must end before its time.
    """

    def __init__(self, engine: AsyncEngine, clock: Clock, kind: SessionClockKind = SessionClockKind.REAL) -> None:
        self._engine = engine
        self._clock = clock
        self._advanceable = kind is SessionClockKind.ADVANCEABLE
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The time of sessions, as far as this process knows."""
        return self._clock.now() + self._ahead

    async def refresh(self) -> None:
        """Learns how far the clock was moved, also by other replicas."""
        if self._advanceable:
            async with self._engine.connect() as connection:
                self._ahead = timedelta(microseconds=(await connection.execute(_READ)).scalar_one())

    async def advance(self, connection: AsyncConnection, by: timedelta) -> timedelta:
        """Moves the clock in the caller's transaction; the caller then says `moved` to what this returns."""
        if not self._advanceable:
            raise refusals.WalletRefused(
                "NOT_OFFERED",
                "The session clock is real here: only a development stack moves it.",
                setting=WalletSettings.variable_name("session_clock"),
            )
        moved = (
            await connection.execute(_ADVANCE, {"by_us": by // _MICROSECOND, "limit_us": AHEAD_LIMIT // _MICROSECOND})
        ).scalar_one_or_none()
        if moved is None:
            raise refusals.invalid(
                "by", f"would move the clock more than {AHEAD_LIMIT.days} days ahead of the machine's."
            )
        return timedelta(microseconds=moved)

    def set_ahead(self, ahead: timedelta) -> None:
        """The transaction that moved the clock was committed."""
        self._ahead = ahead
