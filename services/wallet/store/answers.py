"""What was answered to which request id, so that a command acts once however often it is sent (G3).

For commands that are answered one at a time (complaints, sessions); the ledger's groups do the same by sets of rows.
"""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar, cast

from google.protobuf.message import Message
from google.rpc.status_pb2 import Status
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused, refused_from, status_from
from services.wallet.model import refusals

REQUEST_ID_CHARACTERS_LIMIT = 128
# A duplicate that commits between our look-up and our insert makes us look up again; once is enough, it is there now.
ATTEMPTS = 2

_LOOK_UP = text("SELECT digest, refused, answer FROM requests WHERE request_id = :request_id")
_REMEMBER = text(
    "INSERT INTO requests (request_id, digest, refused, answer, caller, at)"
    " VALUES (:request_id, :digest, :refused, :answer, :caller, :at)"
)


class IdempotentRequest(Protocol):
    """What every command's request message has."""

    request_id: str


class StoredRefusal(StatusRefused):
    """A refusal as it was given the first time."""

    domain = refusals.DOMAIN

    def __init__(self, answer: bytes) -> None:
        self._status = Status.FromString(answer)
        stored = refused_from(self._status)
        if not stored.reason:
            raise ValueError("the stored refusal has no reason")
        super().__init__(stored.reason, stored.code, stored.sentence, stored.facts)

    def status(self) -> Status:
        """The very status that was stored: its packed detail is never serialised anew."""
        return self._status


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """An answer as it is stored."""

    refused: bool
    answer: bytes

    def unwrap(self) -> bytes:
        """The response's bytes, or the refusal raised. Commit before: a refusal is an answer to remember."""
        if self.refused:
            raise StoredRefusal(self.answer)
        return self.answer


def content_digest(request: Message) -> bytes:
    """What makes two requests the same: the kind of command and everything in it but its id."""
    content = type(request)()
    content.CopyFrom(request)
    content.ClearField("request_id")
    kind = request.DESCRIPTOR.full_name.encode()
    return hashlib.sha256(kind + b"\0" + content.SerializeToString(deterministic=True)).digest()


async def find(connection: AsyncConnection, request_id: str, digest: bytes) -> StoredAnswer | None:
    """The answer given before; None if there was none; REQUEST_REUSED if it was given to another content."""
    row = (await connection.execute(_LOOK_UP, {"request_id": request_id})).one_or_none()
    if row is None:
        return None
    if row.digest != digest:
        # As its caller knows it, see `_kept_as`.
        raise refusals.request_reused(request_id.rpartition(" ")[2])
    return StoredAnswer(row.refused, row.answer)


async def insert(
    connection: AsyncConnection, request_id: str, digest: bytes, stored: StoredAnswer, *, caller: Caller, at: datetime
) -> None:
    """Stores the answer; it holds if and only if the caller's transaction commits."""
    row = {"request_id": request_id, "digest": digest, "refused": stored.refused, "answer": stored.answer}
    await connection.execute(_REMEMBER, row | {"caller": caller.subject, "at": at})


_Subject = TypeVar("_Subject")


async def answer_once(
    engine: AsyncEngine,
    request: Message,
    caller: Caller,
    at: datetime,
    *,
    authorize: Callable[[AsyncConnection], Awaitable[_Subject]],
    execute: Callable[[AsyncConnection, _Subject], Awaitable[Message]],
) -> bytes:
    """Carries a command out in one transaction, or gives the answer it got the first time.

    `admit` reads (and locks) what the command is about and refuses a caller who may not see it: nobody is given the
    stored answer of another player. `act` does it; what it refuses is remembered like any answer, unless the reason
    speaks of the sender or the moment (`refusals.NOT_KEPT`).
    """
    request_id = _kept_as(cast("IdempotentRequest", request).request_id, caller)
    content = content_digest(request)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            async with engine.begin() as connection:
                subject = await authorize(connection)
                kept = await find(connection, request_id, content)
                if kept is None:
                    kept = await _answer(connection, subject, execute)
                    await insert(connection, request_id, content, kept, caller=caller, at=at)
        except IntegrityError as violated:
            if attempt == ATTEMPTS or not _duplicates_request(violated):
                raise
        else:
            return kept.unwrap()
    raise AssertionError("unreachable: the last attempt returns or raises")


def _kept_as(request_id: str, caller: Caller) -> str:
    """Players choose their ids without knowing of each other: one must not meet, or occupy, another's or a game's."""
    return request_id if caller.scopes & {"operator", "game"} else f"{caller.subject} {request_id}"


async def _answer(
    connection: AsyncConnection, subject: _Subject, act: Callable[[AsyncConnection, _Subject], Awaitable[Message]]
) -> StoredAnswer:
    try:
        # A refusal leaves nothing behind but its row in `requests`.
        async with connection.begin_nested():
            response = await act(connection, subject)
    except Refused as refused:
        if refused.reason in refusals.NOT_STORED:
            raise
        return StoredAnswer(refused=True, answer=status_from(refused).SerializeToString())
    return StoredAnswer(refused=False, answer=response.SerializeToString())


def _duplicates_request(violated: IntegrityError) -> bool:
    cause = violated.orig.__cause__ if violated.orig else None
    return getattr(cause, "constraint_name", None) == "requests_pkey"
