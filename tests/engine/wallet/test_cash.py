"""Deposits and refills in the pure ledger, at the bounds that no test of the service reaches."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from services.wallet.ledger.book import Book
from services.wallet.ledger.cash import BALANCE_LIMIT_CENTS
from services.wallet.ledger.commands import Deposit, RefillDemo
from services.wallet.ledger.decisions import decide
from services.wallet.model.refusals import WalletRefused
from services.wallet.model.state import Account, AccountKind, Mode, RelevantEventLimits

NOW = datetime(2026, 1, 5, 20, 0, tzinfo=UTC)
PLAYER, OPERATOR = 10, 1


def book(mode: Mode, free_cents: int, locked_cents: int = 0) -> Book:
    """Returns a book with the account of a player and that of the operator."""
    made = Book(NOW, NOW, RelevantEventLimits())
    made.accounts[PLAYER] = Account(
        PLAYER, "a", AccountKind.PLAYER, mode, "ana", None, None, free_cents, locked_cents, 0, blocked=False
    )
    made.accounts[OPERATOR] = Account(
        OPERATOR, "o", AccountKind.OPERATOR, mode, None, None, None, -free_cents - locked_cents, 0, 0, blocked=False
    )
    return made


def deposit(cents: int) -> Deposit:
    return Deposit("d", b"", "operator", "a", cents, "bank", account_no=PLAYER, operator_account_no=OPERATOR)


def refill(cents: int) -> RefillDemo:
    return RefillDemo("r", b"", "game", "a", cents, account_no=PLAYER, operator_account_no=OPERATOR)


@pytest.mark.guarantee("G11")
def test_g11_an_account_is_filled_to_the_limit_and_not_beyond() -> None:
    filled = book(Mode.REAL, BALANCE_LIMIT_CENTS - 300, locked_cents=200)
    with pytest.raises(WalletRefused) as refused:
        decide(filled, deposit(101), 5)
    assert (refused.value.reason, refused.value.facts) == (
        "AMOUNT_OUT_OF_RANGE",
        {"account_id": "a", "limit_cents": str(BALANCE_LIMIT_CENTS)},
    )
    assert filled.accounts[PLAYER].free_cents == BALANCE_LIMIT_CENTS - 300
    decide(filled, deposit(100), 6)
    assert filled.accounts[PLAYER].free_cents == BALANCE_LIMIT_CENTS - 200
    assert sum(account.free_cents + account.locked_cents for account in filled.accounts.values()) == 0


def test_an_account_with_money_is_not_refilled() -> None:
    paid = book(Mode.REAL, 50)
    with pytest.raises(WalletRefused) as refused:
        decide(paid, refill(100), 5)
    assert refused.value.reason == "MODE_MISMATCH"
    assert paid.accounts[PLAYER].free_cents == 50
    free = book(Mode.DEMO, 50)
    decide(free, refill(100), 5)
    assert free.accounts[PLAYER].free_cents == 100
