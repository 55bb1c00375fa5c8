"""Writes down what was decided about sessions, ends those with nothing left in play, and tells their players."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from services.wallet.model import inactivity
from services.wallet.model.state import Notice, Session, SessionState
from services.wallet.outbox import facts
from services.wallet.sessions import messages as session_facts
from services.wallet.sessions import rows as session_rows
from services.wallet.sessions import summary as session_summary
from services.wallet.sessions.rows import InPlay


async def save_changes(
    connection: AsyncConnection,
    sessions: Sequence[Session],
    notices: Sequence[Notice],
    in_play: dict[int, InPlay],
    *,
    now: datetime,
    at: datetime,
) -> None:
    """Saves sessions whose tables the caller has locked. `now` is of the session clock, `at` of the machine's.

    Nobody with an open stake or a cave is ended (B24): such a session stays ENDING.
    """
    for session in sessions:
        left = in_play.get(session.no)
        if session.state is SessionState.ENDING and left is not None and not left.anything:
            inactivity.close(session, left.version, now)
    await session_rows.save(connection, sessions)
    told = [session_facts.notice_fact(notice) for notice in notices]
    ended = [session for session in sessions if session.state is SessionState.ENDED]
    summaries = await session_summary.summaries(connection, [session.no for session in ended], now)
    told += [session_facts.ended_fact(session, summaries[session.no], now) for session in ended]
    moved_on = {notice.session.no for notice in notices}
    told += [
        session_facts.changed_fact(session)
        for session in sessions
        if session.no in moved_on or session.state >= SessionState.ENDING
    ]
    await facts.insert(connection, told, at)
