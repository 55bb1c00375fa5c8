"""What happens to a tournament: the facts from which its whole course follows (G10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from services.poker.hand.state import Hand
from services.poker.tournament.money.bounties import takers
from services.poker.tournament.money.entries import PaidBy


class Paid(NamedTuple):
    """A player has paid an entry, or a re-entry after an elimination (21, 22)."""

    player: str
    paid_by: PaidBy = PaidBy.CASH
    ticket: str = ""


class Unregistered(NamedTuple):
    """A player has taken the registration back (24)."""

    player: str


class Rebought(NamedTuple):
    """A player has paid a rebuy."""

    player: str


class RebuyDeclined(NamedTuple):
    """A player without chips does not want to rebuy."""

    player: str


class AddedOn(NamedTuple):
    """A player has paid an add-on."""

    player: str


class HandEnded(NamedTuple):
    """A hand has ended, with these chips by seat; for seats without any, who took the last ones (T-A-23)."""

    table: int
    number: int
    chips: Mapping[int, int]
    takers: Mapping[int, tuple[int, ...]]

    @classmethod
    def of(cls, table: int, number: int, hand: Hand) -> HandEnded:
        """Returns the fact of a hand that was played."""
        return cls(table, number, dict(zip(hand.deal.seats, hand.stacks, strict=True)), takers(hand))


class HandVoided(NamedTuple):
    """A hand is void: chips are as before it, and it is played again (806/2015:72)."""

    table: int
    number: int


class WentAway(NamedTuple):
    """A player is not connected (26, 27), or has not decided in time (43): in *sit out* from now on."""

    player: str


class CameBack(NamedTuple):
    """A player decides again, from the next decision on (T-A-09)."""

    player: str


class TimePassed(NamedTuple):
    """Nothing has happened but time, up to a moment at which something is due."""


class CancelOrdered(NamedTuple):
    """The operator cancels the tournament (35)."""

    reason: str


Fact = (
    Paid
    | Unregistered
    | Rebought
    | RebuyDeclined
    | AddedOn
    | HandEnded
    | HandVoided
    | WentAway
    | CameBack
    | TimePassed
    | CancelOrdered
)


class Event(NamedTuple):
    """A fact, when it happened, and the entropy of the draws that follow from it (`state.entropy_bytes`)."""

    at_ms: int
    fact: Fact
    entropy: bytes = b""
