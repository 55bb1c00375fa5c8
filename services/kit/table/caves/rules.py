"""What a game with caves adds to its rules: who is dealt in, what a hand moves, what a cave may hold. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from typing import NamedTuple, Protocol

from feltro.wallet.v1 import session_pb2
from services.kit.table.caves.period import Period
from services.kit.table.game import Bets, Outcome, Rules


class Standing(IntEnum):
    """How a seated player takes part; the numbers are those of `CaveStanding`."""

    PLAYING = 1
    WAITING = 2
    AWAY = 3
    SHORT = 4
    LEAVING = 5
    RESTING = 6


class Presence(IntEnum):
    """Whether a seated player wants to be dealt in; the numbers are those of the games' own `Presence`."""

    PLAYING = 1
    AWAY = 2
    RESTING = 3


@dataclass(frozen=True, slots=True)
class CaveTimes:
    """The times that the specific rules of a table lay down for its players, besides the time for a decision."""

    lost_line_extra: timedelta
    """More time for a player whose connection is lost, once in a hand (`806/2015:73`)."""
    gateway_pause: timedelta
    """How long a clock stands still when the platform's line to its player has failed (`806/2015:72`)."""
    recovery_limit: timedelta
    """For how long a hand that the platform has interrupted is waited for before it is void (`806/2015:72`)."""
    longest_extra: timedelta
    """The most that a decision may last beyond the time to decide: a full bank, and a lost line."""
    fill_cave: timedelta
    """How long a player has to fill a cave below the minimum bet (`806/2015:71`)."""
    return_window: timedelta
    """For how long a player who comes back has to bring what they left with (`806/2015:11.a`)."""


class SeatAtTable(NamedTuple):
    """A seat with a player, as it is between two hands."""

    seat: int
    cave_cents: int
    standing: Standing


class OwnPlace(NamedTuple):
    """What a player alone has to know of their place."""

    cave_cents: int
    """What is in play."""
    waiting_cents: int
    """What was bought in during the hand under way."""
    time_bank: timedelta
    rests_left: int
    resting_until: datetime | None


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

    def set_presence(self, seat: int, presence: Presence, now: datetime, *, posts: bool) -> Lineup[Bets, Outcome]:
        """Deals a player out from the next hand on, or in again; refuses a rest that the table does not grant.

        `posts`: the player posts a big blind of their own free will to be dealt in before it is due, where that is
        offered.
        """

    def end_rests(self, now: datetime) -> Lineup[Bets, Outcome]:
        """Ends the rests whose time is over: their players sit out."""

    def own_place(self, seat: int, now: datetime) -> OwnPlace:
        """Returns what a player alone has to know."""

    def spend_time(self, seat: int, spent: timedelta) -> Lineup[Bets, Outcome]:
        """Takes extra time out of a player's time bank (`806/2015:44`)."""

    def buy_in_bounds(self, seat: int, left_with_cents: int) -> tuple[int, int]:
        """Returns the least and the most that a player may buy in now; nothing if the cave is full.

        `left_with_cents` is what the player has left this table with a short while ago.
        """

    def verify_buy_in(self, seat: int, cents: int, left_with_cents: int) -> None:
        """Refuses an amount that may not be added to a cave, or brought to an empty one."""

    def buy_in(self, seat: int, cents: int) -> Lineup[Bets, Outcome]:
        """Adds to a cave what was bought in; while its player is in a hand it waits for the end of that."""

    @property
    def button(self) -> int | None:
        """The seat that had the button in the last hand; None if it is drawn by lot for the next."""

    @property
    def next_button(self) -> int | None:
        """The seat that has the button in the next hand; None if it is drawn by lot, or too few can play."""

    def suspend(self) -> Lineup[Bets, Outcome]:
        """Has the button drawn by lot for the next hand: the table does not go on at once (`806/2015:46`)."""

    def take_out(self, seat: int, cents: int) -> Lineup[Bets, Outcome]:
        """Takes out of a cave what its player has got back who leaves, and cannot win any more in this hand."""

    def next_hand(self) -> tuple[Lineup[Bets, Outcome], Mapping[int, Bets] | None]:
        """Begins a hand with all who are dealt in, and returns what each brings; None if too few can play."""

    def after_hand(
        self, outcome: Outcome, decisions: Mapping[int, Decisions]
    ) -> tuple[Lineup[Bets, Outcome], Sequence[SeatAfterHand]]:
        """Ends a hand as it was decided."""

    def after_void_hand(self) -> tuple[Lineup[Bets, Outcome], Sequence[SeatAfterHand]]:
        """Ends a hand that could not be finished: the caves are as before it, and the button is drawn anew."""


class CaveRules(Rules[Bets, Outcome], Protocol[Bets, Outcome]):
    """A game with caves, under one version of a table's specific rules.

    What a seat brings to a hand is its stake, of the amount that is in its cave: `Bets` is that, and the place of the
    seat in the hand. It pays what is in the cave afterwards.
    """

    @property
    def minimum_bet_cents(self) -> int:
        """The table's minimum bet: who has less in the cave is not dealt in (`806/2015:15`)."""

    @property
    def times(self) -> CaveTimes:
        """The times of the table."""

    @property
    def refuses_shared_devices(self) -> bool:
        """Whether a second account from a device or address at which one plays is refused (`903-B/2015:6.6.1`)."""

    @property
    def inactivity_policy(self) -> session_pb2.InactivityPolicy:
        """When players are invited to end their sessions (`806/2015:70`)."""

    @property
    def period(self) -> Period | None:
        """When the table is open, for registered players only; None if it is always open (`806/2015:6`)."""

    def lineup(self, last: Outcome | None, dealt_in: Mapping[int, Bets] | None) -> Lineup[Bets, Outcome]:
        """Returns the lineup of a table at which nobody is seated yet.

        `last` is the hand before, whose button moves on; `dealt_in` is what seats have brought to a hand that goes on.
        """

    def adopt(self, lineup: Lineup[Bets, Outcome]) -> Lineup[Bets, Outcome]:
        """Returns a lineup as it goes on under these rules, which have come into force between two hands."""

    def hand_result(self, outcome: Outcome) -> HandResult:
        """Returns what a hand moved among the caves of those who were dealt in."""

    def buy_in_commission_cents(self, cents: int) -> int:
        """Returns the commission on what is bought in."""

    def cave_growth_cents(self, cents: int) -> int:
        """Returns by how much a cave grows: the commission is paid besides, or out of what is bought in (A-13)."""
