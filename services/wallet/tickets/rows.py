"""Reads the tickets that commands name or may change, under the locks of their tournaments, and writes what changed."""

from collections.abc import Sequence
from typing import Any

from services.kit.database.postgresql import DirectConnection
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import Command, PayIn, PayOut, SettleTickets
from services.wallet.ledger.tickets import SETTLED_TICKETS_LIMIT
from services.wallet.model import ids
from services.wallet.model.state import AwardReason, Ticket, TicketSettlement, TicketState

_TICKETS = """
SELECT tickets.ticket_no, tickets.ticket_id::text, tickets.account_no, tickets.table_no, tickets.value_cents,
       tickets.from_freeroll, tickets.won, tickets.state, tickets.changes, awarding.table_id,
       replaced.ticket_id::text, tickets.issued_at, tickets.changed_at
FROM tickets JOIN tables AS awarding ON awarding.table_no = tickets.awarded_by_no
LEFT JOIN tickets AS replaced ON replaced.ticket_no = tickets.replaced_no
"""
_BY_ID = f"{_TICKETS} WHERE tickets.ticket_id = ANY($1::uuid[])"
# One earlier entry is enough to make a new one the second. Those that settling may end in this group come last.
_WON = f"""
{_TICKETS} WHERE tickets.ticket_no IN (
    SELECT won.ticket_no FROM unnest($1::bigint[], $2::bigint[]) AS holder(account_no, table_no)
    CROSS JOIN LATERAL (
        SELECT ticket_no FROM tickets AS held
        WHERE held.account_no = holder.account_no AND held.table_no = holder.table_no AND held.won AND held.state <> 7
        ORDER BY held.state IN (1, 3), held.ticket_no LIMIT 1
    ) AS won)
"""
_OPEN = f"""
{_TICKETS} WHERE tickets.table_no = $1::bigint AND tickets.state IN (1, 3) ORDER BY tickets.ticket_no LIMIT $2::integer
"""
_NEW_KEYS = """
SELECT nextval(pg_get_serial_sequence('tickets', 'ticket_no')), uuidv7()::text FROM generate_series(1, $1::integer)
"""
_INSERT = """
INSERT INTO tickets (ticket_no, ticket_id, account_no, table_no, awarded_by_no, replaced_no, value_cents, from_freeroll,
                     won, state, changes, issued_at, changed_at)
OVERRIDING SYSTEM VALUE
SELECT new.*, $1, $1
FROM unnest($2::bigint[], $3::uuid[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
            $9::boolean[], $10::boolean[], $11::smallint[], $12::integer[]) AS new
"""
_UPDATE = """
UPDATE tickets SET state = new.state, changes = new.changes, changed_at = $1
FROM unnest($2::bigint[], $3::smallint[], $4::integer[]) AS new(no, state, changes) WHERE tickets.ticket_no = new.no
"""
_CHANGES = """
INSERT INTO ticket_changes (ticket_no, number, state, transfer_no, at)
SELECT new.*, $1 FROM unnest($2::bigint[], $3::integer[], $4::smallint[], $5::bigint[]) AS new
"""


async def read_open(connection: DirectConnection, book: Book, settling: Sequence[SettleTickets]) -> None:
    """Reads the open tickets that commands settle, as many as one of them may end."""
    for table_no in sorted({command.table_no for command in settling if command.table_no}):
        rows = await connection.fetch(_OPEN, table_no, SETTLED_TICKETS_LIMIT + 1)
        if len(rows) > SETTLED_TICKETS_LIMIT:
            book.tables_with_unread_tickets.add(table_no)
        _hold(book, rows[:SETTLED_TICKETS_LIMIT])


async def read_for_commands(connection: DirectConnection, book: Book, commands: Sequence[Command]) -> None:
    """Reads the tickets that commands name, and those that make a new ticket the second of its account.

    Call it while their tournaments are locked, after the pay-ins that are given back were read. It also draws numbers
    for as many tickets as the commands may issue.
    """
    named = {command.ticket_id for command in commands if isinstance(command, PayIn)}
    named |= {paid.ticket_id for paid in book.pay_ins.values() if paid.ticket_id}
    uuids = ids.valid_uuids(named - book.tickets.keys())
    if uuids:
        _hold(book, await connection.fetch(_BY_ID, uuids))
    holders: set[tuple[int, int]] = set()
    to_issue = 0
    for command in commands:
        if isinstance(command, PayOut):
            for award in command.awards:
                if award.target_id:
                    to_issue += 1
                if award.target_id in command.target_nos and award.reason is not AwardReason.REFUND:
                    holders.add((command.account_nos.get(award.account_id, 0), command.target_nos[award.target_id]))
        if isinstance(command, SettleTickets) and command.freeroll_settlement is TicketSettlement.REPLACE:
            to_issue += SETTLED_TICKETS_LIMIT
    if holders:
        _hold(book, await connection.fetch(_WON, *zip(*sorted(holders), strict=True)))
    if to_issue:
        book.ticket_keys = iter(sorted(map(tuple, await connection.fetch(_NEW_KEYS, to_issue))))


async def write(connection: DirectConnection, book: Book) -> None:
    """Writes the new and changed tickets of a book and their changes, in the transaction that moves the money."""
    if not book.ticket_changes:
        return
    if book.new_tickets:
        rows = [
            (
                *(t.no, t.ticket_id, t.account_no, t.table_no, awarded_by_no, replaced_no, t.value_cents),
                *(t.from_freeroll, t.won, t.state, t.changes),
            )
            for t, awarded_by_no, replaced_no in book.new_tickets
        ]
        await connection.fetch(_INSERT, book.now, *zip(*rows, strict=True))
    new_nos = {ticket.no for ticket, *_ in book.new_tickets}
    changed = {change.ticket.no: change.ticket for change in book.ticket_changes if change.ticket.no not in new_nos}
    if changed:
        states = [(ticket.no, ticket.state, ticket.changes) for ticket in changed.values()]
        await connection.fetch(_UPDATE, book.now, *zip(*states, strict=True))
    changes = [(c.ticket.no, c.number, c.state, c.transfer_no) for c in book.ticket_changes]
    await connection.fetch(_CHANGES, book.now, *zip(*changes, strict=True))


def _hold(book: Book, rows: Sequence[Sequence[Any]]) -> None:
    for row in rows:
        no, ticket_id, account_no, table_no, value_cents, from_freeroll, won, state, *rest = row
        ticket_state = TicketState(state)
        book.hold_ticket(
            Ticket(no, ticket_id, account_no, table_no, value_cents, from_freeroll, won, ticket_state, *rest)
        )
