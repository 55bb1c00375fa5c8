"""How often the bank ends with each result, and how often cards that pay more are dealt: exactly, as section 6 says."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import cache

import pytest

from services.blackjack.scores import bank_draws, is_blackjack, is_special, score, value
from services.kit.cards.card import Card, Rank, Suit
from tests.engine.blackjack.tables import TABLE, dealt, insure, play

# One card for each value, 1 to 10.
CARDS = {counts: Card(Rank(counts), Suit.SPADES) for counts in range(1, 11)}
COLUMNS = ("17", "18", "19", "20", "21", "blackjack", "bust")
# Six packs, percent, by what the up card counts.
PRINTED = {
    2: "13.97 13.44 13.00 12.40 11.84 0.00 35.35",
    3: "13.43 13.05 12.52 12.08 11.49 0.00 37.42",
    4: "13.06 12.41 12.13 11.64 11.19 0.00 39.58",
    5: "12.18 12.24 11.76 11.18 10.79 0.00 41.84",
    6: "16.57 10.62 10.64 10.16 9.73 0.00 42.28",
    7: "36.92 13.79 7.84 7.87 7.38 0.00 26.19",
    8: "12.89 36.00 12.87 6.92 6.95 0.00 24.37",
    9: "12.03 11.73 35.19 12.04 6.09 0.00 22.92",
    10: "11.19 11.17 11.19 34.00 3.48 7.72 21.25",
    1: "13.00 13.08 13.06 13.09 5.35 30.87 11.55",
}
ACE = 1
ALL_PRINTED = "14.525 13.926 13.368 17.953 7.287 4.749 28.192"


def counts_of(packs: int) -> dict[int, int]:
    return {counts: packs * (16 if counts == 10 else 4) for counts in range(1, 11)}


@cache
def results(up: int, packs: int = 6) -> dict[str, Fraction]:
    """Returns how likely the bank ends with each result, given its up card alone."""
    left = counts_of(packs)
    left[up] -= 1
    found: Counter[str] = Counter()
    likely: dict[str, Fraction] = dict.fromkeys(COLUMNS, Fraction(0))

    def go_on(hand: list[Card], chance: Fraction, in_shoe: int) -> None:
        if len(hand) >= 2 and not bank_draws(hand):
            total = score(hand)
            name = "blackjack" if is_blackjack(hand) else "bust" if total > 21 else str(total)
            likely[name] += chance
            found[name] += 1
            return
        for counts, number in list(left.items()):
            if number:
                left[counts] -= 1
                go_on([*hand, CARDS[counts]], chance * number / in_shoe, in_shoe - 1)
                left[counts] += 1

    go_on([CARDS[up]], Fraction(1), 52 * packs - 1)
    return likely


@pytest.mark.rule("805/2015:8.a.i", "805/2015:17", "805/2015:17.a", "805/2015:17.b")
@pytest.mark.parametrize("up", PRINTED)
def test_the_bank_ends_as_often_with_each_result_as_the_rulebook_says(up: int) -> None:
    likely = results(up)
    assert sum(likely.values()) == 1
    assert " ".join(f"{float(100 * likely[name]):.2f}" for name in COLUMNS) == PRINTED[up]


@pytest.mark.rule("805/2015:17")
def test_over_all_up_cards_the_bank_ends_as_the_rulebook_says() -> None:
    whole = {
        name: sum((Fraction(number, 312) * results(up)[name] for up, number in counts_of(6).items()), Fraction(0))
        for name in COLUMNS
    }
    assert " ".join(f"{float(100 * whole[name]):.3f}" for name in COLUMNS) == ALL_PRINTED


@pytest.mark.rule("805/2015:18", "805/2015:25.a")
@pytest.mark.parametrize(("packs", "printed"), [(4, "4.7566"), (6, "4.7489"), (8, "4.7451")])
def test_a_blackjack_is_dealt_as_often_as_the_rulebook_says(packs: int, printed: str) -> None:
    counts = counts_of(packs)
    shoe = 52 * packs
    dealt = sum(
        Fraction(counts[first], shoe) * Fraction(counts[second] - (first == second), shoe - 1)
        for first in counts
        for second in counts
        if is_blackjack((CARDS[first], CARDS[second]))
    )
    assert f"{float(100 * dealt):.4f}" == printed
    assert {value(card) for card in CARDS.values()} == set(counts)


@pytest.mark.rule("805/2015:15.f", "805/2015:25.f", "805/2015:25.g")
@pytest.mark.parametrize(("packs", "printed"), [(4, "7.25"), (6, "7.40"), (8, "7.47")])
def test_an_insurance_loses_as_much_as_the_rulebook_says(packs: int, printed: str) -> None:
    """Of what the engine pays back of an insurance, with only the up card known."""
    likely = results(ACE, packs)["blackjack"]
    paid = {
        hole: TABLE.payouts(play(TABLE, dealt("Ts 9d", f"Ah {hole}"), (insure(500), "stand")))["1.insurance"]
        for hole in ("Kc", "9c")
    }
    kept = 1 - likely * Fraction(paid["Kc"], 500) - (1 - likely) * Fraction(paid["9c"], 500)
    assert f"{float(100 * kept):.2f}" == printed


@pytest.mark.rule("805/2015:25.i")
@pytest.mark.parametrize(("packs", "sevens", "suited"), [(4, 2640, 5774), (6, 2477, 5802), (8, 2402, 5816)])
def test_the_first_three_cards_earn_a_special_prize_as_often_as_the_rulebook_says(
    packs: int, sevens: int, suited: int
) -> None:
    """Every kind of three cards is asked of the engine; only those with a 6, a 7 or an 8 can be special."""
    kinds = [Card(rank, suit) for rank in (Rank.SIX, Rank.SEVEN, Rank.EIGHT) for suit in Suit]
    found = {True: 0, False: 0}
    for three in itertools.product(kinds, repeat=3):
        if is_special(three):
            orders = math.prod(packs - three[:at].count(card) for at, card in enumerate(three))
            found[three[0].rank is three[1].rank] += orders
    all_orders = math.perm(52 * packs, 3)
    assert (round(all_orders / found[True]), round(all_orders / found[False])) == (sevens, suited)


def test_a_card_of_another_rank_makes_nothing_special() -> None:
    special = [Card(Rank.SEVEN, Suit.HEARTS), Card(Rank.SIX, Suit.HEARTS), Card(Rank.EIGHT, Suit.HEARTS)]
    for rank in set(Rank) - {Rank.SIX, Rank.SEVEN, Rank.EIGHT}:
        for pair in itertools.combinations(special, 2):
            assert not is_special((*pair, Card(rank, Suit.HEARTS)))
