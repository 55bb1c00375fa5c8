"""What a game with caves adds to its rules: who is dealt in, what a hand moves, what a cave may hold. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, Protocol

from services.kit.table.game import Bets, Outcome, Rules


class Standing(IntEnum):
    """How a seated player takes part; the numbers are those of `CaveStanding`."""

    PLAYING = 1
    WAITING = 2
    AWAY = 3
    SHORT = 4
    LEAVING = 5


class SeatAtTable(NamedTuple):
    """A seat with a player, as it is between two hands."""

    seat: int
    cave_cents: int
    standing: Standing


class Decisions(NamedTuple):
    """How a seat has decided in a hand: by its player, and by the clock or because nobody was there."""

    in_person: int
    left_to_clock: int


class SeatAfterHand(NamedTuple):
    """What the end of a hand means for one seat, dealt in or not."""

    seat: int
    excused: bool
    """Whether a hand without a bet does not count towards inactivity."""
    is_short: bool
    """Whether the cave is below the table's minimum bet."""
    released_cents: int
    """What was bought in during the hand and does not fit into the cave now: it goes back to the account."""


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


class Lineup(Protocol[Bets, Outcome]):
    """Everybody who is seated at a table, from hand to hand. Never changed once made: commands return the next one."""

    def seats(self) -> Sequence[SeatAtTable]:
        """Returns the seats that are taken, by their numbers."""

    def take_seat(self, seat: int, cave_cents: int, kept: bytes = b"") -> Lineup[Bets, Outcome]:
        """Seats a player with a cave that is theirs; `kept` is what was on record of the seat at a former owner."""

    def kept(self, seat: int) -> bytes:
        """Returns what is to be on record of a seat, so that a next owner goes on with it."""

    def leave(self, seat: int) -> Lineup[Bets, Outcome]:
        """Lets a player go: at once, or when the hand is over that they were dealt into."""

    def set_away(self, seat: int, *, away: bool) -> Lineup[Bets, Outcome]:
        """Deals a player out from the next hand on, or in again."""

    def verify_buy_in(self, seat: int, cents: int) -> None:
        """Refuses an amount that may not be added to a cave, or brought to an empty one."""

    def buy_in(self, seat: int, cents: int) -> Lineup[Bets, Outcome]:
        """Adds to a cave what was bought in; while its player is in a hand it waits for the end of that."""

    def next_hand(self) -> tuple[Lineup[Bets, Outcome], Mapping[int, Bets] | None]:
        """Begins a hand with all who are dealt in, and returns what each brings; None if too few can play."""

    def after_hand(
        self, outcome: Outcome, decisions: Mapping[int, Decisions]
    ) -> tuple[Lineup[Bets, Outcome], Sequence[SeatAfterHand]]:
        """Ends a hand as it was decided."""

    def after_void_hand(self) -> Lineup[Bets, Outcome]:
        """Ends a hand that could not be finished: the caves are as before it."""


class CaveRules(Rules[Bets, Outcome], Protocol[Bets, Outcome]):
    """A game with caves, under one version of a table's specific rules.

    What a seat brings to a hand is its stake, of the amount that is in its cave: `Bets` is that, and the place of the
    seat in the hand. It pays what is in the cave afterwards.
    """

    def lineup(self, last: Outcome | None, dealt_in: Mapping[int, Bets] | None) -> Lineup[Bets, Outcome]:
        """Returns the lineup of a table at which nobody is seated yet.

        `last` is the hand before, whose button moves on; `dealt_in` is what seats have brought to a hand that goes on.
        """

    def hand_result(self, outcome: Outcome) -> HandResult:
        """Returns what a hand moved among the caves of those who were dealt in."""

    def buy_in_commission_cents(self, cents: int) -> int:
        """Returns the commission on what is bought in, which the player pays besides."""
