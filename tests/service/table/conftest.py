"""Connections to a game's database, and a journal that writes to it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.database import postgresql
from services.kit.table.journal import postgres
from services.kit.table.journal.postgres import PostgresJournal
from tests.processes.databases import GameDatabase

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

READING_CONNECTIONS = 4


@pytest.fixture
async def engine(game_database: GameDatabase) -> AsyncIterator[AsyncEngine]:
    """The small pool that everything but the journal's writer shares."""
    engine = postgresql.connect(game_database.url, "test", READING_CONNECTIONS)
    yield engine
    await engine.dispose()


@asynccontextmanager
async def running_journal(url: str, reading: AsyncEngine) -> AsyncIterator[PostgresJournal]:
    """Runs a journal as one process does."""
    writing = postgresql.connect(url, "test journal", 1, settings=postgres.WRITER_SETTINGS)
    journal = PostgresJournal(writing, reading)
    task = asyncio.create_task(journal.run())
    yield journal
    await background.cancel_and_wait([task])
    await writing.dispose()


@pytest.fixture
async def journal(game_database: GameDatabase, engine: AsyncEngine) -> AsyncIterator[PostgresJournal]:
    """The journal of the process under test."""
    async with running_journal(game_database.url, engine) as journal:
        yield journal


async def _connect(url: str) -> Connection:
    return await asyncpg.connect(url.replace("+asyncpg", ""))


@pytest.fixture
async def service_connection(game_database: GameDatabase) -> AsyncIterator[Connection]:
    """A connection as the service has it."""
    connection = await _connect(game_database.url)
    yield connection
    await connection.close()


@pytest.fixture
async def owner_connection(game_database: GameDatabase) -> AsyncIterator[Connection]:
    """A connection as migrations have it."""
    connection = await _connect(game_database.owner_url)
    yield connection
    await connection.close()
