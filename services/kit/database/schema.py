"""The schema of a database: a service waits for the revision that its release needs before it serves."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.database.postgresql import DATABASE_FAILURES
from services.kit.rpc.not_serving import not_serving_server
from services.kit.rpc.transport import Transport

POLL_INTERVAL_S = 1.0

_IS_THERE = text("SELECT to_regclass('alembic_version') IS NOT NULL")
_REVISION = text("SELECT max(version_num) FROM alembic_version")

_log = logging.getLogger(__name__)


def newest_revision(migrations: Path) -> str:
    """Returns the revision of the newest migration: each file begins with its number."""
    return max(path.name.partition("_")[0] for path in (migrations / "versions").glob("[0-9]*_*.py"))


def current_revision(connection: Connection) -> str | None:
    """Returns the revision of the database; None if it has no schema yet."""
    if not connection.execute(_IS_THERE).scalar_one():
        return None
    revision: str | None = connection.execute(_REVISION).scalar_one()
    return revision


async def wait_for_schema(
    engine: AsyncEngine, service: str, migrations: Path, listen: str, transport: Transport, stopped: asyncio.Event
) -> bool:
    """Returns True as soon as the database has the schema that this release needs, or a newer one.

    The processes of the last release meet a newer one while they are being replaced. Until then the address answers
    that the service does not serve yet. False if `stopped` is set before that.
    """
    problem = await _problem(engine, service, migrations)
    if problem:
        logged = ""
        sentence = f"The {service} does not serve yet: its database is not ready."
        async with not_serving_server(listen, sentence, transport):
            while problem and not stopped.is_set():
                if problem != logged:
                    _log.warning("the %s does not serve yet: %s", service, problem)
                    logged = problem
                await background.wait_for_event(stopped, POLL_INTERVAL_S)
                problem = await _problem(engine, service, migrations)
    return not problem


async def _problem(engine: AsyncEngine, service: str, migrations: Path) -> str:
    """Says, to the operator, what keeps the service from serving; empty if nothing does."""
    needed = newest_revision(migrations)
    try:
        async with engine.connect() as connection:
            current = await connection.run_sync(current_revision)
    except DATABASE_FAILURES as failed:
        # The other lines are about the driver and SQLAlchemy.
        first, _, _ = str(failed).partition("\n")
        return f"its database cannot be read: {type(failed).__name__}: {first}"
    if current is None:
        return f"its database has no schema, and revision {needed} is needed. Run `feltro migrate {service}`."
    if current < needed:
        return f"its database has the schema {current}, and {needed} is needed. Run `feltro migrate {service}`."
    return ""
