"""`feltro migrate`: no time limit ends it, it waits for another one with a limit, and it says what went wrong."""

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
from stack.servers.postgres import ADMIN, EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, WALLET_ROLE, connect_asyncpg

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Migration:
    """A database without a schema, and a folder of migrations for it."""

    postgres: EmbeddedPostgres
    name: str
    migrations: Path
    printed: pytest.CaptureFixture[str]

    @property
    def owner_url(self) -> str:
        return self.postgres.url(OWNER_ROLE, self.name)

    def add(self, number: int, step: str) -> None:
        """Adds a migration of one line of Python."""
        before = f"{number - 1:04}" if number > 1 else None
        (self.migrations / "versions" / f"{number:04}_step.py").write_text(
            f"from alembic import op\nrevision = '{number:04}'\ndown_revision = {before!r}\n\n"
            f"def upgrade():\n    {step}\n"
        )

    def migrate(self) -> tuple[int, str]:
        """Returns the exit status and the printed text."""
        status = migration.command(["wallet"])
        printed = self.printed.readouterr()
        return status, printed.err if status else printed.out

    def query(self, statement: str) -> str:
        return self.postgres.sql(statement, self.name)

    async def in_another_transaction(self, statement: str) -> asyncpg.Connection[asyncpg.Record]:
        """Opens another connection with a transaction that has not ended."""
        connection = await connect_asyncpg(self.owner_url)
        await connection.execute("BEGIN")
        await connection.execute(statement)
        return connection


@pytest.fixture
def migrating(
    postgres: EmbeddedPostgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Migration]:
    name = f"feltro_migrating_{next(_numbers)}"
    postgres.ensure_database(name, OWNER_ROLE, WALLET_ROLE)
    migrations = tmp_path / "migrations"
    (migrations / "versions").mkdir(parents=True)
    shutil.copy(wallet_migrate.MIGRATIONS / "env.py", migrations)
    monkeypatch.setattr(wallet_migrate, "MIGRATIONS", migrations)
    monkeypatch.setenv("FELTRO_WALLET_OWNER_URL", postgres.url(OWNER_ROLE, name))
    yield Migration(postgres, name, migrations, capsys)
    postgres.drop_database(name)


def test_a_migration_heeds_no_time_limit_of_services_or_of_the_role(
    migrating: Migration, monkeypatch: pytest.MonkeyPatch
) -> None:
    defaults = postgresql.connect.__kwdefaults__
    assert defaults is not None
    assert defaults["command_timeout_s"] == postgresql.COMMAND_TIMEOUT_S
    monkeypatch.setitem(defaults, "command_timeout_s", 0.05)
    migrating.query(f"ALTER ROLE {OWNER_ROLE} IN DATABASE {migrating.name} SET statement_timeout = '50ms'")
    migrating.add(1, "op.execute('CREATE TABLE made AS SELECT 1 FROM pg_sleep(0.3)')")
    assert migrating.migrate() == (0, "The wallet's database has the newest schema.\n")
    assert migrating.query("SELECT count(*) FROM made") == "1"


@pytest.mark.guarantee("G11")
async def test_g11_a_migration_waits_for_another_one_up_to_a_limit(
    migrating: Migration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "OTHER_MIGRATION_TIMEOUT_S", 0.1)
    migrating.add(1, "op.execute('CREATE TABLE made ()')")
    other = await migrating.in_another_transaction(f"SELECT pg_advisory_xact_lock({migration._ONE_AT_A_TIME})")
    status, printed = await _in_a_thread(migrating)
    assert status == 1
    waiting, failure = printed.splitlines()
    assert waiting == ("feltro migrate: another migration of this database is under way: waiting for it, at most 0.1 s")
    assert failure.startswith(
        "feltro migrate: the database was not changed: Another migration of it has not ended within 0.1 s."
    )
    await other.close()
    # However long PostgreSQL takes to end the other one.
    monkeypatch.setattr(migration, "OTHER_MIGRATION_TIMEOUT_S", 60.0)
    assert await _in_a_thread(migrating) == (0, "The wallet's database has the newest schema.\n")


@pytest.mark.guarantee("G11")
async def test_g11_a_migration_does_not_block_a_table_in_use_for_long(
    migrating: Migration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "TABLE_LOCK_TIMEOUT_S", 0.1)
    migrating.add(1, "op.execute('CREATE TABLE ledger ()')")
    assert (await _in_a_thread(migrating))[0] == 0
    migrating.add(2, "op.execute('ALTER TABLE ledger ADD COLUMN cents bigint')")
    backup = await migrating.in_another_transaction("LOCK TABLE ledger IN ACCESS SHARE MODE")
    status, printed = await _in_a_thread(migrating)
    assert status == 1
    assert "the database was not changed: Somebody has used a table that has to change for more than 0.1 s" in printed
    assert migrating.query("SELECT version_num FROM alembic_version") == "0001"
    await backup.close()
    # However long PostgreSQL takes to end the backup.
    monkeypatch.setattr(migration, "TABLE_LOCK_TIMEOUT_S", 60.0)
    assert (await _in_a_thread(migrating))[0] == 0


# Takes two tables; in between it waits until a process that has the second one waits for the first.
CROSSING = (
    "ALTER TABLE first ADD COLUMN a int",
    """
    DO $$ BEGIN
      WHILE EXISTS (SELECT FROM locks_here WHERE relation = 'second'::regclass)
        AND NOT EXISTS (SELECT FROM locks_here WHERE relation = 'first'::regclass AND NOT granted)
      LOOP PERFORM pg_sleep(0.01); END LOOP;
    END $$
    """,
    "ALTER TABLE second ADD COLUMN a int",
)


async def test_a_migration_begins_anew_after_a_deadlock_with_a_process_that_serves(migrating: Migration) -> None:
    status, printed = await _migrate_across_a_process_that_serves(migrating)
    assert status == 0, printed
    assert migrating.query("SELECT version_num FROM alembic_version") == "0002"


@pytest.mark.guarantee("G11")
async def test_g11_a_migration_gives_up_after_so_many_deadlocks(
    migrating: Migration, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migration, "DEADLOCK_ATTEMPTS", 1)
    status, printed = await _migrate_across_a_process_that_serves(migrating)
    assert status == 1
    assert "deadlock detected" in printed
    assert migrating.query("SELECT version_num FROM alembic_version") == "0001"


async def _migrate_across_a_process_that_serves(migrating: Migration) -> tuple[int, str]:
    """Migrates while a process has the second of two tables, and waits for the first as soon as the migration has it.

    The process never looks for deadlocks itself: the migration is the one that PostgreSQL ends.
    """
    migrating.add(1, "[op.execute(f'CREATE TABLE {name} ()') for name in ('first', 'second')]")
    assert (await _in_a_thread(migrating))[0] == 0
    migrating.query(f"{_LOCKS_HERE}; GRANT SELECT ON locks_here TO {OWNER_ROLE}")
    migrating.add(2, f"[op.execute(statement) for statement in {CROSSING!r}]")
    serving = await connect_asyncpg(migrating.postgres.url(ADMIN, migrating.name))
    async with serving.transaction():
        await serving.execute("SET LOCAL deadlock_timeout = '1h'")
        await serving.execute("LOCK TABLE second IN ACCESS SHARE MODE")
        migration_ends = asyncio.create_task(_in_a_thread(migrating))
        while not await serving.fetchval(_HAS_FIRST):
            await asyncio.sleep(0.01)
        await serving.execute("LOCK TABLE first IN ACCESS SHARE MODE")
    await serving.close()
    return await migration_ends


_HAS_FIRST = "SELECT EXISTS (SELECT FROM locks_here WHERE relation = 'first'::regclass AND granted)"
_LOCKS_HERE = """
CREATE VIEW locks_here AS
SELECT relation, granted FROM pg_locks JOIN pg_database ON pg_database.oid = database WHERE datname = current_database()
"""


async def _in_a_thread(migrating: Migration) -> tuple[int, str]:
    """Migrates in a thread, because the command runs an event loop of its own."""
    return await asyncio.to_thread(migrating.migrate)


@pytest.mark.parametrize(
    ("step", "failure"),
    [
        ("raise TimeoutError", "TimeoutError\n"),
        ("raise RuntimeError('a row that cannot be')", "a row that cannot be\n"),
    ],
)
def test_a_failed_migration_is_explained_and_changes_nothing(migrating: Migration, step: str, failure: str) -> None:
    migrating.add(1, "op.execute('CREATE TABLE made ()')")
    migrating.add(2, step)
    assert migrating.migrate() == (1, f"feltro migrate: the database was not changed: {failure}")
    assert migrating.query("SELECT to_regclass('made') IS NULL") == "t"


def test_an_unreachable_database_is_reported(migrating: Migration, monkeypatch: pytest.MonkeyPatch) -> None:
    migrating.add(1, "pass")
    for url, failure in (
        (migrating.owner_url.replace(OWNER_ROLE, "feltro_nobody"), "password authentication failed"),
        (f"postgresql+asyncpg://{OWNER_ROLE}@127.0.0.1:1/nothing", "Connect"),
    ):
        monkeypatch.setenv("FELTRO_WALLET_OWNER_URL", url)
        status, printed = migrating.migrate()
        assert status == 1
        assert printed.startswith("feltro migrate: the database was not changed: ")
        assert failure in printed


def test_the_schema_of_a_later_release_is_left_alone(migrating: Migration) -> None:
    migrating.add(1, "op.execute('CREATE TABLE made ()')")
    migrating.add(2, "op.execute('CREATE TABLE later ()')")
    assert migrating.migrate()[0] == 0
    (migrating.migrations / "versions" / "0002_step.py").unlink()
    printed = "The wallet's database has the schema 0002, newer than this release's 0001: nothing to do.\n"
    assert migrating.migrate() == (0, printed)
    assert migrating.query("SELECT to_regclass('later') IS NULL") == "f"


@pytest.mark.parametrize("migrations", [wallet_migrate.MIGRATIONS, game_migrate.MIGRATIONS])
def test_revisions_are_the_rising_numbers_of_their_files(migrations: Path) -> None:
    """So a service knows the revision that it needs without loading the migrations."""
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
