"""Decides the transfers of tournaments: from players and tickets to the pool, and from the pool to players and tickets.

The pool holds what is for prizes and bounties. Fees go to the tournament's bank at once, like the commission on a cave,
and come back from there if a pay-in is refunded, so that the pool is at any time what the players are still to get.
"""

from collections import defaultdict

from feltro.wallet.v1 import ticket_pb2, tournament_pb2
from services.wallet.ledger import relevant_events, tickets
from services.wallet.ledger.book import Awarded, BankPayment, Book
from services.wallet.ledger.commands import Award, CloseTournament, PayIn, PayOut, SettleTickets, TournamentCommand
from services.wallet.ledger.messages import balance_message
from services.wallet.model import refusals, state
from services.wallet.model.state import (
    Account,
    AwardReason,
    Play,
    Table,
    TicketState,
    TransferKind,
)


def pay_in(book: Book, command: PayIn, no: int) -> tournament_pb2.PayInResponse:
    """Takes the price from the free balance at once (`810/2015:21`, `810/2015:22`), or from the ticket that pays it."""
    table, pool = _open_tournament(book, command)
    account = book.admitted_account(command.account_no, command.account_id, table)
    paid = state.PayIn(
        no,
        command.request_id,
        table.no,
        account.no,
        command.kind,
        command.prize_cents,
        command.fee_cents,
        command.bounty_cents,
        command.ticket_id or None,
    )
    ticket = None
    if command.ticket_id:
        ticket = tickets.usable_ticket(book, command, table, account, paid.price_cents)
    elif account.free_cents < paid.price_cents:
        raise refusals.insufficient_funds(account, paid.price_cents)

    kind = TransferKind.TOURNAMENT_PAID_IN if ticket is None else TransferKind.TICKET_USED
    book.begin_transfer(no, kind, table.mode, reference=table.table_id)
    if ticket is not None:
        book.change_ticket(ticket, TicketState.USED, no)
    payer = account if ticket is None else book.accounts[table.tickets_no or 0]
    book.post(payer, -paid.price_cents, 0, no, kind, command)
    book.post(pool, paid.pool_cents, 0, no, kind, command)
    if paid.fee_cents:
        book.post(book.accounts[table.bank_no], paid.fee_cents, 0, no, kind, command)
    book.pay_ins[paid.request_id] = paid
    book.new_pay_ins.append(paid)
    return tournament_pb2.PayInResponse(
        transfer_id=no, balance=balance_message(account), pool_cents=pool.free_cents, paid_at=book.timestamp
    )


def pay_out(book: Book, command: PayOut, no: int) -> tournament_pb2.PayOutResponse:
    """Pays all awards by one transfer, or none; the money is the players', so that a block does not matter."""
    table, pool = _open_tournament(book, command)
    accounts = {award.account_id: _payable_account(book, command, award, table) for award in command.awards}
    refunded = _pay_ins_to_refund(book, command, table, accounts)
    targets = {target_id: tickets.target_of(book, command, target_id, table) for target_id in command.target_ids}
    fees = sum(paid.fee_cents for paid in refunded.values())
    from_bank = fees + command.from_bank_cents
    from_pool = sum(award.amount_cents for award in command.awards) - from_bank
    if from_pool > pool.free_cents:
        raise refusals.pool_insufficient(table.table_id, pool.free_cents, from_pool)
    added = book.from_bank_cents.get(table.no, 0) + command.from_bank_cents
    limit = book.payout_limits.round_cents
    if command.from_bank_cents and added > limit:
        raise refusals.from_bank_too_large(table.table_id, added, limit)

    kind = TransferKind.TOURNAMENT_PAID_OUT
    book.begin_transfer(no, kind, table.mode, reference=table.table_id)
    flows: tickets.Flows = defaultdict(int)
    awarded = [_award(book, award, table, accounts, refunded, targets, no, flows) for award in command.awards]
    book.awarded += awarded
    flows[pool.no] -= from_pool
    flows[table.bank_no] -= from_bank
    tickets.post_flows(book, flows, no, kind, command)
    for account_no, winnings in _winnings(awarded).items():
        relevant_events.record_prize(book, table.mode, no, account_no, None, 0, winnings)
    if command.from_bank_cents:
        book.from_bank_cents[table.no] = added
        book.bank_payments.append(BankPayment(no, table.no, command.overlay_cents, command.shortfall_cents))
    return tournament_pb2.PayOutResponse(
        transfer_id=no,
        balances=[balance_message(account) for account in accounts.values()],
        pool_cents=pool.free_cents,
        fees_returned_cents=fees,
        paid_at=book.timestamp,
        tickets=[
            tournament_pb2.AwardedTicket(
                award_index=index,
                ticket_id=each.ticket.ticket_id,
                state=ticket_pb2.TicketState.ValueType(each.ticket_state),
            )
            for index, each in enumerate(awarded)
            if each.ticket is not None and each.ticket_state is not None
        ],
    )


def settle_tickets(book: Book, command: SettleTickets, no: int) -> tournament_pb2.SettleTicketsResponse:
    """Ends open tickets to a tournament that is not closed."""
    table, _ = _open_tournament(book, command)
    return tickets.settle_tickets(book, command, no, table)


def close_tournament(book: Book, command: CloseTournament, no: int) -> tournament_pb2.CloseTournamentResponse:
    """Closes a tournament that owes nothing to players and ticket holders; its number stays unused: no money moves."""
    del no
    table, pool = _open_tournament(book, command)
    if pool.free_cents:
        raise refusals.pool_not_empty(table.table_id, pool.free_cents)
    tickets_cents = book.accounts[table.tickets_no or 0].free_cents
    if tickets_cents:
        raise refusals.tickets_open(table.table_id, tickets_cents)
    table.closed = True
    book.closed_tables.append(table)
    return tournament_pb2.CloseTournamentResponse(closed_at=book.timestamp)


def _open_tournament(book: Book, command: TournamentCommand) -> tuple[Table, Account]:
    """Returns a tournament that is not closed, and its pool."""
    table = book.table_of(command)
    if table.play is not Play.TOURNAMENT or table.pool_no is None:
        raise refusals.wrong_play(table)
    if table.closed:
        raise refusals.tournament_closed(table.table_id)
    return table, book.accounts[table.pool_no]


def _payable_account(book: Book, command: PayOut, award: Award, table: Table) -> Account:
    account = book.player_account(command.account_nos.get(award.account_id, 0), award.account_id)
    if account.mode is not table.mode:
        raise refusals.mode_mismatch(account.account_id, account.mode, table)
    return account


def _pay_ins_to_refund(
    book: Book, command: PayOut, table: Table, accounts: dict[str, Account]
) -> dict[str, state.PayIn]:
    """Returns the pay-ins that are given back, by their requests: each once, whole, and to the player who paid it."""
    refunded: dict[str, state.PayIn] = {}
    for award in command.awards:
        if award.reason is not AwardReason.REFUND:
            continue
        paid = book.pay_ins.get(award.refunded_request_id)
        if (
            paid is None
            or paid.refunded
            or paid.request_id in refunded
            or paid.table_no != table.no
            or paid.account_no != accounts[award.account_id].no
            or paid.price_cents != award.amount_cents
        ):
            raise refusals.pay_in_unknown(table.table_id, award.account_id, award.refunded_request_id)
        tickets.verify_refund(award, paid, book.tickets[paid.ticket_id] if paid.ticket_id else None, table)
        refunded[paid.request_id] = paid
    return refunded


def _award(
    book: Book,
    award: Award,
    table: Table,
    accounts: dict[str, Account],
    refunded: dict[str, state.PayIn],
    targets: dict[str, Table],
    no: int,
    flows: tickets.Flows,
) -> Awarded:
    """Carries one award out: adds what it brings to each account, and that a pay-in is not given back again."""
    account, paid = accounts[award.account_id], refunded.get(award.refunded_request_id)
    target = targets[award.target_id] if award.target_id else None
    ticket, ticket_state = None, None
    if paid is not None:
        paid.refunded = True
    if paid is not None and paid.ticket_id:
        ticket, ticket_state = tickets.give_back(book, award, book.tickets[paid.ticket_id], table, target, no, flows)
    elif target is not None:
        ticket, ticket_state = tickets.award_ticket(book, award, account, table, target, no, flows)
    else:
        flows[account.no] += award.amount_cents
    refunded_no = None if paid is None else paid.no
    return Awarded(no, table.no, account.no, award.reason, award.amount_cents, refunded_no, ticket, ticket_state)


def _winnings(awarded: list[Awarded]) -> dict[int, int]:
    """Returns what each account has won: neither refunds, nor tickets that lapsed at once."""
    winnings: dict[int, int] = defaultdict(int)
    for each in awarded:
        if each.reason is not AwardReason.REFUND and each.ticket_state is not TicketState.EXPIRED:
            winnings[each.account_no] += each.amount_cents
    return winnings
