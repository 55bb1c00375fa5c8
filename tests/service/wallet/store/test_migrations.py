"""Rows written under an older schema survive the migrations, and mean the same."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection as SyncConnection
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.wallet.v1 import session_pb2, tournament_pb2
from services.kit.database import postgresql
from services.wallet.audit import operator_actions
from services.wallet.audit.operator_actions import named_objects
from services.wallet.migrate import MIGRATIONS
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, WALLET_ROLE
from tests.service.wallet.in_process_wallet import INDIVIDUAL, OPERATOR, open_wallet

WRITTEN_AT = datetime(2026, 11, 18, 12, 0, tzinfo=UTC)
LAW = session_pb2.InactivityPolicy(
    invite=True,
    idle_seconds=180,
    missed_rounds=5,
    warn_after_seconds=20,
    end_after_seconds=60,
    rebuy_grace_seconds=60,
)
# Another number in every field.
LATER = session_pb2.InactivityPolicy(
    invite=False,
    idle_seconds=2_592_000,
    missed_rounds=1_000_000,
    warn_after_seconds=0,
    end_after_seconds=61,
    rebuy_grace_seconds=300,
)
# The wallet's format until revision 0004.
LAW_TEXT = (
    "{'invite': True, 'idle_seconds': 180, 'missed_rounds': 5, 'warn_after_seconds': 20, 'end_after_seconds': 60,"
    " 'rebuy_grace_seconds': 60}"
)
LATER_TEXT = (
    "{'invite': False, 'idle_seconds': 2592000, 'missed_rounds': 1000000, 'warn_after_seconds': 0,"
    " 'end_after_seconds': 61, 'rebuy_grace_seconds': 300}"
)
CHANGES = (
    (f"{LAW_TEXT} -> {LATER_TEXT}", LAW, LATER),
    # A new owner of a table once logged this, although nothing changes.
    (f"{LATER_TEXT} -> {LATER_TEXT}", LATER, LATER),
    (f"{LATER_TEXT} -> {LAW_TEXT}", LATER, LAW),
)


@dataclass(frozen=True)
class OlderDatabase:
    """A database of an older schema, changed by the schema's owner."""

    owner: AsyncEngine
    url: str
    """The URL of the service's role."""

    async def execute(self, statement: str, **values: object) -> None:
        async with self.owner.begin() as connection:
            await connection.execute(text(statement), values)

    async def migrate(self, revision: str) -> None:
        async with self.owner.begin() as connection:
            await connection.run_sync(_migrate, revision)


def _migrate(connection: SyncConnection, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)


@asynccontextmanager
async def migrated_to(postgres: EmbeddedPostgres, revision: str) -> AsyncIterator[OlderDatabase]:
    name = f"feltro_wallet_at_{revision}"
    postgres.ensure_database(name, OWNER_ROLE, WALLET_ROLE)
    older = OlderDatabase(
        postgresql.connect(postgres.url(OWNER_ROLE, name), "test", 1), postgres.url(WALLET_ROLE, name)
    )
    try:
        await older.migrate(revision)
        yield older
    finally:
        await older.owner.dispose()
        postgres.drop_database(name)


async def test_operator_actions_of_the_first_schema_are_carried_over(postgres: EmbeddedPostgres) -> None:
    async with migrated_to(postgres, "0001") as older:
        actions = (("block account", "a-1", 'said "so"'), ("set inactivity policy", "t-1", CHANGES[0][0]))
        for action, about, detail in actions:
            await older.execute(
                "INSERT INTO operator_actions (at, actor, action, subject, detail)"
                " VALUES (:at, 'maria', :action, :about, :detail)",
                at=WRITTEN_AT,
                action=action,
                about=about,
                detail=detail,
            )
        await older.migrate("head")
        async with older.owner.connect() as connection:
            (carried,) = await operator_actions.page(connection, operator_actions.ActionFilter(object_id="a-1"), 10)
        async with open_wallet(older.url) as wallet:
            (change,) = (await wallet.policy_changes("t-1")).changes
    assert (carried.intent.actor, carried.intent.method) == ("maria", "block account")
    assert named_objects(carried.intent.request) == ["a-1"]
    assert carried.outcome is not None
    assert carried.outcome.status == "OK"
    assert (change.changed_by, change.at.ToDatetime(UTC)) == ("maria", WRITTEN_AT)
    assert (change.before, change.after) == (LAW, LATER)


async def _insert_policy_change(older: OlderDatabase, number: int, change: str) -> None:
    await older.execute(
        "INSERT INTO policy_changes (at, actor, table_id, change) VALUES (:at, :actor, 't-1', :change)",
        at=WRITTEN_AT + timedelta(seconds=number),
        actor=f"maria-{number}",
        change=change,
    )


async def test_policy_changes_mean_the_same_in_columns(postgres: EmbeddedPostgres) -> None:
    async with migrated_to(postgres, "0003") as older:
        for number, (change, _, _) in enumerate(CHANGES):
            await _insert_policy_change(older, number, change)
            # A failed insert leaves a gap in the numbers.
            await older.execute("SELECT nextval(pg_get_serial_sequence('policy_changes', 'change_no'))")
        await older.migrate("head")
        async with open_wallet(older.url) as wallet:
            changes = (await wallet.policy_changes("t-1")).changes
            assert [
                (each.change_no, each.changed_by, each.at.ToDatetime(UTC), each.before, each.after) for each in changes
            ] == [
                (2 * number + 1, f"maria-{number}", WRITTEN_AT + timedelta(seconds=number), before, after)
                for number, (_, before, after) in reversed(list(enumerate(CHANGES)))
            ]

            # The service writes the next one, and it is the newest.
            await wallet.open_table("t-1", INDIVIDUAL)
            off = session_pb2.SetInactivityPolicyRequest(
                table_id="t-1", policy=session_pb2.InactivityPolicy(invite=False)
            )
            answer = await wallet.session_service.set_inactivity_policy(off, OPERATOR)
            newest, *others = (await wallet.policy_changes("t-1")).changes
            assert (newest.change_no, newest.before, newest.after) == (2 * len(CHANGES) + 1, LAW, answer.policy)
            assert others == list(changes)
        for statement in ("UPDATE policy_changes SET actor = actor", "DELETE FROM policy_changes"):
            with pytest.raises(IntegrityError, match="policy_changes is append-only"):
                await older.execute(statement)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    "unreadable",
    [
        'said "so"',
        LAW_TEXT,
        f"{LAW_TEXT} -> {LATER_TEXT} or so",
        f"{LAW_TEXT} -> {{'invite': True}}",
    ],
)
async def test_g12_an_unreadable_policy_change_stops_the_migration_and_is_named(
    postgres: EmbeddedPostgres, unreadable: str
) -> None:
    async with migrated_to(postgres, "0003") as older:
        await _insert_policy_change(older, 0, CHANGES[0][0])
        await _insert_policy_change(older, 1, unreadable)
        with pytest.raises(RuntimeError, match=r"^policy_changes 2 does not say two policies .* migrate again\.$"):
            await older.migrate("head")
        async with older.owner.connect() as connection:
            rows = (await connection.execute(text("SELECT change FROM policy_changes ORDER BY change_no"))).scalars()
            assert list(rows) == [CHANGES[0][0], unreadable]


async def test_tournaments_of_the_schema_before_get_an_account_for_their_tickets(postgres: EmbeddedPostgres) -> None:
    async with migrated_to(postgres, "0016") as older:
        for number, closed_at in ((1, None), (2, WRITTEN_AT)):
            await older.execute(
                "WITH pool AS (INSERT INTO accounts (kind, mode, table_no, opened_at) VALUES (5, :mode, :no, :at)"
                " RETURNING account_no),"
                " bank AS (INSERT INTO accounts (kind, mode, table_no, opened_at) VALUES (3, :mode, :no, :at)"
                " RETURNING account_no)"
                " INSERT INTO tables (table_id, game, regulation, mode, play, epoch, bank_no, pool_no, opened_at,"
                " closed_at) SELECT :id, 'game', '810/2015', :mode, 4, 1, bank.account_no, pool.account_no, :at,"
                " CAST(:closed_at AS timestamptz) FROM pool, bank",
                no=number,
                id=f"t-{number}",
                mode=number,
                at=WRITTEN_AT,
                closed_at=closed_at,
            )
        await older.execute(
            "INSERT INTO tables (table_id, game, regulation, mode, play, epoch, bank_no, opened_at)"
            " VALUES ('cash', 'game', '806/2015', 1, 3, 1, 0, :at)",
            at=WRITTEN_AT,
        )
        await older.migrate("head")
        async with older.owner.connect() as connection:
            rows = await connection.execute(
                text(
                    "SELECT table_id, kind, accounts.mode, free_cents FROM tables"
                    " LEFT JOIN accounts ON account_no = tickets_no ORDER BY table_id"
                )
            )
            assert [tuple(row) for row in rows] == [("cash", None, None, None), ("t-1", 6, 1, 0), ("t-2", 6, 2, 0)]
        async with open_wallet(older.url) as wallet:
            ana = await wallet.open_account("ana", 1_100)
            await wallet.pay_in("t-1", ana)
            await wallet.open_tournament("satellite")
            prize = tournament_pb2.Award(
                account_id=ana,
                reason=tournament_pb2.AWARD_REASON_PRIZE,
                amount_cents=1_100,
                ticket=tournament_pb2.TicketPrize(tournament_id="t-1"),
            )
            paid = await wallet.pay_out("satellite", [prize], overlay_cents=1_100)
            await wallet.pay_in("t-1", ana, ticket_id=paid.tickets[0].ticket_id)
