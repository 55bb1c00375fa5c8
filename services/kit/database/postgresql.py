"""The way to PostgreSQL: engines with limits, and connections for what runs all the time."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import asyncpg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

CONNECT_TIMEOUT_S = 5
COMMAND_TIMEOUT_S = 30

# What the database, the way to it and the pool fail with, through SQLAlchemy or straight from the driver.
DATABASE_FAILURES = (
    DBAPIError,
    PoolTimeout,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    # A connection that is lost while a statement is being prepared may be found in a state that the driver denies.
    asyncpg.InternalClientError,
    OSError,
    TimeoutError,
)

_log = logging.getLogger(__name__)


def connect(
    url: str,
    application: str,
    connections: int,
    *,
    command_timeout_s: float | None = COMMAND_TIMEOUT_S,
    settings: Mapping[str, str] | None = None,
) -> AsyncEngine:
    """An engine with so many connections at most; `settings` are PostgreSQL's own, for its sessions.

    A command takes as long as it takes if its timeout is None.
    """
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


class DirectConnection:
    """A connection for the statements that run all the time, straight through SQLAlchemy's driver.

    SQLAlchemy's share of a lone statement is as large as the database's. Here it keeps the pool, the dialect and
    everything that is asked rarely (`sqlalchemy`), in the same transaction; the few hot statements skip the rest of it.
    """

    def __init__(self, connection: AsyncConnection, driver: asyncpg.Connection[asyncpg.Record]) -> None:
        self.sqlalchemy = connection
        self._driver = driver

    @classmethod
    async def open(cls, engine: AsyncEngine) -> DirectConnection:
        # SQLAlchemy begins no transaction of its own: `transaction` does.
        connection = await engine.execution_options(isolation_level="AUTOCOMMIT").connect()
        driver = (await connection.get_raw_connection()).driver_connection
        return cls(connection, cast("asyncpg.Connection[asyncpg.Record]", driver))

    async def fetch(self, statement: str, *values: object) -> Sequence[Any]:
        """All rows of a statement in PostgreSQL's own words (`$1`, `$2` …), prepared once per connection."""
        rows: Sequence[Any] = await self._driver.fetch(statement, *values)
        return rows

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Commits at the end, or undoes everything if something is raised."""
        await self._driver.execute("BEGIN")
        try:
            yield
        except BaseException:
            # Whoever holds a connection that has failed throws it away; the server undoes what it left.
            self._driver.terminate()
            raise
        await self._driver.execute("COMMIT")

    async def discard(self) -> None:
        """Closes the connection for good, whatever state it is in."""
        self._driver.terminate()
        try:
            await self.sqlalchemy.invalidate()
            await self.sqlalchemy.close()
        except DATABASE_FAILURES:
            _log.debug("a connection that was lost could not be closed", exc_info=True)
