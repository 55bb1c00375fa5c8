"""How strong a player's hand is, with its combination and the five cards that make it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from services.kit.cards.card import Card
from services.poker.evaluation.combination import ACE_LOW, Combination, combination_of, ranks_of
from services.poker.evaluation.tables import rank_number, rank_of_cards

# Gives every five cards that a variant lets a player choose of the own and the common cards.
Choices: TypeAlias = Callable[[Sequence[Card], Sequence[Card]], Iterable[tuple[Card, ...]]]


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
        best = next(five for five in self.choices(self.hole, self.board) if rank_of_cards(five) == self.rank)
        return _in_order(best, ranks_of(self.rank))


def _in_order(cards: Iterable[Card], ranks: Iterable[int]) -> tuple[Card, ...]:
    left = list(cards)
    ordered = []
    for rank in ranks:
        card = next(card for card in left if rank_number(card) == rank or (rank == ACE_LOW and card.rank == ACE_LOW))
        left.remove(card)
        ordered.append(card)
    return tuple(ordered)
