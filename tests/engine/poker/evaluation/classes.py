"""All hands in classes of equal strength: one hand of each, and how many hands the class has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from math import comb, prod

from services.kit.cards.card import Card, Rank, Suit
from services.kit.cards.shoe import PACK

FLUSH = 5


def classes_of_hands(cards: int) -> Iterator[tuple[list[Card], int]]:
    """Yields one hand of five to seven cards from each class, and how many hands are of that class."""
    yield from _with_a_flush(cards)
    yield from _without_a_flush(cards)


def _with_a_flush(cards: int) -> Iterator[tuple[list[Card], int]]:
    """By suit and by the ranks of that suit; the other cards are any of other suits."""
    for suit, suited in product(Suit, range(FLUSH, cards + 1)):
        others = [card for card in PACK if card.suit is not suit]
        for ranks in combinations(Rank, suited):
            hand = [Card(rank, suit) for rank in ranks]
            yield hand + others[: cards - suited], comb(len(others), cards - suited)


def _without_a_flush(cards: int) -> Iterator[tuple[list[Card], int]]:
    """By how many cards each rank has."""
    for counts in _selections_of_ranks(len(Rank), cards):
        hands = prod(comb(len(Suit), count) for count in counts) - len(Suit) * _with_five_of_one_suit(counts)
        # The suits go round, so that no more than two of seven cards have the same one.
        suits = [*Suit] * 2
        yield [Card(rank, suits.pop()) for rank, count in zip(Rank, counts, strict=True) for _ in range(count)], hands


def _selections_of_ranks(ranks: int, cards: int) -> Iterator[tuple[int, ...]]:
    if not ranks:
        if not cards:
            yield ()
        return
    for count in range(min(cards, len(Suit)) + 1):
        for counts in _selections_of_ranks(ranks - 1, cards - count):
            yield (count, *counts)


def _with_five_of_one_suit(counts: tuple[int, ...]) -> int:
    """Returns how many hands of such ranks have five or more cards of one certain suit."""
    # How many choices of suits have 0, 1, 2, … cards of it, rank by rank.
    ways = [1]
    for count in filter(None, counts):
        without, within = comb(len(Suit) - 1, count), comb(len(Suit) - 1, count - 1)
        ways = [a * without + b * within for a, b in zip((*ways, 0), (0, *ways), strict=True)]
    return sum(ways[FLUSH:])
