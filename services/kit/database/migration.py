"""`feltro migrate`: brings the databases of services to the newest schema, each by one process at a time."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import cast

from alembic import command as alembic
from alembic.config import Config
from alembic.util import CommandError
from pydantic import PostgresDsn
from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from services.kit.database import postgresql, schema
from services.kit.settings import ServiceSettings, load_or_exit

# How long a migration waits for another one of the same database (G11).
OTHER_MIGRATION_TIMEOUT_S = 3600.0
# How long it waits for a table that is in use (G11): everything else that needs the table waits behind it.
TABLE_LOCK_TIMEOUT_S = 60.0
# How often it begins anew after a deadlock (G11): processes of the last release serve meanwhile, and one of their
# transactions may have a table that the migration needs while it waits for one that the migration has.
DEADLOCK_ATTEMPTS = 20

# Any number, the same one for every migration.
_ONE_AT_A_TIME = 0x46454C54
_LOCK_NOT_AVAILABLE = "55P03"
_DEADLOCK_DETECTED = "40P01"
# A statement over large tables may take long: only the person who started it ends it.
_NO_TIMEOUT = {"statement_timeout": "0"}

# Services register the folder of their migrations under this name.
MIGRATIONS_GROUP = "feltro.migrations"


class MigrationSettings(ServiceSettings):
    """The settings of a migration: it runs as the schema's owner, which the service itself never does."""

    owner_url: PostgresDsn


def _wait_for_others(connection: Connection) -> None:
    key = {"key": _ONE_AT_A_TIME}
    if connection.execute(text("SELECT pg_try_advisory_xact_lock(:key)"), key).scalar_one():
        return
    waits = f"another migration of this database is under way: waiting for it, at most {OTHER_MIGRATION_TIMEOUT_S:g} s"
    print(f"feltro migrate: {waits}", file=sys.stderr, flush=True)
    with _lock_limit(
        connection,
        OTHER_MIGRATION_TIMEOUT_S,
        "Another migration of it has not ended within {:g} s. PostgreSQL shows it in pg_stat_activity as `feltro"
        " migrate`: let it end, or end it, and migrate again.",
    ):
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), key)


def _upgrade(connection: Connection, migrations: Path, user: str) -> str:
    _wait_for_others(connection)
    if connection.execute(text("SELECT 1 FROM pg_roles WHERE rolname = :role"), {"role": user}).first() is None:
        raise RuntimeError(f"The role {user} does not exist: create it first (CREATE ROLE {user} LOGIN …).")
    current = schema.current_revision(connection)
    if current is not None and current > schema.newest_revision(migrations):
        return current
    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["role"] = user
    with _lock_limit(
        connection,
        TABLE_LOCK_TIMEOUT_S,
        "Somebody has used a table that has to change for more than {:g} s, perhaps a backup or an audit. PostgreSQL"
        " shows it in pg_stat_activity: let it end, and migrate again.",
    ):
        alembic.upgrade(config, "head")
    return schema.newest_revision(migrations)


@contextmanager
def _lock_limit(connection: Connection, seconds: float, sentence: str) -> Iterator[None]:
    """Waits for locks so long and no longer; then fails with the sentence."""
    milliseconds = str(round(seconds * 1000))
    connection.execute(text("SELECT set_config('lock_timeout', :limit, true)"), {"limit": milliseconds})
    try:
        yield
    except DBAPIError as failed:
        if _sqlstate(failed) != _LOCK_NOT_AVAILABLE:
            raise
        raise RuntimeError(sentence.format(seconds)) from failed


async def upgrade(owner_url: str, migrations: Path, user: str) -> str:
    """Upgrades the schema in one transaction, and grants the service's role `user` its rights.

    Returns the revision that the database has then. A revision newer than the newest migration stays: it belongs to a
    later release, which is being deployed or was rolled back.
    """
    engine = postgresql.connect(owner_url, "feltro migrate", 1, command_timeout_s=None, settings=_NO_TIMEOUT)
    try:
        for attempt in itertools.count(1):
            try:
                async with engine.begin() as connection:
                    return await connection.run_sync(_upgrade, migrations, user)
            except DBAPIError as failed:
                if _sqlstate(failed) != _DEADLOCK_DETECTED or attempt == DEADLOCK_ATTEMPTS:
                    raise
                print(
                    "feltro migrate: a deadlock with a process that serves: once more, from the start", file=sys.stderr
                )
    finally:
        await engine.dispose()
    raise AssertionError("the last attempt returns or raises")


def _sqlstate(failed: DBAPIError) -> str | None:
    """Returns PostgreSQL's code of a failure."""
    return getattr(failed.orig, "sqlstate", None)


def role_of(service: str) -> str:
    """Returns the role that a service connects as."""
    return f"feltro_{service}"


def services_with_database() -> list[str]:
    """Returns the name of every service that has a database."""
    return sorted({point.name for point in entry_points(group=MIGRATIONS_GROUP)})


def _migrations_of(service: str) -> Path:
    (point,) = {point for point in entry_points(group=MIGRATIONS_GROUP) if point.name == service}
    return cast("Path", point.load())


def command(arguments: list[str]) -> int:
    """Brings the databases of services to the newest schema."""
    known = services_with_database()
    if not arguments or not set(arguments) <= set(known):
        print(
            f"usage: feltro migrate <{'|'.join(known)}> …   (the database of each is named by"
            " FELTRO_<SERVICE>_OWNER_URL)",
            file=sys.stderr,
        )
        return 2
    # One after the other; the first that fails leaves the rest as they are.
    return next((status for service in arguments if (status := _migrate(service))), 0)


def _migrate(service: str) -> int:
    settings = load_or_exit(MigrationSettings.for_service(service))
    migrations = _migrations_of(service)
    try:
        revision = asyncio.run(upgrade(str(settings.owner_url), migrations, role_of(service)))
    except (*postgresql.DATABASE_FAILURES, RuntimeError, SQLAlchemyError, CommandError) as failed:
        reason = str(failed).strip() or type(failed).__name__
        print(f"feltro migrate: the database was not changed: {reason}", file=sys.stderr)
        return 1
    newest = schema.newest_revision(migrations)
    if revision > newest:
        print(f"The {service}'s database has the schema {revision}, newer than this release's {newest}: nothing to do.")
    else:
        print(f"The {service}'s database has the newest schema.")
    return 0
