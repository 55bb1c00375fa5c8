"""Numbers of cards whose sum counts ranks and suits, and the hand ranks of such counts."""

from __future__ import annotations

from collections.abc import Iterable

from services.kit.cards.card import Card, Rank, Suit
from services.kit.cards.shoe import PACK
from services.poker.evaluation.combination import (
    ACE_HIGH,
    ACE_LOW,
    CARDS_OF_A_HAND,
    RANK_OF_A_TWO,
    Combination,
    hand_rank,
)

# The sum of cards' keys counts the cards of each suit in four bits, and above those the cards of each rank in three,
# which is room for the four of a pack. So no two selections of ranks have the same sum.
_SUIT_WIDTH, _RANK_WIDTH = 4, 3
RANKS_SHIFT = _SUIT_WIDTH * len(Suit)
_COUNT_MASK = (1 << _RANK_WIDTH) - 1

# The highest bit of a suit's count is set in a sum that began with what its threshold lacks of it.
_HIGHEST_BIT = 1 << _SUIT_WIDTH - 1
_EACH_SUIT = sum(1 << _SUIT_WIDTH * place for place in range(len(Suit)))
ANY_SUIT_ENOUGH = _EACH_SUIT * _HIGHEST_BIT
SUIT_WITH_ENOUGH = {_HIGHEST_BIT << _SUIT_WIDTH * (suit - 1): suit for suit in Suit}

_DESCENDING = range(ACE_HIGH, RANK_OF_A_TWO - 1, -1)


def rank_number(card: Card) -> int:
    """Returns the rank of a card as a number, the ace as the highest (30)."""
    return ACE_HIGH if card.rank is Rank.ACE else int(card.rank)


def rank_unit(place: int) -> int:
    """Returns what one card of a rank adds to a sum without its suits; the place of twos is 0, that of aces 12."""
    return 1 << _RANK_WIDTH * place


def ranks_sum(ranks: Iterable[int]) -> int:
    """Returns the sum without suits of cards of these ranks; an ace may be the highest or the lowest."""
    return sum([rank_unit((ACE_HIGH if rank == ACE_LOW else rank) - RANK_OF_A_TWO) for rank in ranks])


def rank_count(ranks: int, place: int) -> int:
    """Returns how many cards of a rank are counted in a sum without its suits."""
    return ranks >> _RANK_WIDTH * place & _COUNT_MASK


def enough_of_a_suit(threshold: int) -> int:
    """Returns what a sum of keys begins with in order to set a bit of `ANY_SUIT_ENOUGH` at so many cards of a suit."""
    return _EACH_SUIT * (_HIGHEST_BIT - threshold)


KEYS = {
    card: (rank_unit(rank_number(card) - RANK_OF_A_TWO) << RANKS_SHIFT) + (1 << _SUIT_WIDTH * (card.suit - 1))
    for card in PACK
}
# The bit of a card in a set of ranks of one suit.
RANK_BITS = {card: 1 << rank_number(card) for card in PACK}
# What the sum of a hand's keys begins with: a flush needs five of a suit.
FIVE_OF_A_SUIT = enough_of_a_suit(CARDS_OF_A_HAND)


# Equal hand ranks are one object: less memory, and what showdowns read lies closer together.
_NUMBERS: dict[int, int] = {}


class _RankTable(dict[int, int]):
    """The best five of five to seven cards with no regard to suits, by the sum of the keys without its suits.

    There are 73 775 such sums; those of six and seven cards are computed when they first occur, so that a process
    starts soon.
    """

    def __missing__(self, ranks: int) -> int:
        counts = {rank: count for rank in _DESCENDING if (count := rank_count(ranks, rank - RANK_OF_A_TWO))}
        number = _best_by_ranks(counts)
        self[ranks] = number = _NUMBERS.setdefault(number, number)
        return number


class _FlushTable(dict[int, int]):
    """The best five of five to seven cards of one suit, by the set of their ranks: 4 719 of them."""

    def __missing__(self, rank_bits: int) -> int:
        self[rank_bits] = number = _best_of_a_suit([rank for rank in _DESCENDING if rank_bits >> rank & 1])
        return number


BY_RANKS = _RankTable()
OF_A_SUIT = _FlushTable()


def rank_of_flush(enough: int, cards: Iterable[Card]) -> int:
    """Returns the hand rank of the best five cards of the suit with that bit of `ANY_SUIT_ENOUGH`.

    Seven cards with five of one suit have neither four of a kind nor a full house, and a flush beats the rest.
    """
    suit = SUIT_WITH_ENOUGH[enough]
    return OF_A_SUIT[sum([RANK_BITS[card] for card in cards if card[1] is suit])]


def _best_by_ranks(counts: dict[int, int]) -> int:
    """Returns the hand rank of the best five cards, whatever their suits; the ranks of `counts` descend."""
    ranks = list(counts)
    fours, trios, pairs = ([rank for rank in ranks if counts[rank] >= count] for count in (4, 3, 2))
    if fours:
        return hand_rank(Combination.FOUR_OF_A_KIND, [*fours[:1] * 4, *_without(ranks, fours[:1])[:1]])
    if trios and len(pairs) > 1:
        return hand_rank(Combination.FULL_HOUSE, [*trios[:1] * 3, *_without(pairs, trios[:1])[:1] * 2])
    if straight := _straight(ranks):
        return hand_rank(Combination.STRAIGHT, straight)
    same, combination = (trios * 3, Combination.THREE_OF_A_KIND) if trios else _pairs(pairs)
    return hand_rank(combination, [*same, *_without(ranks, same)][:CARDS_OF_A_HAND])


def _pairs(pairs: list[int]) -> tuple[list[int], Combination]:
    """Returns the ranks of the cards that make the best of two pairs, a pair or nothing, and which of those it is."""
    if len(pairs) > 1:
        return sorted(pairs[:2] * 2, reverse=True), Combination.TWO_PAIRS
    return pairs * 2, Combination.PAIR if pairs else Combination.HIGH_CARD


def _best_of_a_suit(ranks: list[int]) -> int:
    """Returns the hand rank of the best five cards of one suit; the ranks descend."""
    straight = _straight(ranks)
    if not straight:
        return hand_rank(Combination.FLUSH, ranks[:CARDS_OF_A_HAND])
    combination = Combination.ROYAL_FLUSH if straight[0] == ACE_HIGH else Combination.STRAIGHT_FLUSH
    return hand_rank(combination, straight)


def _straight(ranks: list[int]) -> list[int]:
    """Returns the ranks of the highest five consecutive cards, or nothing; the ace is also the lowest (31)."""
    held = {*ranks, ACE_LOW} if ACE_HIGH in ranks else set(ranks)
    for highest in range(ACE_HIGH, CARDS_OF_A_HAND - 1, -1):
        straight = range(highest, highest - CARDS_OF_A_HAND, -1)
        if held.issuperset(straight):
            return list(straight)
    return []


def _without(ranks: Iterable[int], taken: Iterable[int]) -> list[int]:
    return [rank for rank in ranks if rank not in taken]
