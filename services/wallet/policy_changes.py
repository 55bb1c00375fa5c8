"""What a table's inactivity policy was and became, and who changed it (`903-B/2015:6.3.6.6`)."""

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

_LOG = text("INSERT INTO policy_changes (at, actor, table_id, change) VALUES (:at, :actor, :table_id, :change)")


async def log(
    connection: AsyncConnection,
    at: datetime,
    actor: str,
    table_id: str,
    before: Mapping[str, object],
    after: Mapping[str, object],
) -> None:
    """Writes the change down in the transaction that makes it."""
    values = {"at": at, "actor": actor, "table_id": table_id, "change": f"{before} -> {after}"}
    await connection.execute(_LOG, values)
