"""Tells players that their sessions have ended, each once, with the summary (`804/2015:26`).

The transaction that ends a session adds it to a list, and nothing more: the summary of a long session takes long to
compute, and a settlement holds the locks of a whole table. An ended session never changes, nor do the entries that
belong to it, so the summary is the same whenever it is computed. The row leaves the list in the transaction that puts
the fact into the outbox, so that the player is told exactly once, whatever dies in between.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.wallet.model.state import Session
from services.wallet.outbox import facts as outbox_facts
from services.wallet.sessions import messages, rows, summary

# How soon after the end of a session its player is told.
POLL_EVERY_S = 0.1
# How soon it is tried again after a failure.
RETRY_EVERY_S = 1.0
# Sessions of one transaction (G11).
SESSIONS_LIMIT = 50

_log = logging.getLogger(__name__)
_ADD = text("""
INSERT INTO ended_sessions (session_no, ended_at, at)
SELECT session_no, :ended_at, :at FROM unnest(CAST(:session_nos AS bigint[])) AS new(session_no)
""")
# A session that another replica is telling of is left to it.
_TAKE = text("""
DELETE FROM ended_sessions WHERE session_no IN (
    SELECT session_no FROM ended_sessions ORDER BY session_no LIMIT :limit FOR UPDATE SKIP LOCKED)
RETURNING session_no, ended_at, at
""")
_TAKE_OF_ACCOUNT = text("""
DELETE FROM ended_sessions WHERE session_no IN (
    SELECT e.session_no FROM ended_sessions e JOIN sessions s USING (session_no)
    WHERE s.player_id = (SELECT player_id FROM accounts WHERE account_id = CAST(:account_id AS uuid))
    ORDER BY e.session_no FOR UPDATE OF e)
RETURNING session_no, ended_at, at
""")


async def add(connection: AsyncConnection, sessions: Sequence[Session], *, now: datetime, at: datetime) -> None:
    """Lists sessions that this transaction ends. `now` is of the session clock, `at` of the machine's."""
    if sessions:
        values = {"session_nos": [session.no for session in sessions], "ended_at": now, "at": at}
        await connection.execute(_ADD, values)


class EndedSessionFacts:
    """Publishes the facts of ended sessions; every replica does."""

    def __init__(self, engine: AsyncEngine, on_publish: Callable[[], None]) -> None:
        """Calls `on_publish` when facts are in the outbox."""
        self._engine = engine
        self._on_publish = on_publish

    async def run(self) -> None:
        """Publishes until it is cancelled, also while the database is away."""
        while True:
            try:
                while await self.publish() == SESSIONS_LIMIT:
                    pass
                pause_s = POLL_EVERY_S
            except Exception:  # noqa: BLE001 - whatever failed, players still have to be told
                _log.exception("players could not be told that their sessions have ended; the next attempt does")
                pause_s = RETRY_EVERY_S
            await asyncio.sleep(pause_s)

    async def publish(self) -> int:
        """Puts the facts of some ended sessions into the outbox; returns of how many."""
        async with self._engine.begin() as connection:
            taken = (await connection.execute(_TAKE, {"limit": SESSIONS_LIMIT})).all()
            await _insert(connection, [tuple(row) for row in taken])
        if taken:
            self._on_publish()
        return len(taken)

    async def publish_of_account(self, account_id: str) -> None:
        """Does so for the player of an account, before another session of theirs starts: facts keep their order."""
        async with self._engine.begin() as connection:
            taken = (await connection.execute(_TAKE_OF_ACCOUNT, {"account_id": account_id})).all()
            await _insert(connection, [tuple(row) for row in taken])
        if taken:
            self._on_publish()


async def _insert(connection: AsyncConnection, taken: Sequence[tuple[int, datetime, datetime]]) -> None:
    if not taken:
        return
    session_nos = sorted(session_no for session_no, _, _ in taken)
    moments = {session_no: (ended_at, at) for session_no, ended_at, at in taken}
    sessions = await rows.load(connection, session_nos)
    summaries = await summary.summaries(connection, session_nos, max(ended_at for _, ended_at, _ in taken))
    facts = [messages.ended_fact(session, summaries[session.no], moments[session.no][0]) for session in sessions]
    await outbox_facts.insert(connection, facts, max(at for _, _, at in taken))
