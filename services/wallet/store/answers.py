"""The stored answers to commands, by request id: each command acts once however often it is sent (G3)."""

from dataclasses import dataclass
from datetime import datetime

import grpc
from google.rpc.status_pb2 import Status
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.refusal import Refused, error_info
from services.wallet.model import refusals

_CODES = {code.value[0]: code for code in grpc.StatusCode}
_LOOK_UP = text("SELECT digest, refused, answer FROM requests WHERE request_id = :request_id")
_REMEMBER = text(
    "INSERT INTO requests (request_id, digest, refused, answer, caller, at)"
    " VALUES (:request_id, :digest, :refused, :answer, :caller, :at)"
)


class StoredRefusal(Refused):
    """A refusal as it was given the first time."""

    domain = refusals.DOMAIN

    def __init__(self, answer: bytes) -> None:
        self._status = Status.FromString(answer)
        info = error_info(self._status)
        if info is None:
            raise ValueError("the stored refusal has no ErrorInfo")
        super().__init__(info.reason, _CODES[self._status.code], self._status.message, dict(info.metadata))

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


async def find(connection: AsyncConnection, request_id: str, digest: bytes) -> StoredAnswer | None:
    """The answer given before; None if there was none; REQUEST_REUSED if it was given to another content."""
    row = (await connection.execute(_LOOK_UP, {"request_id": request_id})).one_or_none()
    if row is None:
        return None
    if row.digest != digest:
        # As its caller knows it: the id of a player's request is stored behind the player's (`server/idempotency.py`).
        raise refusals.request_reused(request_id.rpartition(" ")[2])
    return StoredAnswer(row.refused, row.answer)


async def insert(
    connection: AsyncConnection, request_id: str, digest: bytes, stored: StoredAnswer, *, caller: str, at: datetime
) -> None:
    """Stores the answer; it holds if and only if the caller's transaction commits."""
    row = {"request_id": request_id, "digest": digest, "refused": stored.refused, "answer": stored.answer}
    await connection.execute(_REMEMBER, row | {"caller": caller, "at": at})
