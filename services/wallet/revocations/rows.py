"""The rows of revocations: added one after the other, listed by number, removed once they have expired."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

# Any number will do, as long as nothing else in this database locks it.
_LOCK_KEY = 0x7265766F
_LOCK = text("SELECT pg_advisory_xact_lock(:key)")
_FIND = text("SELECT revocation_no, key, revoked_at, expires_at FROM revocations WHERE key = :key LIMIT 1")
_INSERT = text("""
INSERT INTO revocations (key, demo, revoked_at, expires_at, revoked_by, reason)
VALUES (:key, :demo, :revoked_at, :expires_at, :revoked_by, :reason)
RETURNING revocation_no, key, revoked_at, expires_at
""")
_DEMO_COUNT = text("""
SELECT count(*) FROM (SELECT FROM revocations WHERE demo AND expires_at > :now LIMIT :limit) AS of_guests
""")
_PAGE = text("""
SELECT revocation_no, key, revoked_at, expires_at FROM revocations
WHERE revocation_no > :after_no AND expires_at > :now ORDER BY revocation_no LIMIT :size
""")
_LAST = text("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM revocations_revocation_no_seq")
_REMOVE_EXPIRED = text("""
DELETE FROM revocations WHERE revocation_no IN (
    SELECT revocation_no FROM revocations WHERE expires_at <= :now ORDER BY expires_at LIMIT :limit)
""")


class RevocationRow(NamedTuple):
    """A revocation as gateways read it."""

    no: int
    key: str
    revoked_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class NewRevocation:
    """A revocation that is to be recorded."""

    key: str
    is_demo: bool
    revoked_at: datetime
    expires_at: datetime
    revoked_by: str
    reason: str


async def lock(connection: AsyncConnection) -> None:
    """Lets one transaction at a time add revocations: a reader that has seen a number misses none below it."""
    await connection.execute(_LOCK, {"key": _LOCK_KEY})


async def find(connection: AsyncConnection, key: str) -> RevocationRow | None:
    """Returns a revocation under this key, if there is one."""
    row = (await connection.execute(_FIND, {"key": key})).one_or_none()
    return None if row is None else RevocationRow(*row)


async def insert(connection: AsyncConnection, new: NewRevocation) -> RevocationRow:
    """Adds a revocation, under the lock."""
    values = {
        "key": new.key,
        "demo": new.is_demo,
        "revoked_at": new.revoked_at,
        "expires_at": new.expires_at,
        "revoked_by": new.revoked_by,
        "reason": new.reason,
    }
    return RevocationRow(*(await connection.execute(_INSERT, values)).one())


async def count_of_guests(connection: AsyncConnection, now: datetime, limit: int) -> int:
    """Returns how many revocations of guests are kept, `limit` at most."""
    return int((await connection.execute(_DEMO_COUNT, {"now": now, "limit": limit})).scalar_one())


async def page(connection: AsyncConnection, after_no: int, now: datetime, size: int) -> list[RevocationRow]:
    """Returns revocations that have not expired, in the order of their numbers."""
    rows = await connection.execute(_PAGE, {"after_no": after_no, "now": now, "size": size})
    return [RevocationRow(*row) for row in rows]


async def last_no(connection: AsyncConnection) -> int:
    """Returns the highest number that was ever given; 0 if none was."""
    return int((await connection.execute(_LAST)).scalar_one())


async def remove_expired(connection: AsyncConnection, now: datetime, limit: int) -> int:
    """Removes revocations whose last token has expired; returns how many."""
    return (await connection.execute(_REMOVE_EXPIRED, {"now": now, "limit": limit})).rowcount
