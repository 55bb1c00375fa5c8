"""What a bot decides: always something legal, the more the better its hand, and well enough to beat bad players."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from services.kit.cards.card import cards_named
from services.poker.engine import Table
from services.poker.hand.state import CALL, CHECK, Kind, Move
from services.poker.specific_rules import Limit, default_rules
from services.poker.variant import Variant
from stack.practice.situation import Situation
from stack.practice.strategy import USUAL, Style, decide, move_with
from stack.practice.strength import strength
from tests.stack.practice.positions import BIG_BLIND, dealt, random_positions, situation_of

# Every strength that a threshold may lie between, and what no hand has.
STRENGTHS = (-0.1, 0.0, 0.3, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 1.1)
STYLES = (USUAL, Style(aggression=1.0, bluffing=1.0), Style(aggression=0.0, bluffing=0.0))
UNRAISED = Situation(
    cards=(),
    board=(),
    big_blind=BIG_BLIND,
    pot=150,
    to_call=100,
    min_to=200,
    max_to=8_000,
    stack=8_000,
    bet=0,
    opponents=3,
)
RAISED = replace(UNRAISED, pot=450, to_call=300, min_to=500)
ALL_IN = replace(UNRAISED, pot=8_150, to_call=8_000, min_to=0, max_to=0)
SHORT = replace(UNRAISED, max_to=500, stack=500)
BET_ON_RIVER = replace(
    UNRAISED,
    board=cards_named("Ks 7d 2c Th 4s"),
    pot=900,
    to_call=300,
    min_to=600,
    max_to=6_000,
    stack=6_000,
    opponents=1,
)


def table(limit: Limit) -> Table:
    return Table(default_rules(Variant.HOLDEM, BIG_BLIND, limit=limit))


def moves(cards: str, asked: Situation, times: int = 60) -> list[Kind]:
    """What the usual bot does with these cards, each time by another chance."""
    return [decide(replace(asked, cards=cards_named(cards)), Random(seed)).kind for seed in range(times)]


@pytest.mark.parametrize("limit", Limit)
def test_it_does_nothing_illegal_in_any_position(limit: Limit) -> None:
    chance, decided = Random(f"positions of {limit}"), 0
    for hand in random_positions(table(limit), 130, chance):
        asked = situation_of(hand)
        for number, hand_strength in enumerate(STRENGTHS):
            move = move_with(hand_strength, asked, chance, STYLES[number % len(STYLES)])
            Table.judge(hand, hand.deal.seats[hand.actor], move)
            assert asked.to_call or move.kind is not Kind.FOLD, "a check is free"
            decided += 1
    assert decided > 10_000


def test_the_same_chance_decides_the_same() -> None:
    hands = list(random_positions(table(Limit.NO_LIMIT), 3, Random(1)))
    for hand in hands:
        assert decide(situation_of(hand), Random(7)) == decide(situation_of(hand), Random(7))


def test_good_cards_are_raised_and_bad_ones_given_up() -> None:
    aces, rags = moves("As Ah", UNRAISED), moves("7s 2d", UNRAISED)
    assert Kind.FOLD not in aces
    assert aces.count(Kind.RAISE) > 20
    assert rags.count(Kind.FOLD) > 55
    assert set(moves("As Ah", ALL_IN)) == {Kind.CALL}
    assert set(moves("9s 4d", ALL_IN)) == {Kind.FOLD}
    assert Kind.FOLD not in moves("Ks Kh", RAISED)


def test_a_made_hand_stays_and_nothing_is_given_up_for_a_bet() -> None:
    made = moves("Kd Kh", BET_ON_RIVER)
    assert Kind.FOLD not in made
    assert made.count(Kind.RAISE) > 20
    assert moves("6h 5h", BET_ON_RIVER).count(Kind.FOLD) > 52


def test_with_few_blinds_left_it_is_all_or_nothing() -> None:
    good = replace(SHORT, cards=cards_named("As Kd"))
    assert {decide(good, Random(seed)) for seed in range(20)} == {Move(Kind.RAISE, 500)}
    assert set(moves("7s 2d", SHORT, 20)) == {Kind.FOLD}


@pytest.mark.parametrize(
    ("cards", "board", "least", "most"),
    [
        ("As Ah", "", 0.80, 0.90),
        ("7s 2d", "", 0.28, 0.42),
        ("As Ks", "Qs Js Ts", 1.0, 1.0),
        ("2c 3d", "As Ad Ac Ah Kd", 0.5, 0.5),
    ],
)
def test_strength_is_how_often_a_hand_wins(cards: str, board: str, least: float, most: float) -> None:
    assert least <= strength(cards_named(cards), cards_named(board), Random(3), trials=600) <= most


def test_it_beats_a_player_who_does_not_look_at_the_cards() -> None:
    """Each deal is played twice, so that the cards are as good for the one as for the other."""
    chance, won, at = Random(1), 0, table(Limit.NO_LIMIT)
    for number in range(60):
        for seat in (0, 1):
            hand = dealt(at, (4_000, 4_000), Random(number))
            while not hand.is_over:
                asked = situation_of(hand)
                move = CALL if asked.to_call else CHECK
                if hand.actor == seat:
                    move = move_with(strength(asked.cards, asked.board, chance, trials=40), asked, chance, USUAL)
                hand = at.after(hand, move)
            won += hand.stacks[seat] - 4_000
    assert won > 60 * BIG_BLIND, f"{won} cents"
