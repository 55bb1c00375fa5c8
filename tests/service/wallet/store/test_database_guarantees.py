"""The database itself refuses what breaks a guarantee: to the service's role, and for the ledger to its owner, too."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import asyncpg
import pytest
from alembic.config import Config
from alembic.script import ScriptDirectory

from services.wallet.model.state import Mode, TicketState, TransferKind
from tests.processes.databases import connect_asyncpg
from tests.service.wallet.ledger_writer import AT, FREE, LedgerWriter, Leg, SmallLedger, small_ledger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.processes.databases import WalletDatabase

    Connection = asyncpg.Connection[asyncpg.Record]

MIGRATIONS = Path(__file__).parents[4] / "services" / "wallet" / "migrations"
ENTRY = "INSERT INTO entries VALUES ($1, $2, $3, 1, 1, NULL, $4, $5, $6)"


@pytest.fixture
async def service(wallet_database: WalletDatabase) -> AsyncIterator[Connection]:
    """A connection of the service's role."""
    connection = await connect_asyncpg(wallet_database.url)
    yield connection
    await connection.close()


@pytest.fixture
async def owner(wallet_database: WalletDatabase) -> AsyncIterator[Connection]:
    """A connection of the schema's owner, as migrations use it."""
    connection = await connect_asyncpg(wallet_database.owner_url)
    yield connection
    await connection.close()


@pytest.fixture
async def ledger(service: Connection) -> SmallLedger:
    """A small ledger to break."""
    return await small_ledger(LedgerWriter(service))


@pytest.mark.guarantee("G1")
async def test_g1_entries_that_do_not_balance_are_refused(service: Connection, ledger: SmallLedger) -> None:
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="G1: the entries of transfer 777 do not sum"):
        await service.execute(ENTRY, 777, ledger.ana.no, 99, 0, 5, 5)
    one_too_few = [Leg(ledger.ana.no, FREE, 100), Leg(ledger.ana.operator_account_no, FREE, -99)]
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="G1"):
        await LedgerWriter(service).transfer(TransferKind.DEPOSIT, Mode.REAL, one_too_few)


@pytest.mark.guarantee("G1")
async def test_g1_two_transfers_that_balance_only_together_are_refused(
    service: Connection, ledger: SmallLedger
) -> None:
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="G1"):
        await service.execute(
            "INSERT INTO entries VALUES (777, $1, 98, 1, 1, NULL, 0, 5, 5), (778, $1, 99, 1, 1, NULL, 5, -5, 0)",
            ledger.ana.no,
        )


@pytest.mark.guarantee("G1")
async def test_g1_an_entry_that_does_not_add_up_is_refused(service: Connection, ledger: SmallLedger) -> None:
    with pytest.raises(asyncpg.CheckViolationError, match="entries_add_up"):
        await service.execute(ENTRY, 777, ledger.ana.no, 99, 0, 5, 6)


@pytest.mark.guarantee("G1")
async def test_g1_an_account_has_one_entry_per_version_and_leg(service: Connection, ledger: SmallLedger) -> None:
    with pytest.raises(asyncpg.UniqueViolationError, match="entries_pkey"):
        await service.execute(
            "INSERT INTO entries VALUES (777, $1, 1, 1, 1, NULL, 0, 5, 5), (777, $1, 1, 2, 1, NULL, 5, -5, 0)",
            ledger.ana.no,
        )


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("role", ["service", "owner"])
async def test_g12_a_closed_tournament_takes_and_pays_nothing_and_stays_closed(
    role: str, ledger: SmallLedger, service: Connection, owner: Connection
) -> None:
    connection = {"service": service, "owner": owner}[role]
    closed, gil = ledger.closed.no, ledger.gil.no
    award = "INSERT INTO tournament_awards (transfer_no, table_no, account_no, reason, amount_cents, at)"
    for statement in (
        f"INSERT INTO tournament_pay_ins VALUES (777, {closed}, {gil}, 1, 5, 0, 0, now())",  # noqa: S608
        f"{award} VALUES (777, {closed}, {gil}, 1, 5, now())",
        f"INSERT INTO tournament_bank_payments VALUES (777, {closed}, 5, 0)",  # noqa: S608
        f"UPDATE tables SET closed_at = NULL WHERE table_no = {closed}",  # noqa: S608
        f"UPDATE tables SET closed_at = now() WHERE table_no = {closed}",  # noqa: S608
    ):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=f"Tournament {closed} is closed"):
            await connection.execute(statement)


@pytest.mark.guarantee("G12")
async def test_g12_a_tournament_whose_pool_holds_money_is_not_closed(service: Connection, ledger: SmallLedger) -> None:
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=r"The pool of tournament .* is not empty"):
        await service.execute("UPDATE tables SET closed_at = now() WHERE table_no = $1", ledger.tournament.no)
    with pytest.raises(asyncpg.CheckViolationError, match="tables_with_a_pool"):
        await service.execute("UPDATE tables SET closed_at = now() WHERE table_no = $1", ledger.roulette.no)


@pytest.mark.guarantee("G1")
async def test_g1_a_pay_in_is_given_back_once(service: Connection, ledger: SmallLedger) -> None:
    with pytest.raises(asyncpg.UniqueViolationError, match="tournament_pay_ins_refunded_once"):
        await LedgerWriter(service).pay_out(
            ledger.tournament, ledger.gil, 100, from_bank=100, refunded_no=ledger.pay_ins[1], request_id="again"
        )


@pytest.mark.parametrize(("kind", "index"), [(5, "accounts_pool"), (6, "accounts_tickets")])
async def test_a_tournament_has_one_pool_and_one_account_of_tickets(
    service: Connection, ledger: SmallLedger, kind: int, index: str
) -> None:
    with pytest.raises(asyncpg.UniqueViolationError, match=index):
        await service.execute(
            "INSERT INTO accounts (kind, mode, table_no, opened_at) VALUES ($2, 1, $1, now())",
            ledger.tournament.no,
            kind,
        )


async def test_the_database_gives_every_tournament_its_tickets_account(service: Connection) -> None:
    """Also one that the last release opens, which knows of no tickets."""
    opened = await service.fetchrow(
        "INSERT INTO tables (table_id, game, regulation, mode, play, epoch, bank_no, pool_no, opened_at)"
        " VALUES ('early', 'poker', '810/2015', 2, 4, 1, 0, 0, now()) RETURNING table_no, tickets_no"
    )
    assert opened is not None
    account = await service.fetchrow("SELECT kind, mode, table_no FROM accounts WHERE account_no = $1", opened[1])
    assert account is not None
    assert tuple(account) == (6, 2, opened[0])


@pytest.mark.guarantee("G12")
@pytest.mark.rule("810/2015:30")
@pytest.mark.parametrize("role", ["service", "owner"])
async def test_g12_a_ticket_that_has_ended_stays_as_it_is(
    role: str, ledger: SmallLedger, service: Connection, owner: Connection
) -> None:
    connection = {"service": service, "owner": owner}[role]
    tickets = ledger.tickets
    change = "UPDATE tickets SET changes = changes + 1, state = $2 WHERE ticket_no = $1"
    for ended in (tickets.converted, tickets.reimbursed, tickets.replaced):
        for state in (2, 3, 5, 7):
            with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=f"Ticket {ended.no} cannot go from"):
                await connection.execute(change, ended.no, state)
    # Neither is one new again, nor converted later than when it was won, nor changed without a record.
    for state in (1, 4):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="cannot go from state 1"):
            await connection.execute(change, tickets.open_ticket.no, state)
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="cannot go from state 1"):
        await connection.execute("UPDATE tickets SET state = 7 WHERE ticket_no = $1", tickets.open_ticket.no)


async def test_of_whom_and_for_what_a_ticket_is_the_service_cannot_change(
    service: Connection, ledger: SmallLedger
) -> None:
    for column in ("account_no", "table_no", "awarded_by_no", "value_cents", "from_freeroll", "won", "ticket_id"):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.execute(
                f"UPDATE tickets SET {column} = {column} WHERE ticket_no = $1",  # noqa: S608
                ledger.tickets.open_ticket.no,
            )


@pytest.mark.guarantee("G12")
@pytest.mark.rule("810/2015:28")
@pytest.mark.rule("810/2015:30")
async def test_g12_no_ticket_is_open_at_a_closed_tournament_nor_money_by_a_refund_that_says_nothing(
    service: Connection, ledger: SmallLedger
) -> None:
    writer, tickets = LedgerWriter(service), ledger.tickets
    await service.execute("UPDATE accounts SET free_cents = 0 WHERE account_no = $1", tickets.target.pool_no)
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=r"Tickets to tournament .* are open"):
        await service.execute("UPDATE tables SET closed_at = now() WHERE table_no = $1", tickets.target.no)
    issued = [TicketState.ISSUED]
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="no ticket to it can be open"):
        await writer.issue_ticket(tickets.satellite, ledger.closed, ledger.ana, 5, 777, issued, freeroll=False)
    converted = [TicketState.ISSUED, TicketState.CONVERTED]
    with pytest.raises(asyncpg.CheckViolationError, match="tickets_of_freerolls_are_no_money"):
        await writer.issue_ticket(tickets.satellite, tickets.target, ledger.ana, 5, 777, converted, freeroll=True)
    with pytest.raises(asyncpg.CheckViolationError, match="tickets_for_another_tournament"):
        await writer.issue_ticket(tickets.target, tickets.target, ledger.ana, 5, 777, issued, freeroll=True)
    with pytest.raises(asyncpg.UniqueViolationError, match="tickets_replaced_once"):
        await writer.issue_ticket(
            tickets.cancelled, tickets.target, ledger.ana, 5, 777, issued, freeroll=True, replaced=tickets.replaced
        )
    # As the last release would give it back: in cash.
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="says nothing of its ticket"):
        await service.execute(
            "INSERT INTO tournament_awards (transfer_no, table_no, account_no, reason, amount_cents, refunded_no, at)"
            " VALUES (778, $1, $2, 3, 330, $3, now())",
            tickets.target.no,
            ledger.gil.no,
            tickets.use_no,
        )
    with pytest.raises(asyncpg.CheckViolationError, match="tournament_pay_ins_by_ticket"):
        await service.execute(
            "INSERT INTO tournament_pay_ins VALUES (778, $1, $2, 3, 5, 0, 0, now(), $3)",
            tickets.target.no,
            ledger.gil.no,
            tickets.used.no,
        )
    with pytest.raises(asyncpg.CheckViolationError, match="tournament_awards_with_ticket"):
        await service.execute(
            "INSERT INTO tournament_awards"
            " (transfer_no, table_no, account_no, reason, amount_cents, ticket_no, ticket_state, at)"
            " VALUES (778, $1, $2, 2, 5, $3, 1, now())",
            tickets.satellite.no,
            ledger.gil.no,
            tickets.used.no,
        )


@pytest.mark.guarantee("G2")
@pytest.mark.parametrize("column", ["free_cents", "locked_cents"])
async def test_g2_no_player_and_no_cave_falls_below_zero(service: Connection, ledger: SmallLedger, column: str) -> None:
    tables = ledger.tournament.pool_no, ledger.tickets.target.tickets_no
    for account_no in (ledger.ana.no, ledger.demo.no, ledger.caves[0], *tables):
        with pytest.raises(asyncpg.CheckViolationError, match="accounts_never_below_zero"):
            await service.execute(f"UPDATE accounts SET {column} = -1 WHERE account_no = $1", account_no)  # noqa: S608


@pytest.mark.guarantee("G2")
async def test_g2_operator_and_bank_accounts_may_fall_below_zero(service: Connection, ledger: SmallLedger) -> None:
    for account_no in (ledger.ana.operator_account_no, ledger.roulette.bank_no):
        status = await service.execute("UPDATE accounts SET free_cents = -1 WHERE account_no = $1", account_no)
        assert status == "UPDATE 1"


@pytest.mark.guarantee("G3")
async def test_g3_a_request_id_is_answered_once(service: Connection, ledger: SmallLedger) -> None:
    with pytest.raises(asyncpg.UniqueViolationError, match="requests_pkey"):
        await service.execute(
            "INSERT INTO requests SELECT request_id, digest, refused, answer, NULL, caller, at FROM requests"
            " WHERE transfer_no = $1",
            ledger.deposit_no,
        )


@pytest.mark.guarantee("G4")
@pytest.mark.parametrize("role", ["service", "owner"])
async def test_g4_an_ended_round_does_not_change(
    role: str, ledger: SmallLedger, service: Connection, owner: Connection
) -> None:
    connection = {"service": service, "owner": owner}[role]
    for round_no in (ledger.settled_no, ledger.void_no, ledger.hand_no):
        for change in ("state = 3", "state = 2", "state = 1, ended_at = NULL", "outcome = 'another'"):
            with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="G4: this row of rounds has ended"):
                await connection.execute(f"UPDATE rounds SET {change} WHERE round_no = $1", round_no)  # noqa: S608


@pytest.mark.guarantee("G4")
async def test_g4_a_round_id_is_used_once(service: Connection, ledger: SmallLedger) -> None:
    with pytest.raises(asyncpg.UniqueViolationError, match="rounds_round_id_key"):
        await LedgerWriter(service).round("round-settled", ledger.roulette)


@pytest.mark.guarantee("G4")
async def test_g4_a_stake_ends_once(service: Connection, ledger: SmallLedger) -> None:
    settled, returned, playing = ledger.stakes
    for stake_no in (settled, returned, *ledger.paid_stakes):
        for change in ("payout_cents = 1000000", "state = 1", "cancelled_cents = 1"):
            with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="G4: this row of stakes has ended"):
                await service.execute(f"UPDATE stakes SET {change} WHERE stake_no = $1", stake_no)  # noqa: S608
    with pytest.raises(asyncpg.CheckViolationError):
        await service.execute("UPDATE stakes SET cancelled_cents = placed_cents + 1 WHERE stake_no = $1", playing)
    with pytest.raises(asyncpg.CheckViolationError):
        await service.execute("UPDATE stakes SET cancelled_cents = placed_cents WHERE stake_no = $1", playing)


@pytest.mark.guarantee("G4")
async def test_a_session_ends_once(service: Connection, ledger: SmallLedger) -> None:
    for change in ("end_cause = 2", "ended_at = now()", "state = 1, ended_at = NULL, end_cause = NULL"):
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="this row of sessions has ended"):
            await service.execute(
                f"UPDATE sessions SET {change} WHERE session_no = $1",  # noqa: S608
                ledger.ended.no,
            )


async def test_a_player_has_one_running_session_at_a_table(service: Connection, ledger: SmallLedger) -> None:
    with pytest.raises(asyncpg.UniqueViolationError, match="sessions_running"):
        await LedgerWriter(service).session(ledger.ana, ledger.roulette)


async def test_a_player_has_one_account_in_a_mode(service: Connection, ledger: SmallLedger) -> None:
    assert ledger.ana.mode is Mode.REAL
    with pytest.raises(asyncpg.UniqueViolationError, match="accounts_of_player"):
        await LedgerWriter(service).player("ana")


async def test_a_closed_complaint_does_not_change(service: Connection, ledger: SmallLedger) -> None:
    await service.execute(
        "INSERT INTO complaints (reference, player_id, account_no, round_no, state, filed_at)"
        " VALUES ('R-2026-000001', 'ana', $1, $2, 4, $3)",
        ledger.ana.no,
        ledger.settled_no,
        AT,
    )
    with pytest.raises(asyncpg.IntegrityConstraintViolationError, match="this row of complaints has ended"):
        await service.execute("UPDATE complaints SET state = 1")
    with pytest.raises(asyncpg.InsufficientPrivilegeError):
        await service.execute("UPDATE complaints SET player_id = 'rui'")


APPEND_ONLY = (
    "transfers",
    "entries",
    "requests",
    "complaint_steps",
    "operator_actions",
    "operator_action_ends",
    "policy_changes",
    "platform_switches",
    "relevant_events",
    "shared_devices",
    "tournament_pay_ins",
    "tournament_awards",
    "tournament_bank_payments",
    "ticket_changes",
)


@pytest.mark.guarantee("G5")
@pytest.mark.parametrize("table", APPEND_ONLY)
async def test_g5_rows_of_append_only_tables_never_change(
    table: str, ledger: SmallLedger, service: Connection, owner: Connection
) -> None:
    """The service has no permission; the owner has it, and the table's trigger refuses."""
    assert ledger.deposit_no
    column = await owner.fetchval(
        "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum = 2", table
    )
    for statement in (f"UPDATE {table} SET {column} = {column}", f"DELETE FROM {table}", f"TRUNCATE {table}"):  # noqa: S608
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.execute(statement)
        with pytest.raises(asyncpg.IntegrityConstraintViolationError, match=f"{table} is append-only"):
            await owner.execute(statement)


POLICY = {
    "invite": "true",
    "idle_seconds": "180",
    "missed_rounds": "5",
    "warn_after_seconds": "20",
    "end_after_seconds": "60",
    "rebuy_grace_seconds": "60",
}


async def test_a_policy_change_needs_every_field_of_both_policies(service: Connection) -> None:
    complete = {f"{which}_{name}": value for which in ("was", "became") for name, value in POLICY.items()}
    for column in complete:
        values = complete | {column: "NULL"}
        with pytest.raises(asyncpg.NotNullViolationError, match=f'"{column}"'):
            await service.execute(
                f"INSERT INTO policy_changes (at, actor, table_id, {', '.join(values)})"  # noqa: S608
                f" VALUES (now(), 'maria', 't-1', {', '.join(values.values())})"
            )


WITHOUT_DELETE = (
    "accounts",
    "tables",
    "rounds",
    "stakes",
    "tickets",
    "sessions",
    "complaints",
    "outbox_cursor",
    "session_clock",
)


@pytest.mark.parametrize("table", WITHOUT_DELETE)
async def test_the_service_deletes_no_rows(table: str, service: Connection) -> None:
    for statement in (f"DELETE FROM {table}", f"TRUNCATE {table} CASCADE"):  # noqa: S608
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.execute(statement)


async def test_the_service_cannot_change_the_schema(service: Connection) -> None:
    for statement in (
        "ALTER TABLE entries DISABLE TRIGGER ALL",
        "DROP TRIGGER entries_append_only ON entries",
        "ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero",
        "CREATE TABLE mine (one integer)",
        "SET session_replication_role = replica",
        "UPDATE alembic_version SET version_num = 'none'",
    ):
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await service.execute(statement)


async def test_the_cursor_tables_hold_one_row_each(owner: Connection) -> None:
    for table, column in (("outbox_cursor", "stream_seq"), ("session_clock", "ahead_us")):
        assert await owner.fetchval(f"SELECT count(*) FROM {table}") == 1  # noqa: S608
        with pytest.raises(asyncpg.UniqueViolationError):
            await owner.execute(f"INSERT INTO {table} ({column}) VALUES (0)")  # noqa: S608


async def test_migrating_a_current_schema_again_changes_nothing(
    wallet_database: WalletDatabase, service: Connection, ledger: SmallLedger
) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    heads = ScriptDirectory.from_config(config).get_heads()
    assert [row[0] for row in await service.fetch("SELECT version_num FROM alembic_version")] == heads

    before = await service.fetch("SELECT * FROM entries ORDER BY account_no, version, leg")
    for _ in range(2):
        migration = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "services.kit.command", "migrate", "wallet"),
            env={**os.environ, "FELTRO_WALLET_OWNER_URL": wallet_database.owner_url},
            stdout=asyncio.subprocess.PIPE,
        )
        output, _ = await migration.communicate()
        assert migration.returncode == 0, output
    assert [row[0] for row in await service.fetch("SELECT version_num FROM alembic_version")] == heads
    assert await service.fetch("SELECT * FROM entries ORDER BY account_no, version, leg") == before
    assert ledger.open_no
