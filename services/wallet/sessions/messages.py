"""The messages about sessions: how they are shown, and the facts that leave through the outbox."""

from datetime import datetime

from feltro.wallet.v1 import events_pb2, session_pb2, types_pb2
from services.kit.bus.subjects import sessions_subject
from services.kit.wire_format import timestamp
from services.wallet.model.state import Notice, Session
from services.wallet.outbox.facts import Fact, player_fact


def session_message(session: Session) -> session_pb2.Session:
    """The message of a session."""
    device = session.device
    return session_pb2.Session(
        session_id=session.session_id,
        player_id=session.player_id,
        account_id=session.account_id,
        table_id=session.table_id,
        game=session.game,
        mode=types_pb2.Mode.ValueType(session.mode.value),
        state=session_pb2.SessionState.ValueType(session.state.value),
        device=session_pb2.Device(
            kind=device.kind, agent=device.agent, address=device.address, fingerprint=device.fingerprint
        ),
        started_at=timestamp(session.started_at),
        ended_at=timestamp(session.ended_at),
        end_cause=session_pb2.EndCause.ValueType(session.end_cause.value if session.end_cause else 0),
        last_activity_at=timestamp(session.last_activity_at),
        missed_rounds=session.missed_rounds,
        next_step_at=timestamp(session.next_step_at),
    )


def changed_fact(session: Session) -> Fact:
    """Tells the game service of a table who sits there, and whose cave it has to cash out."""
    changed = events_pb2.SessionChanged(session=session_message(session))
    return Fact(sessions_subject(session.game, session.table_id), changed.SerializeToString())


def started_fact(session: Session, previous_started_at: datetime | None) -> Fact:
    """Tells the player that the session started, and when the previous one did."""
    started = events_pb2.SessionStarted(
        session=session_message(session), previous_session_started_at=timestamp(previous_started_at)
    )
    return player_fact(
        session.player_id, events_pb2.PlayerFact(at=timestamp(session.started_at), session_started=started)
    )


def notice_fact(notice: Notice) -> Fact:
    """Tells the player of an invitation, a warning, or the withdrawal of either."""
    session = notice.session
    message = events_pb2.SessionNotice(
        session_id=session.session_id,
        table_id=session.table_id,
        kind=events_pb2.SessionNoticeKind.Value(f"SESSION_NOTICE_KIND_{notice.kind}"),
        ends_at=timestamp(notice.ends_at),
        round_id=notice.round_id,
        rule=notice.rule,
    )
    return player_fact(session.player_id, events_pb2.PlayerFact(at=timestamp(notice.at), session_notice=message))


def ended_fact(session: Session, summary: session_pb2.SessionSummary, at: datetime) -> Fact:
    """Tells the player that the session ended, with its summary (`804/2015:26`)."""
    ended = events_pb2.SessionEnded(session=session_message(session), summary=summary)
    return player_fact(session.player_id, events_pb2.PlayerFact(at=timestamp(at), session_ended=ended))
