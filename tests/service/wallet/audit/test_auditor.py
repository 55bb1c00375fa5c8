"""`feltro audit`: a clean ledger passes, and every fault that is forced into it is named."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

import asyncpg
import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from services.wallet.audit import auditor
from services.wallet.audit.auditor import Auditor, Finding
from services.wallet.audit.checks import CHECKS, Check
from services.wallet.audit.command import command
from services.wallet.audit.watch import AuditWatch
from tests.processes.databases import connect_asyncpg
from tests.service.wallet.ledger_writer import AT, LedgerWriter, SmallLedger, small_ledger

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from stack.servers.postgres import EmbeddedPostgres
    from tests.processes.databases import WalletDatabase


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection = await connect_asyncpg(url)
    try:
        yield connection
    finally:
        await connection.close()


async def _write_ledger(url: str) -> SmallLedger:
    async with connected(url) as connection:
        ledger = await small_ledger(LedgerWriter(connection))
        await connection.execute(
            "INSERT INTO complaints (reference, player_id, account_no, round_no, state, filed_at)"
            " VALUES ('R-2026-000001', 'ana', $1, $2, 2, $3)",
            ledger.ana.no,
            ledger.settled_no,
            AT,
        )
        steps = [(1, number, "ana", False, number, "words", AT) for number in (1, 2)]
        await connection.executemany("INSERT INTO complaint_steps VALUES ($1, $2, $3, $4, $5, $6, $7)", steps)
        return ledger


@pytest.fixture
def ledger(wallet_database: WalletDatabase) -> SmallLedger:
    """A small ledger without a fault, written in the service's own role."""
    return asyncio.run(_write_ledger(wallet_database.url))


async def _force(url: str, statements: str) -> None:
    async with connected(url) as connection:
        # Triggers and foreign keys are off, which no role of the wallet may do.
        await connection.execute(f"SET session_replication_role = replica; {statements}")


def _raise_free_balance(ledger: SmallLedger) -> str:
    """A fault that two checks find: a balance that no entry explains, and money out of nothing."""
    return f"UPDATE accounts SET free_cents = free_cents + 1 WHERE account_no = {ledger.ana.no}"  # noqa: S608


def _audit(database: WalletDatabase, *options: str) -> int:
    return command(["--database-url", database.url, *options])


def test_a_clean_ledger_passes(
    wallet_database: WalletDatabase, ledger: SmallLedger, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ledger.settle_no
    assert _audit(wallet_database) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(CHECKS) + 1
    assert all(line.startswith("holds G") for line in lines[:-1])
    assert lines[-1].startswith(f"{len(CHECKS)} checks, 0 violations")


def test_an_empty_ledger_passes(wallet_database: WalletDatabase) -> None:
    assert _audit(wallet_database) == 0


class Fault(NamedTuple):
    """A change to a clean ledger, the check that has to find it, and what the check has to say."""

    name: str
    statements: str
    check: str
    sentence: str


# `{…}` are fields of the small ledger. Each fault comes from one mistake in the code, or from a change by hand; the
# sentence holds what a person needs to find it.
FAULTS = [
    Fault(
        "an entry too much",
        "INSERT INTO entries VALUES ({deposit_no}, {ana.no}, 99, 1, 1, NULL, 0, 5, 5)",
        "transfers-balance",
        "The entries of transfer {deposit_no} (request request-1) sum to 5 cents.",
    ),
    Fault(
        "a transfer without entries",
        "DELETE FROM entries WHERE transfer_no = {settle_no}",
        "transfers-balance",
        "Transfer {settle_no} (request request-9) has no entries.",
    ),
    Fault(
        "entries without a transfer",
        "DELETE FROM transfers WHERE transfer_no = {hand_transfer_no}",
        "transfers-balance",
        "Transfer {hand_transfer_no} does not exist, but 4 entries name it.",
    ),
    Fault(
        "an entry that does not add up",
        "ALTER TABLE entries DROP CONSTRAINT entries_add_up;"
        " UPDATE entries SET after_cents = 7 WHERE transfer_no = {deposit_no} AND account_no = {ana.no}",
        "entries-chain",
        "Account {ana.no}, version 1, leg 1, pocket 1 (transfer {deposit_no}): 0 + 10000 is not 7.",
    ),
    Fault(
        "an entry that starts elsewhere",
        "UPDATE entries SET before_cents = before_cents + 1, after_cents = after_cents + 1"
        " WHERE transfer_no = {settle_no} AND account_no = {ana.no} AND pocket = 1",
        "entries-chain",
        "(transfer {settle_no}): it starts from 9801 cents, but the entry before left 9800.",
    ),
    Fault(
        "a version left out",
        "UPDATE entries SET version = version + 100 WHERE account_no = {rui.no} AND version >= 2;"
        " UPDATE accounts SET version = version + 100 WHERE account_no = {rui.no}",
        "entries-chain",
        "Account {rui.no}, version 102, leg 1, pocket 1",
    ),
    Fault(
        "transfers of an account out of order",
        "UPDATE entries SET transfer_no = 1000000 WHERE transfer_no = {deposit_no};"
        " UPDATE transfers SET transfer_no = 1000000 WHERE transfer_no = {deposit_no};"
        " UPDATE requests SET transfer_no = 1000000 WHERE transfer_no = {deposit_no}",
        "entries-chain",
        "it does not follow on version 1 (transfer 1000000).",
    ),
    Fault(
        "a balance of its own",
        "UPDATE accounts SET free_cents = free_cents + 1 WHERE account_no = {ana.no}",
        "balances",
        "Account {ana.no} ({ana.account_id}) says free 8951, locked 250, version 6;"
        " its entries come to free 8950, locked 250, version 6.",
    ),
    Fault(
        "a version of its own",
        "UPDATE accounts SET version = 7 WHERE account_no = {demo.operator_account_no}",
        "balances",
        "says free -500, locked 0, version 7; its entries come to free -500, locked 0, version 1.",
    ),
    Fault(
        "an account lost",
        "DELETE FROM accounts WHERE account_no = {demo.no}",
        "balances",
        "Account {demo.no} does not exist, but entries name it.",
    ),
    Fault(
        "money out of nothing",
        "UPDATE accounts SET free_cents = free_cents + 1 WHERE account_no = {ana.no}",
        "modes-sum-to-zero",
        "All accounts of mode 1 together hold 1 cents.",
    ),
    Fault(
        "demonstration credits paid out as euros",
        "UPDATE accounts SET mode = 1, player_id = 'eva' WHERE account_no = {demo.no}",
        "entries-belong",
        "the transfer is of mode 2, the account of mode 1.",
    ),
    Fault(
        "an entry in another's session",
        "UPDATE entries SET session_no = {at_roulette[1].no} WHERE account_no = {ana.no} AND session_no IS NOT NULL",
        "entries-belong",
        "session {at_roulette[1].no} ({at_roulette[1].session_id}) is another account's.",
    ),
    Fault(
        "an entry in no session",
        "UPDATE entries SET session_no = 777 WHERE account_no = {caves[0]}",
        "entries-belong",
        "session 777 does not exist.",
    ),
    Fault(
        "a balance below zero",
        "ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero;"
        " UPDATE accounts SET free_cents = -3 WHERE account_no = {rui.no}",
        "never-below-zero",
        "Account {rui.no} ({rui.account_id}) has free -3, locked 0.",
    ),
    Fault(
        "a cave below zero",
        "ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero;"
        " UPDATE accounts SET free_cents = -3 WHERE account_no = {caves[0]}",
        "never-below-zero",
        "Account {caves[0]}",
    ),
    Fault(
        "a pool below zero",
        "ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero;"
        " UPDATE accounts SET free_cents = -3 WHERE account_no = {tournament.pool_no}",
        "never-below-zero",
        "Account {tournament.pool_no}",
    ),
    Fault(
        "a pool that holds another amount",
        "UPDATE accounts SET free_cents = free_cents - 1 WHERE account_no = {tournament.pool_no}",
        "pools",
        "The pool of tournament {tournament.no} (sunday) holds 299 cents; 1900 cents were paid in for it and 1600 paid"
        " out of it.",
    ),
    Fault(
        "a closed tournament whose pool holds money",
        "UPDATE accounts SET free_cents = 7 WHERE account_no = {closed.pool_no};"
        " INSERT INTO tournament_pay_ins VALUES (777, {closed.no}, {gil.no}, 1, 7, 0, 0, now())",
        "pools",
        "The pool of tournament {closed.no} (saturday) holds 7 cents; 1007 cents were paid in for it and 1000 paid out"
        " of it. It is closed since 2026-11-18 12:00:00+00.",
    ),
    Fault(
        "a tournament without a pool",
        "UPDATE tables SET pool_no = {roulette.bank_no} WHERE table_no = {tournament.no}",
        "accounts-belong",
        "Tournament {tournament.no} (sunday) names account {roulette.bank_no} as its pool, which is another's",
    ),
    Fault(
        "a pool of another mode",
        "UPDATE accounts SET mode = 2 WHERE account_no = {tournament.pool_no}",
        "accounts-belong",
        "Account {tournament.pool_no}",
    ),
    Fault(
        "a fee that was booked as prize",
        "UPDATE tournament_pay_ins SET prize_cents = 700, fee_cents = 0 WHERE transfer_no = {pay_ins[0]}",
        "pay-ins",
        "moved 1000 cents of account {gil.no}, 900 to the pool of table {tournament.no} and 100 to the bank, for"
        " tournament sunday; its pay-in says 1000 for prizes and bounties and 0 of fee, of account {gil.no}",
    ),
    Fault(
        "a pay-in that nobody recorded",
        "DELETE FROM tournament_pay_ins WHERE transfer_no = {pay_ins[0]}",
        "pay-ins",
        "Transfer {pay_ins[0]} (request",
    ),
    Fault(
        "a pay-in that was never paid",
        "INSERT INTO tournament_pay_ins VALUES (777, {tournament.no}, {gil.no}, 1, 7, 0, 0, now())",
        "pay-ins",
        "Transfer 777 (request ) moved 0 cents",
    ),
    Fault(
        "a pay-in of another player",
        "UPDATE tournament_pay_ins SET account_no = {ana.no} WHERE transfer_no = {pay_ins[0]}",
        "pay-ins",
        "moved 1000 cents of account {gil.no}",
    ),
    Fault(
        "a pay-in under the name of another tournament",
        "UPDATE transfers SET reference = 'saturday' WHERE transfer_no = {pay_ins[0]}",
        "pay-ins",
        "for tournament saturday;",
    ),
    Fault(
        "an award that was not paid",
        "UPDATE tournament_awards SET amount_cents = 801 WHERE transfer_no = {prize_no}",
        "awards",
        "Transfer {prize_no}, account {gil.no}: it paid 800 cents, its awards say 801.",
    ),
    Fault(
        "an award of another player",
        "UPDATE tournament_awards SET account_no = {ana.no} WHERE transfer_no = {prize_no}",
        "awards",
        "Transfer {prize_no}, account {ana.no}: it paid 0 cents, its awards say 800.",
    ),
    Fault(
        "money of the bank without a name",
        "DELETE FROM tournament_bank_payments WHERE transfer_no = {prize_no}",
        "awards",
        "took 600 cents from pools and 200 from banks of tables {tournament.no} to {tournament.no}, for tournament"
        " sunday; its awards are 800 cents in tables {tournament.no} to {tournament.no}, 0 of them fees, and the bank"
        " added 0",
    ),
    Fault(
        "money of the bank that was not paid",
        "INSERT INTO tournament_bank_payments VALUES ({refund_no}, {tournament.no}, 0, 9)",
        "awards",
        "and the bank added 9 in table {tournament.no}.",
    ),
    Fault(
        "an award in another tournament",
        "UPDATE tournament_awards SET table_no = {closed.no} WHERE transfer_no = {prize_no}",
        "awards",
        "its awards are 800 cents in tables {closed.no} to {closed.no}",
    ),
    Fault(
        "a refund of what another had paid",
        "UPDATE tournament_pay_ins SET account_no = {ana.no} WHERE transfer_no = {pay_ins[1]}",
        "awards",
        "(transfer {refund_no}) gives 1100 cents of transfer {pay_ins[1]} back to account {gil.no} in tournament"
        " {tournament.no}; account {ana.no} had paid 1100 cents into tournament {tournament.no}.",
    ),
    Fault(
        "a refund of nothing",
        "DELETE FROM tournament_pay_ins WHERE transfer_no = {pay_ins[1]}",
        "awards",
        "there is no such pay-in.",
    ),
    Fault(
        "a ticket that is paid in cash as well",
        "UPDATE tournament_awards SET ticket_no = NULL, ticket_state = NULL WHERE transfer_no = {tickets.award_no}",
        "awards",
        "Transfer {tickets.award_no}, account {gil.no}: it paid 0 cents, its awards say 330.",
    ),
    Fault(
        "a pay-in by ticket that says it was in cash",
        "UPDATE tournament_pay_ins SET ticket_no = NULL WHERE transfer_no = {tickets.use_no}",
        "pay-ins",
        "Transfer {tickets.use_no} (request",
    ),
    Fault(
        "a ticket that paid out of the tickets to another tournament",
        "UPDATE tables SET tickets_no = {tickets.satellite.tickets_no} WHERE table_no = {tickets.target.no}",
        "pay-ins",
        "moved 330 cents of account {tickets.target.tickets_no}, 300 to the pool",
    ),
    Fault(
        "a tickets account that holds another amount",
        "UPDATE accounts SET free_cents = free_cents + 5 WHERE account_no = {tickets.target.tickets_no}",
        "tickets",
        "The tickets account of tournament {tickets.target.no} (monday) holds 555 cents; 2 open tickets to it are"
        " worth 550.",
    ),
    Fault(
        "a ticket that is open again by hand",
        "UPDATE tickets SET state = 3 WHERE ticket_no = {tickets.used.no}",
        "tickets",
        "holds 550 cents; 3 open tickets to it are worth 880.",
    ),
    Fault(
        "a closed tournament with open tickets",
        "UPDATE tables SET closed_at = now() WHERE table_no = {tickets.target.no}",
        "tickets",
        "2 open tickets to it are worth 550. It is closed since",
    ),
    Fault(
        "a tournament that names another's tickets account",
        "UPDATE tables SET tickets_no = {tickets.target.pool_no} WHERE table_no = {tickets.target.no}",
        "accounts-belong",
        "Tournament {tickets.target.no} (monday) names account {tickets.target.pool_no} for its tickets, which is"
        " another's",
    ),
    Fault(
        "a tickets account of another mode",
        "UPDATE accounts SET mode = 2 WHERE account_no = {tickets.target.tickets_no}",
        "accounts-belong",
        "Account {tickets.target.tickets_no}",
    ),
    Fault(
        "a tickets account below zero",
        "ALTER TABLE accounts DROP CONSTRAINT accounts_never_below_zero;"
        " UPDATE accounts SET free_cents = -3 WHERE account_no = {tickets.target.tickets_no}",
        "never-below-zero",
        "Account {tickets.target.tickets_no}",
    ),
    Fault(
        "a ticket whose value is not what was moved",
        "UPDATE tickets SET value_cents = 331 WHERE ticket_no = {tickets.open_ticket.no}",
        "ticket-transfers",
        "tournament {tickets.target.no}: its tickets account got 330 cents and its bank 0; the changes of tickets say"
        " 331 and 0.",
    ),
    Fault(
        "a ticket for a tournament that did not get its value",
        "UPDATE tickets SET table_no = {tickets.cancelled.no} WHERE ticket_no = {tickets.used.no}",
        "ticket-transfers",
        "Transfer {tickets.award_no}, tournament {tickets.cancelled.no}: its tickets account got 0 cents and its bank"
        " 0; the changes of"
        " tickets say 330 and 0.",
    ),
    Fault(
        "a ticket that lapsed and was reimbursed all the same",
        "UPDATE ticket_changes SET state = 7 WHERE ticket_no = {tickets.reimbursed.no} AND number = 2;"
        " UPDATE tickets SET state = 7 WHERE ticket_no = {tickets.reimbursed.no}",
        "ticket-transfers",
        "Transfer {tickets.settlement_no}, account {rui.no}: settling tickets paid it 220 cents; the changes of its"
        " tickets say"
        " 0.",
    ),
    Fault(
        "a lapsed ticket whose value nobody got",
        "UPDATE ticket_changes SET state = 7 WHERE ticket_no = {tickets.reimbursed.no} AND number = 2;"
        " UPDATE tickets SET state = 7 WHERE ticket_no = {tickets.reimbursed.no}",
        "ticket-transfers",
        "tournament {tickets.cancelled.no}: its tickets account got -440 cents and its bank 0; the changes of tickets"
        " say -440"
        " and 220.",
    ),
    Fault(
        "a ticket in a state that no change led to",
        "UPDATE tickets SET state = 7 WHERE ticket_no = {tickets.open_ticket.no}",
        "ticket-changes",
        "Ticket {tickets.open_ticket.no} (",
    ),
    Fault(
        "a change that was taken from the record",
        "DELETE FROM ticket_changes WHERE ticket_no = {tickets.converted.no} AND number = 1",
        "ticket-changes",
        "Change 2 of ticket {tickets.converted.no} leads from state (none) to 4 by transfer {tickets.conversion_no}"
        " of kind 12",
    ),
    Fault(
        "a ticket that was used twice",
        "INSERT INTO ticket_changes VALUES ({tickets.used.no}, 3, 2, {tickets.use_no}, now());"
        " UPDATE tickets SET changes = 3 WHERE ticket_no = {tickets.used.no}",
        "ticket-changes",
        "Change 3 of ticket {tickets.used.no} leads from state 2 to 2 by transfer {tickets.use_no} of kind 13, for"
        " tournament monday;",
    ),
    Fault(
        "a ticket that was used after it had lapsed",
        "UPDATE ticket_changes SET number = 3 WHERE ticket_no = {tickets.used.no} AND number = 2;"
        " INSERT INTO ticket_changes VALUES ({tickets.used.no}, 2, 7, {tickets.use_no}, now());"
        " UPDATE tickets SET changes = 3 WHERE ticket_no = {tickets.used.no}",
        "ticket-changes",
        "Change 3 of ticket {tickets.used.no} leads from state 7 to 2",
    ),
    Fault(
        "a ticket that was converted long after it was won",
        "UPDATE ticket_changes SET state = 4 WHERE ticket_no = {tickets.reimbursed.no} AND number = 2;"
        " UPDATE tickets SET state = 4 WHERE ticket_no = {tickets.reimbursed.no}",
        "ticket-changes",
        "Change 2 of ticket {tickets.reimbursed.no} leads from state 1 to 4 by transfer {tickets.settlement_no} of"
        " kind 14",
    ),
    Fault(
        "a ticket that another tournament's payment issued",
        "UPDATE transfers SET reference = 'tuesday' WHERE transfer_no = {tickets.award_no}",
        "ticket-changes",
        "by transfer {tickets.award_no} of kind 12, for tournament tuesday; the ticket is to monday, awarded by"
        " satellite.",
    ),
    Fault(
        "a ticket that another account has used",
        "UPDATE tickets SET account_no = {rui.no} WHERE ticket_no = {tickets.used.no}",
        "ticket-uses",
        "Pay-in {tickets.use_no} is of account {gil.no}, 330 cents for tournament {tickets.target.no}; its ticket"
        " {tickets.used.no} is of account"
        " {rui.no}",
    ),
    Fault(
        "a use without a pay-in",
        "DELETE FROM tournament_pay_ins WHERE transfer_no = {tickets.use_no}",
        "ticket-uses",
        "Ticket {tickets.used.no} was used by transfer {tickets.use_no}, which is no pay-in with it.",
    ),
    Fault(
        "an award of another player's ticket",
        "UPDATE tickets SET account_no = {rui.no} WHERE ticket_no = {tickets.open_ticket.no}",
        "ticket-uses",
        "made ticket {tickets.open_ticket.no} of state 1; that is of account {rui.no}",
    ),
    Fault(
        "a ticket that no award issued",
        "UPDATE tournament_awards SET ticket_no = {tickets.converted.no} WHERE ticket_no = {tickets.open_ticket.no}",
        "ticket-uses",
        "Ticket {tickets.open_ticket.no} was issued by transfer",
    ),
    Fault(
        "a replacement of another value",
        "UPDATE tickets SET value_cents = 221 WHERE ticket_no = {tickets.replacement.no}",
        "ticket-uses",
        "Ticket {tickets.replacement.no} is in place of ticket {tickets.replaced.no}",
    ),
    Fault(
        "a replaced ticket without another in its place",
        "UPDATE tickets SET replaced_no = NULL WHERE ticket_no = {tickets.replacement.no}",
        "ticket-uses",
        "Ticket {tickets.replacement.no} was issued by transfer {tickets.settlement_no}, but no award or settlement"
        " says so.",
    ),
    Fault(
        "a ticket in place of one that was not won in a freeroll",
        "UPDATE tickets SET from_freeroll = false WHERE ticket_no IN ({tickets.replaced.no}, {tickets.replacement.no})",
        "ticket-uses",
        "Ticket {tickets.replacement.no} is in place of ticket {tickets.replaced.no}",
    ),
    Fault(
        "a first entry that was converted",
        "DELETE FROM tickets WHERE ticket_no = {tickets.used.no}",
        "tickets-to-money",
        "Ticket {tickets.converted.no} of account {gil.no} to tournament {tickets.target.no} was converted by"
        " transfer {tickets.conversion_no}:"
        " the account had won no entry to it before (810/2015:29).",
    ),
    Fault(
        "an entry that was converted beside one that had lapsed",
        "UPDATE ticket_changes SET state = 7 WHERE ticket_no = {tickets.used.no} AND number = 2",
        "tickets-to-money",
        "the account had won no entry to it before (810/2015:29).",
    ),
    Fault(
        "a conversion of a ticket from a freeroll",
        "ALTER TABLE tickets DROP CONSTRAINT tickets_of_freerolls_are_no_money;"
        " UPDATE tickets SET from_freeroll = true WHERE ticket_no = {tickets.converted.no}",
        "tickets-to-money",
        "it is from a freeroll (810/2015:30).",
    ),
    Fault(
        "a ticket that was cash at once although its tournament is open",
        "UPDATE ticket_changes SET state = 5 WHERE ticket_no = {tickets.converted.no} AND number = 2;"
        " UPDATE tickets SET state = 5 WHERE ticket_no = {tickets.converted.no}",
        "tickets-to-money",
        "Ticket {tickets.converted.no} of account {gil.no} was in state 5 as soon as transfer {tickets.conversion_no}"
        " had issued it;"
        " tournament {tickets.target.no} is not closed.",
    ),
    Fault(
        "a ticket for money to a demonstration",
        "UPDATE tables SET mode = 2 WHERE table_no = {tickets.cancelled.no}",
        "tickets-to-money",
        "Ticket {tickets.reimbursed.no} of account {rui.no} (mode 1) is to tournament {tickets.cancelled.no} (mode 2,"
        " play 4)",
    ),
    Fault(
        "a large prize of a tournament that says another amount",
        "UPDATE relevant_events SET amount_cents = 801 WHERE transfer_no = {prize_no}",
        "relevant-events",
        "says that transfer {prize_no} moved 801 cents of account {gil.no}",
    ),
    Fault(
        "a large prize of a round without a session",
        "UPDATE relevant_events SET session_no = NULL WHERE transfer_no = {settle_no}",
        "relevant-events",
        "says that transfer {settle_no} moved 400 cents of account {ana.no}",
    ),
    Fault(
        "locked without a stake",
        "DELETE FROM stakes WHERE stake_no = {stakes[2]}",
        "locked",
        "Account {ana.no} ({ana.account_id}) has 250 cents locked, but 0 in open stakes of open rounds.",
    ),
    Fault(
        "a deposit that is called a withdrawal",
        "UPDATE transfers SET kind = 2 WHERE transfer_no = {deposit_no}",
        "transfers-move",
        "Transfer {deposit_no} (request request-1), a withdrawal: it moved player +, operator -,"
        " but a withdrawal moves player -, operator +.",
    ),
    Fault(
        "a transfer nobody asked for",
        "DELETE FROM requests WHERE transfer_no = {deposit_no}",
        "requests",
        "No request names transfer {deposit_no} (request request-1).",
    ),
    Fault(
        "a request whose transfer is lost",
        "UPDATE requests SET transfer_no = 777 WHERE transfer_no = {deposit_no}",
        "requests",
        "Request request-1 names transfer 777, which does not exist.",
    ),
    Fault(
        "a refused request that moved money",
        "UPDATE requests SET refused = true WHERE transfer_no = {deposit_no}",
        "requests",
        "Request request-1 was refused, but names transfer {deposit_no}.",
    ),
    Fault(
        "two requests for one transfer",
        "INSERT INTO requests SELECT 'twin', digest, refused, answer, transfer_no, caller, at FROM requests"
        " WHERE transfer_no = {deposit_no}",
        "requests",
        "Request twin names transfer {deposit_no}, which is that of request request-1.",
    ),
    Fault(
        "an open stake in an ended round",
        "UPDATE stakes SET state = 1, payout_cents = 0 WHERE stake_no = {stakes[0]}",
        "stakes-end-with-round",
        "Stake {stakes[0]} (request-4) is in state 1, but its round {settled_no} (round-settled) is in state 2.",
    ),
    Fault(
        "a settled stake in a void round",
        "UPDATE stakes SET state = 3 WHERE stake_no = {stakes[1]}",
        "stakes-end-with-round",
        "is in state 3, but its round {void_no} (round-void) is in state 3.",
    ),
    Fault(
        "a stake in no round",
        "DELETE FROM rounds WHERE round_no = {void_no}",
        "stakes-end-with-round",
        "is of round {void_no}, which does not exist.",
    ),
    Fault(
        "a round ended twice",
        "INSERT INTO transfers VALUES (1000000, 6, 1, now(), 'again', {settled_no}, NULL)",
        "rounds-end-once",
        "Round {settled_no} (round-settled) is ended by 2 transfers, first {settle_no}, last 1000000.",
    ),
    Fault(
        "an open round that has been paid",
        "UPDATE rounds SET state = 1, ended_at = NULL, end_transfer_no = NULL WHERE round_no = {hand_no}",
        "rounds-end-once",
        "Round {hand_no} (hand-1) names none as the transfer that ended it; the one that did is {hand_transfer_no}.",
    ),
    Fault(
        "a settled round that nothing paid",
        "UPDATE transfers SET round_no = NULL WHERE transfer_no = {settle_no};"
        " UPDATE rounds SET end_transfer_no = NULL WHERE round_no = {settled_no}",
        "rounds-end-once",
        "Round {settled_no} (round-settled) has ended stakes, but no transfer ended it.",
    ),
    Fault(
        "a void round that was paid",
        "UPDATE transfers SET kind = 5 WHERE round_no = {void_no} AND kind = 6",
        "rounds-end-once",
        "Round {void_no} (round-void) is in state 3, but transfer",
    ),
    Fault(
        "a round that was forgotten",
        "UPDATE rounds SET opened_at = now() - interval '25 hours' WHERE round_no = {open_no}",
        "rounds-end",
        "which is 25.0 h, with 250 cents in 1 open stakes, the last of them placed at 2026-11-18 12:00:00+00: who runs",
    ),
    Fault(
        "a round without a stake that was forgotten",
        "INSERT INTO rounds (round_no, round_id, table_no, state, opened_at)"
        " VALUES (777, 'round-lost', {roulette.no}, 1, now() - interval '1441 minutes')",
        "rounds-end",
        "Round 777 (round-lost) at table {roulette.no} (roulette-1) has been open since",
    ),
    Fault(
        "a payout that was not paid",
        "UPDATE stakes SET payout_cents = 401 WHERE stake_no = {stakes[0]}",
        "stakes-and-entries",
        "Round {settled_no} (round-settled), account {ana.no} ({ana.account_id}): the stakes say placed 300, taken back"
        " 100, ended 200, paid 401 cents; the entries moved 300, 100, 200, 400.",
    ),
    Fault(
        "a stake that was never locked",
        "UPDATE stakes SET placed_cents = 260 WHERE stake_no = {stakes[2]}",
        "stakes-and-entries",
        "the stakes say placed 260, taken back 0, ended 0, paid 0 cents; the entries moved 250, 0, 0, 0.",
    ),
    Fault(
        "a stake with more cancelled than was taken back",
        "UPDATE stakes SET cancelled_cents = 30 WHERE stake_no = {stakes[2]}",
        "cancellations",
        "Stake {stakes[2]} (",
    ),
    Fault(
        "a cancellation that moved another amount",
        "UPDATE stake_cancellations SET amount_cents = 90 WHERE stake_no = {stakes[0]};"
        " UPDATE stakes SET cancelled_cents = 90 WHERE stake_no = {stakes[0]}",
        "cancellations",
        "it moved 100 cents of account {ana.no} in round {settled_no}, its cancellations 90 cents of accounts {ana.no}",
    ),
    Fault(
        "a paid stake with another payout than was paid",
        "UPDATE stakes SET payout_cents = 25 WHERE stake_no = {paid_stakes[1]}",
        "paid-stakes",
        "Transfer {pay_no} (request request-16), account {rui.no}: it ended stakes of 40 and paid 20 cents in round"
        " {open_no}; the stakes that name it say 40 and 25 in rounds {open_no} to {open_no}.",
    ),
    Fault(
        "a paid stake that names another payment",
        "UPDATE stakes SET paid_transfer_no = {pay_no} WHERE stake_no = {paid_stakes[0]}",
        "paid-stakes",
        "it ended stakes of 40 and paid 20 cents in round {open_no}; the stakes that name it say 100 and 110",
    ),
    Fault(
        "a stake paid by no transfer",
        "UPDATE stakes SET paid_transfer_no = 777 WHERE stake_no = {paid_stakes[0]}",
        "paid-stakes",
        "Transfer 777 (request ), account {rui.no}: it ended stakes of 0 and paid 0 cents in round ; the stakes that"
        " name it say 60 and 90",
    ),
    Fault(
        "a payment in another round than its stake",
        "UPDATE transfers SET round_no = {void_no} WHERE transfer_no = {pay_no}",
        "paid-stakes",
        "in round {void_no}; the stakes that name it say 40 and 20 in rounds {open_no} to {open_no}.",
    ),
    Fault(
        "a payment that no stake shows",
        "UPDATE stakes SET state = 1, payout_cents = 0, paid_transfer_no = NULL WHERE stake_no = {paid_stakes[1]}",
        "paid-stakes",
        "it ended stakes of 40 and paid 20 cents in round {open_no}; the stakes that name it say 0 and 0",
    ),
    Fault(
        "a paid stake that was not paid in the entries",
        "UPDATE stakes SET payout_cents = 25 WHERE stake_no = {paid_stakes[1]}",
        "stakes-and-entries",
        "the stakes say placed 100, taken back 0, ended 100, paid 115 cents; the entries moved 100, 0, 100, 110.",
    ),
    Fault(
        "a paid stake that is open again",
        "UPDATE stakes SET state = 1, payout_cents = 0, paid_transfer_no = NULL WHERE stake_no = {paid_stakes[1]}",
        "locked",
        "Account {rui.no} ({rui.account_id}) has 0 cents locked, but 40 in open stakes of open rounds.",
    ),
    Fault(
        "a returned stake with a payout",
        "UPDATE stakes SET payout_cents = 5 WHERE stake_no = {stakes[1]}",
        "stakes-end-with-round",
        "is in state 4, but its round {void_no} (round-void) is in state 3.",
    ),
    Fault(
        "a stake of nobody",
        "UPDATE stakes SET account_no = 777 WHERE stake_no = {stakes[0]}",
        "stakes-belong",
        "account 777 does not exist, or is no player's.",
    ),
    Fault(
        "a stake in another's session",
        "UPDATE stakes SET session_no = {at_roulette[1].no} WHERE stake_no = {stakes[0]}",
        "stakes-belong",
        "it is of account {ana.no}, its session {at_roulette[1].no}",
    ),
    Fault(
        "a stake in a session elsewhere",
        "UPDATE stakes SET session_no = {at_poker[0].no} WHERE stake_no = {stakes[0]}",
        "stakes-belong",
        "it is of table {roulette.no}, its session {at_poker[0].no} ({at_poker[0].session_id}) of table {poker.no}.",
    ),
    Fault(
        "a round at no table",
        "UPDATE rounds SET table_no = 777 WHERE round_no = {open_no}",
        "rounds-belong",
        "Round {open_no} (round-open) is of table 777, which does not exist.",
    ),
    Fault(
        "a session of a stranger",
        "UPDATE sessions SET player_id = 'eva' WHERE session_no = {ended.no}",
        "sessions-belong",
        "Session {ended.no} ({ended.session_id}): account {ana.no} does not exist, or is not player eva's.",
    ),
    Fault(
        "a guest at a table for money",
        "UPDATE sessions SET account_no = {demo.no} WHERE session_no = {ended.no}",
        "sessions-belong",
        "its account is of mode 2, its table of mode 1.",
    ),
    Fault(
        "a session that ended over an open stake",
        "UPDATE sessions SET state = 5, ended_at = now(), end_cause = 2 WHERE session_no = {at_roulette[0].no}",
        "ended-sessions",
        "({at_roulette[0].session_id}) has ended with 1 open stakes, the first of them stake {stakes[2]}",
    ),
    Fault(
        "a session that ended over a cave",
        "UPDATE sessions SET state = 5, ended_at = now(), end_cause = 2 WHERE session_no = {at_poker[0].no}",
        "ended-sessions",
        "at table {poker.no} holds 1090 cents, but account {ana.no} has no session there.",
    ),
    Fault(
        "a cave of the other mode",
        "UPDATE accounts SET owner_no = {demo.no} WHERE account_no = {caves[0]}",
        "accounts-belong",
        "of kind 4 and mode 1 is not of the same mode as its owner {demo.no} and its table {poker.no}",
    ),
    Fault(
        "a table with another's bank",
        "UPDATE tables SET bank_no = {poker.bank_no} WHERE table_no = {roulette.no}",
        "accounts-belong",
        "Table {roulette.no} (roulette-1) names account {poker.bank_no} as its bank",
    ),
    Fault(
        "a large prize that was not paid",
        "UPDATE relevant_events SET amount_cents = 401 WHERE transfer_no = {settle_no}",
        "relevant-events",
        "of kind 1 says that transfer {settle_no} moved 401 cents of account {ana.no}, staked 200;"
        " it is of kind 5 and mode 1,",
    ),
    Fault(
        "a large prize for another stake",
        "UPDATE relevant_events SET staked_cents = 99 WHERE transfer_no = {hand_transfer_no}",
        "relevant-events",
        "staked 99; it is of kind 9 and mode 1, of 2026-11-18 12:00:00+00, and moved 190 in and 100 out.",
    ),
    Fault(
        "a large prize without what was paid of it before",
        "UPDATE relevant_events SET amount_cents = 20, staked_cents = 40, limit_cents = 20"
        " WHERE transfer_no = {pay_no}",
        "relevant-events",
        "moved 20 cents of account {rui.no}, staked 40; it is of kind 10 and mode 1, of 2026-11-18 12:00:00+00, and"
        " moved 110 in and 100 out.",
    ),
    Fault(
        "a large prize of somebody else",
        "UPDATE relevant_events SET account_no = {rui.no} WHERE transfer_no = {settle_no}",
        "relevant-events",
        "says that transfer {settle_no} moved 400 cents of account {rui.no}, staked 200;",
    ),
    Fault(
        "a deposit noted as a withdrawal",
        "UPDATE relevant_events SET kind = 3 WHERE transfer_no = {deposit_no}",
        "relevant-events",
        "of kind 3 says that transfer {deposit_no} moved 10000 cents of account {ana.no}, staked 0; it is of kind 1",
    ),
    Fault(
        "a large transfer that nobody made",
        "UPDATE relevant_events SET transfer_no = 777 WHERE transfer_no = {deposit_no}",
        "relevant-events",
        "says that transfer 777 moved 10000 cents of account {ana.no}, staked 0; there is no such transfer.",
    ),
    Fault(
        "an event of another time",
        "UPDATE relevant_events SET at = at + interval '1 day' WHERE transfer_no = {deposit_no}",
        "relevant-events",
        "of 2026-11-18 12:00:00+00, and moved 10000 in and 0 out.",
    ),
    Fault(
        "demonstration credits noted",
        "UPDATE transfers SET mode = 2 WHERE transfer_no = {deposit_no}",
        "relevant-events",
        "it is of kind 1 and mode 2,",
    ),
    Fault(
        "facts that do not leave",
        "INSERT INTO outbox (at, facts) VALUES (now() - interval '2 minutes', ''), (now(), '')",
        "outbox",
        "2 facts wait in the outbox, the oldest (1) since",
    ),
    Fault("a cursor lost", "DELETE FROM outbox_cursor", "outbox", "The row of outbox_cursor is missing"),
    Fault("a clock lost", "DELETE FROM session_clock", "outbox", "The row of session_clock is missing"),
    Fault(
        "a complaint that moved without a step",
        "UPDATE complaints SET state = 4",
        "complaints",
        "Complaint 1 (R-2026-000001) is in state 4; it has 2 steps, the last of them number 2 in state 2.",
    ),
    Fault(
        "a complaint that lost a step",
        "DELETE FROM complaint_steps WHERE number = 1",
        "complaints",
        "it has 1 steps, the last of them number 2",
    ),
    Fault(
        "a complaint about another's session",
        "UPDATE complaints SET round_no = NULL, session_no = {at_roulette[1].no}",
        "complaints",
        "Complaint 1 (R-2026-000001) is about round (none) or session {at_roulette[1].no} of account {ana.no}",
    ),
]


GUARANTEES = {check.name: check.guarantee for check in CHECKS}


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=pytest.mark.guarantee(GUARANTEES[fault.check]), id=fault.name.replace(" ", "-"))
        for fault in FAULTS
    ],
)
def test_a_fault_is_named(
    fault: Fault,
    wallet_database: WalletDatabase,
    postgres: EmbeddedPostgres,
    ledger: SmallLedger,
    capsys: pytest.CaptureFixture[str],
) -> None:
    values = {field: getattr(ledger, field) for field in SmallLedger.__dataclass_fields__}
    superuser_url = postgres.url("postgres", wallet_database.name)
    asyncio.run(_force(superuser_url, fault.statements.format(**values)))

    assert _audit(wallet_database, "--json") == 1

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    found = [line["violation"] for line in lines if line.get("check") == fault.check and "violation" in line]
    assert any(fault.sentence.format(**values) in violation for violation in found), found
    verdict = next(line for line in lines if line.get("check") == fault.check and "claim" in line)
    assert verdict["violations"] == len(found)


def test_every_check_finds_a_fault() -> None:
    assert {fault.check for fault in FAULTS} == {check.name for check in CHECKS}


def test_the_verdict_is_the_last_line(
    wallet_database: WalletDatabase, ledger: SmallLedger, postgres: EmbeddedPostgres, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(_force(postgres.url("postgres", wallet_database.name), _raise_free_balance(ledger)))
    assert _audit(wallet_database) == 1
    lines = capsys.readouterr().out.splitlines()
    assert "FAILS G1  balances: each balance is the sum of its entries, each version their last  (1 violations)" in (
        line.rsplit("  ", 1)[0] for line in lines
    )
    assert lines[-1].startswith(f"{len(CHECKS)} checks, 2 violations")


def test_an_option_gives_the_outbox_more_time(wallet_database: WalletDatabase, postgres: EmbeddedPostgres) -> None:
    waiting = "INSERT INTO outbox (at, facts) VALUES (now() - interval '2 minutes', '')"
    asyncio.run(_force(postgres.url("postgres", wallet_database.name), waiting))
    assert _audit(wallet_database) == 1
    assert _audit(wallet_database, "--outbox-age", "600") == 0


def test_an_option_gives_rounds_more_time(
    wallet_database: WalletDatabase, ledger: SmallLedger, postgres: EmbeddedPostgres
) -> None:
    """For tables where players may idle for hours, and for a restored backup, whose rounds stopped at its time."""
    age_round = f"UPDATE rounds SET opened_at = now() - interval '25 hours' WHERE round_no = {ledger.open_no}"  # noqa: S608
    asyncio.run(_force(postgres.url("postgres", wallet_database.name), age_round))
    assert _audit(wallet_database) == 1
    assert _audit(wallet_database, "--round-hours", "24.9") == 1
    assert _audit(wallet_database, "--round-hours", "25.1") == 0


def test_a_database_that_cannot_be_checked_gets_a_status_of_its_own(
    wallet_database: WalletDatabase, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    absent = wallet_database.url.rsplit("/", 1)[0] + "/no_such_database"
    assert command(["--database-url", absent]) == 2
    assert "the ledger could not be checked" in capsys.readouterr().err
    for wrong in ("nonsense", "postgresql://feltro:hunter2/name", "postgresql://feltro@host:hunter2/name"):
        assert command(["--database-url", wrong]) == 2
        output = capsys.readouterr().err
        assert "no address of a database" in output
        assert "hunter2" not in output
    monkeypatch.delenv("FELTRO_WALLET_DATABASE_URL", raising=False)
    assert command([]) == 2
    assert "FELTRO_WALLET_DATABASE_URL is not set" in capsys.readouterr().err


def test_feltro_audit_reads_the_environment(wallet_database: WalletDatabase, ledger: SmallLedger) -> None:
    assert ledger.deposit_no
    completed = subprocess.run(
        [sys.executable, "-m", "services.kit.command", "audit"],
        env={**os.environ, "FELTRO_WALLET_DATABASE_URL": wallet_database.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert completed.returncode == 0, completed.stderr
    assert f"{len(CHECKS)} checks, 0 violations" in completed.stdout


async def test_all_checks_read_one_snapshot(wallet_database: WalletDatabase, postgres: EmbeddedPostgres) -> None:
    """No check sees what is written after the first one, so the checks hold while money moves."""
    ledger = await _write_ledger(wallet_database.url)
    superuser_url = postgres.url("postgres", wallet_database.name)
    finished: list[str] = []

    def write_after_first_check(finding: Finding) -> None:
        if not finished:
            # Committed before the callback returns, so before the second check begins.
            with ThreadPoolExecutor(1) as executor:
                executor.submit(asyncio.run, _force(superuser_url, _raise_free_balance(ledger))).result()
        finished.append(finding.check.name)

    engine = auditor.connect(wallet_database.url)
    during = await Auditor(engine).run(_fail, write_after_first_check)
    violations: list[str] = []
    await Auditor(engine).run(lambda _, sentence: violations.append(sentence))
    await engine.dispose()
    assert [finding.violations for finding in during] == [0] * len(CHECKS)
    assert finished == [check.name for check in CHECKS]
    assert len(violations) == 2


@pytest.mark.parametrize("check", CHECKS, ids=[check.name for check in CHECKS])
async def test_no_check_takes_quadratic_time(
    check: Check, wallet_database: WalletDatabase, postgres: EmbeddedPostgres
) -> None:
    """Also when the statistics of all tables are far behind."""
    await _force(
        postgres.url("postgres", wallet_database.name),
        "UPDATE pg_class SET reltuples = 1, relpages = 1 WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
    )
    engine = auditor.connect(wallet_database.url)
    async with engine.begin() as connection:
        for statement in auditor.SESSION_SETTINGS:
            await connection.execute(statement)
        explain = text(f"EXPLAIN {check.statement}")
        parameters = Auditor(engine).parameters(check)
        plan = "\n".join([line for (line,) in await connection.execute(explain, parameters)])
    await engine.dispose()
    assert "Nested Loop" not in plan, plan
    assert "SubPlan" not in plan, plan


async def test_the_watch_logs_and_counts_violations(
    wallet_database: WalletDatabase, postgres: EmbeddedPostgres, caplog: pytest.LogCaptureFixture
) -> None:
    ledger = await _write_ledger(wallet_database.url)
    await _force(postgres.url("postgres", wallet_database.name), _raise_free_balance(ledger))
    engine = auditor.connect(wallet_database.url)
    before = REGISTRY.get_sample_value("feltro_audit_last_success_seconds")
    watch = AuditWatch(wallet_database.url, interval_s=3600)
    with caplog.at_level("INFO", logger="services.wallet.audit.watch"):
        await watch.audit_once(Auditor(engine))
    await engine.dispose()
    found = [record.__dict__["violation"] for record in caplog.records if record.levelname == "ERROR"]
    assert len(found) == 2
    assert REGISTRY.get_sample_value("feltro_audit_violations", {"check": "balances"}) == 1
    assert REGISTRY.get_sample_value("feltro_audit_violations", {"check": "requests"}) == 0
    after = REGISTRY.get_sample_value("feltro_audit_last_success_seconds")
    assert before is not None
    assert after is not None
    assert after > before


@pytest.mark.parametrize(("round_hours", "violations"), [(24.9, 1), (25.1, 0)])
async def test_the_watch_reports_open_rounds_after_the_configured_hours(
    round_hours: float, violations: int, wallet_database: WalletDatabase, postgres: EmbeddedPostgres
) -> None:
    ledger = await _write_ledger(wallet_database.url)
    age_round = f"UPDATE rounds SET opened_at = now() - interval '25 hours' WHERE round_no = {ledger.open_no}"  # noqa: S608
    await _force(postgres.url("postgres", wallet_database.name), age_round)
    before = REGISTRY.get_sample_value("feltro_audit_last_success_seconds")
    watch = asyncio.create_task(AuditWatch(wallet_database.url, 0.1, round_hours).run())
    async with asyncio.timeout(60):
        while REGISTRY.get_sample_value("feltro_audit_last_success_seconds") == before:
            await asyncio.sleep(0.01)
    watch.cancel()
    await asyncio.wait([watch])
    assert REGISTRY.get_sample_value("feltro_audit_violations", {"check": "rounds-end"}) == violations


async def test_only_one_replica_audits_at_a_time(wallet_database: WalletDatabase) -> None:
    engine = auditor.connect(wallet_database.url)
    async with connected(wallet_database.url) as other:
        async with other.transaction():
            await other.execute("SELECT pg_advisory_xact_lock($1)", auditor.AUDIT_LOCK_KEY)
            assert await Auditor(engine).run_exclusively(_fail) is None
        findings = await Auditor(engine).run_exclusively(_fail)
    await engine.dispose()
    assert findings is not None
    assert len(findings) == len(CHECKS)


async def test_the_watch_survives_a_database_that_is_away(
    wallet_database: WalletDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    absent = wallet_database.url.rsplit("/", 1)[0] + "/no_such_database"
    engine = auditor.connect(absent)
    before = REGISTRY.get_sample_value("feltro_audit_last_success_seconds")
    await AuditWatch(absent, interval_s=3600).audit_once(Auditor(engine))
    await engine.dispose()
    assert "the audit could not check the ledger" in caplog.text
    assert REGISTRY.get_sample_value("feltro_audit_last_success_seconds") == before


def _fail(_: object, sentence: str) -> None:
    pytest.fail(sentence)
