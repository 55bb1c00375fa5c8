"""What the world is told about sessions: the messages of the protos, and the facts for the outbox."""

from datetime import datetime

from google.protobuf.timestamp_pb2 import Timestamp

from feltro.wallet.v1 import events_pb2, session_pb2, types_pb2
from services.wallet.model.state import Notice, Session
from services.wallet.outbox.facts import Fact, player_fact


def timestamp(at: datetime | None) -> Timestamp | None:
    """A time of the protos; none stays none."""
    if at is None:
        return None
    stamp = Timestamp()
    stamp.FromDatetime(at)
    return stamp


def session_message(session: Session) -> session_pb2.Session:
    """A session as it stands."""
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
    """For the game service: who is at its table, and whose cave it has to cash out."""
    changed = events_pb2.SessionChanged(session=session_message(session))
    return Fact(f"feltro.wallet.sessions.{session.table_id}", changed.SerializeToString())


def started_fact(session: Session, previous_started_at: datetime | None) -> Fact:
    """His session started; with the date of the one before."""
    started = events_pb2.SessionStarted(
        session=session_message(session), previous_session_started_at=timestamp(previous_started_at)
    )
    return player_fact(
        session.player_id, events_pb2.PlayerFact(at=timestamp(session.started_at), session_started=started)
    )


def notice_fact(notice: Notice) -> Fact:
    """He is invited or warned, or neither any more."""
    session = notice.session
    told = events_pb2.SessionNotice(
        session_id=session.session_id,
        table_id=session.table_id,
        kind=events_pb2.SessionNoticeKind.Value(f"SESSION_NOTICE_KIND_{notice.kind}"),
        ends_at=timestamp(notice.ends_at),
        round_id=notice.round_id,
        rule=notice.rule,
    )
    return player_fact(session.player_id, events_pb2.PlayerFact(at=timestamp(notice.at), session_notice=told))


def ended_fact(session: Session, summary: session_pb2.SessionSummary, at: datetime) -> Fact:
    """His session ended; with what it came to (`804/2015:26`)."""
    ended = events_pb2.SessionEnded(session=session_message(session), summary=summary)
    return player_fact(session.player_id, events_pb2.PlayerFact(at=timestamp(at), session_ended=ended))
