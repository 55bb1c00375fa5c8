"""The combinations of poker (29), and a hand's rank: its combination and what decides between equals, as one number."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

# Ranks in the order of rule 30, the ace highest; in 5-4-3-2-A it is worth 1 (31).
ACE_HIGH = 14
ACE_LOW = 1
RANK_OF_A_TWO = 2

CARDS_OF_A_HAND = 5
_BITS_OF_A_RANK = 4
_RANK_MASK = (1 << _BITS_OF_A_RANK) - 1
_COMBINATION_SHIFT = _BITS_OF_A_RANK * CARDS_OF_A_HAND


class Combination(IntEnum):
    """What five cards make (29.a to 29.j); the greater one wins."""

    HIGH_CARD = 1
    PAIR = 2
    TWO_PAIRS = 3
    THREE_OF_A_KIND = 4
    STRAIGHT = 5
    FLUSH = 6
    FULL_HOUSE = 7
    FOUR_OF_A_KIND = 8
    STRAIGHT_FLUSH = 9
    ROYAL_FLUSH = 10

    @property
    def letter(self) -> str:
        """The letter of rule 29 that describes it."""
        return "jihgfedcba"[self - 1]


def hand_rank(combination: Combination, ranks: Sequence[int]) -> int:
    """Returns the number of a hand: greater for the stronger one, equal where the pot is divided (32, 33).

    `ranks` are those of the five cards, what is compared first standing first. All five decide for a flush and for the
    highest cards, too (A-16 of the rulebook).
    """
    number: int = combination
    for rank in ranks:
        number = number << _BITS_OF_A_RANK | rank
    return number


def combination_of(number: int) -> Combination:
    """Returns the combination of a hand's number."""
    return Combination(number >> _COMBINATION_SHIFT)


def ranks_of(number: int) -> tuple[int, ...]:
    """Returns the ranks of the five cards of a hand's number, what is compared first standing first."""
    return tuple(
        number >> shift & _RANK_MASK for shift in range(_COMBINATION_SHIFT - _BITS_OF_A_RANK, -1, -_BITS_OF_A_RANK)
    )
