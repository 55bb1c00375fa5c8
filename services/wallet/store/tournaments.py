"""Reads and writes what was paid into tournaments and out of them, beside the entries that moved the money."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, text
from sqlalchemy.ext.asyncio import AsyncConnection

from services.kit.database.postgresql import DirectConnection
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import Command, PayOut
from services.wallet.model.state import Mode, PayIn, PayInKind
from services.wallet.store.ledger_rows import columns

# A pay-in is given back under the lock of its tournament, which is held by now if it may be given back here.
_PAY_INS = """
SELECT paid.transfer_no, requests.request_id, paid.table_no, paid.account_no, paid.kind, paid.prize_cents,
       paid.fee_cents, paid.bounty_cents, tickets.ticket_id::text,
       EXISTS (SELECT FROM tournament_awards AS awarded WHERE awarded.refunded_no = paid.transfer_no)
FROM requests JOIN tournament_pay_ins AS paid ON paid.transfer_no = requests.transfer_no
LEFT JOIN tickets ON tickets.ticket_no = paid.ticket_no
WHERE requests.request_id = ANY($1::text[])
"""
_FROM_BANK = """
SELECT table_no, sum(overlay_cents + shortfall_cents)::bigint FROM tournament_bank_payments
WHERE table_no = ANY($1::bigint[]) GROUP BY table_no
"""
_NEW_PAY_INS = """
INSERT INTO tournament_pay_ins
    (transfer_no, table_no, account_no, kind, prize_cents, fee_cents, bounty_cents, ticket_no, at)
SELECT new.*, $1
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::bigint[]) AS new
"""
_NEW_AWARDS = """
INSERT INTO tournament_awards
    (transfer_no, table_no, account_no, reason, amount_cents, refunded_no, ticket_no, ticket_state, at)
SELECT transfer_no, table_no, account_no, reason, amount_cents, refunded_no, ticket_no, ticket_state, $1
FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::smallint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::smallint[]) WITH ORDINALITY
    AS new(transfer_no, table_no, account_no, reason, amount_cents, refunded_no, ticket_no, ticket_state, place)
ORDER BY place
"""
_NEW_BANK_PAYMENTS = """
INSERT INTO tournament_bank_payments (transfer_no, table_no, overlay_cents, shortfall_cents)
SELECT new.* FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS new
"""
_CLOSE = "UPDATE tables SET closed_at = $1 WHERE table_no = ANY($2::bigint[])"

_TOURNAMENT = text("""
SELECT tables.table_no, tables.game, tables.mode, tables.closed_at, pool.free_cents
FROM tables JOIN accounts AS pool ON pool.account_no = tables.pool_no WHERE tables.table_id = :table_id
""")
_OF_ACCOUNT = "(CAST(:account_no AS bigint) IS NULL OR {}account_no = :account_no)"
# An award that left a ticket, or that lapsed at once; converted (4) and reimbursed (5) ones are money.
_IS_NO_MONEY = "awarded.ticket_state NOT IN (4, 5)"
_PAID_IN_SUMS = text(f"""
SELECT kind, count(*), sum(prize_cents)::bigint, sum(fee_cents)::bigint, sum(bounty_cents)::bigint, count(ticket_no),
       coalesce(sum(prize_cents + fee_cents + bounty_cents) FILTER (WHERE ticket_no IS NOT NULL), 0)::bigint
FROM tournament_pay_ins WHERE table_no = :table_no AND {_OF_ACCOUNT.format("")} GROUP BY kind ORDER BY kind
""")
_AWARDED_SUMS = text(f"""
SELECT awarded.reason, count(*), sum(awarded.amount_cents)::bigint, count(*) FILTER (WHERE {_IS_NO_MONEY}),
       coalesce(sum(awarded.amount_cents) FILTER (WHERE {_IS_NO_MONEY}), 0)::bigint,
       coalesce(sum(paid.fee_cents), 0)::bigint
FROM tournament_awards AS awarded LEFT JOIN tournament_pay_ins AS paid ON paid.transfer_no = awarded.refunded_no
WHERE awarded.table_no = :table_no AND {_OF_ACCOUNT.format("awarded.")} GROUP BY awarded.reason ORDER BY awarded.reason
""")
_BANK_SUMS = text("""
SELECT coalesce(sum(overlay_cents), 0)::bigint, coalesce(sum(shortfall_cents), 0)::bigint
FROM tournament_bank_payments WHERE table_no = :table_no
""")
_PAY_IN_PAGE = text(f"""
SELECT paid.transfer_no, transfers.request_id, accounts.account_id::text, paid.kind, paid.prize_cents, paid.fee_cents,
       paid.bounty_cents, paid.at, tickets.ticket_id::text, tickets.from_freeroll,
       EXISTS (SELECT FROM tournament_awards AS awarded WHERE awarded.refunded_no = paid.transfer_no) AS refunded
FROM tournament_pay_ins AS paid
JOIN transfers ON transfers.transfer_no = paid.transfer_no
JOIN accounts ON accounts.account_no = paid.account_no
LEFT JOIN tickets ON tickets.ticket_no = paid.ticket_no
WHERE paid.table_no = :table_no AND paid.transfer_no > :after AND {_OF_ACCOUNT.format("paid.")}
ORDER BY paid.transfer_no LIMIT :rows
""")
_AWARD_PAGE = text(f"""
SELECT awarded.award_no, awarded.transfer_no, transfers.request_id, accounts.account_id::text, awarded.reason,
       awarded.amount_cents, refunded.request_id AS refunded_request_id, awarded.at, awarded.ticket_state,
       tickets.ticket_id::text, tickets.from_freeroll, targets.table_id AS target_id
FROM tournament_awards AS awarded
JOIN transfers ON transfers.transfer_no = awarded.transfer_no
JOIN accounts ON accounts.account_no = awarded.account_no
LEFT JOIN transfers AS refunded ON refunded.transfer_no = awarded.refunded_no
LEFT JOIN tickets ON tickets.ticket_no = awarded.ticket_no
LEFT JOIN tables AS targets ON targets.table_no = tickets.table_no
WHERE awarded.table_no = :table_no AND awarded.award_no > :after AND {_OF_ACCOUNT.format("awarded.")}
ORDER BY awarded.award_no LIMIT :rows
""")


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament as it is read for a query."""

    no: int
    game: str
    mode: Mode
    closed_at: datetime | None
    pool_cents: int


@dataclass(frozen=True, slots=True)
class Sums:
    """What was paid in by kind, paid out by reason, and added by the bank."""

    paid_in: Sequence[Row[Any]]
    awarded: Sequence[Row[Any]]
    overlay_cents: int
    shortfall_cents: int


async def read_for_payments(connection: DirectConnection, book: Book, commands: Sequence[Command]) -> None:
    """Reads what tournaments need to pay out: the pay-ins that are given back, and what their banks have added.

    Call it while their tables are locked.
    """
    paying = [command for command in commands if isinstance(command, PayOut) and command.table_no]
    if not paying:
        return
    request_ids = {award.refunded_request_id for command in paying for award in command.awards} - {""}
    if request_ids:
        for no, request_id, table_no, account_no, kind, *amounts in await connection.fetch(_PAY_INS, list(request_ids)):
            book.pay_ins[request_id] = PayIn(no, request_id, table_no, account_no, PayInKind(kind), *amounts)
    for table_no, cents in await connection.fetch(_FROM_BANK, list({command.table_no for command in paying})):
        book.from_bank_cents[table_no] = cents


async def write(connection: DirectConnection, book: Book) -> None:
    """Writes the pay-ins, awards and closings of a book, in the transaction that moves the money."""
    if book.new_pay_ins:
        paid = [
            (
                *(p.no, p.table_no, p.account_no, p.kind, p.prize_cents, p.fee_cents, p.bounty_cents),
                book.tickets[p.ticket_id].no if p.ticket_id else None,
            )
            for p in book.new_pay_ins
        ]
        await connection.fetch(_NEW_PAY_INS, book.now, *columns(paid, 8))
    if book.awarded:
        awarded = [
            (
                *(a.transfer_no, a.table_no, a.account_no, a.reason, a.amount_cents, a.refunded_no),
                None if a.ticket is None else a.ticket.no,
                a.ticket_state,
            )
            for a in book.awarded
        ]
        await connection.fetch(_NEW_AWARDS, book.now, *columns(awarded, 8))
    if book.bank_payments:
        added = [(p.transfer_no, p.table_no, p.overlay_cents, p.shortfall_cents) for p in book.bank_payments]
        await connection.fetch(_NEW_BANK_PAYMENTS, *columns(added, 4))
    if book.closed_tables:
        await connection.fetch(_CLOSE, book.now, [table.no for table in book.closed_tables])


async def find(connection: AsyncConnection, table_id: str) -> Tournament | None:
    """Returns a tournament; None if there is none of this id."""
    row = (await connection.execute(_TOURNAMENT, {"table_id": table_id})).one_or_none()
    return None if row is None else Tournament(row[0], row[1], Mode(row[2]), *row[3:])


async def sums(connection: AsyncConnection, tournament: Tournament, account_no: int | None) -> Sums:
    """Returns the sums of a tournament, or of one account's part in it."""
    wanted = {"table_no": tournament.no, "account_no": account_no}
    paid_in = (await connection.execute(_PAID_IN_SUMS, wanted)).all()
    awarded = (await connection.execute(_AWARDED_SUMS, wanted)).all()
    overlay_cents = shortfall_cents = 0
    if account_no is None:
        overlay_cents, shortfall_cents = (await connection.execute(_BANK_SUMS, {"table_no": tournament.no})).one()
    return Sums(paid_in, awarded, overlay_cents, shortfall_cents)


async def pay_ins(
    connection: AsyncConnection, tournament: Tournament, account_no: int | None, after: int | None, rows: int
) -> Sequence[Row[Any]]:
    """Returns pay-ins after a transfer, oldest first."""
    wanted = {"table_no": tournament.no, "account_no": account_no, "after": after or 0, "rows": rows}
    return (await connection.execute(_PAY_IN_PAGE, wanted)).all()


async def awards(
    connection: AsyncConnection, tournament: Tournament, account_no: int | None, after: int | None, rows: int
) -> Sequence[Row[Any]]:
    """Returns awards after one of them, oldest first."""
    wanted = {"table_no": tournament.no, "account_no": account_no, "after": after or 0, "rows": rows}
    return (await connection.execute(_AWARD_PAGE, wanted)).all()
