"""Connections to PostgreSQL: engines with limits, and direct connections for the hot statements."""

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

# Settings for a connection whose statements find every row by an index. A prepared statement keeps its plan until
# statistics are gathered again: one made while tables are empty reads them whole, and under load still does so long
# after they have grown.
BY_INDEX = {"enable_seqscan": "off"}
# Settings for one whose statements are planned once and never again besides: planning them takes longer than running.
PLANNED_ONCE = {
    **BY_INDEX,
    "plan_cache_mode": "force_generic_plan",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
}

# The failures of the database, of the connection to it and of the pool, through SQLAlchemy or from the driver itself.
DATABASE_FAILURES = (
    DBAPIError,
    PoolTimeout,
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    # A connection lost while a statement is being prepared may be in a state that the driver holds impossible.
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
    """Returns an engine with at most so many connections; `settings` are PostgreSQL's own, for its sessions.

    `command_timeout_s` None: a command may take as long as it needs.
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
    """A connection whose hot statements go straight to the driver.

    SQLAlchemy's share of a lone statement is as large as the database's. It keeps the pool, the dialect and all rare
    statements (`sqlalchemy`), in the same transaction; only the few hot ones bypass it.
    """

    def __init__(self, connection: AsyncConnection, driver: asyncpg.Connection[asyncpg.Record]) -> None:
        self.sqlalchemy = connection
        self._driver = driver

    @classmethod
    async def open(cls, engine: AsyncEngine) -> DirectConnection:
        """Takes a connection out of the pool, until `discard`."""
        # SQLAlchemy begins no transaction of its own: `transaction` does.
        connection = await engine.execution_options(isolation_level="AUTOCOMMIT").connect()
        driver = (await connection.get_raw_connection()).driver_connection
        return cls(connection, cast("asyncpg.Connection[asyncpg.Record]", driver))

    @classmethod
    @asynccontextmanager
    async def borrow(cls, engine: AsyncEngine) -> AsyncIterator[DirectConnection]:
        """Takes a connection out of the pool for a moment; one on which anything fails does not go back."""
        borrowed = await cls.open(engine)
        try:
            yield borrowed
        except BaseException:
            await borrowed.discard()
            raise
        await borrowed.sqlalchemy.close()

    async def fetch(self, statement: str, *values: object) -> Sequence[Any]:
        """Returns all rows of a statement in PostgreSQL's own syntax (`$1`, `$2` …), prepared once per connection."""
        rows: Sequence[Any] = await self._driver.fetch(statement, *values)
        return rows

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Commits at the end, or rolls everything back if an exception is raised."""
        await self._driver.execute("BEGIN")
        try:
            yield
        except BaseException:
            # The holder of a failed connection discards it; the server rolls back what it left.
            self._driver.terminate()
            raise
        await self._driver.execute("COMMIT")

    async def discard(self) -> None:
        """Closes the connection, whatever state it is in, so that the pool does not use it again."""
        self._driver.terminate()
        try:
            await self.sqlalchemy.invalidate()
            await self.sqlalchemy.close()
        except DATABASE_FAILURES:
            _log.debug("a lost connection could not be closed", exc_info=True)
