"""Decides the transfers of tournaments: from players to the pool, and from the pool to players.

The pool holds what is for prizes and bounties. Fees go to the tournament's bank at once, like the commission on a cave,
and come back from there if a pay-in is refunded, so that the pool is at any time what the players are still to get.
"""

from feltro.wallet.v1 import tournament_pb2
from services.wallet.ledger import relevant_events
from services.wallet.ledger.book import Awarded, BankPayment, Book
from services.wallet.ledger.commands import Award, CloseTournament, PayIn, PayOut, TournamentCommand
from services.wallet.ledger.messages import balance_message
from services.wallet.model import refusals, state
from services.wallet.model.state import Account, AwardReason, Play, Table, TransferKind


def pay_in(book: Book, command: PayIn, no: int) -> tournament_pb2.PayInResponse:
    """Takes the price from the free balance at once (`810/2015:21`, `810/2015:22`)."""
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
    )
    if account.free_cents < paid.price_cents:
        raise refusals.insufficient_funds(account, paid.price_cents)

    kind = TransferKind.TOURNAMENT_PAID_IN
    book.begin_transfer(no, kind, table.mode, reference=table.table_id)
    book.post(account, -paid.price_cents, 0, no, kind, command)
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
    for account_id, (total, winnings) in _sums_by_account(command).items():
        account = accounts[account_id]
        book.post(account, total, 0, no, kind, command)
        relevant_events.record_prize(book, table.mode, no, account.no, None, 0, winnings)
    if from_pool:
        book.post(pool, -from_pool, 0, no, kind, command)
    if from_bank:
        book.post(book.accounts[table.bank_no], -from_bank, 0, no, kind, command)
    _record_awards(book, command, table, no, accounts, refunded)
    if command.from_bank_cents:
        book.from_bank_cents[table.no] = added
        book.bank_payments.append(BankPayment(no, table.no, command.overlay_cents, command.shortfall_cents))
    return tournament_pb2.PayOutResponse(
        transfer_id=no,
        balances=[balance_message(account) for account in accounts.values()],
        pool_cents=pool.free_cents,
        fees_returned_cents=fees,
        paid_at=book.timestamp,
    )


def close_tournament(book: Book, command: CloseTournament, no: int) -> tournament_pb2.CloseTournamentResponse:
    """Closes a tournament that owes nothing to its players; it moves no money, so that its number stays unused."""
    del no
    table, pool = _open_tournament(book, command)
    if pool.free_cents:
        raise refusals.pool_not_empty(table.table_id, pool.free_cents)
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
        refunded[paid.request_id] = paid
    return refunded


def _sums_by_account(command: PayOut) -> dict[str, tuple[int, int]]:
    """Returns all that each account is paid, and how much of it are no refunds, in the order of the awards."""
    sums: dict[str, tuple[int, int]] = {}
    for award in command.awards:
        total, winnings = sums.get(award.account_id, (0, 0))
        won = 0 if award.reason is AwardReason.REFUND else award.amount_cents
        sums[award.account_id] = total + award.amount_cents, winnings + won
    return sums


def _record_awards(
    book: Book,
    command: PayOut,
    table: Table,
    no: int,
    accounts: dict[str, Account],
    refunded: dict[str, state.PayIn],
) -> None:
    """Records each award, and that the pay-ins which it gives back are not given back again."""
    for award in command.awards:
        given_back = refunded.get(award.refunded_request_id)
        if given_back is not None:
            given_back.refunded = True
        refunded_no = None if given_back is None else given_back.no
        account_no = accounts[award.account_id].no
        book.awarded.append(Awarded(no, table.no, account_no, award.reason, award.amount_cents, refunded_no))
