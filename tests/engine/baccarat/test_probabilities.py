"""Exact probabilities by enumeration of every deal through the engine, for six and eight packs.

Only what a card counts decides about drawing and winning, so one deal stands for all whose cards count the same,
weighted by the number of orders of six cards in which the shoe has them. It takes about three seconds for all shoes.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import pytest

from services.baccarat.engine import CARDS_LIMIT, Chance, Outcome, SpecificRules, Table, Winner, deal, is_pair
from services.baccarat.odds import ORDERS, expected_payout
from services.kit.cards.card import Card, Rank, Suit
from services.kit.cards.shoe import packs
from tests.engine.baccarat.tables import CHAPTER_ONE, HALF_ON_FIVE, HALF_ON_FIVE_AND_SIX, HALF_ON_SIX, round_of

# One card for each value.
CARDS = [Card(Rank.KING if counts == 0 else Rank(counts), Suit.SPADES) for counts in range(10)]
# The rulebook's figures (section 7), in percent and as printed.
PERCENT = {
    6: {"ponto": "44.627857", "banca": "45.865272", "tie": "9.506871", "pair": "7.395498"},
    8: {"ponto": "44.624661", "banca": "45.859742", "tie": "9.515597", "pair": "7.469880"},
}
EDGES = {
    6: {"ponto": "1.2374", "26.a": "1.0558", "6": "1.4548", "5": "0.9318", "5,6": "3.6240", "tie": "14.4382"},
    8: {"ponto": "1.2351", "26.a": "1.0579", "6": "1.4581", "5": "0.9328", "5,6": "3.6260", "tie": "14.3596"},
}
# The bets of `EDGES`: banca under each commission (26).
BETS = {
    "ponto": (CHAPTER_ONE, Chance.PONTO),
    "26.a": (CHAPTER_ONE, Chance.BANCA),
    "6": (HALF_ON_SIX, Chance.BANCA),
    "5": (HALF_ON_FIVE, Chance.BANCA),
    "5,6": (HALF_ON_FIVE_AND_SIX, Chance.BANCA),
    "tie": (CHAPTER_ONE, Chance.TIE),
}
PAIR_EDGES = {6: "11.2540", 8: "10.3614"}
BANCA_WINS_WITH = {6: {5: "4.3384", 6: "5.3844"}, 8: {5: "4.3357", 6: "5.3864"}}
CARDS_DEALT = {6: {4: "37.89", 5: "30.35", 6: "31.75"}, 8: {4: "37.89", 5: "30.34", 6: "31.77"}}


class Kind(NamedTuple):
    """What the prizes of a round depend on, pairs apart."""

    winner: Winner
    banca_score: int
    cards_dealt: int


@dataclass(slots=True)
class Orders:
    """In how many orders of the first six cards a round is of one kind, and one such round."""

    example: Outcome
    count: int = 0


class Deals(NamedTuple):
    """Every round of cards with these values, of any shoe."""

    examples: dict[Kind, Outcome]
    sequences: Counter[tuple[Kind, tuple[int, ...]]]
    """In how many sequences the same values, sorted, make a round of a kind."""


@cache
def deals() -> Deals:
    """Deals every round through the engine once."""
    found = Deals({}, Counter())
    for values in itertools.product(range(10), repeat=4):
        _deal_from(found, values)
    return found


def _deal_from(found: Deals, values: tuple[int, ...]) -> None:
    """Deals the rounds that begin with these values, going on only where the engine takes another card."""
    outcome = deal([CARDS[counted] for counted in values] + CARDS[:1] * (CARDS_LIMIT - len(values)))
    dealt = len(outcome.ponto) + len(outcome.banca)
    if dealt <= len(values):
        kind = Kind(outcome.winner, outcome.banca_score, dealt)
        found.examples.setdefault(kind, outcome)
        found.sequences[kind, tuple(sorted(values))] += 1
        return
    for counted in range(10):
        _deal_from(found, (*values, counted))


@cache
def rounds(pack_count: int) -> dict[Kind, Orders]:
    """Returns every kind of round that a shoe can deal."""
    shoe = 52 * pack_count
    counts = [16 * pack_count, *[4 * pack_count] * 9]
    found = {kind: Orders(example) for kind, example in deals().examples.items()}
    for (kind, values), sequences in deals().sequences.items():
        orders = math.prod(math.perm(counts[counted], values.count(counted)) for counted in set(values))
        found[kind].count += sequences * orders * math.perm(shoe - len(values), CARDS_LIMIT - len(values))
    return found


def orders_of(pack_count: int, **wanted: object) -> int:
    """Returns in how many orders of six cards the round is as wanted."""
    return sum(
        orders.count
        for kind, orders in rounds(pack_count).items()
        if all(getattr(kind, name) == value for name, value in wanted.items())
    )


def all_orders(pack_count: int) -> int:
    return math.perm(52 * pack_count, CARDS_LIMIT)


def edge(pack_count: int, rules: SpecificRules, chance: Chance, cents: int = 1000) -> Fraction:
    """Returns what the bank keeps of a bet on average, as the engine pays it."""
    table = Table(rules)
    paid = sum(
        orders.count * table.bet_payout_cents(orders.example, chance, cents) for orders in rounds(pack_count).values()
    )
    return 1 - Fraction(paid, cents * all_orders(pack_count))


def in_percent(value: Fraction, printed: str) -> str:
    """Writes a fraction in percent with as many digits as the rulebook prints."""
    return f"{float(100 * value):.{len(printed.partition('.')[2])}f}"


@pytest.mark.rule("812/2015:20")
def test_with_eight_packs_each_side_wins_in_exactly_so_many_orders() -> None:
    assert orders_of(8, winner=Winner.BANCA) == 2_292_252_566_437_888
    assert orders_of(8, winner=Winner.PONTO) == 2_230_518_282_592_256
    assert orders_of(8, winner=Winner.TIE) == 475_627_426_473_216


@pytest.mark.parametrize("pack_count", [6, 8])
def test_what_players_are_told_is_what_the_engine_deals(pack_count: int) -> None:
    known = ORDERS[pack_count]
    assert (known.ponto, known.banca, known.tie) == tuple(
        orders_of(pack_count, winner=winner) for winner in (Winner.PONTO, Winner.BANCA, Winner.TIE)
    )
    for score, count in known.banca_with.items():
        assert count == orders_of(pack_count, winner=Winner.BANCA, banca_score=score)
    for rules, chance in BETS.values():
        told = expected_payout(dataclasses.replace(rules, packs=pack_count), chance)
        assert told == 1 - edge(pack_count, rules, chance)


@pytest.mark.rule("812/2015:6.b")
@pytest.mark.parametrize("pack_count", [6, 8])
def test_every_order_of_a_shoe_is_counted_once(pack_count: int) -> None:
    assert orders_of(pack_count) == all_orders(pack_count)


@pytest.mark.rule("812/2015:20", "812/2015:22", "812/2015:23")
@pytest.mark.parametrize("pack_count", [6, 8])
@pytest.mark.parametrize("winner", Winner)
def test_each_side_wins_as_often_as_the_rulebook_says(pack_count: int, winner: Winner) -> None:
    printed = PERCENT[pack_count][winner.value]
    assert in_percent(Fraction(orders_of(pack_count, winner=winner), all_orders(pack_count)), printed) == printed


@pytest.mark.rule("812/2015:11", "812/2015:12")
@pytest.mark.parametrize("pack_count", [6, 8])
def test_pairs_are_as_frequent_as_the_rulebook_says(pack_count: int) -> None:
    shoe = packs(pack_count)
    pairs = sum(is_pair((shoe[0], other)) for other in shoe[1:])
    likely, printed = Fraction(pairs, len(shoe) - 1), PERCENT[pack_count]["pair"]

    assert in_percent(likely, printed) == printed
    table = Table(CHAPTER_ONE)
    pays = table.bet_payout_cents(round_of("Ks 2c Kh 6d"), Chance.PONTO_PAIR, 1000)
    assert in_percent(1 - likely * Fraction(pays, 1000), PAIR_EDGES[pack_count]) == PAIR_EDGES[pack_count]
    rules = dataclasses.replace(CHAPTER_ONE, packs=pack_count)
    assert expected_payout(rules, Chance.BANCA_PAIR) == likely * Fraction(pays, 1000)


@pytest.mark.rule("812/2015:25.a", "812/2015:25.b", "812/2015:26.a", "812/2015:26.b")
@pytest.mark.parametrize("pack_count", [6, 8])
@pytest.mark.parametrize("bet", BETS)
def test_the_bank_keeps_what_the_rulebook_says(pack_count: int, bet: str) -> None:
    rules, chance = BETS[bet]
    printed = EDGES[pack_count][bet]
    assert in_percent(edge(pack_count, rules, chance), printed) == printed


@pytest.mark.rule("812/2015:26.b")
@pytest.mark.parametrize("pack_count", [6, 8])
@pytest.mark.parametrize("score", [5, 6])
def test_banca_wins_with_5_and_with_6_as_often_as_the_rulebook_says(pack_count: int, score: int) -> None:
    printed = BANCA_WINS_WITH[pack_count][score]
    found = orders_of(pack_count, winner=Winner.BANCA, banca_score=score)
    assert in_percent(Fraction(found, all_orders(pack_count)), printed) == printed


@pytest.mark.rule("812/2015:19", "812/2015:20")
@pytest.mark.parametrize("pack_count", [6, 8])
@pytest.mark.parametrize("dealt", [4, 5, 6])
def test_rounds_take_as_many_cards_as_the_rulebook_says(pack_count: int, dealt: int) -> None:
    printed = CARDS_DEALT[pack_count][dealt]
    found = orders_of(pack_count, cards_dealt=dealt)
    assert in_percent(Fraction(found, all_orders(pack_count)), printed) == printed
