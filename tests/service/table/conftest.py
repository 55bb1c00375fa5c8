"""Fixtures of the table runtime's tests: a game's database, a journal that writes to it, the bus."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.database import postgresql
from services.kit.table.journal import postgres
from services.kit.table.journal.postgres import PostgresJournal
from stack.servers.postgres import EmbeddedPostgres

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

TEMPLATE = "feltro_roulette_template"
OWNER = "feltro_owner"
USER = "feltro_roulette"
READING_CONNECTIONS = 4


@dataclass(frozen=True)
class GameDatabase:
    """A migrated, empty database of one test."""

    name: str
    url: str
    """For the role feltro_roulette, which may do only what the migrations grant."""
    owner_url: str
    """For the role feltro_owner, which owns the schema and migrates it."""


def migrate(owner_url: str) -> subprocess.CompletedProcess[str]:
    """`feltro migrate roulette`."""
    return subprocess.run(
        [sys.executable, "-m", "services.kit.command", "migrate", "roulette"],
        env={**os.environ, "FELTRO_ROULETTE_OWNER_URL": owner_url},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="session")
def game_template(postgres: EmbeddedPostgres) -> str:
    """A migrated database to copy from."""
    postgres.ensure_database(TEMPLATE, OWNER, USER)
    migration = migrate(postgres.url(OWNER, TEMPLATE))
    if migration.returncode:
        pytest.fail(f"`feltro migrate roulette` failed:\n{migration.stdout}{migration.stderr}", pytrace=False)
    return TEMPLATE


@pytest.fixture
def game_database(postgres: EmbeddedPostgres, game_template: str) -> Iterator[GameDatabase]:
    """A database of this test alone."""
    name = f"feltro_roulette_{next(_numbers)}"
    postgres.ensure_database(name, OWNER, USER, template=game_template)
    yield GameDatabase(name=name, url=postgres.url(USER, name), owner_url=postgres.url(OWNER, name))
    postgres.drop_database(name)


_numbers = itertools.count(1)


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
