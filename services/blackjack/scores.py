"""What cards count in blackjack (8), what a blackjack is (18, 19), and which hands earn a special prize (25.i)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.kit.cards.card import Card, Rank

BLACKJACK = 21
# What an ace counts beyond 1 when it counts 11 (8.a).
_ACE_BONUS = 10
# What each rank counts, by its number: scores are computed many times for each card that is dealt.
_VALUES = (0, *(min(rank, Rank.TEN) for rank in Rank))
_ACE = Rank.ACE


def value(card: Card) -> int:
    """Returns what a card counts with an ace as 1 (8.a): figures 10 (8.b), others their number (8.c)."""
    return _VALUES[card.rank]


def low_total(cards: Iterable[Card]) -> int:
    """Returns the total with every ace as 1."""
    return sum([_VALUES[card.rank] for card in cards])


def score(cards: Sequence[Card], *, locked_aces: int = 0) -> int:
    """Returns the best total: one ace counts 11 where that fits (8.a), unless it is locked to 1 (8.a.ii)."""
    total = low_total(cards)
    if total + _ACE_BONUS > BLACKJACK:
        return total
    aces = [card for card in cards if card.rank is _ACE]
    return total + _ACE_BONUS if len(aces) > locked_aces else total


def is_soft(cards: Sequence[Card], *, locked_aces: int = 0) -> bool:
    """Whether an ace counts 11."""
    return score(cards, locked_aces=locked_aces) != low_total(cards)


def is_blackjack(cards: Sequence[Card]) -> bool:
    """Whether two cards are an ace and a card that counts ten (B15); a split hand never has one (19)."""
    return len(cards) == 2 and score(cards) == BLACKJACK


def bank_draws(cards: Sequence[Card]) -> bool:
    """Whether the bank takes another card: up to 16 (17.b), and not from 17 on, soft or hard (17.a, 8.a.i)."""
    return score(cards) < 17


def is_special(cards: Sequence[Card]) -> bool:
    """Whether a hand of three cards is 6, 7 and 8 of one suit or three 7s, in any order (25.i, B16)."""
    if len(cards) != 3:
        return False
    ranks = sorted(card.rank for card in cards)
    if ranks == [Rank.SEVEN] * 3:
        return True
    return ranks == [Rank.SIX, Rank.SEVEN, Rank.EIGHT] and len({card.suit for card in cards}) == 1
