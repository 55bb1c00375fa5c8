"""The books of a tournament: what the pool of the wallet cannot pay stops it before anything is paid (G1, G12)."""

from __future__ import annotations

import pytest

from services.poker.directing.books import Books, BooksDiffer, Paid
from services.poker.directing.fact_messages import Payment
from services.poker.tournament.money.awards import Award, BankWhy, PayOut, Why
from services.poker.tournament.price import Price

PRICE = Price(1000, 100)
PAYMENT = Payment("account", "paid-in")


def books(entries: int = 1) -> Books:
    """Returns the books of a tournament that so many have entered."""
    made = Books()
    for number in range(1, entries + 1):
        made.pay_in(f"p{number}", PAYMENT, PRICE)
        made.entries[number] = Paid(PAYMENT, PRICE)
    return made


def award(why: Why, cents: int, entry: int = 1) -> Award:
    return Award(entry, f"p{entry}", cents, why, "810/2015:33")


@pytest.mark.guarantee("G1", "G12")
def test_g1_the_pool_of_the_wallet_is_the_engines_without_fees_and_what_is_only_promised() -> None:
    made = books(2)
    made.verify(2_200)
    with pytest.raises(BooksDiffer, match="holds 2000 cents, and 1999 by the engine"):
        made.verify(2_199)
    made.pay_out(PayOut((), from_bank_cents=500, bank_why=BankWhy.GUARANTEE), None)
    made.verify(2_700)
    with pytest.raises(BooksDiffer):
        made.verify(2_200)


@pytest.mark.guarantee("G1", "G2", "G12")
def test_g2_a_prize_that_the_pool_does_not_have_is_not_paid() -> None:
    made = books(2)
    with pytest.raises(BooksDiffer, match="lacks 1 cents for prizes"):
        made.pay_out(PayOut((award(Why.PRIZE, 2_001),)), None)
    assert made.wallet_cents == 2_000
    made.pay_out(PayOut((award(Why.PRIZE, 2_000),)), None)
    assert made.wallet_cents == 0


@pytest.mark.guarantee("G1", "G2", "G12")
@pytest.mark.rule("810/2015:36.c")
def test_g2_the_operator_adds_to_shares_of_a_cancellation_and_never_to_refunds() -> None:
    shares = (award(Why.ENTRY_BACK, 1_100, entry=2), award(Why.SHARE_BY_CHIPS, 700, entry=2))
    made = books(2)
    made.pay_out(PayOut((award(Why.PRIZE, 900),)), None)
    (transfer,) = made.pay_out(PayOut(shares, bank_why=BankWhy.CANCELLATION), None)
    # The fee of the entry comes back from the bank: 1 700 cents are needed of the pool, and 1 100 are there.
    assert (transfer.shortfall_cents, made.shortfall_paid_cents, made.wallet_cents) == (600, 600, 0)

    made = books(2)
    made.pay_out(PayOut((award(Why.PRIZE, 1_001),)), None)
    with pytest.raises(BooksDiffer, match="lacks money for refunds"):
        made.pay_out(PayOut(shares, bank_why=BankWhy.CANCELLATION), None)
