"""The worked rounds of the rulebook, P1 to P18: cards, scores and what each bet pays."""

from __future__ import annotations

import pytest

from services.baccarat.engine import Chance, SpecificRules, Table
from tests.engine.baccarat.tables import CHAPTER_ONE, HALF_ON_FIVE_AND_SIX, HALF_ON_SIX, bets, round_of

# Number: cards in the order of dealing, both scores, bets, what each pays.
ROUNDS: dict[str, tuple[str, int, int, dict[Chance, int], dict[Chance, int]]] = {
    "P1": ("4c Ts 5d 7h", 9, 7, bets(ponto=1000), bets(ponto=2000)),
    "P2": ("2h 3c 3s 5d", 5, 8, bets(banca=2000), bets(banca=3900)),
    "P3": ("Kc 2d 6h 3s 4c", 6, 9, bets(banca=1000), bets(banca=1950)),
    "P4": ("Qs Kd 2h 3c 8d", 0, 3, bets(banca=1000), bets(banca=1950)),
    "P5": ("2c Kd 3s 3h 9c 2d", 4, 5, bets(banca=1000), bets(banca=1950)),
    "P6": ("2c Kd 3s 3h 9c 2d", 4, 5, bets(banca=1000), bets(banca=1500)),
    "P7": ("2c Kd 3s 3h 9c 2d", 4, 5, bets(banca=1000), bets(banca=2000)),
    "P8": ("Ac Ks 3d 6h Tc", 4, 6, bets(banca=1000), bets(banca=1500)),
    "P9": ("Kc 2d 6h 4s", 6, 6, bets(ponto=1000, banca=400, tie=500), bets(ponto=1000, banca=400, tie=4500)),
    "P10": ("2c Ks 2d 6h 6c Ad", 0, 7, bets(banca=1000, ponto=200), bets(banca=1950, ponto=0)),
    "P11": ("Ac Ks 2d 6h 5c", 8, 6, bets(ponto=1000), bets(ponto=2000)),
    "P12": ("Ks 2c Kh 6d", 0, 8, bets(ponto=500, ponto_pair=100), bets(ponto=0, ponto_pair=1200)),
    "P13": ("Ks 7d Qh 2c", 0, 9, bets(ponto_pair=100, tie=100), bets(ponto_pair=0, tie=0)),
    "P14": ("4c 9h 6d 9s", 0, 8, bets(ponto=500, banca_pair=100), bets(ponto=0, banca_pair=1200)),
    "P15": ("4d 3c 4d Kh", 8, 3, bets(ponto=300, ponto_pair=100), bets(ponto=600, ponto_pair=1200)),
    "P16": (
        "9c 9h 9d 9s",
        8,
        8,
        bets(tie=100, ponto_pair=100, banca_pair=100, ponto=1000, banca=500),
        bets(tie=900, ponto_pair=1200, banca_pair=1200, ponto=1000, banca=500),
    ),
    "P17": ("Kc Jd Qh Ts 8c 9h", 8, 9, bets(ponto=2000, banca=1000), bets(ponto=0, banca=1950)),
    "P18": ("2h 3c 3s 5d", 5, 8, bets(banca=1010), bets(banca=1970)),
}
RULES: dict[str, SpecificRules] = {"P6": HALF_ON_FIVE_AND_SIX, "P7": HALF_ON_SIX, "P8": HALF_ON_SIX}


@pytest.mark.rule(
    "812/2015:1",
    "812/2015:7.a",
    "812/2015:7.b",
    "812/2015:7.c",
    "812/2015:8",
    "812/2015:11",
    "812/2015:12",
    "812/2015:16",
    "812/2015:17",
    "812/2015:22",
    "812/2015:23",
    "812/2015:24",
    "812/2015:25.a",
    "812/2015:25.b",
    "812/2015:25.c",
    "812/2015:26.a",
    "812/2015:26.b",
)
@pytest.mark.parametrize("number", ROUNDS)
def test_a_worked_round_pays_what_the_rulebook_says(number: str) -> None:
    cards, ponto_score, banca_score, placed, paid = ROUNDS[number]
    table, outcome = Table(RULES.get(number, CHAPTER_ONE)), round_of(cards)

    assert (outcome.ponto_score, outcome.banca_score) == (ponto_score, banca_score)
    assert {chance: table.bet_payout_cents(outcome, chance, cents) for chance, cents in placed.items()} == paid
    assert table.payout_cents(outcome, placed) == sum(paid.values())
