"""The way to PostgreSQL: one engine per process, with limits."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

CONNECT_TIMEOUT_S = 5
COMMAND_TIMEOUT_S = 30


def connect(
    url: str,
    application: str,
    connections: int,
    *,
    command_timeout_s: float = COMMAND_TIMEOUT_S,
    settings: Mapping[str, str] | None = None,
) -> AsyncEngine:
    """An engine with so many connections at most; `settings` are PostgreSQL's own, for its sessions."""
    return create_async_engine(
        url,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=CONNECT_TIMEOUT_S,
        pool_pre_ping=False,
        connect_args={
            "timeout": CONNECT_TIMEOUT_S,
            "command_timeout": command_timeout_s,
            "server_settings": {"application_name": application, "timezone": "UTC", "jit": "off", **(settings or {})},
        },
    )


async def fetch(connection: AsyncConnection, statement: str, values: tuple[object, ...]) -> Sequence[tuple[Any, ...]]:
    """All rows of a statement in the driver's own words (`$1`, `$2` …), for the statements that run all the time."""
    rows: Sequence[Any] = (await connection.exec_driver_sql(statement, values)).all()
    return rows
