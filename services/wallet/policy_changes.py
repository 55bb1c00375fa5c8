"""What a table's inactivity policy was and became, and who changed it (`903-B/2015:6.3.6.6`)."""

import ast
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from feltro.wallet.v1 import session_pb2
from services.wallet.session_facts import timestamp

# Between the two policies of a change, each written as Python writes a dictionary.
_BECAME = " -> "

_LOG = text("INSERT INTO policy_changes (at, actor, table_id, change) VALUES (:at, :actor, :table_id, :change)")
_PAGE = text("""
SELECT change_no, at, actor, change FROM policy_changes
WHERE table_id = :table_id AND (CAST(:before_no AS bigint) IS NULL OR change_no < :before_no)
ORDER BY change_no DESC LIMIT :size
""")


async def log(
    connection: AsyncConnection,
    at: datetime,
    actor: str,
    table_id: str,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> None:
    """Writes the change down in the transaction that makes it."""
    values = {"at": at, "actor": actor, "table_id": table_id, "change": f"{before}{_BECAME}{after}"}
    await connection.execute(_LOG, values)


async def page(
    connection: AsyncConnection, table_id: str, *, before_no: int | None, size: int
) -> list[session_pb2.InactivityPolicyChange]:
    """Changes of one table, newest first."""
    asked = {"table_id": table_id, "before_no": before_no, "size": size}
    return [_message(row) for row in await connection.execute(_PAGE, asked)]


def _message(row: Row[Any]) -> session_pb2.InactivityPolicyChange:
    before, _, after = row.change.partition(_BECAME)
    return session_pb2.InactivityPolicyChange(
        change_no=row.change_no,
        at=timestamp(row.at),
        changed_by=row.actor,
        before=session_pb2.InactivityPolicy(**ast.literal_eval(before)),
        after=session_pb2.InactivityPolicy(**ast.literal_eval(after)),
    )
