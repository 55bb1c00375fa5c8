"""A playing card, and its short name: `As`, `Td`, `2c`."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class Suit(IntEnum):
    """The four suits (*naipes*)."""

    SPADES = 1
    HEARTS = 2
    DIAMONDS = 3
    CLUBS = 4


class Rank(IntEnum):
    """The thirteen ranks; what each is worth is for the game to say."""

    ACE = 1
    TWO = 2
    THREE = 3
    FOUR = 4
    FIVE = 5
    SIX = 6
    SEVEN = 7
    EIGHT = 8
    NINE = 9
    TEN = 10
    JACK = 11
    QUEEN = 12
    KING = 13


_RANK_LETTERS = dict(zip(Rank, "A23456789TJQK", strict=True))
_SUIT_LETTERS = dict(zip(Suit, "shdc", strict=True))
_RANKS = {letter: rank for rank, letter in _RANK_LETTERS.items()}
_SUITS = {letter: suit for suit, letter in _SUIT_LETTERS.items()}


class Card(NamedTuple):
    """One card; those of several packs that look alike are equal."""

    rank: Rank
    suit: Suit

    @property
    def name(self) -> str:
        """Rank and suit in one letter each, such as `Th` for the ten of hearts."""
        return _RANK_LETTERS[self.rank] + _SUIT_LETTERS[self.suit]

    @classmethod
    def named(cls, name: str) -> Card:
        """Returns the card of a name; a `ValueError` if there is none."""
        rank, suit = _RANKS.get(name[:1]), _SUITS.get(name[1:])
        if rank is None or suit is None:
            raise ValueError(f"`{name}` is no card: a rank ({''.join(_RANKS)}) and a suit ({''.join(_SUITS)}).")
        return cls(rank, suit)


def cards_named(names: str) -> tuple[Card, ...]:
    """Returns the cards of names with spaces between them: `As Td 2c`."""
    return tuple(Card.named(name) for name in names.split())
