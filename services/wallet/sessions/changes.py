"""Saves changed sessions, ends those with nothing left in play, and sends the facts about them."""

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncConnection

from services.wallet.model import inactivity
from services.wallet.model.state import Notice, Session, SessionState
from services.wallet.outbox import facts as outbox_facts
from services.wallet.sessions import ended_facts, messages, rows
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

    A session with an open stake or a cave does not end (B24): it stays ENDING. The player is told of the end after this
    transaction (`ended_facts`).
    """
    for session in sessions:
        still_in_play = in_play.get(session.no)
        if session.state is SessionState.ENDING and still_in_play is not None and not still_in_play.anything:
            inactivity.close(session, still_in_play.version, now)
    await rows.save(connection, sessions)
    facts = [messages.notice_fact(notice) for notice in notices]
    ended = [session for session in sessions if session.state is SessionState.ENDED]
    await ended_facts.add(connection, ended, now=now, at=at)
    noticed = {notice.session.no for notice in notices}
    facts += [
        messages.changed_fact(session)
        for session in sessions
        if session.no in noticed or session.state >= SessionState.ENDING
    ]
    await outbox_facts.insert(connection, facts, at)
