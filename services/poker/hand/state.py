"""The value of a hand: what was fixed when it was dealt, where the betting stands, and how it ended.

Players are numbered by position: 0 is the first dealt-in seat to the left of the button, the last one is the button.
Sets of positions are bit masks, and the values are tuples: thousands of hands a second are played through them.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum, StrEnum
from operator import sub
from typing import NamedTuple

from services.kit.cards.card import Card
from services.poker.specific_rules import SpecificRules

NOBODY = -1


class Street(IntEnum):
    """The four betting rounds (25)."""

    PREFLOP = 0
    FLOP = 1
    TURN = 2
    RIVER = 3


# How many common cards lie on the table in each betting round (53, 55, 57).
BOARD_CARDS = (0, 3, 4, 5)


class Kind(StrEnum):
    """What a player can do in turn (34). An opening bet is a raise from nothing (A-02)."""

    FOLD = "fold"  # desistir (34.a)
    CHECK = "check"  # passar (34.b)
    CALL = "call"  # acompanhar (34.c)
    RAISE = "raise"  # subir a aposta (34.d)

    @property
    def word(self) -> str:
        """How messages and the facts of refusals write it."""
        return f"ACTION_{self.name}"


class Move(NamedTuple):
    """A player's action; a raise says what the player's bet in this round becomes."""

    kind: Kind
    to_cents: int = 0


FOLD, CHECK, CALL = Move(Kind.FOLD), Move(Kind.CHECK), Move(Kind.CALL)


class Deal(NamedTuple):
    """What is fixed when a hand begins. Holds cards that nobody may see: its text leaves them out."""

    rules: SpecificRules
    # By position.
    seats: tuple[int, ...]
    stacks: tuple[int, ...]
    holes: tuple[tuple[Card, ...], ...]
    # All five common cards, before they are shown.
    board: tuple[Card, ...]
    small_blind_at: int
    big_blind_at: int
    # Who enters by posting a big blind of their own free will.
    posters: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Deal(seats={self.seats}, stacks={self.stacks})"

    def position(self, seat: int) -> int | None:
        """Returns the position of a seat; None if it was not dealt in."""
        return self.seats.index(seat) if seat in self.seats else None


class Pot(NamedTuple):
    """A layer of the bets and the positions that can win it: the main pot first, then the side pots (A-14)."""

    cents: int
    positions: tuple[int, ...]


class Payment(NamedTuple):
    """What a winner gets of one pot: the gross amount, less the commission on it."""

    pot: int
    position: int
    gross_cents: int
    commission_cents: int

    @property
    def net_cents(self) -> int:
        return self.gross_cents - self.commission_cents


class Result(NamedTuple):
    """How a hand ended."""

    pots: tuple[Pot, ...]
    payments: tuple[Payment, ...]
    # By position, after all payments.
    stacks: tuple[int, ...]
    # Who turns cards up, in their order (59); empty when nobody was left to compare with (36).
    shown: tuple[int, ...]

    @property
    def commission_cents(self) -> int:
        return sum(payment.commission_cents for payment in self.payments)


class Hand(NamedTuple):
    """A hand after any number of actions. Never changed once made."""

    deal: Deal
    # The betting round that is on, or in which the hand ended.
    street: int
    # What each had when the round began, and has bet in it.
    held: tuple[int, ...]
    bets: tuple[int, ...]
    # All bets of the hand, those of this round included.
    pot_cents: int
    # What everybody has to match in this round. The big blind counts in full even where its player had less (52).
    level_cents: int
    # The last level that was reached by a full bet or raise, by how much, and how many raises were made.
    full_level_cents: int
    increment_cents: int
    raises: int
    # Masks: who has not folded; who of them has chips to bet; whom the round waits for; who has acted in it.
    in_hand: int
    can_act: int
    pending: int
    acted: int
    # Whose turn it is, and who raised last in this round.
    actor: int
    raiser: int
    moves: tuple[Move, ...]
    result: Result | None

    @property
    def stacks(self) -> tuple[int, ...]:
        """What each has in front of them, by position."""
        return self.result.stacks if self.result else tuple(map(sub, self.held, self.bets))

    @property
    def contributions(self) -> tuple[int, ...]:
        """What each has put into the pots of this hand, what was given back not counted (A-30)."""
        left = map(sub, self.held, self.bets)
        return tuple(map(sub, self.deal.stacks, left))

    @property
    def board(self) -> tuple[Card, ...]:
        """The common cards that lie on the table."""
        return self.deal.board[: BOARD_CARDS[self.street]]

    @property
    def is_over(self) -> bool:
        return self.result is not None

    def live(self) -> Iterator[int]:
        """Yields the positions that have not folded."""
        return positions(self.in_hand)


def positions(mask: int) -> Iterator[int]:
    """Yields the positions of a mask, from the left of the button on."""
    position = 0
    while mask:
        if mask & 1:
            yield position
        mask >>= 1
        position += 1


def next_position(mask: int, after: int) -> int:
    """Returns the first position of a mask clockwise from another one; the mask is not empty."""
    higher = mask >> (after + 1)
    if higher:
        return after + (higher & -higher).bit_length()
    return (mask & -mask).bit_length() - 1
