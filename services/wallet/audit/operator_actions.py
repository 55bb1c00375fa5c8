"""The log of operators' commands (`903-B/2015:6.3.6.7`): an intent before each, an outcome after, never changed."""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.database.filters import where

# Objects under which one command can be found (G11); its request is stored whole all the same.
OBJECTS_LIMIT = 256
# How deep a request is searched for objects: deeper than any message of the platform.
DEPTH_LIMIT = 32
_OBJECT = re.compile(r"[\x21-\x7e]{1,128}")
# Names the command, not an object of it.
_NOT_AN_OBJECT = "request_id"


@dataclass(frozen=True, slots=True)
class Intent:
    """A command that an operator is about to give."""

    action_id: UUID
    actor: str
    method: str
    request: str
    request_id: str
    address: str
    trace_id: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a command."""

    at: datetime
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """A command of an operator, with its outcome once there is one."""

    no: int
    at: datetime
    intent: Intent
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class ActionFilter:
    """Which commands a list shows; a field that is None does not narrow it."""

    actor: str | None = None
    method: str | None = None
    object_id: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    before_no: int | None = None


_INSERT_INTENT = text("""
INSERT INTO operator_actions (action_id, at, actor, address, method, request, objects, request_id, trace_id)
VALUES (:action_id, :at, :actor, :address, :method, :request, :objects, :request_id, :trace_id)
ON CONFLICT (action_id) DO NOTHING
""")
_IS_STORED = text("""
SELECT EXISTS (SELECT FROM operator_actions
WHERE action_id = :action_id AND actor = :actor AND method = :method AND request = :request
    AND request_id = :request_id AND address = :address AND trace_id = :trace_id)
""")
_INSERT_OUTCOME = text("""
INSERT INTO operator_action_ends (action_id, at, status, reason)
SELECT action_id, :at, :status, :reason FROM operator_actions WHERE action_id = :action_id AND actor = :actor
ON CONFLICT (action_id) DO NOTHING
""")
_ACTIONS = """
SELECT a.action_no, a.action_id, a.at, a.actor, a.method, a.request, a.request_id, a.address, a.trace_id,
    e.at AS ended_at, e.status, e.reason
FROM operator_actions a LEFT JOIN operator_action_ends e USING (action_id)
"""
_CONDITIONS = {
    "actor": "a.actor = :actor",
    "method": "a.method = :method",
    "object_id": "a.objects @> ARRAY[CAST(:object_id AS text)]",
    "since": "a.at >= :since",
    "until": "a.at < :until",
    "before_no": "a.action_no < :before_no",
}


def named_objects(request: str) -> list[str]:
    """Returns what a request in JSON names, for any service: every text in it that is spelled like an id.

    >>> named_objects('{"account_id": "a-1", "amount_cents": "500", "note": "two words", "request_id": "r"}')
    ['500', 'a-1']
    """
    return sorted(set(_names(json.loads(request), 0)))[:OBJECTS_LIMIT]


def _names(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        if _OBJECT.fullmatch(value):
            yield value
    elif depth < DEPTH_LIMIT:
        if isinstance(value, dict):
            for name, inner in value.items():
                if name != _NOT_AN_OBJECT:
                    yield from _names(inner, depth + 1)
        elif isinstance(value, list):
            for inner in value:
                yield from _names(inner, depth + 1)


async def insert_intent(connection: AsyncConnection, intent: Intent, at: datetime) -> bool:
    """Logs an intent, once; returns False if its id belongs to a different intent."""
    row = {
        "action_id": intent.action_id,
        "actor": intent.actor,
        "method": intent.method,
        "request": intent.request,
        "request_id": intent.request_id,
        "address": intent.address,
        "trace_id": intent.trace_id,
    }
    inserted = await connection.execute(_INSERT_INTENT, row | {"at": at, "objects": named_objects(intent.request)})
    if inserted.rowcount:
        return True
    return bool((await connection.execute(_IS_STORED, row)).scalar_one())


async def insert_outcome(connection: AsyncConnection, action_id: UUID, actor: str, outcome: Outcome) -> None:
    """Logs the outcome of an actor's own command. The first outcome stands; one for another's command is ignored."""
    row = {"action_id": action_id, "actor": actor, "at": outcome.at, "status": outcome.status, "reason": outcome.reason}
    await connection.execute(_INSERT_OUTCOME, row)


async def page(connection: AsyncConnection, wanted: ActionFilter, size: int) -> list[OperatorAction]:
    """Lists commands, newest first."""
    condition, values = where(_CONDITIONS, {name: getattr(wanted, name) for name in _CONDITIONS})
    statement = text(f"{_ACTIONS} WHERE {condition} ORDER BY a.action_no DESC LIMIT :size")
    return [_action(row) for row in await connection.execute(statement, values | {"size": size})]


def _action(row: Row[Sequence[object]]) -> OperatorAction:
    intent = Intent(row.action_id, row.actor, row.method, row.request, row.request_id, row.address, row.trace_id)
    outcome = None if row.ended_at is None else Outcome(row.ended_at, row.status, row.reason)
    return OperatorAction(row.action_no, row.at, intent, outcome)
