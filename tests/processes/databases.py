"""The databases of tests and benches: their settings, roles and templates, and quick copies of a migrated one."""

from __future__ import annotations

import asyncio
import fcntl
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg

from stack.servers import ephemeral
from stack.servers.postgres import ADMIN, EmbeddedPostgres

if TYPE_CHECKING:
    from collections.abc import Coroutine

    Connection = asyncpg.Connection[asyncpg.Record]

# A killed process loses nothing of what PostgreSQL wrote without fsync; only a power cut would, and no test makes one.
# Never `synchronous_commit=off`: a killed PostgreSQL would lose what it acknowledged, and G5 is tested with one.
POSTGRES_TEST_SETTINGS = {
    "fsync": "off",
    # Kept small: it may be in memory.
    "max_wal_size": "256MB",
    "max_connections": "200",
    # Passwords of 128 random bits need no slow hash, and tests connect thousands of times.
    "scram_iterations": "1",
}
OWNER_ROLE = "feltro_owner"
WALLET_ROLE = "feltro_wallet"
ROULETTE_ROLE = "feltro_roulette"
# The folder of the seed that the workers of one run share, beside their own.
SEED = "postgres-seed"


@dataclass(frozen=True)
class DatabaseTemplate:
    """A migrated database to copy from: copying takes a fiftieth of migrating."""

    service: str
    """As `feltro migrate` knows it."""
    role: str

    @property
    def name(self) -> str:
        """The name of the database."""
        return f"feltro_{self.service}_template"


WALLET_TEMPLATE = DatabaseTemplate("wallet", WALLET_ROLE)
ROULETTE_TEMPLATE = DatabaseTemplate("roulette", ROULETTE_ROLE)


@dataclass(frozen=True)
class MigratedDatabase:
    """A migrated, empty database of one test."""

    name: str
    url: str
    """As the service connects: with its own role, which may do only what the migrations grant."""
    owner_url: str
    """As `feltro migrate` connects: role feltro_owner, which owns the schema."""


class WalletDatabase(MigratedDatabase):
    """The wallet's."""


class GameDatabase(MigratedDatabase):
    """A game's: its journal, tables and switches."""


class MigrationFailed(RuntimeError):
    """`feltro migrate` failed; the message is what it printed."""


async def connect_asyncpg(url: str) -> Connection:
    """Connects past SQLAlchemy, with one of its addresses."""
    return await asyncpg.connect(url.replace("+asyncpg", ""))


def migrate(service: str, owner_url: str) -> subprocess.CompletedProcess[str]:
    """`feltro migrate <service>`."""
    return subprocess.run(
        [sys.executable, "-m", "services.kit.command", "migrate", service],
        env={**os.environ, f"FELTRO_{service.upper()}_OWNER_URL": owner_url},
        capture_output=True,
        text=True,
        check=False,
    )


def ensure_template(server: EmbeddedPostgres, template: DatabaseTemplate) -> str:
    """Makes and migrates a template unless the server has it; its name."""
    name = template.name
    if server.sql(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):  # noqa: S608 - a name of ours
        return name
    server.ensure_database(name, OWNER_ROLE, template.role)
    migration = migrate(template.service, server.url(OWNER_ROLE, name))
    if migration.returncode:
        server.drop_database(name)
        raise MigrationFailed(f"`feltro migrate {template.service}` failed:\n{migration.stdout}{migration.stderr}")
    return name


def shared_seed(folder: Path) -> Path:
    """The seed of all workers of one run: the first to ask makes it, the others wait for it."""
    seed = folder / SEED
    with (folder / f"{SEED}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not seed.exists():
            ephemeral.make_seed(seed, POSTGRES_TEST_SETTINGS, fill=_ensure_templates)
    return seed


def _ensure_templates(server: EmbeddedPostgres) -> None:
    for template in (WALLET_TEMPLATE, ROULETTE_TEMPLATE):
        ensure_template(server, template)


class DatabaseCopier:
    """Copies templates and drops the copies, as the administrator over one connection that stays open.

    A `psql` for each would take four times as long. The connection has a thread and an event loop of its own: a loop
    of a test ends with the test.
    """

    def __init__(self, server: EmbeddedPostgres) -> None:
        self._server = server
        self._connection: Connection | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="database copier", daemon=True)
        self._thread.start()

    @contextmanager
    def copy(self, name: str, template: DatabaseTemplate) -> Iterator[tuple[str, str]]:
        """A copy of a template for as long as the context lasts; the service's address and the owner's."""
        self._execute(
            f"CREATE DATABASE {name} OWNER {OWNER_ROLE} TEMPLATE {template.name}",
            f"REVOKE ALL ON DATABASE {name} FROM PUBLIC; GRANT CONNECT ON DATABASE {name} TO {template.role}",
        )
        yield self._server.url(template.role, name), self._server.url(OWNER_ROLE, name)
        self._execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def close(self) -> None:
        """Ends the connection, the loop and the thread."""
        if self._connection is not None:
            self._run(self._connection.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _execute(self, *statements: str) -> None:
        self._run(self._execute_each(statements))

    def _run(self, work: Coroutine[None, None, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _execute_each(self, statements: tuple[str, ...]) -> None:
        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(self._server.url(ADMIN, "postgres", scheme="postgresql"))
        for statement in statements:
            await self._connection.execute(statement)
