"""Finds an operator's command that was stored before, so that each is stored once (G3)."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.table.refusals import request_reused

_LOCK = text("SELECT pg_advisory_xact_lock(:key)")


async def lock(connection: AsyncConnection, key: int) -> None:
    """Lets one transaction at a time store commands of a kind, in all processes, until it ends."""
    await connection.execute(_LOCK, {"key": key})


async def find_stored(
    connection: AsyncConnection, statement: TextClause, request_id: str, digest: bytes
) -> Row[Any] | None:
    """Returns the row that the same command stored; refuses a request id that was used for another command."""
    row = (await connection.execute(statement, {"request_id": request_id})).one_or_none()
    if row is not None and row.digest != digest:
        raise request_reused(request_id)
    return row
