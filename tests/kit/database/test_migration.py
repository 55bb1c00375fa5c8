"""`feltro migrate`: it takes as long as it takes, waits for another one with a limit, and says what went wrong."""

from __future__ import annotations

import asyncio
import itertools
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from services.kit.database import migration, postgresql, schema
from services.kit.table import schema as game_migrate
from services.wallet import migrate as wallet_migrate
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, WALLET_ROLE

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Migrating:
    """A database without a schema, and a folder of migrations for it."""

    postgres: EmbeddedPostgres
    name: str
    migrations: Path
    said: pytest.CaptureFixture[str]

    @property
    def owner_url(self) -> str:
        return self.postgres.url(OWNER_ROLE, self.name)

    def add(self, number: int, step: str) -> None:
        """One more migration: a line of Python."""
        before = f"{number - 1:04}" if number > 1 else None
        (self.migrations / "versions" / f"{number:04}_step.py").write_text(
            f"from alembic import op\nrevision = '{number:04}'\ndown_revision = {before!r}\n\n"
            f"def upgrade():\n    {step}\n"
        )

    def migrate(self) -> tuple[int, str]:
        """The exit status, and what is printed."""
        status = migration.command(["wallet"])
        said = self.said.readouterr()
        return status, said.err if status else said.out

    def ask(self, statement: str) -> str:
        return self.postgres.sql(statement, self.name)

    async def in_another_transaction(self, statement: str) -> asyncpg.Connection[asyncpg.Record]:
        """Something else that works on the database, and has not ended yet."""
        connection = await asyncpg.connect(self.owner_url.replace("+asyncpg", ""))
        await connection.execute("BEGIN")
        await connection.execute(statement)
        return connection


@pytest.fixture
def migrating(
    postgres: EmbeddedPostgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Migrating]:
    name = f"feltro_migrating_{next(_numbers)}"
    postgres.ensure_database(name, OWNER_ROLE, WALLET_ROLE)
    migrations = tmp_path / "migrations"
    (migrations / "versions").mkdir(parents=True)
    shutil.copy(wallet_migrate.MIGRATIONS / "env.py", migrations)
    monkeypatch.setattr(wallet_migrate, "MIGRATIONS", migrations)
    monkeypatch.setenv("FELTRO_WALLET_OWNER_URL", postgres.url(OWNER_ROLE, name))
    yield Migrating(postgres, name, migrations, capsys)
    postgres.drop_database(name)


def test_no_limit_of_the_services_or_of_the_role_ends_it(migrating: Migrating, monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = postgresql.connect.__kwdefaults__
    assert defaults is not None
    assert defaults["command_timeout_s"] == postgresql.COMMAND_TIMEOUT_S
    monkeypatch.setitem(defaults, "command_timeout_s", 0.05)
    migrating.ask(f"ALTER ROLE {OWNER_ROLE} IN DATABASE {migrating.name} SET statement_timeout = '50ms'")
    migrating.add(1, "op.execute('CREATE TABLE made AS SELECT 1 FROM pg_sleep(0.3)')")
    assert migrating.migrate() == (0, "The wallet's database has the newest schema.\n")
    assert migrating.ask("SELECT count(*) FROM made") == "1"


@pytest.mark.guarantee("G11")
async def test_it_waits_for_another_migration_and_says_so_if_that_does_not_end(
    migrating: Migrating, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "OTHER_MIGRATION_TIMEOUT_S", 0.1)
    migrating.add(1, "op.execute('CREATE TABLE made ()')")
    other = await migrating.in_another_transaction(f"SELECT pg_advisory_xact_lock({migration._ONE_AT_A_TIME})")
    status, said = await _in_a_thread(migrating)
    assert status == 1
    waits, why = said.splitlines()
    assert waits == ("feltro migrate: another migration of this database is under way: waiting for it, at most 0.1 s")
    assert why.startswith(
        "feltro migrate: the database was not changed: Another migration of it has not ended within 0.1 s."
    )
    await other.close()
    assert await _in_a_thread(migrating) == (0, "The wallet's database has the newest schema.\n")


@pytest.mark.guarantee("G11")
async def test_it_does_not_hold_everybody_up_behind_a_table_that_is_in_use(
    migrating: Migrating, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "TABLE_LOCK_TIMEOUT_S", 0.1)
    migrating.add(1, "op.execute('CREATE TABLE ledger ()')")
    assert (await _in_a_thread(migrating))[0] == 0
    migrating.add(2, "op.execute('ALTER TABLE ledger ADD COLUMN cents bigint')")
    backup = await migrating.in_another_transaction("LOCK TABLE ledger IN ACCESS SHARE MODE")
    status, said = await _in_a_thread(migrating)
    assert status == 1
    assert "the database was not changed: Somebody has used a table that has to change for more than 0.1 s" in said
    assert migrating.ask("SELECT version_num FROM alembic_version") == "0001"
    await backup.close()
    assert (await _in_a_thread(migrating))[0] == 0


async def _in_a_thread(migrating: Migrating) -> tuple[int, str]:
    """It has an event loop of its own."""
    return await asyncio.to_thread(migrating.migrate)


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ("raise TimeoutError", "TimeoutError\n"),
        ("raise RuntimeError('a row that cannot be')", "a row that cannot be\n"),
    ],
)
def test_a_failure_says_what_failed_and_changes_nothing(migrating: Migrating, step: str, why: str) -> None:
    migrating.add(1, "op.execute('CREATE TABLE made ()')")
    migrating.add(2, step)
    assert migrating.migrate() == (1, f"feltro migrate: the database was not changed: {why}")
    assert migrating.ask("SELECT to_regclass('made') IS NULL") == "t"


def test_a_database_that_cannot_be_reached_is_said(migrating: Migrating, monkeypatch: pytest.MonkeyPatch) -> None:
    migrating.add(1, "pass")
    for url, why in (
        (migrating.owner_url.replace(OWNER_ROLE, "feltro_nobody"), "password authentication failed"),
        (f"postgresql+asyncpg://{OWNER_ROLE}@127.0.0.1:1/nothing", "Connect"),
    ):
        monkeypatch.setenv("FELTRO_WALLET_OWNER_URL", url)
        status, said = migrating.migrate()
        assert status == 1
        assert said.startswith("feltro migrate: the database was not changed: ")
        assert why in said


def test_the_schema_of_a_later_release_is_left_alone(migrating: Migrating) -> None:
    migrating.add(1, "op.execute('CREATE TABLE made ()')")
    migrating.add(2, "op.execute('CREATE TABLE later ()')")
    assert migrating.migrate()[0] == 0
    (migrating.migrations / "versions" / "0002_step.py").unlink()
    said = "The wallet's database has the schema 0002, newer than this release's 0001: nothing to do.\n"
    assert migrating.migrate() == (0, said)
    assert migrating.ask("SELECT to_regclass('later') IS NULL") == "f"


@pytest.mark.parametrize("migrations", [wallet_migrate.MIGRATIONS, game_migrate.MIGRATIONS])
def test_revisions_are_the_numbers_of_their_files_and_rise(migrations: Path) -> None:
    """By that the services know which one they need, without the tool that migrates."""
    scripts = ScriptDirectory.from_config(_configuration(migrations))
    revisions = [script.revision for script in scripts.walk_revisions()]
    names = sorted((path.name for path in (migrations / "versions").glob("*.py")), reverse=True)
    assert [name.partition("_")[0] for name in names] == revisions
    assert {len(revision) for revision in revisions} == {4}
    assert schema.newest_revision(migrations) == scripts.get_current_head()


def _configuration(migrations: Path) -> Config:
    config = Config()
    config.set_main_option("script_location", str(migrations))
    return config
