"""What a table's inactivity policy was and became, and who changed it (`903-B/2015:6.3.6.6`)."""

from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from feltro.wallet.v1 import session_pb2
from services.wallet.model.state import InactivityPolicy
from services.wallet.sessions.messages import timestamp

# Before the names of a policy's columns: both policies of a change stand in its row.
_WAS = "was_"
_BECAME = "became_"
_COLUMNS = """
was_invite, was_idle_seconds, was_missed_rounds,
was_warn_after_seconds, was_end_after_seconds, was_rebuy_grace_seconds,
became_invite, became_idle_seconds, became_missed_rounds,
became_warn_after_seconds, became_end_after_seconds, became_rebuy_grace_seconds
"""

_LOG = text(f"""
INSERT INTO policy_changes (at, actor, table_id, {_COLUMNS})
VALUES (:at, :actor, :table_id,
    :was_invite, :was_idle_seconds, :was_missed_rounds,
    :was_warn_after_seconds, :was_end_after_seconds, :was_rebuy_grace_seconds,
    :became_invite, :became_idle_seconds, :became_missed_rounds,
    :became_warn_after_seconds, :became_end_after_seconds, :became_rebuy_grace_seconds)
""")
_PAGE = text(f"""
SELECT change_no, at, actor, {_COLUMNS} FROM policy_changes
WHERE table_id = :table_id AND (CAST(:before_no AS bigint) IS NULL OR change_no < :before_no)
ORDER BY change_no DESC LIMIT :size
""")


async def insert(
    connection: AsyncConnection,
    at: datetime,
    actor: str,
    table_id: str,
    before: InactivityPolicy,
    after: InactivityPolicy,
) -> None:
    """Writes the change down in the transaction that makes it."""
    values = {"at": at, "actor": actor, "table_id": table_id}
    await connection.execute(_LOG, values | _values(_WAS, before) | _values(_BECAME, after))


async def page(
    connection: AsyncConnection, table_id: str, *, before_no: int | None, size: int
) -> list[session_pb2.InactivityPolicyChange]:
    """Changes of one table, newest first."""
    asked = {"table_id": table_id, "before_no": before_no, "size": size}
    return [_message(row) for row in await connection.execute(_PAGE, asked)]


def _values(which: str, policy: InactivityPolicy) -> dict[str, Any]:
    return {which + name: value for name, value in asdict(policy).items()}


def _message(row: Row[Any]) -> session_pb2.InactivityPolicyChange:
    return session_pb2.InactivityPolicyChange(
        change_no=row.change_no,
        at=timestamp(row.at),
        changed_by=row.actor,
        before=_policy_message(_WAS, row),
        after=_policy_message(_BECAME, row),
    )


def _policy_message(which: str, row: Row[Any]) -> session_pb2.InactivityPolicy:
    return session_pb2.InactivityPolicy(
        **{field.name: getattr(row, which + field.name) for field in fields(InactivityPolicy)}
    )
