"""Each combination (29), each way to decide between equal ones (32), and which cards may be chosen (26)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import TypeAlias

import pytest

from services.kit.cards.card import cards_named
from services.kit.cards.shoe import PACK
from services.poker.evaluation.combination import Combination
from services.poker.evaluation.holdem import holdem, holdem_rank, holdem_ranks
from services.poker.evaluation.omaha import omaha, omaha_rank, omaha_ranks
from services.poker.evaluation.strength import Strength

# The strongest first: of each combination hands of which neighbours differ in what rule 32 compares.
DESCENDING = {
    Combination.ROYAL_FLUSH: ["As Ks Qs Js Ts"],
    Combination.STRAIGHT_FLUSH: ["Kh Qh Jh Th 9h", "6d 5d 4d 3d 2d", "5c 4c 3c 2c Ac"],
    Combination.FOUR_OF_A_KIND: [
        "As Ah Ad Ac 2s", "Ks Kh Kd Kc As", "Ks Kh Kd Kc Qs", "2s 2h 2d 2c As", "2s 2h 2d 2c 3s",
    ],
    Combination.FULL_HOUSE: ["As Ah Ad 2s 2h", "Ks Kh Kd As Ah", "Ks Kh Kd Qs Qh", "2s 2h 2d As Ac", "2s 2h 2d 3s 3c"],
    Combination.FLUSH: [
        "As Ks 4s 3s 2s", "Ah Qh Jh Th 8h", "Ad Qd Jd Td 7d", "Ad Qd Jd 9d 7d", "Ad Qd Td 9d 7d",
        "Ac Jc Tc 9c 7c", "7c 5c 4c 3c 2c",
    ],
    Combination.STRAIGHT: ["As Kh Qd Jc Ts", "Ks Qh Jd Tc 9s", "6s 5h 4d 3c 2s", "5s 4h 3d 2c As"],
    Combination.THREE_OF_A_KIND: [
        "As Ah Ad 3s 2h", "Ks Kh Kd As Qh", "Ks Kh Kd As Jh", "Ks Kh Kd Qs Jh", "2s 2h 2d 4s 3h",
    ],
    Combination.TWO_PAIRS: ["As Ah 3s 3h 2s", "As Ah 2s 2h Ks", "As Ah 2d 2c Qs", "Ks Kh Qs Qh As", "3s 3h 2s 2h 4s"],
    Combination.PAIR: [
        "As Ah 4s 3h 2s", "Ks Kh As Qh Js", "Ks Kh As Qh Ts", "Ks Kh As Jh Ts", "Ks Kh Qs Jh Ts", "2s 2h 5s 4h 3s",
    ],
    Combination.HIGH_CARD: [
        "As Kh Qs Js 9d", "As Kh Qs Js 8d", "As Kh Qs Ts 8d", "As Kh Js Ts 8d", "As Qh Js Ts 8d",
        "Ks Qh Js Ts 8d", "9s 8h 4s 3s 2d",
    ],
}  # fmt: skip
HANDS = [(combination, hand) for combination, hands in DESCENDING.items() for hand in hands]
RULES = [*(f"29.{letter}" for letter in "abcdefghij"), *(f"32.{letter}" for letter in "abcdefg")]

Evaluate: TypeAlias = Callable[[str], Strength]


def five_at_holdem(hand: str) -> Strength:
    """Evaluates five cards, the first two of which are the player's."""
    cards = cards_named(hand)
    return holdem(cards[:2], cards[2:])


def five_at_omaha(hand: str) -> Strength:
    """Evaluates five cards, with two more of the player's that make nothing better with any of the others."""
    cards = cards_named(hand)
    rank = holdem_rank(cards[:2], cards[2:])
    others = [card for card in PACK if card not in cards]
    for own, two in product(combinations(cards, 2), combinations(others, 2)):
        board = [card for card in cards if card not in own]
        if sum(holdem_rank(pair, board) >= rank for pair in combinations((*own, *two), 2)) == 1:
            return omaha((*own, *two), board)
    raise AssertionError(f"Every two cards improve {hand}.")


VARIANTS = [
    pytest.param(five_at_holdem, marks=pytest.mark.rule(*(f"806/2015:{rule}" for rule in RULES)), id="holdem"),
    pytest.param(five_at_omaha, marks=pytest.mark.rule(*(f"811/2015:{rule}" for rule in RULES)), id="omaha"),
]


@pytest.mark.rule("806/2015:31", "811/2015:31")
@pytest.mark.parametrize("evaluate", VARIANTS)
def test_each_combination_is_named_and_its_cards_stand_in_the_order_that_decides(evaluate: Evaluate) -> None:
    for combination, hand in HANDS:
        strength = evaluate(hand)
        assert (strength.combination, strength.cards) == (combination, cards_named(hand)), hand


@pytest.mark.rule("806/2015:29", "806/2015:31", "811/2015:29", "811/2015:31")
@pytest.mark.parametrize("evaluate", VARIANTS)
def test_the_stronger_hand_is_the_greater_one(evaluate: Evaluate) -> None:
    strengths = [evaluate(hand) for _, hand in HANDS]
    assert all(stronger > weaker for stronger, weaker in combinations(strengths, 2))


@pytest.mark.rule("806/2015:30", "806/2015:33", "811/2015:30", "811/2015:33")
@pytest.mark.parametrize("evaluate", VARIANTS)
def test_suits_have_no_rank(evaluate: Evaluate) -> None:
    for _, hand in HANDS:
        exchanged = hand.translate(str.maketrans("shdc", "hdcs"))
        assert evaluate(hand) == evaluate(exchanged), hand
        assert evaluate(hand).cards != evaluate(exchanged).cards, hand


@pytest.mark.rule("806/2015:29", "811/2015:29")
def test_the_letters_are_those_of_the_rule() -> None:
    assert [combination.letter for combination in sorted(Combination, reverse=True)] == list("abcdefghij")


@pytest.mark.rule("806/2015:31", "811/2015:31")
@pytest.mark.parametrize("evaluate", VARIANTS)
def test_the_ace_is_never_in_the_middle(evaluate: Evaluate) -> None:
    assert evaluate("Ks As 2h 3s 4s").combination is Combination.HIGH_CARD
    assert evaluate("Ks As 2s 3s 4s").combination is Combination.FLUSH


@pytest.mark.rule("806/2015:26", "806/2015:27")
@pytest.mark.parametrize(
    ("hole", "best"),
    [
        ("Th 8s", "Ah Kh Qh Jh Th"),
        ("As Ad", "Ah As Ad Kh Qh"),
        ("As 8s", "As Ah Kh Qh Jh"),
        ("Ts 8s", "Ah Kh Qh Jh Ts"),
        ("8c 7c", "Ah Kh Qh Jh 8c"),
        ("3c 2d", "Ah Kh Qh Jh 5c"),
    ],
)
def test_holdem_takes_any_five_of_seven(hole: str, best: str) -> None:
    strength = holdem(cards_named(hole), cards_named("Ah Kh Qh Jh 5c"))
    assert set(strength.cards) == set(cards_named(best))


@pytest.mark.rule("811/2015:26", "811/2015:27")
@pytest.mark.parametrize(
    ("hole", "board", "best"),
    [
        # C-22: one heart of the player's makes no flush.
        ("Ah Ks 4c 3d", "Jh 9h 2h Tc 6h", "Ah Ks Jh Tc 9h"),
        ("Qd Qc 8h 7h", "Jh 9h 2h Tc 6h", "Jh 9h 8h 7h 6h"),
        # Of four hearts the player uses two.
        ("Ah Kh Qh Jh", "Th 7h 4c 3d 2s", "Ah Kh Th 7h 4c"),
        # A full house on the board is nobody's.
        ("As Kd Qc Jh", "2s 2h 2d 3c 3s", "2s 2h 2d As Kd"),
        # Four of a kind in the hand are a pair.
        ("As Ah Ad Ac", "Ks Qh 7d 6c 3s", "As Ah Ks Qh 7d"),
        ("As Kd 7c 7h", "7s Qd Jc Th 2s", "As Kd Qd Jc Th"),
    ],
)
def test_omaha_takes_two_of_four_and_three_of_five(hole: str, board: str, best: str) -> None:
    strength = omaha(cards_named(hole), cards_named(board))
    own = [card for card in strength.cards if card in cards_named(hole)]
    assert len(own) == 2
    assert {card.rank for card in strength.cards} == {card.rank for card in cards_named(best)}
    assert strength.rank == holdem_rank(cards_named(best)[:2], cards_named(best)[2:])


@pytest.mark.rule("806/2015:32.d")
def test_a_flush_is_decided_by_its_second_card() -> None:
    """C-23, A-16."""
    board = cards_named("Ah Jh 8h 5h Td")
    assert holdem(cards_named("Kh 2c"), board) > holdem(cards_named("Qh 3c"), board)


@pytest.mark.rule("806/2015:31", "806/2015:32.c")
def test_a_straight_to_the_six_beats_one_to_the_five() -> None:
    """C-24."""
    board = cards_named("2h 3s 4d 5c Qh")
    assert holdem(cards_named("6c Kd"), board) > holdem(cards_named("Ac 9d"), board)


@pytest.mark.rule("806/2015:26", "806/2015:33")
def test_players_whose_best_cards_are_on_the_board_tie() -> None:
    """C-34."""
    board = cards_named("Qh Jh Th 9h 8h")
    first, second = (holdem(cards_named(hole), board) for hole in ("As Kd", "Qc Qd"))
    assert first == second
    assert first.cards == second.cards == board


def test_several_players_are_evaluated_as_each_alone() -> None:
    board = cards_named("Jh 9h 2h Tc 6h")
    twos = [cards_named(hole) for hole in ("Ah Ks", "8h 7h", "2s 2c")]
    fours = [cards_named(hole) for hole in ("Ah Ks 4c 3d", "Qd Qc 8h 7h", "As Kc Kd 3s")]
    assert holdem_ranks(twos, board) == [holdem_rank(hole, board) for hole in twos]
    assert omaha_ranks(fours, board) == [omaha_rank(hole, board) for hole in fours]


@pytest.mark.rule("806/2015:2.d")
def test_a_strength_names_no_card_of_the_player_in_its_text() -> None:
    hole, board = cards_named("Ah Ks"), cards_named("Jh 9h 2h")
    assert not any(repr(card) in repr(holdem(hole, board)) for card in hole)
    assert all(repr(card) in repr(holdem(hole, board)) for card in board)
