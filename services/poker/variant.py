"""The two variants: what each deals, how its hands are evaluated, and which regulation it is played under."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from typing import TypeAlias

from services.kit.cards.card import Card
from services.poker.evaluation.holdem import holdem, holdem_ranks
from services.poker.evaluation.omaha import omaha, omaha_ranks
from services.poker.evaluation.strength import Strength

Evaluate: TypeAlias = Callable[[Sequence[Card], Sequence[Card]], Strength]
Rank: TypeAlias = Callable[[Iterable[Sequence[Card]], Sequence[Card]], list[int]]


class Variant(StrEnum):
    """Hold'em and Omaha differ in what is dealt and evaluated, and in nothing else that is bet or paid."""

    HOLDEM = "holdem"
    OMAHA = "omaha"

    @property
    def regulation(self) -> str:
        return _REGULATIONS[self]

    @property
    def hole_cards(self) -> int:
        """How many personal cards a player has (25)."""
        return _HOLE_CARDS[self]

    @property
    def evaluate(self) -> Evaluate:
        """What finds the best combination of personal and common cards (26)."""
        return _EVALUATE[self]

    @property
    def rank(self) -> Rank:
        """What ranks several players' cards with the same common ones: the greater number wins, equal ones tie."""
        return _RANK[self]

    def rule(self, paragraph: str) -> str:
        """Returns the id of a rule, which both regulations number alike but for the last letters of 2."""
        return f"{self.regulation}:{paragraph}"


_REGULATIONS = {Variant.HOLDEM: "806/2015", Variant.OMAHA: "811/2015"}
_HOLE_CARDS = {Variant.HOLDEM: 2, Variant.OMAHA: 4}
_RANK: dict[Variant, Rank] = {Variant.HOLDEM: holdem_ranks, Variant.OMAHA: omaha_ranks}
_EVALUATE: dict[Variant, Evaluate] = {Variant.HOLDEM: holdem, Variant.OMAHA: omaha}
