"""The rows of complaints: a complaint's own row holds its state, its steps, which never change, how it got there."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.database.filters import where
from services.wallet.complaints.states import Complainant, Complaint, ComplaintState, Step, reference_of
from services.wallet.model.state import AccountKind

_COMPLAINTS = (
    "SELECT c.complaint_no, c.reference, c.player_id, a.account_id, r.round_id, s.session_id, c.state, c.filed_at"
    " FROM complaints c JOIN accounts a USING (account_no) LEFT JOIN rounds r USING (round_no)"
    " LEFT JOIN sessions s USING (session_no)"
)
_BY_REFERENCE = text(f"{_COMPLAINTS} WHERE c.reference = :reference")
_BY_REFERENCE_LOCKED = text(f"{_COMPLAINTS} WHERE c.reference = :reference FOR UPDATE OF c")
_CONDITIONS = {
    "account_no": "c.account_no = :account_no",
    "state": "c.state = :state",
    "before_no": "c.complaint_no < :before_no",
}
_COUNT_STEPS = text("SELECT count(*) FROM complaint_steps WHERE complaint_no = :no")
_STEPS = text(
    "SELECT number, actor, by_operator, state, text, at FROM complaint_steps WHERE complaint_no = :no ORDER BY number"
)
_COMPLAINANT = text("SELECT account_no, player_id FROM accounts WHERE account_id = :account_id AND kind = :player")
# A lock under two numbers never meets one under a single number, such as the audit's.
_LOCK_FILING = text("SELECT pg_advisory_xact_lock(:filing, hashint8(:account_no))")
_FILING = 0x46494C45
_COUNT_UNANSWERED = text(
    "SELECT count(*) FROM complaints WHERE account_no = :account_no AND state IN (:filed, :in_review)"
)
_ROUND = text("SELECT round_no FROM rounds WHERE round_id = :round_id")
_SESSION = text("SELECT session_no, account_no FROM sessions WHERE session_id = :session_id")
_NEXT_NO = text("SELECT nextval(pg_get_serial_sequence('complaints', 'complaint_no'))")
_INSERT = text(
    "INSERT INTO complaints (complaint_no, reference, player_id, account_no, round_no, session_no, state, filed_at)"
    " OVERRIDING SYSTEM VALUE"
    " VALUES (:no, :reference, :player_id, :account_no, :round_no, :session_no, :state, :filed_at)"
)
_INSERT_STEP = text(
    "INSERT INTO complaint_steps (complaint_no, number, actor, by_operator, state, text, at)"
    " VALUES (:no, :number, :actor, :by_operator, :state, :text, :at)"
)
_SET_STATE = text("UPDATE complaints SET state = :state WHERE complaint_no = :no")


async def find_complainant(connection: AsyncConnection, account_id: UUID) -> Complainant | None:
    """Finds a player's account; None if there is none, or if it is not a player's."""
    wanted = {"account_id": account_id, "player": AccountKind.PLAYER.value}
    row = (await connection.execute(_COMPLAINANT, wanted)).one_or_none()
    return Complainant(row.account_no, row.player_id) if row else None


async def lock_filing(connection: AsyncConnection, account_no: int) -> None:
    """Keeps others from filing for this account until the transaction ends, so that the count of complaints holds.

    The account's row is not locked: bets wait for it, and a lane may hold it while it waits for the request id that
    this transaction holds.
    """
    await connection.execute(_LOCK_FILING, {"filing": _FILING, "account_no": account_no})


async def count_unanswered(connection: AsyncConnection, account_no: int) -> int:
    """Counts the account's complaints that wait for an answer, those that an addition has opened again included."""
    states = {"filed": ComplaintState.FILED.value, "in_review": ComplaintState.IN_REVIEW.value}
    count: int = (await connection.execute(_COUNT_UNANSWERED, states | {"account_no": account_no})).scalar_one()
    return count


async def find_round_no(connection: AsyncConnection, round_id: str) -> int | None:
    """Finds the number of a round."""
    round_no: int | None = (await connection.execute(_ROUND, {"round_id": round_id})).scalar_one_or_none()
    return round_no


async def find_session(connection: AsyncConnection, session_id: UUID) -> tuple[int, int] | None:
    """Finds the numbers of a session and of its account."""
    row = (await connection.execute(_SESSION, {"session_id": session_id})).one_or_none()
    return (row.session_no, row.account_no) if row else None


async def insert(
    connection: AsyncConnection,
    complainant: Complainant,
    *,
    round_no: int | None,
    session_no: int | None,
    filed_at: datetime,
) -> tuple[int, str]:
    """Adds a complaint without steps; returns its number and reference. It is locked until the transaction ends."""
    complaint_no: int = (await connection.execute(_NEXT_NO)).scalar_one()
    reference = reference_of(complaint_no, filed_at)
    row = {
        "no": complaint_no,
        "reference": reference,
        "player_id": complainant.player_id,
        "account_no": complainant.account_no,
        "round_no": round_no,
        "session_no": session_no,
        "state": ComplaintState.FILED.value,
        "filed_at": filed_at,
    }
    await connection.execute(_INSERT, row)
    return complaint_no, reference


async def find(connection: AsyncConnection, reference: str, *, lock: bool = False) -> Complaint | None:
    """Finds a complaint; with `lock` no other transaction changes it before this one ends."""
    statement = _BY_REFERENCE_LOCKED if lock else _BY_REFERENCE
    row = (await connection.execute(statement, {"reference": reference})).one_or_none()
    return _complaint(row) if row else None


async def load_steps(connection: AsyncConnection, complaint_no: int) -> list[Step]:
    """Reads all steps of a complaint, oldest first."""
    rows = await connection.execute(_STEPS, {"no": complaint_no})
    return [Step(row.number, row.actor, row.by_operator, ComplaintState(row.state), row.text, row.at) for row in rows]


async def count_steps(connection: AsyncConnection, complaint_no: int) -> int:
    """Counts the steps of a complaint; they are numbered without a gap."""
    count: int = (await connection.execute(_COUNT_STEPS, {"no": complaint_no})).scalar_one()
    return count


async def insert_step(connection: AsyncConnection, complaint_no: int, step: Step) -> None:
    """Adds a step, and sets the complaint's state to the step's."""
    row = {"no": complaint_no, "number": step.number, "actor": step.actor, "by_operator": step.by_operator}
    row |= {"state": step.state.value, "text": step.text, "at": step.at}
    await connection.execute(_INSERT_STEP, row)
    await connection.execute(_SET_STATE, {"no": complaint_no, "state": step.state.value})


async def page(
    connection: AsyncConnection,
    *,
    account_no: int | None,
    state: ComplaintState | None,
    before_no: int | None,
    size: int,
) -> list[Complaint]:
    """Lists complaints, newest first; a filter that is None does not narrow."""
    state_value = state.value if state else None
    condition, values = where(_CONDITIONS, {"account_no": account_no, "state": state_value, "before_no": before_no})
    statement = text(f"{_COMPLAINTS} WHERE {condition} ORDER BY c.complaint_no DESC LIMIT :size")
    return [_complaint(row) for row in await connection.execute(statement, values | {"size": size})]


def _complaint(row: Row[Sequence[object]]) -> Complaint:
    return Complaint(
        no=row.complaint_no,
        reference=row.reference,
        player_id=row.player_id,
        account_id=row.account_id,
        round_id=row.round_id,
        session_id=row.session_id,
        state=ComplaintState(row.state),
        filed_at=row.filed_at,
    )
