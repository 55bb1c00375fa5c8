"""Fixtures of the table runtime's tests: a game's database, a journal that writes to it, the bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import asyncpg
import pytest
from nats.aio.client import Client as Nats
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.database import postgresql
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.sealing import KEY_BYTES, EntropyKey, EntropyKeys
from tests.processes.bus import connect_bus
from tests.processes.databases import GameDatabase, connect_asyncpg
from tests.service.table.stoppable_nats import StoppableNats

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

READING_CONNECTIONS = 4
ENTROPY_KEYS = EntropyKeys([EntropyKey("1", b"k" * KEY_BYTES)])


@pytest.fixture
async def engine(game_database: GameDatabase) -> AsyncIterator[AsyncEngine]:
    """The small pool that everything but the journal's writer shares."""
    engine = postgresql.connect(game_database.url, "test", READING_CONNECTIONS, settings=postgresql.BY_INDEX)
    yield engine
    await engine.dispose()


@asynccontextmanager
async def running_journal(
    url: str, reading: AsyncEngine, entropy_keys: EntropyKeys = ENTROPY_KEYS
) -> AsyncIterator[PostgresJournal]:
    """Runs a journal as one process does."""
    writing = postgresql.connect(url, "test journal", 1, settings=postgresql.PLANNED_ONCE)
    journal = PostgresJournal(writing, reading, entropy_keys)
    task = asyncio.create_task(journal.run())
    yield journal
    await background.cancel_and_wait([task])
    await writing.dispose()


@pytest.fixture
async def journal(game_database: GameDatabase, engine: AsyncEngine) -> AsyncIterator[PostgresJournal]:
    """The journal of the process under test."""
    async with running_journal(game_database.url, engine) as journal:
        yield journal


@pytest.fixture
async def service_connection(game_database: GameDatabase) -> AsyncIterator[Connection]:
    """A connection as the service has it."""
    connection = await connect_asyncpg(game_database.url)
    yield connection
    await connection.close()


@pytest.fixture
async def owner_connection(game_database: GameDatabase) -> AsyncIterator[Connection]:
    """A connection as migrations have it."""
    connection = await connect_asyncpg(game_database.owner_url)
    yield connection
    await connection.close()


@pytest.fixture
async def bus(nats_url: str) -> AsyncIterator[Nats]:
    """A connection to the NATS of this test worker."""
    connection = await connect_bus(nats_url)
    yield connection
    await connection.close()


@pytest.fixture
def own_nats() -> Iterator[StoppableNats]:
    """A NATS of this test alone, which it may stop."""
    with StoppableNats() as server:
        yield server
