"""Records are only added to: the databases of wallet and game themselves refuse to change or delete them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncpg
import pytest

from tests.processes.databases import (
    OWNER_ROLE,
    ROULETTE_ROLE,
    WALLET_ROLE,
    GameDatabase,
    WalletDatabase,
    connect_asyncpg,
)

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]


# Tables that hold no records: the schema's version, facts and ended sessions that are deleted when they are published
# (each follows from the records), revocations until they expire, and the rounds without an end (the database derives
# them from the journal).
NOT_RECORDS = {
    "wallet": {"alembic_version", "ended_sessions", "outbox", "outbox_cursor", "revocations"},
    "game": {"alembic_version", "open_rounds"},
}
# Tables of current state, whose rows change and are never deleted. The cause of each change is recorded elsewhere:
# of balances in `entries`, of rounds and stakes in `transfers` and in the journal, of an epoch with every round, of
# tickets in `ticket_changes`. Of a
# seat only its leaving is added, once, which the database makes sure of. A kept lineup moves no money: it says who sits
# out and what is left of time banks. How a tournament stands follows from its facts.
CURRENT_STATE = {
    "wallet": {"accounts", "tables", "rounds", "stakes", "tickets", "sessions", "complaints", "session_clock"},
    "game": {"kept_lineups", "placements", "seats", "tournament_summaries"},
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
    """A service's database, over a connection of its schema's owner."""

    kind: str
    role: str
    owner: Connection

    async def names(self) -> set[str]:
        return {row[0] for row in await self.owner.fetch(TABLES)}

    async def records(self) -> set[str]:
        """Returns every table that is not excepted above, so that a new one counts as a record."""
        return await self.names() - NOT_RECORDS[self.kind] - CURRENT_STATE[self.kind]


@pytest.fixture(params=["wallet", "game"])
async def database(
    request: pytest.FixtureRequest, wallet_database: WalletDatabase, game_database: GameDatabase
) -> AsyncIterator[ServiceDatabase]:
    kind = request.param
    migrated = wallet_database if kind == "wallet" else game_database
    connection = await connect_asyncpg(migrated.owner_url)
    yield ServiceDatabase(kind, WALLET_ROLE if kind == "wallet" else ROULETTE_ROLE, connection)
    await connection.close()


@pytest.mark.rule("903-B/2015:6.3.7")
async def test_records_are_only_added_to_by_every_role(database: ServiceDatabase) -> None:
    """The database refuses changes, deletions and truncation to the schema's owner, too."""
    refusing = {row[0]: row[1] for row in await database.owner.fetch(REFUSING_TRIGGERS, BEFORE)}
    records = await database.records()
    assert {"wallet": {"transfers", "entries"}, "game": {"rounds", "draws", "stakes", "endings"}}[
        database.kind
    ] <= records
    every_way = ON_DELETE | ON_UPDATE | ON_TRUNCATE
    assert {table for table in records if refusing.get(table, 0) & every_way != every_way} == set()


@pytest.mark.rule("903-B/2015:6.3.7")
async def test_the_service_has_no_privilege_to_delete_records(database: ServiceDatabase) -> None:
    privileges = {row["relname"]: row for row in await database.owner.fetch(PRIVILEGES, database.role)}
    assert privileges.keys() == await database.names()
    deletes = {table for table, row in privileges.items() if row["delete_rows"]}
    assert deletes == ({"ended_sessions", "outbox", "revocations"} if database.kind == "wallet" else set())
    assert {table for table, row in privileges.items() if row["empty_it"]} == set()
    rewrites = {table for table, row in privileges.items() if row["rewrite"]}
    assert rewrites & await database.records() == set()
    # It cannot grant itself one: it owns nothing, creates nothing, and can become no other role.
    (role,) = await database.owner.fetch(ROLE, database.role, OWNER_ROLE)
    assert not any(role.values())


@pytest.mark.rule("903-B/2015:2.1.3")
async def test_every_moment_is_stored_with_its_offset(database: ServiceDatabase) -> None:
    """As `timestamptz`, a moment whatever its offset was: never as a date, a time of day, or without a zone."""
    types = await database.owner.fetch(
        "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND (data_type LIKE 'time%' OR data_type = 'date')"
    )
    assert len(types) >= 10
    assert {column for column, kind in types if kind != "timestamp with time zone"} == set()
    # No number and no text is named like a moment.
    named = await database.owner.fetch(
        "SELECT table_name || '.' || column_name, data_type FROM information_schema.columns"
        " WHERE table_schema = 'public' AND column_name ~ '(^|_)at$'"
    )
    assert {column for column, kind in named if kind != "timestamp with time zone"} == set()
