"""The worked rounds of the rulebook, J1 to J29: decisions, cards, and what the round pays."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from services.blackjack.engine import HandState, Move
from services.kit.cards.card import cards_named
from services.kit.cards.shoe import packs
from tests.engine.blackjack.tables import TABLE, dealt, insure, paid, play, staked


class Example(NamedTuple):
    """One row of the rulebook's table; cards are drawn in the order in which they are dealt."""

    player: str
    bank: str
    drawn: str
    decisions: tuple[str | Move, ...]
    wagered: int
    credit: int


EXAMPLES = {
    "J1": Example("As Kd", "6h 5c", "", (), 1000, 2500),
    "J2": Example("As Kd", "Th Ac", "", (), 1000, 1000),
    "J3": Example("As Kd", "Th 9c", "", (), 1000, 2500),
    "J4": Example("As Kd", "Ah Kc", "", ("even-money",), 1000, 2000),
    "J4 without a blackjack of the bank": Example("As Kd", "Ah 5c", "", ("even-money",), 1000, 2000),
    "J5": Example("As Kd", "Ah Kc", "", ("decline",), 1000, 1000),
    "J6": Example("As Kd", "Ah 5c", "5d", ("decline",), 1000, 2500),
    "J7": Example("As 8d", "5h Tc", "2c 2d", ("double",), 2000, 0),
    "J8": Example("As 8d", "5h Tc", "Ac 4d", ("double",), 2000, 4000),
    "J9": Example("6s 5d", "6h Tc", "Tc 4d", ("double",), 2000, 4000),
    "J10": Example("6s 5d", "Th Ac", "Tc", ("double",), 2000, 0),
    "J11": Example("Ts 6d", "Th Ac", "", ("give-up",), 1000, 500),
    "J12": Example("Ts Kd", "Ah Kc", "", (insure(500), "stand"), 1500, 1500),
    "J13": Example("Ts Kd", "Ah 7c", "", (insure(500), "stand"), 1500, 2000),
    "J14": Example("Ts 6d", "Ah Kc", "9c", (insure(500), "draw"), 1500, 1500),
    "J15": Example("Ts 6d", "Ah 6c", "9c", (insure(300), "draw"), 1300, 0),
    "J16": Example("6h 7h", "Th Kc", "8h", ("draw",), 1000, 5000),
    "J17": Example("6h 7h", "Th Ac", "8h", ("draw",), 1000, 3000),
    "J18": Example("6h 7h", "6s 5c", "8h Kd", ("draw",), 1000, 4000),
    "J19": Example("6h 7h", "Th Kc", "8d", ("draw",), 1000, 2000),
    "J20": Example("7h 7s", "Th 9c", "7d", ("draw",), 1000, 5000),
    "J21": Example("8h 8s", "6s 3c", "3c Td Tc Jd", ("split", "double", "stand"), 3000, 4000),
    "J22": Example("Ah As", "Ts Jc", "Kc 5c", ("split",), 2000, 2000),
    "J23": Example("Ah As", "Ts Ac", "Kc 5c", ("split",), 2000, 0),
    "J24": Example("Ts 8c", "As 6c", "", ("decline", "stand"), 1000, 2000),
    "J25": Example("Ts 8c", "5s Ac", "Td Jh", ("stand",), 1000, 2000),
    "J26": Example("Ts 8c", "As Qc", "3d", ("decline", "draw"), 1000, 0),
    "J28": Example("7h 7c", "Ts 9c", "7s 7d Td", ("split", "draw", "stand"), 2000, 5000),
    "J29": Example("9h 9s", "6s Tc", "9c 2d Kd 8d Td 3d", ("split", "split", "double", "stand", "stand"), 4000, 5000),
}


@pytest.mark.rule(
    "805/2015:1",
    "805/2015:8",
    "805/2015:8.a",
    "805/2015:8.a.i",
    "805/2015:8.a.ii",
    "805/2015:8.b",
    "805/2015:8.c",
    "805/2015:15.b",
    "805/2015:15.e",
    "805/2015:15.f",
    "805/2015:17.a",
    "805/2015:17.b",
    "805/2015:18",
    "805/2015:19",
    "805/2015:20.a",
    "805/2015:20.b",
    "805/2015:20.c",
    "805/2015:21",
    "805/2015:22",
    "805/2015:23",
    "805/2015:25.a",
    "805/2015:25.b",
    "805/2015:25.c",
    "805/2015:25.d",
    "805/2015:25.e",
    "805/2015:25.f",
    "805/2015:25.g",
    "805/2015:25.h",
    "805/2015:25.i",
    "805/2015:26",
)
@pytest.mark.parametrize("number", EXAMPLES)
def test_a_worked_round_pays_what_the_rulebook_says(number: str) -> None:
    example = EXAMPLES[number]
    round_ = play(TABLE, dealt(example.player, example.bank, example.drawn), example.decisions)

    assert round_.over
    assert staked(round_) == example.wagered
    assert paid(TABLE, round_) == example.credit
    assert set(TABLE.payouts(round_)) >= set(TABLE.due(round_))
    # Nothing but the cards of the example was dealt.
    assert round_.dealt == 4 + len(example.drawn.split())


@pytest.mark.rule("805/2015:14.a", "805/2015:14.b", "805/2015:25.b", "805/2015:25.d")
def test_j27_a_busted_hand_stays_lost_when_the_bank_busts_too() -> None:
    cards = cards_named("Ts Ts 6s 6c 3c Tc 9d Kd")
    round_ = TABLE.deal({2: 1000, 5: 1000}, (*cards, *packs(6)))
    assert [hand.cards for hand in round_.hands] == [cards_named("Ts 6c"), cards_named("Ts 3c")]
    assert round_.bank == cards_named("6s Tc")

    round_ = play(TABLE, round_, ("draw", "stand"))

    assert [hand.state for hand in round_.hands] == [HandState.BUST, HandState.STOOD]
    assert TABLE.payouts(round_) == {"2": 0, "5": 2000}


def test_l8_the_default_of_an_absent_player_draws_up_to_11_and_then_stands() -> None:
    round_ = dealt("4s 5d", "Th 8c", "2c Kd")
    decided = []
    while (turn := TABLE.turn(round_)) is not None:
        move = TABLE.default(round_, turn.places[0])
        decided.append(move.decision.value)
        TABLE.judge(round_, move)
        round_ = TABLE.after(round_, move)

    # At 21 nothing is left to decide.
    assert decided == ["draw", "draw"]
    assert round_.hands[0].score == 21
    assert paid(TABLE, round_) == 2000


@pytest.mark.rule("805/2015:20", "805/2015:20.c")
def test_l10_a_lone_hand_that_busts_ends_the_round_without_the_hole_card() -> None:
    round_ = play(TABLE, dealt("Ts 6d", "Th 5c", "9c"), ("draw",))

    assert round_.over
    assert not round_.hole_shown
    assert round_.shown_bank == cards_named("Th")
    assert paid(TABLE, round_) == 0


@pytest.mark.rule("805/2015:25.f", "805/2015:20.c")
def test_b7_an_insurance_of_a_busted_hand_shows_the_hole_card_and_draws_nothing() -> None:
    round_ = play(TABLE, dealt("Ts 6d", "Ah 5c", "9c"), (insure(500), "draw"))

    assert round_.hole_shown
    assert round_.bank == cards_named("Ah 5c")
    assert TABLE.payouts(round_) == {"1": 0, "1.insurance": 0}
