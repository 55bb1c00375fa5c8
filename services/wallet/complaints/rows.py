"""Complaints as they are kept: the states they go through, and the rows that say so.

Knows nothing of requests, tokens or gRPC. A complaint's row says where it stands; its steps say how it came there and
are never changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, IntEnum
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.wallet.model.state import AccountKind, TransferKind

# A complaint has to fit into one message with all its steps (G11). The last ones are kept for the operator, so that
# a complaint can be answered and closed however much its player has added.
STEPS_LIMIT = 200
PLAYER_STEPS_LIMIT = 180
# Complaints of one account that wait for an answer (G11): with the limit of steps, what a player can fill before an
# operator has answered him.
UNANSWERED_LIMIT = 20


class ComplaintState(IntEnum):
    FILED = 1
    IN_REVIEW = 2
    ANSWERED = 3
    CLOSED = 4


class ComplaintAction(Enum):
    """What can be done to a complaint that is filed."""

    ADD = "add"
    REVIEW = "review"
    ANSWER = "answer"
    CLOSE = "close"


class ActionImpossible(Exception):
    """From where the complaint stands, there is no such move; `str()` says what to do instead."""


_OPEN = (ComplaintState.FILED, ComplaintState.IN_REVIEW, ComplaintState.ANSWERED)
_AFTER = {
    # An addition to an answered complaint opens it again.
    ComplaintAction.ADD: {
        ComplaintState.FILED: ComplaintState.FILED,
        ComplaintState.IN_REVIEW: ComplaintState.IN_REVIEW,
        ComplaintState.ANSWERED: ComplaintState.IN_REVIEW,
    },
    ComplaintAction.REVIEW: dict.fromkeys(_OPEN, ComplaintState.IN_REVIEW),
    ComplaintAction.ANSWER: dict.fromkeys(_OPEN, ComplaintState.ANSWERED),
    # Nobody's complaint is closed without an answer.
    ComplaintAction.CLOSE: {ComplaintState.ANSWERED: ComplaintState.CLOSED},
}


def state_after(state: ComplaintState, action: ComplaintAction) -> ComplaintState:
    """Where a complaint stands after a move.

    >>> state_after(ComplaintState.ANSWERED, Move.ADD).name
    'IN_REVIEW'
    """
    after = _AFTER[action].get(state)
    if after is None:
        raise ActionImpossible(
            "is closed: file a new complaint."
            if state is ComplaintState.CLOSED
            else "has not been answered: answer it before you close it."
        )
    return after


def reference_of(number: int, filed_at: datetime) -> str:
    """What to quote. The year is that of Portugal: at New Year its time is UTC."""
    return f"R-{filed_at:%Y}-{number:06}"


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that happened to a complaint."""

    number: int
    actor: str
    by_operator: bool
    state: ComplaintState
    text: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Complaint:
    """A complaint without its steps."""

    no: int
    reference: str
    player_id: str
    account_id: UUID
    round_id: str | None
    session_id: UUID | None
    state: ComplaintState
    filed_at: datetime


@dataclass(frozen=True, slots=True)
class Complainant:
    """The account a complaint is about."""

    account_no: int
    player_id: str


_COMPLAINTS = (
    "SELECT c.complaint_no, c.reference, c.player_id, a.account_id, r.round_id, s.session_id, c.state, c.filed_at"
    " FROM complaints c JOIN accounts a USING (account_no) LEFT JOIN rounds r USING (round_no)"
    " LEFT JOIN sessions s USING (session_no)"
)
_BY_REFERENCE = text(f"{_COMPLAINTS} WHERE c.reference = :reference")
_BY_REFERENCE_LOCKED = text(f"{_COMPLAINTS} WHERE c.reference = :reference FOR UPDATE OF c")
_COUNT_STEPS = text("SELECT count(*) FROM complaint_steps WHERE complaint_no = :no")
_STEPS = text(
    "SELECT number, actor, by_operator, state, text, at FROM complaint_steps WHERE complaint_no = :no ORDER BY number"
)
_COMPLAINANT = text("SELECT account_no, player_id FROM accounts WHERE account_id = :account_id AND kind = :player")
# Keys of two numbers are apart from those of one, of which the audit has one.
_LOCK_FILING = text("SELECT pg_advisory_xact_lock(:filing, hashint8(:account_no))")
_FILING = 0x46494C45
_COUNT_UNANSWERED = text(
    "SELECT count(*) FROM complaints WHERE account_no = :account_no AND state IN (:filed, :in_review)"
)
_ROUND = text("SELECT round_no FROM rounds WHERE round_id = :round_id")
_TOOK_PART = text(
    "SELECT EXISTS (SELECT FROM stakes WHERE round_no = :round_no AND account_no = :account_no)"
    " OR EXISTS (SELECT FROM transfers t JOIN entries e USING (transfer_no) JOIN accounts cave USING (account_no)"
    " WHERE t.round_no = :round_no AND t.kind = :hand AND cave.kind = :cave AND cave.owner_no = :account_no)"
)
_SESSION = text("SELECT session_no, account_no FROM sessions WHERE session_id = :session_id")
_NEXT_NO = text("SELECT nextval(pg_get_serial_sequence('complaints', 'complaint_no'))")
_FILE = text(
    "INSERT INTO complaints (complaint_no, reference, player_id, account_no, round_no, session_no, state, filed_at)"
    " OVERRIDING SYSTEM VALUE"
    " VALUES (:no, :reference, :player_id, :account_no, :round_no, :session_no, :state, :filed_at)"
)
_ADD_STEP = text(
    "INSERT INTO complaint_steps (complaint_no, number, actor, by_operator, state, text, at)"
    " VALUES (:no, :number, :actor, :by_operator, :state, :text, :at)"
)
_MOVE = text("UPDATE complaints SET state = :state WHERE complaint_no = :no")


async def find_complainant(connection: AsyncConnection, account_id: UUID) -> Complainant | None:
    """Whose account it is, if it is a player's."""
    asked = {"account_id": account_id, "player": AccountKind.PLAYER.value}
    row = (await connection.execute(_COMPLAINANT, asked)).one_or_none()
    return Complainant(row.account_no, row.player_id) if row else None


async def lock_filing(connection: AsyncConnection, account_no: int) -> None:
    """Until the transaction ends nobody else files for this account, so that what is counted stays so.

    Not the account's row: bets wait for that, and a lane may hold it while it waits for a request id that we have.
    """
    await connection.execute(_LOCK_FILING, {"filing": _FILING, "account_no": account_no})


async def count_unanswered(connection: AsyncConnection, account_no: int) -> int:
    """How many complaints of the account wait for an answer; an answered one that was added to does so again."""
    asked = {"filed": ComplaintState.FILED.value, "in_review": ComplaintState.IN_REVIEW.value}
    count: int = (await connection.execute(_COUNT_UNANSWERED, asked | {"account_no": account_no})).scalar_one()
    return count


async def find_round_no(connection: AsyncConnection, round_id: str) -> int | None:
    """The number of a round."""
    number: int | None = (await connection.execute(_ROUND, {"round_id": round_id})).scalar_one_or_none()
    return number


async def took_part(connection: AsyncConnection, account_no: int, round_number: int) -> bool:
    """Whether the account has a stake in the round, or its cave an entry in the hand."""
    asked = {"account_no": account_no, "round_no": round_number}
    asked |= {"hand": TransferKind.HAND.value, "cave": AccountKind.CAVE.value}
    return bool((await connection.execute(_TOOK_PART, asked)).scalar_one())


async def find_session(connection: AsyncConnection, session_id: UUID) -> tuple[int, int] | None:
    """The number of a session and that of its account."""
    row = (await connection.execute(_SESSION, {"session_id": session_id})).one_or_none()
    return (row.session_no, row.account_no) if row else None


async def insert(
    connection: AsyncConnection,
    complainant: Complainant,
    *,
    round_number: int | None,
    session_number: int | None,
    filed_at: datetime,
) -> tuple[int, str]:
    """Adds a complaint without steps, and gives its number and reference. It is locked until the transaction ends."""
    number: int = (await connection.execute(_NEXT_NO)).scalar_one()
    reference = reference_of(number, filed_at)
    row = {
        "no": number,
        "reference": reference,
        "player_id": complainant.player_id,
        "account_no": complainant.account_no,
    }
    row |= {"round_no": round_number, "session_no": session_number, "state": ComplaintState.FILED.value}
    await connection.execute(_FILE, row | {"filed_at": filed_at})
    return number, reference


async def find(connection: AsyncConnection, reference: str, *, lock: bool = False) -> Complaint | None:
    """A complaint; nobody else moves it before the transaction ends if it is locked."""
    statement = _BY_REFERENCE_LOCKED if lock else _BY_REFERENCE
    row = (await connection.execute(statement, {"reference": reference})).one_or_none()
    return _complaint(row) if row else None


async def load_steps(connection: AsyncConnection, number: int) -> list[Step]:
    """Everything that happened to a complaint, oldest first."""
    rows = await connection.execute(_STEPS, {"no": number})
    return [Step(r.number, r.actor, r.by_operator, ComplaintState(r.state), r.text, r.at) for r in rows]


async def count_steps(connection: AsyncConnection, number: int) -> int:
    """How many steps a complaint has; they are numbered without a gap."""
    count: int = (await connection.execute(_COUNT_STEPS, {"no": number})).scalar_one()
    return count


async def insert_step(connection: AsyncConnection, number: int, step: Step) -> None:
    """Writes one more step, and with it where the complaint stands."""
    row = {"no": number, "number": step.number, "actor": step.actor, "by_operator": step.by_operator}
    row |= {"state": step.state.value, "text": step.text, "at": step.at}
    await connection.execute(_ADD_STEP, row)
    await connection.execute(_MOVE, {"no": number, "state": step.state.value})


async def page(
    connection: AsyncConnection,
    *,
    account_no: int | None,
    state: ComplaintState | None,
    before_no: int | None,
    size: int,
) -> list[Complaint]:
    """Complaints below a number, newest first."""
    asked: dict[str, int | None] = {
        "account_no": account_no,
        "state": state.value if state else None,
        "before_no": before_no,
    }
    conditions = {"account_no": "c.account_no = :account_no", "state": "c.state = :state"}
    conditions["before_no"] = "c.complaint_no < :before_no"
    given = {name: value for name, value in asked.items() if value is not None}
    where = " AND ".join(conditions[name] for name in given) or "true"
    statement = text(f"{_COMPLAINTS} WHERE {where} ORDER BY c.complaint_no DESC LIMIT :size")
    return [_complaint(row) for row in await connection.execute(statement, given | {"size": size})]


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
