"""Omaha: the best hand of two of a player's four cards and three of the common ones (811/2015:26)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from operator import itemgetter
from typing import TypeAlias

from services.kit.cards.card import Card, Rank, Suit
from services.poker.evaluation.combination import CARDS_OF_A_HAND
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
    rank_unit,
)

_OWN_CARDS, _COMMON_CARDS = 2, 3
_TWO_OF_A_SUIT, _THREE_OF_A_SUIT = enough_of_a_suit(_OWN_CARDS), enough_of_a_suit(_COMMON_CARDS)
_RANKS = len(Rank)
_key = KEYS.__getitem__
# Takes several numbers from a table.
_Taking: TypeAlias = Callable[[Sequence[int]], tuple[int, ...]]
# So many different ranks can three, four and five common cards have.
_BOARDS = 455 + 1820 + 6175


def omaha(hole: Sequence[Card], board: Sequence[Card]) -> Strength:
    """Returns the strength of four cards of a player with three to five common cards."""
    return Strength(omaha_rank(hole, board), hole, board, _choices)


def omaha_rank(hole: Sequence[Card], board: Sequence[Card]) -> int:
    """Returns only the number of a strength: greater for the stronger hand, equal for a tie."""
    return omaha_ranks([hole], board)[0]


def omaha_ranks(holes: Iterable[Sequence[Card]], board: Sequence[Card]) -> list[int]:
    """Returns the numbers of several players' strengths on the same common cards, which are looked at once."""
    of_board = sum(map(_key, board), _THREE_OF_A_SUIT)
    best_with = _best_with_two_ranks(of_board >> RANKS_SHIFT)
    ranks = []
    for hole in holes:
        of_hole = sum(map(_key, hole), _TWO_OF_A_SUIT)
        rank = max(_PAIRS[of_hole >> RANKS_SHIFT](best_with))
        if enough := of_hole & of_board & ANY_SUIT_ENOUGH:
            rank = max(rank, _best_of_a_suit(SUIT_WITH_ENOUGH[enough], hole, board))
        ranks.append(rank)
    return ranks


class _PairTable(dict[int, _Taking]):
    """What takes a player's six pairs of cards from a table of two ranks, by the ranks of the four: 1 820 of them."""

    def __missing__(self, hole_ranks: int) -> _Taking:
        pairs = combinations(_places(hole_ranks), _OWN_CARDS)
        self[hole_ranks] = taken = itemgetter(*(_in_table(one, other) for one, other in pairs))
        return taken


_PAIRS = _PairTable()


@lru_cache(maxsize=_BOARDS)
def _best_with_two_ranks(board_ranks: int) -> Sequence[int]:
    """Returns the best hand with no regard to suits for every two ranks of a player."""
    threes = {sum(map(rank_unit, three)) for three in combinations(_places(board_ranks), _COMMON_CARDS)}
    best = [0] * _RANKS * _RANKS
    for one, other in combinations_with_replacement(range(_RANKS), _OWN_CARDS):
        two = rank_unit(one) + rank_unit(other)
        # Five cards of one rank are in no pack.
        if max(rank_count(board_ranks + two, one), rank_count(board_ranks + two, other)) <= len(Suit):
            best[_in_table(one, other)] = max([BY_RANKS[two + three] for three in threes])
    return best


def _fill_ranks_of_fives() -> None:
    """Computes what any five cards are worth by their ranks, 6 175 sums.

    A board that is new reads hundreds of them at the end of a hand, while all tables of the process wait.
    """
    for five in combinations_with_replacement(range(_RANKS), CARDS_OF_A_HAND):
        # Not of one rank alone: five such cards are in no pack.
        if five[0] != five[-1]:
            BY_RANKS[sum(map(rank_unit, five))]


def _places(ranks: int) -> list[int]:
    """Returns the places of the ranks that a sum counts, ascending."""
    return [place for place in range(_RANKS) for _ in range(rank_count(ranks, place))]


def _in_table(low: int, high: int) -> int:
    """Returns where two ranks stand in a table of two ranks."""
    return low * _RANKS + high


def _best_of_a_suit(suit: Suit, hole: Sequence[Card], board: Sequence[Card]) -> int:
    """Returns the best flush with two own and three common cards of a suit."""
    twos, threes = _bits_of_a_suit(suit, hole, _OWN_CARDS), _bits_of_a_suit(suit, board, _COMMON_CARDS)
    return max([OF_A_SUIT[two + three] for two in twos for three in threes])


def _bits_of_a_suit(suit: Suit, cards: Sequence[Card], count: int) -> list[int]:
    """Returns the sets of ranks, as bits, of every so many cards of a suit."""
    return list(map(sum, combinations([RANK_BITS[card] for card in cards if card[1] is suit], count)))


def _choices(hole: Sequence[Card], board: Sequence[Card]) -> Iterable[tuple[Card, ...]]:
    return ((*own, *common) for own in combinations(hole, _OWN_CARDS) for common in combinations(board, _COMMON_CARDS))


_fill_ranks_of_fives()
