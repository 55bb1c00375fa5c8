"""Hold'em: the best five of a player's two cards and the common ones (806/2015:26)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from services.kit.cards.card import Card
from services.poker.evaluation.combination import CARDS_OF_A_HAND
from services.poker.evaluation.strength import Strength
from services.poker.evaluation.tables import ANY_SUIT_ENOUGH, BY_RANKS, FIVE_OF_A_SUIT, KEYS, RANKS_SHIFT, rank_of_flush

_key = KEYS.__getitem__


def holdem(hole: Sequence[Card], board: Sequence[Card]) -> Strength:
    """Returns the strength of two cards of a player with three to five common cards."""
    return Strength(holdem_rank(hole, board), hole, board, _choices)


def holdem_rank(hole: Sequence[Card], board: Sequence[Card]) -> int:
    """Returns only the number of a strength: greater for the stronger hand, equal for a tie."""
    total = sum(map(_key, board), FIVE_OF_A_SUIT + _key(hole[0]) + _key(hole[1]))
    enough = total & ANY_SUIT_ENOUGH
    return rank_of_flush(enough, (*hole, *board)) if enough else BY_RANKS[total >> RANKS_SHIFT]


def holdem_ranks(holes: Iterable[Sequence[Card]], board: Sequence[Card]) -> list[int]:
    """Returns the numbers of several players' strengths on the same common cards, which are counted once."""
    of_board = sum(map(_key, board), FIVE_OF_A_SUIT)
    ranks = []
    for hole in holes:
        total = of_board + _key(hole[0]) + _key(hole[1])
        enough = total & ANY_SUIT_ENOUGH
        ranks.append(rank_of_flush(enough, (*hole, *board)) if enough else BY_RANKS[total >> RANKS_SHIFT])
    return ranks


def _choices(hole: Sequence[Card], board: Sequence[Card]) -> Iterable[tuple[Card, ...]]:
    return combinations((*hole, *board), CARDS_OF_A_HAND)
