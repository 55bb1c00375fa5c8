"""Nothing of ours takes anything away from the records: asked of the databases themselves, wallet's and game's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg
import pytest

from tests.processes.databases import OWNER_ROLE, ROULETTE_ROLE, WALLET_ROLE, GameDatabase, WalletDatabase

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

# What no record is: the schema's own version, facts that wait to be told and go when they are (each follows from what
# is recorded), and which rounds have no end yet (the database itself keeps that, from the journal).
NOT_RECORDS = {
    "wallet": {"alembic_version", "outbox", "outbox_cursor"},
    "game": {"alembic_version", "open_rounds"},
}
# Rows that say how something stands now: they change, and stay. What made them change is recorded elsewhere: balances
# in `entries`, rounds and stakes in `transfers` and once more in the journal, an epoch in each round's.
CURRENT_STATE = {
    "wallet": {"accounts", "tables", "rounds", "stakes", "sessions", "complaints", "session_clock"},
    "game": {"placements"},
}
# The bits of `pg_trigger.tgtype`.
BEFORE, ON_DELETE, ON_UPDATE, ON_TRUNCATE = 2, 8, 16, 32

TABLES = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
REFUSING_TRIGGERS = """
SELECT pg_class.relname, bit_or(CASE WHEN tgtype::integer & $1 <> 0 THEN tgtype::integer ELSE 0 END)
FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE proname = 'refuse_change' AND tgenabled IN ('O', 'A') AND tgqual IS NULL GROUP BY pg_class.relname
"""
PRIVILEGES = """
SELECT relname,
       has_table_privilege($1, oid, 'DELETE') AS delete_rows,
       has_table_privilege($1, oid, 'TRUNCATE') AS empty_it,
       has_table_privilege($1, oid, 'UPDATE') OR has_any_column_privilege($1, oid, 'UPDATE') AS rewrite
FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
"""
ROLE = """
SELECT rolsuper, rolcreaterole, rolbypassrls, rolreplication, pg_has_role(oid, $2, 'MEMBER') AS acts_as_owner,
       has_schema_privilege(oid, 'public', 'CREATE') AS makes_tables,
       EXISTS (SELECT FROM pg_class WHERE relowner = pg_roles.oid) AS owns_something
FROM pg_roles WHERE rolname = $1
"""


@dataclass(frozen=True)
class ServiceDatabase:
    """A service's database, its schema's owner looking."""

    kind: str
    role: str
    owner: Connection

    async def names(self) -> set[str]:
        return {row[0] for row in await self.owner.fetch(TABLES)}

    async def records(self) -> set[str]:
        """Every table that is not said to be something else: a new one is a record until somebody says why not."""
        return await self.names() - NOT_RECORDS[self.kind] - CURRENT_STATE[self.kind]


@pytest.fixture(params=["wallet", "game"])
async def kept(
    request: pytest.FixtureRequest, wallet_database: WalletDatabase, game_database: GameDatabase
) -> AsyncIterator[ServiceDatabase]:
    kind = request.param
    database = wallet_database if kind == "wallet" else game_database
    connection = await asyncpg.connect(database.owner_url.replace("+asyncpg", ""))
    yield ServiceDatabase(kind, WALLET_ROLE if kind == "wallet" else ROULETTE_ROLE, connection)
    await connection.close()


@pytest.mark.rule("903-B/2015:6.3.7")
async def test_a_record_is_only_ever_added_to_whoever_asks(kept: ServiceDatabase) -> None:
    """The schema's owner included: the database refuses to change, delete or empty any of them."""
    refusing = {row[0]: row[1] for row in await kept.owner.fetch(REFUSING_TRIGGERS, BEFORE)}
    records = await kept.records()
    assert {"wallet": {"transfers", "entries"}, "game": {"rounds", "draws", "stakes", "endings"}}[kept.kind] <= records
    every_way = ON_DELETE | ON_UPDATE | ON_TRUNCATE
    assert {table for table in records if refusing.get(table, 0) & every_way != every_way} == set()


@pytest.mark.rule("903-B/2015:6.3.7")
async def test_the_service_has_no_right_to_take_anything_away(kept: ServiceDatabase) -> None:
    may = {row["relname"]: row for row in await kept.owner.fetch(PRIVILEGES, kept.role)}
    assert may.keys() == await kept.names()
    deletes = {table for table, row in may.items() if row["delete_rows"]}
    assert deletes == ({"outbox"} if kept.kind == "wallet" else set())
    assert {table for table, row in may.items() if row["empty_it"]} == set()
    rewrites = {table for table, row in may.items() if row["rewrite"]}
    assert rewrites & await kept.records() == set()
    # And none to give itself the right: it owns nothing, makes nothing and is nobody else.
    (role,) = await kept.owner.fetch(ROLE, kept.role, OWNER_ROLE)
    assert not any(role.values())


@pytest.mark.rule("903-B/2015:2.1.3")
async def test_every_moment_is_kept_with_its_offset(kept: ServiceDatabase) -> None:
    """As `timestamptz`: a moment, whatever offset it came with. No time of day, no date, none without a zone."""
    types = await kept.owner.fetch(
        "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND (data_type LIKE 'time%' OR data_type = 'date')"
    )
    assert len(types) >= 10
    assert {column for column, kind in types if kind != "timestamp with time zone"} == set()
    # Nor as a number or a text that is called a moment.
    called = await kept.owner.fetch(
        "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND column_name ~ '(^|_)at$'"
    )
    assert {column for column, kind in called if kind != "timestamp with time zone"} == set()
