"""Holds the transactions of a service at their commit, so that a process can be killed exactly before or after it.

A deferred trigger waits for a lock that the test holds. What a killed process has sent is still committed when the
gate opens, as if it had died a moment later; what is cut is rolled back, as if it had died a moment before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg

from stack.servers.postgres import ADMIN, EmbeddedPostgres
from tests.processes.databases import connect_asyncpg

TIMEOUT_S = 120.0
JOURNAL_TABLES = ("draws", "moves", "paid", "endings")
LEDGER_TABLES = ("transfers",)
# The first part of the locks' keys; the second is the number of the table.
LOCK_CLASS = 4_805
_FUNCTION = f"""
CREATE FUNCTION wait_for_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN PERFORM pg_advisory_xact_lock_shared({LOCK_CLASS}, TG_ARGV[0]::integer); RETURN NULL; END $$
"""
_WAITING = """
SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = $1 AND NOT granted AND mode = $2
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
# Commits wait for the one, a gate that is to close for the other.
_SHARED, _EXCLUSIVE = "ShareLock", "ExclusiveLock"


class CommitGates:
    """The gates of one database, one for each table; open at first."""

    def __init__(
        self,
        tables: tuple[str, ...],
        connection: asyncpg.Connection[asyncpg.Record],
        other: asyncpg.Connection[asyncpg.Record],
    ) -> None:
        self._numbers = {table: number for number, table in enumerate(tables)}
        self._connection = connection
        self._other = other

    @staticmethod
    def install(server: EmbeddedPostgres, database: str, tables: tuple[str, ...]) -> None:
        """Adds the triggers to a database."""
        server.sql(_FUNCTION, database)
        for number, table in enumerate(tables):
            server.sql(
                f"CREATE CONSTRAINT TRIGGER gate AFTER INSERT ON {table} DEFERRABLE INITIALLY DEFERRED"
                f" FOR EACH ROW EXECUTE FUNCTION wait_for_gate({number})",
                database,
            )

    @classmethod
    @asynccontextmanager
    async def connected(
        cls, server: EmbeddedPostgres, database: str, tables: tuple[str, ...]
    ) -> AsyncIterator[CommitGates]:
        connection, other = [await connect_asyncpg(server.url(ADMIN, database)) for _ in range(2)]
        try:
            yield cls(tables, connection, other)
        finally:
            # The locks go with the connections.
            await connection.close()
            await other.close()

    async def close(self, *tables: str) -> None:
        """Holds every commit with rows of these tables from now on."""
        for table in tables:
            await self._connection.execute(f"SELECT pg_advisory_lock({LOCK_CLASS}, {self._numbers[table]})")

    async def open(self, *tables: str) -> None:
        """Lets what is held be committed."""
        for table in tables:
            await self._connection.execute(f"SELECT pg_advisory_unlock({LOCK_CLASS}, {self._numbers[table]})")

    async def open_all(self) -> None:
        for connection in (self._connection, self._other):
            await connection.execute("SELECT pg_advisory_unlock_all()")

    async def let_pass(self, table: str) -> None:
        """Lets what is held be committed, and holds what comes behind it: locks are given in the order of asking."""
        asked = asyncio.create_task(
            self._other.execute(f"SELECT pg_advisory_lock({LOCK_CLASS}, {self._numbers[table]})")
        )
        async with asyncio.timeout(TIMEOUT_S):
            while not await self._connection.fetch(_WAITING, LOCK_CLASS, _EXCLUSIVE):
                await asyncio.sleep(0.01)
        await self.open(table)
        await asked

    async def held(self) -> list[int]:
        """The connections whose commits are held, by their process ids."""
        return [row["pid"] for row in await self._connection.fetch(_WAITING, LOCK_CLASS, _SHARED)]

    async def wait_until_held(self) -> None:
        """Waits until a commit is held."""
        async with asyncio.timeout(TIMEOUT_S):
            while not await self.held():
                await asyncio.sleep(0.01)

    async def cut(self) -> None:
        """Cuts the connections whose commits are held: PostgreSQL rolls back, and the client learns nothing."""
        for pid in await self.held():
            await self._connection.execute("SELECT pg_terminate_backend($1)", pid)
        async with asyncio.timeout(TIMEOUT_S):
            while await self.held():
                await asyncio.sleep(0.01)
