"""The evaluator against `pokerkit`, an independent one, and more than five cards against the best five of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product

import pytest
from pokerkit import Card as PokerkitCard
from pokerkit import Hand, OmahaHoldemHand, StandardHighHand

from services.kit.cards.card import Card
from services.kit.cards.shoe import PACK
from services.poker.evaluation.combination import Combination
from services.poker.evaluation.holdem import holdem, holdem_rank
from services.poker.evaluation.omaha import omaha, omaha_rank
from services.poker.evaluation.strength import Strength
from tests.engine.poker.evaluation.classes import classes_of_hands
from tests.engine.poker.evaluation.frequencies import RANKS_OF_FIVE_CARDS

COMBINATIONS = "806/2015:29", "811/2015:29"
TIES = [f"{regulation}:32.{letter}" for regulation in ("806/2015", "811/2015") for letter in "abcdefg"]
PACK_OF_POKERKIT = {card: next(PokerkitCard.parse(card.name)) for card in PACK}
LABELS = {
    # Not one of its own there.
    Combination.ROYAL_FLUSH: "Straight flush",
    Combination.STRAIGHT_FLUSH: "Straight flush",
    Combination.FOUR_OF_A_KIND: "Four of a kind",
    Combination.FULL_HOUSE: "Full house",
    Combination.FLUSH: "Flush",
    Combination.STRAIGHT: "Straight",
    Combination.THREE_OF_A_KIND: "Three of a kind",
    Combination.TWO_PAIRS: "Two pair",
    Combination.PAIR: "One pair",
    Combination.HIGH_CARD: "High card",
}


@pytest.fixture(scope="module")
def places() -> dict[int, int]:
    """The place of each hand rank of five cards, the weakest first."""
    ranks = {rank_of_five(hand) for hand, _ in classes_of_hands(5)}
    assert len(ranks) == RANKS_OF_FIVE_CARDS
    return {rank: place for place, rank in enumerate(sorted(ranks))}


def rank_of_five(cards: Sequence[Card]) -> int:
    return holdem_rank(cards[:2], cards[2:])


def of_pokerkit(cards: Iterable[Card]) -> list[PokerkitCard]:
    return [PACK_OF_POKERKIT[card] for card in cards]


@pytest.mark.rule(*COMBINATIONS, *TIES)
def test_the_order_of_all_hands_of_five_cards(places: dict[int, int]) -> None:
    for hand, _ in classes_of_hands(5):
        strength, entry = holdem(hand[:2], hand[2:]), StandardHighHand(of_pokerkit(hand)).entry
        assert places[strength.rank] == entry.index, hand
        assert LABELS[strength.combination] == entry.label.value, hand


@pytest.mark.rule("806/2015:26", "806/2015:27")
@pytest.mark.parametrize("cards", [6, 7])
def test_holdem_is_the_best_five_of_all_cards(cards: int) -> None:
    for hand, _ in classes_of_hands(cards):
        assert holdem_rank(hand[:2], hand[2:]) == max(map(rank_of_five, combinations(hand, 5))), hand


@pytest.mark.rule("811/2015:26", "811/2015:27")
@pytest.mark.parametrize("common", [3, 4, 5])
def test_omaha_is_the_best_of_two_own_and_three_common_cards(common: int) -> None:
    for hole, board in hands_of_omaha(6_000, common):
        choices = product(combinations(hole, 2), combinations(board, 3))
        assert omaha_rank(hole, board) == max(rank_of_five(own + others) for own, others in choices), (hole, board)


@pytest.mark.rule("806/2015:26", "806/2015:27", "806/2015:33", *TIES)
def test_random_hands_of_holdem(places: dict[int, int]) -> None:
    for hole, board in random_hands(2_000, 2, 5):
        same = StandardHighHand.from_game(of_pokerkit(hole), of_pokerkit(board))
        assert_same(holdem(hole, board), same, places)


@pytest.mark.rule("811/2015:26", "811/2015:27", "811/2015:33", *TIES)
def test_random_hands_of_omaha(places: dict[int, int]) -> None:
    for hole, board in hands_of_omaha(800, 5):
        same = OmahaHoldemHand.from_game(of_pokerkit(hole), of_pokerkit(board))
        assert_same(omaha(hole, board), same, places)


def assert_same(strength: Strength, same: Hand, places: dict[int, int]) -> None:
    assert places[strength.rank] == same.entry.index, strength
    # The five cards are worth what the whole hand is.
    assert rank_of_five(strength.cards) == strength.rank
    assert set(strength.cards) <= {*strength.hole, *strength.board}


def hands_of_omaha(count: int, common: int) -> Iterator[tuple[Sequence[Card], Sequence[Card]]]:
    """Yields random hands; in every second one few suits or few ranks, so that strong combinations occur."""
    yield from random_hands(count // 2, 4, common)
    two_suits = [card for card in PACK if card.suit <= 2]
    five_ranks = [card for card in PACK if card.rank <= 5]
    for pack in (two_suits, five_ranks):
        yield from random_hands(count // 4, 4, common, pack)


def random_hands(
    count: int, own: int, common: int, pack: Sequence[Card] = PACK
) -> Iterator[tuple[Sequence[Card], Sequence[Card]]]:
    generator = random.Random(f"{count} {own} {common} {len(pack)}")
    for _ in range(count):
        cards = generator.sample(pack, own + common)
        yield cards[:own], cards[own:]
