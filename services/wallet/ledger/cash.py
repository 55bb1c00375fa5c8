"""Decides deposits, refills and withdrawals: transfers between a player's account and its operator account."""

from feltro.wallet.v1 import wallet_pb2
from services.wallet.ledger import relevant_events
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import CashCommand, Deposit, RefillDemo, Withdraw
from services.wallet.ledger.messages import balance_message
from services.wallet.model import refusals
from services.wallet.model.state import Account, Mode, TransferKind

# No account is filled beyond this, so that sums of balances stay far inside int64 (G11).
BALANCE_LIMIT_CENTS = 10**15
# The reference of transfers that nobody paid for.
DEMONSTRATION = "demonstration"


def deposit(book: Book, command: Deposit, no: int) -> wallet_pb2.DepositResponse:
    account = _fillable_account(book, command)
    _verify_room(account, command.amount_cents)
    _post(book, command, account, command.amount_cents, no, TransferKind.DEPOSIT, command.reference)
    return wallet_pb2.DepositResponse(transfer_id=no, balance=balance_message(account))


def refill_demo(book: Book, command: RefillDemo, no: int) -> wallet_pb2.RefillDemoAccountResponse:
    """Fills up to the amount; what is missing is read under the account's lock, so two refills at once fill it once."""
    account = _fillable_account(book, command)
    if account.mode is not Mode.DEMO:
        raise refusals.not_in_this_mode(account, "Only a demonstration account is refilled.")
    missing = max(command.amount_cents - account.free_cents, 0)
    if missing:
        _verify_room(account, missing)
        _post(book, command, account, missing, no, TransferKind.DEPOSIT, DEMONSTRATION)
    return wallet_pb2.RefillDemoAccountResponse(transfer_id=no if missing else 0, balance=balance_message(account))


def withdraw(book: Book, command: Withdraw, no: int) -> wallet_pb2.WithdrawResponse:
    """Pays out of the free balance; a blocked player may withdraw, too (G12)."""
    account = book.player_account(command.account_no, command.account_id)
    if account.mode is Mode.DEMO:
        # `804/2015:31`, `807/2015:33`
        raise refusals.not_in_this_mode(account, "Demonstration credits are not convertible: they are never paid out.")
    if account.free_cents < command.amount_cents:
        raise refusals.insufficient_funds(account, command.amount_cents)
    _post(book, command, account, -command.amount_cents, no, TransferKind.WITHDRAWAL, command.reference)
    return wallet_pb2.WithdrawResponse(transfer_id=no, balance=balance_message(account))


def _fillable_account(book: Book, command: CashCommand) -> Account:
    account = book.player_account(command.account_no, command.account_id)
    if account.blocked:
        raise refusals.account_blocked(account.account_id)
    return account


def _verify_room(account: Account, cents: int) -> None:
    if account.free_cents + account.locked_cents + cents > BALANCE_LIMIT_CENTS:
        raise refusals.amount_out_of_range(account.account_id, BALANCE_LIMIT_CENTS)


def _post(
    book: Book, command: CashCommand, account: Account, cents: int, no: int, kind: TransferKind, reference: str
) -> None:
    operator_account = book.accounts[command.operator_account_no]
    book.begin_transfer(no, kind, account.mode, reference=reference or None)
    book.post(account, cents, 0, no, kind, command)
    book.post(operator_account, -cents, 0, no, kind, command)
    relevant_events.record_cash_transfer(book, no, account, cents)
