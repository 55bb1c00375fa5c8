"""Between the director of a tournament and its tables, which run in one process under one lease.

The director decides who sits where, and when which hand begins; a table plays hands and says how they ended. Every
call may be repeated: after a takeover the director brings each table to what its facts say, and nothing is played
twice.

A tournament is a configured table of PLAY_TOURNAMENT: its `TableConfiguration` is versioned in the catalogue like every
table's, so that leases, switches, history and replay work for it. `seats`, `dealing_ms`, `decision_ms` and
`result_shown_ms` are those of its tables, and from its `rules` the game makes `ChipRules`. Its version does not change
while hands are played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from google.protobuf.message import Message

if TYPE_CHECKING:
    # A game's own rules import this room, and stay pure.
    import asyncio


@dataclass(frozen=True, slots=True)
class SeatedPlayer:
    """Who sits on a seat: an entry of the tournament, and the player whose it is."""

    entry: int
    player_id: str
    account_id: str


@dataclass(frozen=True, slots=True)
class HandToPlay:
    """A hand that a table is to play."""

    number: int
    """Counts the hands of the tournament, in the order in which its director starts them: never used twice."""
    seats: tuple[int, ...]
    """Those who are dealt in, clockwise from the first one to the left of the button; the button is the last."""
    chips: tuple[int, ...]
    """Their chips before blinds, in the same order."""
    level: int
    """From 1: the tournament's rules say what its blinds are."""

    @property
    def button(self) -> int:
        return self.seats[-1]


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a player goes who moves to another table (810/2015:48)."""

    table: int
    seat: int


class HandReporter(Protocol):
    """The director, as its tables see it."""

    async def hand_ended(self, table: int, number: int, outcome: bytes) -> None:
        """Takes the outcome of a hand whose end is journalled (G5): the message of `Rules.outcome_message`.

        The same hand may be reported again (G3). What this raises fails the tournament's tables, as a journal that
        cannot be written does.
        """

    async def hand_voided(self, table: int, number: int) -> None:
        """Takes note of a hand that is void and journalled as such; it may be reported again, too.

        The director has it played again under another number.
        """

    def went_away(self, player_id: str) -> None:
        """Takes note of a player who sits out from now on.

        The player did not decide in time (810/2015:43), is not connected when a hand begins (26), or said so.
        """

    def came_back(self, player_id: str) -> None:
        """Takes note of a player who decides again: they said so, or their line is back (26, T-A-09)."""


class ChipTable(Protocol):
    """An inner table, as its director sees it. A call that changes nothing is none."""

    async def seat(self, seat: int, player: SeatedPlayer) -> None:
        """Seats a player in place of the player who sat there, if any."""

    async def stand(self, seat: int, moved_to: Destination | None = None) -> None:
        """Frees a seat, between two hands, and says to its player alone where they play on."""

    def mark(self, seat: int, *, away: bool) -> None:
        """Marks a player as in *sit out* or back: dealt in, and checking or folding at once (26, 27, 43)."""

    def show(self, chips: Mapping[int, int], notice: Message | None) -> None:
        """Shows everybody the chips of each seat between hands, and the game's message about the tournament.

        The notice is what players have to see of the tournament: level, blinds, breaks, players left.
        """

    async def play(self, hand: HandToPlay) -> None:
        """Has the table play a hand, and returns at once; it begins when the result before was shown.

        If the table knows the hand it begins no other: one that goes on goes on, and the end of one that has ended is
        reported again.
        """

    async def hold(self, why: str) -> None:
        """Says why the table begins no hand, such as `break`, until `play` is called."""

    async def close(self) -> None:
        """Closes the table for good. A hand under way is void, and not reported."""


class ChipTables(Protocol):
    """The inner tables of one tournament under one lease."""

    async def open(self, number: int) -> ChipTable:
        """Returns a table, and opens it first if it is not open: with the hand that a former owner left there.

        Its life begins with the first `play` or `hold`: who sits there is known by then.
        """


class Director(HandReporter, Protocol):
    """The director of one tournament under one lease."""

    @property
    def ready(self) -> asyncio.Event:
        """Set while its tables are as its facts say: before that, one that is not open may be opened yet."""

    async def run(self, tables: ChipTables, epoch: int) -> None:
        """Directs the tournament until cancelled; `epoch` fences what it writes (G8).

        It returns when the tournament is over for good. What it raises gives the lease up.
        """


DirectorOf = Callable[[str], Director]
"""Makes the director of a tournament, by its id."""


def table_id_of(tournament_id: str, number: int) -> str:
    """Returns the id of an inner table."""
    return f"{tournament_id}-t{number}"
