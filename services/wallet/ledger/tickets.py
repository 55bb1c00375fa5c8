"""Decides what becomes of tickets: the entries to tournaments that were won (`810/2015:28` to `810/2015:30`, T-A-02).

The face value of a ticket that is open lies in the tickets account of its tournament, so that such an account is at any
time the sum of the open tickets. A ticket is money in two cases alone: as an account's second won entry to one
tournament (`810/2015:29`), and when its tournament is cancelled (`810/2015:37`), which the caller has to say.

Whatever changes a ticket holds the lock of the table that the ticket is for.
"""

from collections import defaultdict

from feltro.wallet.v1 import ticket_pb2, tournament_pb2
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import Award, PayIn, PayOut, SettleTickets, TournamentCommand
from services.wallet.model import refusals
from services.wallet.model.state import (
    CASHED_TICKETS,
    Account,
    Play,
    Table,
    Ticket,
    TicketRefund,
    TicketSettlement,
    TicketState,
    TransferKind,
)
from services.wallet.model.state import PayIn as PaidIn

# One command ends so many: the rest is for the next one (G11).
SETTLED_TICKETS_LIMIT = 1_000

_STATES_AFTER = {
    TicketSettlement.EXPIRE: TicketState.EXPIRED,
    TicketSettlement.REIMBURSE: TicketState.REIMBURSED,
    TicketSettlement.REPLACE: TicketState.REPLACED,
}
# What one transfer adds to each account, by its number.
Flows = dict[int, int]


def usable_ticket(book: Book, command: PayIn, table: Table, account: Account, price_cents: int) -> Ticket:
    """Returns the ticket that a pay-in names; refuses another player's, another tournament's, and what was used."""
    ticket = book.tickets.get(command.ticket_id)
    if ticket is None:
        raise refusals.ticket_unknown(command.ticket_id)
    if ticket.account_no != account.no:
        raise refusals.ticket_not_transferable(ticket.ticket_id, account.account_id)
    if ticket.table_no != table.no:
        raise refusals.ticket_for_another_tournament(ticket.ticket_id, table.table_id)
    if not ticket.is_open:
        raise refusals.ticket_not_open(ticket)
    if ticket.value_cents != price_cents:
        raise refusals.ticket_of_another_value(ticket)
    return ticket


def target_of(book: Book, command: PayOut | SettleTickets, target_id: str, table: Table) -> Table:
    """Returns the tournament that new tickets are for, closed or not; refuses one that they cannot be for."""
    target = book.tables.get(command.target_nos.get(target_id, 0))
    if target is None:
        raise refusals.table_unknown(target_id)
    if target.game != table.game:
        raise refusals.wrong_game(table.game, (target.table_id, target.game))
    if target.play is not Play.TOURNAMENT:
        raise refusals.wrong_play(target)
    if target.mode is not table.mode:
        raise refusals.ticket_of_another_mode(target)
    return target


def verify_refund(award: Award, paid: PaidIn, ticket: Ticket | None, table: Table) -> None:
    """Refuses a refund that does not say what becomes of the ticket, or says what the law does not allow."""
    if ticket is None:
        if award.ticket_refund is None:
            return
        sentence, rule = "The pay-in was made in cash, and is given back in cash.", "810/2015:25"
    elif award.ticket_refund is None:
        sentence, rule = "The pay-in was made with a ticket: say how it is given back.", "810/2015:28"
    elif award.ticket_refund is TicketRefund.REPLACE and not ticket.from_freeroll:
        sentence, rule = "Only a ticket from a freeroll is replaced: this one is reimbursed in cash.", "810/2015:37"
    else:
        return
    raise refusals.ticket_refund_differs(table.table_id, award.account_id, paid.request_id, sentence, rule)


def award_ticket(
    book: Book, award: Award, account: Account, table: Table, target: Table, no: int, flows: Flows
) -> tuple[Ticket, TicketState]:
    """Issues a ticket as a prize, and settles it at once where it is money or void; returns what it became.

    Its value comes to one account: the tickets of its tournament, the player's, or the bank of its tournament.
    """
    has_won_before = any(
        held.won and held.state is not TicketState.EXPIRED
        for held in book.tickets_by_holder.get((account.no, target.no), ())
    )
    ticket = book.issue_ticket(account.no, target, award.amount_cents, table, no, from_freeroll=award.from_freeroll)
    if target.closed and not ticket.from_freeroll:
        # As of a tournament that was cancelled: the player can never enter, and is owed the value (37).
        book.change_ticket(ticket, TicketState.REIMBURSED, no)
    elif not target.closed and has_won_before and not ticket.from_freeroll:
        book.change_ticket(ticket, TicketState.CONVERTED, no)
    if ticket.state in CASHED_TICKETS:
        flows[account.no] += ticket.value_cents
    else:
        _place(book, ticket, target, no, flows)
    return ticket, ticket.state


def give_back(
    book: Book, award: Award, ticket: Ticket, table: Table, target: Table | None, no: int, flows: Flows
) -> tuple[Ticket, TicketState]:
    """Gives a pay-in by ticket back as the award says; returns the ticket that the award is about, and its state.

    A return and a replacement bring no money to the player.
    """
    if ticket.state is not TicketState.USED:
        raise AssertionError(f"ticket {ticket.ticket_id} paid what is given back, but is {ticket.state}")
    if award.ticket_refund is TicketRefund.CASH:
        book.change_ticket(ticket, TicketState.REIMBURSED, no)
        flows[ticket.account_no] += ticket.value_cents
    elif target is not None:
        ticket = _replace(book, ticket, table, target, no, flows)
    else:
        book.change_ticket(ticket, TicketState.RETURNED, no)
        flows[table.tickets_no or 0] += ticket.value_cents
    return ticket, ticket.state


def settle_tickets(book: Book, command: SettleTickets, no: int, table: Table) -> tournament_pb2.SettleTicketsResponse:
    """Ends open tickets to a tournament, the oldest first, by one transfer; with none open it does nothing."""
    target = target_of(book, command, command.replacement_id, table) if command.replacement_id else None
    still_open = sorted(
        (ticket for ticket in book.tickets.values() if ticket.table_no == table.no and ticket.is_open),
        key=lambda ticket: ticket.no,
    )
    # A ticket that another command of this group has read may be of an account that is not locked.
    settling = [ticket for ticket in still_open if ticket.account_no in book.accounts][:SETTLED_TICKETS_LIMIT]
    more = len(settling) < len(still_open) or table.no in book.tables_with_unread_tickets
    response = tournament_pb2.SettleTicketsResponse(more=more, settled_at=book.timestamp)
    if not settling:
        return response

    book.begin_transfer(no, TransferKind.TICKETS_SETTLED, table.mode, reference=table.table_id)
    flows: Flows = defaultdict(int)
    sums: dict[TicketState, ticket_pb2.TicketSum] = {}
    for ticket in settling:
        settlement = command.freeroll_settlement if ticket.from_freeroll else command.settlement
        flows[table.tickets_no or 0] -= ticket.value_cents
        if settlement is TicketSettlement.REPLACE and target is not None:
            _replace(book, ticket, table, target, no, flows)
        else:
            book.change_ticket(ticket, _STATES_AFTER[settlement], no)
            gets_it = ticket.account_no if settlement is TicketSettlement.REIMBURSE else table.bank_no
            flows[gets_it] += ticket.value_cents
        settled = sums.setdefault(
            ticket.state, ticket_pb2.TicketSum(state=ticket_pb2.TicketState.ValueType(ticket.state))
        )
        settled.count += 1
        settled.value_cents += ticket.value_cents
    post_flows(book, flows, no, TransferKind.TICKETS_SETTLED, command)
    response.transfer_id = no
    response.settled.extend(sums[state] for state in sorted(sums))
    return response


def post_flows(book: Book, flows: Flows, no: int, kind: TransferKind, command: TournamentCommand) -> None:
    """Posts what a transfer adds to each account, in the order in which the accounts were first named."""
    for account_no, cents in flows.items():
        if cents:
            book.post(book.accounts[account_no], cents, 0, no, kind, command)


def _replace(book: Book, ticket: Ticket, table: Table, target: Table, no: int, flows: Flows) -> Ticket:
    """Issues a ticket to another tournament in place of one that was won in a freeroll (`810/2015:30`, T-A-03)."""
    book.change_ticket(ticket, TicketState.REPLACED, no)
    new = book.issue_ticket(
        ticket.account_no,
        target,
        ticket.value_cents,
        table,
        no,
        from_freeroll=ticket.from_freeroll,
        replaced=ticket,
    )
    _place(book, new, target, no, flows)
    return new


def _place(book: Book, ticket: Ticket, target: Table, no: int, flows: Flows) -> None:
    """Puts the value of a new ticket to the tickets of its tournament; one that is closed already lets it lapse."""
    if target.closed:
        book.change_ticket(ticket, TicketState.EXPIRED, no)
        flows[target.bank_no] += ticket.value_cents
    else:
        flows[target.tickets_no or 0] += ticket.value_cents
