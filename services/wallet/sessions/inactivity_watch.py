"""Invites, warns and ends inactive sessions whose next step is due by time.

Every replica watches. The first one locks the session's table, and the others find nothing due any more, so each step
is taken once. The rows say what is due (`next_step_at`), so a restart in any state forgets nothing.
"""

import asyncio
import logging
from datetime import datetime, timedelta

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.clock import Clock
from services.wallet.model import inactivity
from services.wallet.model.state import InactivityPolicy, Notice, Session, SessionState
from services.wallet.sessions import changes as session_changes
from services.wallet.sessions import rows as session_rows
from services.wallet.sessions.clock import SessionClock

# Sessions of one sweep, and so of one transaction; the rest waits for the next sweep (G11).
SWEEP_SESSIONS_LIMIT = 500
# Nobody could bet while the wallet was away for this long, so a player who was warned before gets the time again (G9).
OUTAGE_THRESHOLD = timedelta(seconds=30)

_log = logging.getLogger(__name__)
_DUE = text(
    """
    SELECT session_no, table_no FROM sessions WHERE next_step_at <= :now ORDER BY next_step_at, session_no LIMIT :limit
    """
)
_RECORD_SWEEP = text(
    """
    UPDATE session_clock
    SET watched_at = clock_timestamp(),
        resumed_at = CASE WHEN clock_timestamp() - watched_at > :outage THEN :now ELSE resumed_at END
    RETURNING resumed_at
    """
)


class InactivityWatch:
    """Sweeps over the sessions that are due."""

    def __init__(
        self, engine: AsyncEngine, clock: Clock, session_clock: SessionClock, interval: timedelta = timedelta(seconds=1)
    ) -> None:
        self._engine = engine
        self._session_clock = session_clock
        self._clock = clock
        self._interval = interval

    async def run(self) -> None:
        """Sweeps until it is cancelled, also while the database is away."""
        while True:
            try:
                await self.sweep()
            except Exception:  # noqa: BLE001 - whatever failed, sessions still have to be watched
                _log.exception("a sweep over inactive sessions failed; the next one tries again")
            await asyncio.sleep(self._interval.total_seconds())

    async def sweep(self) -> None:
        """Takes the steps that are due, oldest first."""
        await self._session_clock.refresh()
        now = self._session_clock.now()
        async with self._engine.begin() as connection:
            resumed_at = (
                await connection.execute(_RECORD_SWEEP, {"now": now, "outage": OUTAGE_THRESHOLD})
            ).scalar_one()
            due = (await connection.execute(_DUE, {"now": now, "limit": SWEEP_SESSIONS_LIMIT})).all()
        by_table: dict[int, list[int]] = {}
        for session_no, table_no in due:
            by_table.setdefault(table_no, []).append(session_no)
        for session_nos in by_table.values():
            try:
                await self._step(session_nos, resumed_at)
            except (DBAPIError, ValueError) as failed:
                if isinstance(failed, DBAPIError) and failed.connection_invalidated:
                    raise
                # A session whose step fails must not keep the others from their warning.
                _log.exception("the step of inactive sessions failed", extra={"session_nos": session_nos})

    async def _step(self, session_nos: list[int], resumed_at: datetime | None) -> None:
        """Takes one step of each of these sessions of one table, if it is still due under the lock."""
        async with self._engine.begin() as connection:
            policies = await session_rows.lock_tables_of(connection, session_nos)
            now = self._session_clock.now()
            sessions = [
                session
                for session in await session_rows.load(connection, session_nos)
                if session.next_step_at is not None and session.next_step_at <= now
            ]
            in_play = await session_rows.in_play(connection, [session.no for session in sessions])
            notices: list[Notice] = []
            for session in sessions:
                policy = policies[session.table_no]
                notices += _step(session, policy, now, resumed_at, staked=in_play[session.no].has_stake)
            await session_changes.save_changes(connection, sessions, notices, in_play, now=now, at=self._clock.now())


def _step(
    session: Session, policy: InactivityPolicy, now: datetime, resumed_at: datetime | None, *, staked: bool
) -> list[Notice]:
    if staked or session.state is SessionState.ENDING:
        inactivity.postpone_while_in_play(session, now)
        return []
    if session.warned_at is not None and resumed_at is not None and session.warned_at < resumed_at:
        return inactivity.restart_warning(session, policy, now)
    return inactivity.take_due_step(session, policy, now)
