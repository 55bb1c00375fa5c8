"""Whether a database has the schema that a release works with: a service waits for it before it says that it serves."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.database.postgresql import DATABASE_FAILURES
from services.kit.rpc.not_serving import not_serving_server

POLL_INTERVAL_S = 1.0

_IS_THERE = text("SELECT to_regclass('alembic_version') IS NOT NULL")
_REVISION = text("SELECT max(version_num) FROM alembic_version")

_log = logging.getLogger(__name__)


def newest_revision(migrations: Path) -> str:
    """The revision that the newest migration leads to. They are numbered, and each file begins with its number."""
    return max(path.name.partition("_")[0] for path in (migrations / "versions").glob("[0-9]*_*.py"))


def current_revision(connection: Connection) -> str | None:
    """The one that the database has; None if it has no schema yet."""
    if not connection.execute(_IS_THERE).scalar_one():
        return None
    found: str | None = connection.execute(_REVISION).scalar_one()
    return found


async def wait_for_schema(
    engine: AsyncEngine, service: str, migrations: Path, listen: str, stopped: asyncio.Event
) -> bool:
    """Returns True as soon as the database has the schema that this release needs, or one that is newer.

    A newer one is what every process of the last release meets while it is being replaced. Until there is one the
    address says that nobody serves there. False if the process was told to stop before that.
    """
    lack = await _lack(engine, service, migrations)
    if lack:
        said = ""
        async with not_serving_server(listen, f"The {service} does not serve yet: its database is not ready."):
            while lack and not stopped.is_set():
                if lack != said:
                    _log.warning("the %s does not serve yet: %s", service, lack)
                    said = lack
                await background.wait_for_event(stopped, POLL_INTERVAL_S)
                lack = await _lack(engine, service, migrations)
    return not lack


async def _lack(engine: AsyncEngine, service: str, migrations: Path) -> str:
    """What keeps the service from serving, for whoever runs it; nothing if all is well."""
    needed = newest_revision(migrations)
    try:
        async with engine.connect() as connection:
            found = await connection.run_sync(current_revision)
    except DATABASE_FAILURES as failed:
        # What comes after the first line is about the tools.
        first, _, _ = str(failed).partition("\n")
        return f"its database cannot be read: {type(failed).__name__}: {first}"
    if found is None:
        return f"its database has no schema, and revision {needed} is needed. Run `feltro migrate {service}`."
    if found < needed:
        return f"its database has the schema {found}, and {needed} is needed. Run `feltro migrate {service}`."
    return ""
