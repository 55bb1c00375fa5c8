"""The states of a complaint (*reclamação*, `804/2015:25`) and the actions that lead from one to the next."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum, IntEnum
from uuid import UUID

# A complaint with all its steps fits into one message (G11). The last steps are reserved for the operator, so that a
# complaint can be answered and closed however much its player has added.
STEPS_LIMIT = 200
PLAYER_STEPS_LIMIT = 180
# Complaints of one account that wait for an answer (G11). With the limit of steps it bounds what a player can write
# before an operator answers.
UNANSWERED_LIMIT = 20


class ComplaintState(IntEnum):
    FILED = 1
    IN_REVIEW = 2
    ANSWERED = 3
    CLOSED = 4


class ComplaintAction(Enum):
    """What a player or an operator can do to a complaint once it is filed."""

    ADD = "add"
    REVIEW = "review"
    ANSWER = "answer"
    CLOSE = "close"


class ActionImpossible(Exception):
    """The complaint's state does not allow the action; `str()` says what to do instead."""


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
    # No complaint is closed without an answer.
    ComplaintAction.CLOSE: {ComplaintState.ANSWERED: ComplaintState.CLOSED},
}


def state_after(state: ComplaintState, action: ComplaintAction) -> ComplaintState:
    """Returns the state that an action leads to.

    >>> state_after(ComplaintState.ANSWERED, ComplaintAction.ADD).name
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
    """The reference that players and operators quote. Its year is that of Portugal: at New Year its time is UTC.

    >>> reference_of(7, datetime(2026, 12, 31))
    'R-2026-000007'
    """
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
    """The account that a complaint is filed for, and its player."""

    account_no: int
    player_id: str
