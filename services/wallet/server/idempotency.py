"""Carries a command out once, however often it is sent (G3).

For commands that are answered one at a time (complaints, sessions, switches); the ledger's groups do the same for many
requests at once.
"""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Protocol, TypeVar, cast

from google.protobuf.message import Message
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from services.kit.access.identity import Caller
from services.kit.command_digest import digest
from services.kit.refusal import Refused
from services.kit.rpc.status import status_from
from services.wallet.model import refusals
from services.wallet.server.access import sees_everybody
from services.wallet.store import answers
from services.wallet.store.answers import StoredAnswer

# A duplicate may commit between the lookup and the insert. The second attempt finds its answer.
ATTEMPTS = 2


class IdempotentRequest(Protocol):
    """The field that the request message of every command has."""

    request_id: str


_Subject = TypeVar("_Subject")


async def answer_once(
    engine: AsyncEngine,
    request: Message,
    caller: Caller,
    at: datetime,
    *,
    authorize: Callable[[AsyncConnection], Awaitable[_Subject]],
    execute: Callable[[AsyncConnection, _Subject], Awaitable[Message]],
    on_refused: Callable[[AsyncConnection, _Subject], Awaitable[None]] | None = None,
) -> bytes:
    """Carries a command out in one transaction, or returns its first answer.

    `authorize` reads and locks what the command is about, and refuses a caller who may not see it: no player is given
    the stored answer of another. `execute` carries the command out; its refusal is stored like any answer, unless the
    reason depends on the sender or the moment (`refusals.NOT_STORED`). `on_refused` records what a stored refusal is to
    leave behind besides, in the same transaction.
    """
    request_id = stored_request_id(cast("IdempotentRequest", request).request_id, caller)
    content = digest(request)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            async with engine.begin() as connection:
                subject = await authorize(connection)
                stored = await answers.find(connection, request_id, content)
                if stored is None:
                    stored = await _execute(connection, subject, execute)
                    if stored.refused and on_refused is not None:
                        await on_refused(connection, subject)
                    await answers.insert(connection, request_id, content, stored, caller=caller.subject, at=at)
        except IntegrityError as violated:
            if attempt == ATTEMPTS or not _is_duplicate_request(violated):
                raise
        else:
            return stored.unwrap()
    raise AssertionError("unreachable: the last attempt returns or raises")


def stored_request_id(request_id: str, caller: Caller) -> str:
    """The key of the stored answer. Players choose ids independently: one must not block another's, or a game's."""
    return request_id if sees_everybody(caller) else f"{caller.subject} {request_id}"


async def _execute(
    connection: AsyncConnection, subject: _Subject, execute: Callable[[AsyncConnection, _Subject], Awaitable[Message]]
) -> StoredAnswer:
    try:
        # A refusal leaves nothing behind but its row in `requests`.
        async with connection.begin_nested():
            response = await execute(connection, subject)
    except Refused as refused:
        if refused.reason in refusals.NOT_STORED:
            raise
        return StoredAnswer(refused=True, answer=status_from(refused).SerializeToString())
    return StoredAnswer(refused=False, answer=response.SerializeToString())


def _is_duplicate_request(violated: IntegrityError) -> bool:
    cause = violated.orig.__cause__ if violated.orig else None
    return getattr(cause, "constraint_name", None) == "requests_pkey"
