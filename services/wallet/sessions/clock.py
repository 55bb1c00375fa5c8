"""The clock of sessions: the machine's, and in development as far ahead of it as it has been advanced."""

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.clock import Clock
from services.wallet.model import refusals

# How far ahead of the machine's clock it may be in all: dates have an end.
AHEAD_LIMIT = timedelta(days=3660)

_READ = text("SELECT ahead_us FROM session_clock")
_ADVANCE = text(
    "UPDATE session_clock SET ahead_us = ahead_us + :by_us WHERE ahead_us + :by_us <= :limit_us RETURNING ahead_us"
)
_MICROSECOND = timedelta(microseconds=1)


class SessionClockKind(StrEnum):
    """Whether the session clock can be advanced."""

    REAL = "real"
    ADVANCEABLE = "advanceable"


class SessionClock:
    """Tells sessions the time. Replicas agree on it after `refresh`, which the inactivity watch calls at each sweep.

    A real clock ignores what development may have left in the database: no session ends before its time.
    """

    def __init__(self, engine: AsyncEngine, clock: Clock, kind: SessionClockKind = SessionClockKind.REAL) -> None:
        self._engine = engine
        self._clock = clock
        self.advanceable = kind is SessionClockKind.ADVANCEABLE
        self._ahead = timedelta()

    def now(self) -> datetime:
        """The time of sessions, as of the last refresh."""
        return self._clock.now() + self._ahead

    @property
    def ahead(self) -> timedelta:
        """How far it is ahead of the machine's clock."""
        return self._ahead

    async def refresh(self) -> None:
        """Reads how far the clock has been advanced, by any replica."""
        if self.advanceable:
            async with self._engine.connect() as connection:
                self._ahead = timedelta(microseconds=(await connection.execute(_READ)).scalar_one())

    async def advance(self, connection: AsyncConnection, by: timedelta) -> timedelta:
        """Advances an advanceable clock; once the transaction is committed, pass the result to `set_ahead`."""
        if not self.advanceable:
            raise AssertionError("a real session clock is advanced")
        values = {"by_us": by // _MICROSECOND, "limit_us": AHEAD_LIMIT // _MICROSECOND}
        ahead_us = (await connection.execute(_ADVANCE, values)).scalar_one_or_none()
        if ahead_us is None:
            raise refusals.invalid(
                "by_ms", f"would move the clock more than {AHEAD_LIMIT.days} days ahead of the machine's."
            )
        return timedelta(microseconds=ahead_us)

    def set_ahead(self, ahead: timedelta) -> None:
        """Takes over what a committed transaction has stored."""
        self._ahead = ahead
