"""The log of what operators did that moved no money: who, when, what, to whom (`903-B/2015:6.3.6.7`)."""

from datetime import datetime

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.identity import Caller

_LOG = text("""
INSERT INTO operator_actions (at, actor, action, subject, detail) VALUES (:at, :actor, :action, :subject, :detail)
""")


async def log(
    connection: AsyncConnection, caller: Caller, at: datetime, action: str, subject: str, detail: str = ""
) -> None:
    """Writes the action down in the transaction that carries it out."""
    values = {"at": at, "actor": caller.subject, "action": action, "subject": subject, "detail": detail}
    await connection.execute(_LOG, values)
