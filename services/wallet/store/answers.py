"""Stores the answer to each request id, so that a command acts once however often it is sent (G3)."""

from dataclasses import dataclass
from datetime import datetime

from google.rpc.status_pb2 import Status
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.rpc.status import StatusRefused, refused_from
from services.wallet.model import refusals

_LOOK_UP = text("SELECT digest, refused, answer FROM requests WHERE request_id = :request_id")
_INSERT = text(
    "INSERT INTO requests (request_id, digest, refused, answer, caller, at)"
    " VALUES (:request_id, :digest, :refused, :answer, :caller, :at)"
)


class StoredRefusal(StatusRefused):
    """A refusal as it was first given."""

    domain = refusals.DOMAIN

    def __init__(self, answer: bytes) -> None:
        self._status = Status.FromString(answer)
        stored = refused_from(self._status)
        if not stored.reason:
            raise AssertionError("a stored refusal has no reason")
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


async def find(connection: AsyncConnection, request_id: str, digest: bytes) -> StoredAnswer | None:
    """Returns the stored answer, or None; refuses a request id that was used for another content."""
    row = (await connection.execute(_LOOK_UP, {"request_id": request_id})).one_or_none()
    if row is None:
        return None
    if row.digest != digest:
        # The id as its caller knows it: a player's is stored behind the player's own id (`server/idempotency.py`).
        raise refusals.request_reused(request_id.rpartition(" ")[2])
    return StoredAnswer(row.refused, row.answer)


async def insert(
    connection: AsyncConnection, request_id: str, digest: bytes, stored: StoredAnswer, *, caller: str, at: datetime
) -> None:
    """Stores the answer in the caller's transaction."""
    row = {"request_id": request_id, "digest": digest, "refused": stored.refused, "answer": stored.answer}
    await connection.execute(_INSERT, row | {"caller": caller, "at": at})
