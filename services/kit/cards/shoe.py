"""Packs, and a shoe: the cards of several packs in an order that is fixed before the first one is dealt."""

from __future__ import annotations

from services.kit.cards.card import Card, Rank, Suit
from services.kit.randomness.tape import Tape

# One pack: 52 cards, four suits, thirteen ranks (805/2015:4.b, 812/2015:6.c).
PACK = tuple(Card(rank, suit) for suit in Suit for rank in Rank)


def packs(count: int) -> tuple[Card, ...]:
    """Returns the cards of that many packs, one pack after the other, before they are shuffled."""
    return PACK * count


def shuffled_shoe(count: int, tape: Tape) -> tuple[Card, ...]:
    """Shuffles that many packs into a shoe; its first card is dealt first.

    The whole order is drawn, also of the cards that no round will reach: it depends on nothing that happens later (G6).
    """
    return tuple(tape.shuffled(packs(count)))


def shoe_from(cards_taken: int, count: int, tape: Tape) -> tuple[Card, ...]:
    """Shuffles that many packs into a shoe that lasts for several rounds; returns what a round is dealt from.

    The round begins when earlier ones have taken so many cards. Behind those that are left come the ones that were
    taken, for a round that needs more: shuffled anew, as at a table, in an order that is drawn with the shoe. So a
    round has as many cards as with a shoe of its own.
    """
    shoe = shuffled_shoe(count, tape)
    taken_again = (place for place in tape.shuffled(range(len(shoe))) if place < cards_taken)
    return (*shoe[cards_taken:], *(shoe[place] for place in taken_again))
