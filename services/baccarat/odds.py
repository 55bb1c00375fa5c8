"""Counts how likely each round is, exactly, and computes what a bet returns on average, for the rules for players.

The figures are counts of orders of the first six cards of a full shoe; the tests find the same by dealing each of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from services.baccarat.engine import CARDS_LIMIT, PAIRS, TERMS, Chance, Commission, SpecificRules
from services.kit.cards.shoe import PACK


@dataclass(frozen=True, slots=True)
class Orders:
    """In how many orders of the first six cards a round ends in each way."""

    ponto: int
    banca: int
    tie: int
    # Those among the rounds of banca that it wins with a score (26.b).
    banca_with: Mapping[int, int]


ORDERS: Mapping[int, Orders] = {
    6: Orders(
        ponto=392_220_492_728_832,
        banca=403_095_751_234_560,
        tie=83_552_962_932_288,
        banca_with={5: 38_128_872_750_336, 6: 47_322_230_031_360},
    ),
    8: Orders(
        ponto=2_230_518_282_592_256,
        banca=2_292_252_566_437_888,
        tie=475_627_426_473_216,
        banca_with={5: 216_715_928_915_968, 6: 269_232_304_455_680},
    ),
}


def expected_payout(rules: SpecificRules, chance: Chance) -> Fraction:
    """Returns what comes back of a bet on average, as a part of it, commission deducted."""
    prize = TERMS[chance].prize
    if chance in PAIRS:
        cards = len(PACK) * rules.packs
        equal = cards // 13 - 1
        return Fraction(equal, cards - 1) * (1 + prize)
    orders = ORDERS[rules.packs]
    total = math.perm(len(PACK) * rules.packs, CARDS_LIMIT)
    if chance is Chance.TIE:
        return Fraction(orders.tie * (1 + prize), total)
    wins = orders.ponto if chance is Chance.PONTO else orders.banca
    returned = Fraction(wins * (1 + prize) + orders.tie, total)
    return returned - _commission(rules, orders, total) if chance is Chance.BANCA else returned


def _commission(rules: SpecificRules, orders: Orders, total: int) -> Fraction:
    if rules.commission is Commission.FIVE_PERCENT:
        return Fraction(orders.banca * 5, 100 * total)
    return Fraction(sum(orders.banca_with[score] for score in rules.half_scores), 2 * total)
