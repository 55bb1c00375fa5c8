"""Omaha: the best hand of two of a player's four cards and three of the common ones (811/2015:26)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, combinations_with_replacement

from services.kit.cards.card import Card, Rank, Suit
from services.kit.cards.shoe import PACK
from services.poker.evaluation.combination import RANK_OF_A_TWO
from services.poker.evaluation.strength import Strength
from services.poker.evaluation.tables import (
    ANY_SUIT_ENOUGH,
    BY_RANKS,
    KEYS,
    OF_A_SUIT,
    RANK_BITS,
    RANKS_SHIFT,
    SUIT_WITH_ENOUGH,
    enough_of_a_suit,
    rank_count,
    rank_number,
    rank_unit,
)

_OWN_CARDS, _COMMON_CARDS = 2, 3
_THREE_OF_A_SUIT = enough_of_a_suit(_COMMON_CARDS)
_RANKS = len(Rank)
# Where a card's rank stands in a table of thirteen ranks.
_place = {card: rank_number(card) - RANK_OF_A_TWO for card in PACK}.__getitem__
_key = KEYS.__getitem__
# So many different ranks can three, four and five common cards have.
_BOARDS = 455 + 1820 + 6175


def omaha(hole: Sequence[Card], board: Sequence[Card]) -> Strength:
    """Returns the strength of four cards of a player with three to five common cards."""
    return Strength(omaha_rank(hole, board), hole, board, _choices)


def omaha_rank(hole: Sequence[Card], board: Sequence[Card]) -> int:
    """Returns only the number of a strength: greater for the stronger hand, equal for a tie."""
    return omaha_ranks([hole], board)[0]


def omaha_ranks(holes: Sequence[Sequence[Card]], board: Sequence[Card]) -> list[int]:
    """Returns the numbers of several players' strengths on the same common cards, which are looked at once."""
    of_board = sum(map(_key, board), _THREE_OF_A_SUIT)
    best_with = _best_with_two_ranks(of_board >> RANKS_SHIFT)
    ranks = [_best_by_ranks(hole, best_with) for hole in holes]
    if enough := of_board & ANY_SUIT_ENOUGH:
        suit = SUIT_WITH_ENOUGH[enough]
        common = _bits_of_a_suit(board, suit)
        return [max(rank, _best_of_a_suit(hole, suit, common)) for rank, hole in zip(ranks, holes, strict=True)]
    return ranks


def _best_by_ranks(hole: Sequence[Card], best_with: Sequence[int]) -> int:
    first, second, third, fourth = map(_place, hole)
    a, b, c = first * _RANKS, second * _RANKS, third * _RANKS
    return max(
        best_with[a + second],
        best_with[a + third],
        best_with[a + fourth],
        best_with[b + third],
        best_with[b + fourth],
        best_with[c + fourth],
    )


@lru_cache(maxsize=_BOARDS)
def _best_with_two_ranks(board_ranks: int) -> Sequence[int]:
    """Returns the best hand with no regard to suits for every two ranks of a player, by the places of both."""
    places = [place for place in range(_RANKS) for _ in range(rank_count(board_ranks, place))]
    threes = {sum(map(rank_unit, three)) for three in combinations(places, _COMMON_CARDS)}
    best = [0] * _RANKS * _RANKS
    for one, other in combinations_with_replacement(range(_RANKS), _OWN_CARDS):
        two = rank_unit(one) + rank_unit(other)
        # Five cards of one rank are in no pack.
        if max(rank_count(board_ranks + two, one), rank_count(board_ranks + two, other)) <= len(Suit):
            number = max([BY_RANKS[two + three] for three in threes])
            best[one * _RANKS + other] = best[other * _RANKS + one] = number
    return best


def _best_of_a_suit(hole: Sequence[Card], suit: Suit, common: Sequence[int]) -> int:
    """Returns the best flush with two own cards of a suit, 0 without them."""
    own = _bits_of_a_suit(hole, suit)
    if len(own) < _OWN_CARDS:
        return 0
    threes = list(map(sum, combinations(common, _COMMON_CARDS)))
    return max([OF_A_SUIT[two + three] for two in map(sum, combinations(own, _OWN_CARDS)) for three in threes])


def _bits_of_a_suit(cards: Sequence[Card], suit: Suit) -> Sequence[int]:
    return [RANK_BITS[card] for card in cards if card[1] is suit]


def _choices(hole: Sequence[Card], board: Sequence[Card]) -> Iterable[tuple[Card, ...]]:
    return ((*own, *common) for own in combinations(hole, _OWN_CARDS) for common in combinations(board, _COMMON_CARDS))
