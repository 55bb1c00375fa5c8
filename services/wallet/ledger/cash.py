"""Money in and money out: between a player's account and the operator's books opposite him."""

from feltro.wallet.v1 import wallet_pb2
from services.wallet import refusals
from services.wallet.ledger.book import Book
from services.wallet.ledger.commands import Deposit, Withdraw
from services.wallet.ledger.wording import balance
from services.wallet.state import TransferKind

# No account is ever filled beyond this, so that sums of balances stay far inside int64 (G11).
BALANCE_LIMIT_CENTS = 10**15


def deposit(book: Book, command: Deposit, no: int) -> wallet_pb2.DepositResponse:
    account = book.player_account(command.account_no, command.account_id)
    if account.blocked:
        raise refusals.account_blocked(account.account_id)
    if account.free_cents + account.locked_cents + command.amount_cents > BALANCE_LIMIT_CENTS:
        raise refusals.amount_out_of_range(account.account_id, BALANCE_LIMIT_CENTS)
    books = book.accounts[command.books_no]
    kind = TransferKind.DEPOSIT
    book.transfer(no, kind, account.mode, reference=command.reference or None)
    book.post(account, command.amount_cents, 0, no, kind, command)
    book.post(books, -command.amount_cents, 0, no, kind, command)
    return wallet_pb2.DepositResponse(transfer_id=no, balance=balance(account))


def withdraw(book: Book, command: Withdraw, no: int) -> wallet_pb2.WithdrawResponse:
    """From the free balance only; a blocked player may have his money (G12)."""
    account = book.player_account(command.account_no, command.account_id)
    if account.free_cents < command.amount_cents:
        raise refusals.insufficient_funds(account, command.amount_cents)
    books = book.accounts[command.books_no]
    kind = TransferKind.WITHDRAWAL
    book.transfer(no, kind, account.mode, reference=command.reference or None)
    book.post(account, -command.amount_cents, 0, no, kind, command)
    book.post(books, command.amount_cents, 0, no, kind, command)
    return wallet_pb2.WithdrawResponse(transfer_id=no, balance=balance(account))
