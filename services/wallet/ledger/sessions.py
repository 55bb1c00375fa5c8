"""Applies the end of a round to the sessions at its table, in the transaction that ends it."""

from collections.abc import Iterable

from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import SessionInRound
from services.wallet.model import inactivity
from services.wallet.model.state import Session, SessionsAfterRound, SessionState, Table

_ASKED_TO_LEAVE = (SessionState.INVITED, SessionState.WARNED)


def count_round_for_sessions(
    book: Book, table: Table, round_id: str, report: Iterable[SessionInRound], bettors: set[int]
) -> SessionsAfterRound:
    """Counts a round for every session present. A session with a stake has bet, whatever the report says."""
    present = {key.no: line for line in report if (key := book.session_keys.get(line.session_id)) is not None}
    after = SessionsAfterRound()
    for session_no in sorted(present.keys() | bettors):
        session = book.sessions.get(session_no)
        if session is None or session.table_no != table.no or session.state is SessionState.ENDED:
            continue
        line = present.get(session_no)
        was_active = session.state is SessionState.ACTIVE
        notices = inactivity.after_round(
            session,
            table.policy,
            round_id=round_id,
            bet=session_no in bettors or (line is not None and line.bet),
            excused=line is not None and line.excused,
            cave_below_minimum=line is not None and line.cave_below_minimum,
            now=book.session_now,
        )
        book.record_session_change(session, notices)
        after.notices += notices
        if was_active and session.state is SessionState.INVITED:
            after.invited.append(session)
        _close(book, session, after)
    after.announce_next_round = any(book.sessions[no].state in _ASKED_TO_LEAVE for no in present if no in book.sessions)
    return after


def close_waiting_sessions(book: Book, session_nos: Iterable[int]) -> SessionsAfterRound:
    """Closes the sessions that only waited for this round."""
    after = SessionsAfterRound()
    for session_no in sorted(session_nos):
        _close(book, book.sessions[session_no], after)
    return after


def _close(book: Book, session: Session, after: SessionsAfterRound) -> None:
    if book.close_if_done(session):
        after.ended.append(session)
    elif session.state is SessionState.ENDING:
        after.ending.append(session)
