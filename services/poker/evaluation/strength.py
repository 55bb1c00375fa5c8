"""How strong a player's hand is, with its combination and the five cards that make it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from services.kit.cards.card import Card
from services.poker.evaluation.combination import (
    ACE_HIGH,
    ACE_LOW,
    Combination,
    combination_of,
    ranks_of,
)
from services.poker.evaluation.tables import KEYS, RANKS_SHIFT, rank_number, ranks_sum

# Gives every five cards that a variant lets a player choose of the own and the common cards.
Choices: TypeAlias = Callable[[Sequence[Card], Sequence[Card]], Iterable[tuple[Card, ...]]]

_OF_ONE_SUIT = frozenset({Combination.FLUSH, Combination.STRAIGHT_FLUSH, Combination.ROYAL_FLUSH})


@dataclass(frozen=True, slots=True, order=True)
class Strength:
    """The strength of one hand: the greater one wins, equal ones divide the pot (27, 33)."""

    rank: int
    # In no text of it: what a player holds is not for logs and errors (2.d).
    hole: Sequence[Card] = field(compare=False, repr=False)
    board: Sequence[Card] = field(compare=False)
    choices: Choices = field(compare=False, repr=False)

    @property
    def combination(self) -> Combination:
        """What the five cards make (29)."""
        return combination_of(self.rank)

    @property
    def cards(self) -> tuple[Card, ...]:
        """The best five cards, what is compared first standing first; of equally good ones the player's own (61)."""
        ranks = ranks_of(self.rank)
        return _in_order(next(self._best(ranks)), ranks)

    def _best(self, ranks: Sequence[int]) -> Iterator[tuple[Card, ...]]:
        """Yields the choices that are worth the strength; only cards of its ranks can be in them.

        No choice is worth more. So it is enough that its ranks are the same, and its suit where that is what counts.
        """
        wanted = {ACE_HIGH if rank == ACE_LOW else rank for rank in ranks}
        hole, board = ([card for card in cards if rank_number(card) in wanted] for cards in (self.hole, self.board))
        of_one_suit, total = self.combination in _OF_ONE_SUIT, ranks_sum(ranks)
        for five in self.choices(hole, board):
            if sum([KEYS[card] for card in five]) >> RANKS_SHIFT != total:
                continue
            if not of_one_suit or len({card.suit for card in five}) == 1:
                yield five


def _in_order(cards: Iterable[Card], ranks: Iterable[int]) -> tuple[Card, ...]:
    left = list(cards)
    ordered = []
    for rank in ranks:
        card = next(card for card in left if rank_number(card) == rank or (rank == ACE_LOW and card.rank == ACE_LOW))
        left.remove(card)
        ordered.append(card)
    return tuple(ordered)
