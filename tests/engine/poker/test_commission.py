"""Tests of the commission: of payments out of pots, rounded down, with its cap; of caves; and what is free of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.poker import commission
from services.poker.commission import CaveCharge
from services.poker.engine import Table
from services.poker.specific_rules import Approval, CommissionMode, NoFlopNoDrop
from services.poker.variant import Variant
from tests.engine.poker.tables import HOLDEM, begin, both, both_variants, paid, play, refusal_of, rules, table

CAVE = CommissionMode.CAVE
CAP = frozenset({Approval.COMMISSION_CAP})


@both("17.a")
@pytest.mark.parametrize(("gross", "charged"), [(30, 1), (150, 7), (19, 0), (20, 1), (0, 0), (3600, 180), (250, 12)])
def test_a_pot_is_charged_five_percent_and_never_more(gross: int, charged: int) -> None:
    assert commission.of_payment(rules(), gross) == charged


@both("17.a")
@given(bps=st.integers(200, 500), gross=st.integers(1, 10**12))
def test_a_charge_of_a_pot_is_from_one_to_five_percent(bps: int, gross: int) -> None:
    charged = commission.of_payment(rules(commission_bps=bps), gross)

    assert 20 * charged <= gross
    assert charged == 0 or 100 * charged >= gross


@pytest.mark.parametrize(
    ("gross", "charged"),
    # 5 % up to the cap; from 300 euros on, at least 1 % rounded up.
    [(1000, 50), (6000, 300), (6001, 300), (30_000, 300), (30_001, 301), (100_000, 1000)],
)
def test_a_cap_never_takes_a_charge_below_one_percent(gross: int, charged: int) -> None:
    assert commission.of_payment(rules(commission_cap_cents=300, approvals=CAP), gross) == charged


@pytest.mark.parametrize(("per_hand", "charged"), [(False, (300, 150)), (True, (300, 30))])
def test_a_cap_is_for_each_payment_or_for_the_hand(per_hand: bool, charged: tuple[int, int]) -> None:  # noqa: FBT001
    capped = table(commission_cap_cents=300, commission_cap_per_hand=per_hand, approvals=CAP)
    hand = begin(capped, [2000, 10_000, 10_000], "AsAd KsKd QsQd", "7h 8h 9c 2c 3d")

    hand = play(hand, "r300 r2000 c c | r1500 c | x x | x x")

    assert hand.result is not None
    assert tuple(payment.commission_cents for payment in hand.result.payments) == charged
    assert paid(hand)[1] == sum(charged)


@both("17.b")
@pytest.mark.parametrize(
    ("bps", "amount", "charge"),
    [
        (1000, 10_000, CaveCharge(11_000, 10_000, 1000)),
        (1000, 5000, CaveCharge(5500, 5000, 500)),
        (750, 3333, CaveCharge(3582, 3333, 249)),
        # Rounding down would take less than 5 %.
        (500, 3333, CaveCharge(3500, 3333, 167)),
        (500, 5, CaveCharge(6, 5, 1)),
    ],
)
def test_c_28_a_cave_is_charged_on_top(bps: int, amount: int, charge: CaveCharge) -> None:
    assert commission.of_cave(rules(commission_mode=CAVE, commission_bps=bps), amount) == charge


@both("17.b")
def test_c_28_a_cave_is_charged_out_of_it_where_that_is_chosen() -> None:
    charge = commission.of_cave(rules(commission_mode=CAVE, commission_on_top=False), 10_000)

    assert charge == CaveCharge(10_000, 9000, 1000)


@both("17.b")
def test_an_amount_without_a_lawful_commission_is_refused() -> None:
    refused = refusal_of(lambda: commission.of_cave(rules(commission_mode=CAVE), 4))

    assert (refused.facts["bound"], refused.facts["rule"]) == ("5", "806/2015:17.b")


@both("17.b")
@given(bps=st.integers(500, 2000), amount=st.integers(5, 10**12), on_top=st.booleans())
def test_a_charge_of_a_cave_is_from_five_to_twenty_percent(bps: int, amount: int, on_top: bool) -> None:  # noqa: FBT001
    charge = commission.of_cave(rules(commission_mode=CAVE, commission_bps=bps, commission_on_top=on_top), amount)

    assert amount <= 20 * charge.commission_cents <= 4 * amount
    assert charge.debit_cents == charge.chips_cents + charge.commission_cents


@both("17.a", "17.b")
@both_variants
def test_the_two_ways_of_commission_exclude_each_other(variant: Variant) -> None:
    """A table that charges caves takes nothing of pots, and the other way round."""
    assert commission.of_payment(rules(variant, commission_mode=CAVE), 3000) == 0
    assert commission.of_cave(rules(variant), 10_000) == CaveCharge(10_000, 10_000, 0)


# -- hands without voluntary betting (18, A-10) -----------------------------------------------------------------------

ANY, WALK, LITERAL = NoFlopNoDrop.ANY_PREFLOP_END, NoFlopNoDrop.WALK_ONLY, NoFlopNoDrop.LITERAL


def at(reading: NoFlopNoDrop) -> Table:
    return table(HOLDEM, no_flop_no_drop=reading)


@both("18")
@pytest.mark.parametrize(
    ("script", "free"),
    [
        # A walk.
        ("f f", {ANY, WALK}),
        # Somebody raised, or called, before the flop.
        ("r300 f f", {ANY}),
        ("c f f", {ANY}),
        # The round of the flop without a bet, and with one.
        ("c c x | f f", {ANY, WALK, LITERAL}),
        ("c c x | x r100 f f", set()),
        ("c c x | x x x | f f", set()),
    ],
)
def test_which_hands_are_free_of_commission(script: str, free: set[NoFlopNoDrop]) -> None:
    for reading in NoFlopNoDrop:
        hand = play(begin(at(reading), [10_000] * 3), script)
        assert (paid(hand)[1] == 0) == (reading in free), reading


def test_a_voluntary_post_is_a_bet_and_ends_no_hand_as_a_walk() -> None:
    hand = begin(at(WALK), [10_000] * 4, posters=(2,))

    assert paid(play(hand, "f f f"))[1] == 12
