"""What a game with caves adds to its rules: who is dealt in, what a hand moves, and what a cave may hold. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from services.kit.table.game import Bets, Outcome, Rules


@dataclass(frozen=True, slots=True)
class CaveSeat:
    """A seat with a cave, as it is between two hands."""

    seat: int
    cave_cents: int
    is_established: bool
    """Whether its player was dealt into the hand before; a newcomer and a player who comes back are not."""


class SeatResult(NamedTuple):
    """What a hand moved for one seat."""

    staked_cents: int
    """What the player put into the pots, less what nobody called."""
    won_cents: int
    """What the player got out of them, less commission."""


@dataclass(frozen=True, slots=True)
class HandResult:
    """What a hand moved among the caves: what was staked is won, or commission."""

    seats: Mapping[int, SeatResult]
    commission_cents: int


class BuyInBounds(NamedTuple):
    """How much may be bought into a cave."""

    least_cents: int
    most_cents: int
    rule: str


class CaveRules(Rules[Bets, Outcome], Protocol[Bets, Outcome]):
    """A game with caves, under one version of a table's specific rules.

    What a seat brings to a hand is its stake, of the amount that is in its cave: `Bets` is that, and the place of the
    seat in the hand. It pays what is in the cave afterwards.
    """

    @property
    def hands_before_away(self) -> int:
        """After how many hands that a player has left to the clock they are away."""

    def lineup(self, seats: Sequence[CaveSeat], last: Outcome | None) -> Mapping[int, Bets] | None:
        """Returns what each seat that is dealt in brings to the next hand; None if too few can play.

        `last` is the hand before; without it the button is drawn by lot when the cards are dealt.
        """

    def hand_result(self, outcome: Outcome) -> HandResult:
        """Returns what a hand moved among the caves of those who were dealt in."""

    def seats_dealt_in(self, outcome: Outcome) -> frozenset[int]:
        """Returns the seats that a hand was dealt to."""

    def buy_in_bounds(self, cave_cents: int) -> BuyInBounds:
        """Returns how much may be added to a cave that holds so much; refused if nothing may."""

    def buy_in_commission_cents(self, cents: int) -> int:
        """Returns the commission on what is bought in, which the player pays besides."""
