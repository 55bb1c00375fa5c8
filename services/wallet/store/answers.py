"""Stores the answer to each request id, so that a command acts once however often it is sent (G3).

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
# A duplicate that commits between lookup and insert is found by a second lookup.
ATTEMPTS = 2

_LOOK_UP = text("SELECT digest, refused, answer FROM requests WHERE request_id = :request_id")
_INSERT = text(
    "INSERT INTO requests (request_id, digest, refused, answer, caller, at)"
    " VALUES (:request_id, :digest, :refused, :answer, :caller, :at)"
)


class IdempotentRequest(Protocol):
    """The field that every command's request message has."""

    request_id: str


class StoredRefusal(StatusRefused):
    """A refusal as it was first given."""

    domain = refusals.DOMAIN

    def __init__(self, answer: bytes) -> None:
        self._status = Status.FromString(answer)
        stored = refused_from(self._status)
        if not stored.reason:
            raise ValueError("the stored refusal has no reason")
        super().__init__(stored.reason, stored.code, stored.sentence, stored.facts)

    def status(self) -> Status:
        """Returns the stored status itself: its packed detail is never serialised again."""
        return self._status


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The bytes of a response or of a refusal's status."""

    refused: bool
    answer: bytes

    def unwrap(self) -> bytes:
        """Returns the response's bytes or raises the refusal; commit before, so that a refusal is stored, too."""
        if self.refused:
            raise StoredRefusal(self.answer)
        return self.answer


def content_digest(request: Message) -> bytes:
    """Returns the digest by which two requests are the same: the kind of command and its fields, without its id."""
    content = type(request)()
    content.CopyFrom(request)
    content.ClearField("request_id")
    kind = request.DESCRIPTOR.full_name.encode()
    return hashlib.sha256(kind + b"\0" + content.SerializeToString(deterministic=True)).digest()


async def find(connection: AsyncConnection, request_id: str, digest: bytes) -> StoredAnswer | None:
    """Returns the stored answer, or None; refuses a request id that was used for another content."""
    row = (await connection.execute(_LOOK_UP, {"request_id": request_id})).one_or_none()
    if row is None:
        return None
    if row.digest != digest:
        # The id as the caller knows it, see `_stored_request_id`.
        raise refusals.request_reused(request_id.rpartition(" ")[2])
    return StoredAnswer(row.refused, row.answer)


async def insert(
    connection: AsyncConnection, request_id: str, digest: bytes, stored: StoredAnswer, *, caller: Caller, at: datetime
) -> None:
    """Stores the answer in the caller's transaction."""
    row = {"request_id": request_id, "digest": digest, "refused": stored.refused, "answer": stored.answer}
    await connection.execute(_INSERT, row | {"caller": caller.subject, "at": at})


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
    """Carries out a command in one transaction, or returns the answer it was given the first time.

    `authorize` reads (and locks) the subject of the command and refuses a caller who may not see it, so that nobody
    gets the stored answer of another player. `execute` does the work; its refusals are stored like any answer, unless
    the reason is about the sender or the moment (`refusals.NOT_STORED`).
    """
    request_id = _stored_request_id(cast("IdempotentRequest", request).request_id, caller)
    content = content_digest(request)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            async with engine.begin() as connection:
                subject = await authorize(connection)
                stored = await find(connection, request_id, content)
                if stored is None:
                    stored = await _answer(connection, subject, execute)
                    await insert(connection, request_id, content, stored, caller=caller, at=at)
        except IntegrityError as violated:
            if attempt == ATTEMPTS or not _duplicates_request(violated):
                raise
        else:
            return stored.unwrap()
    raise AssertionError("unreachable: the last attempt returns or raises")


def _stored_request_id(request_id: str, caller: Caller) -> str:
    """Returns the id that an answer is stored under; a player's can never meet another player's or a game's."""
    return request_id if caller.scopes & {"operator", "game"} else f"{caller.subject} {request_id}"


async def _answer(
    connection: AsyncConnection, subject: _Subject, execute: Callable[[AsyncConnection, _Subject], Awaitable[Message]]
) -> StoredAnswer:
    try:
        # A refusal leaves nothing but its row in `requests`.
        async with connection.begin_nested():
            response = await execute(connection, subject)
    except Refused as refused:
        if refused.reason in refusals.NOT_STORED:
            raise
        return StoredAnswer(refused=True, answer=status_from(refused).SerializeToString())
    return StoredAnswer(refused=False, answer=response.SerializeToString())


def _duplicates_request(violated: IntegrityError) -> bool:
    cause = violated.orig.__cause__ if violated.orig else None
    return getattr(cause, "constraint_name", None) == "requests_pkey"
