"""What a tournament orders its tables and its money to do; each order follows from one fact, in this order."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from services.poker.tournament.money.awards import PayOut
from services.poker.tournament.money.prizes import Prizes
from services.poker.tournament.ranking import Place
from services.poker.tournament.tables.balancing import Moved
from services.poker.tournament.tables.draws import Drawn
from services.poker.tournament.tables.lineup import RunningHand


class Held(StrEnum):
    """Why a table begins no hand."""

    BREAK = "break"
    HAND_FOR_HAND = "hand_for_hand"  # until all tables have finished theirs (49)
    TOO_FEW_PLAYERS = "too_few_players"
    LAP_OVER = "lap_over"  # everybody has had the button once more (52)


class OpenTable(NamedTuple):
    """Opens a table for the entries at these seats."""

    table: int
    seats: Mapping[int, int]


class CloseTable(NamedTuple):
    """Closes a table that was broken."""

    table: int


class SeatPlayer(NamedTuple):
    """Seats a player who entered after the start."""

    entry: int
    table: int
    seat: int


class MovePlayer(NamedTuple):
    """Moves a player to the table and seat that were drawn (48)."""

    moved: Moved


class StartHand(NamedTuple):
    """Releases a table for one hand."""

    table: int
    hand: RunningHand


class HoldTable(NamedTuple):
    """Holds a table that is between hands."""

    table: int
    why: Held


class LevelBegins(NamedTuple):
    """The blinds are those of this level from the next hand of each table on (46)."""

    level: int


class BreakBegins(NamedTuple):
    """A synchronised break: tables finish their hands, and start together when it ends."""

    ends_at_ms: int


class BreakEnds(NamedTuple):
    """The break is over."""


class HandForHand(NamedTuple):
    """Tables play hand for hand from now on, or no longer (49)."""

    begins: bool


class LastLapBegins(NamedTuple):
    """The time of a timed tournament is up (52)."""


class AskRebuy(NamedTuple):
    """Asks a player without chips to rebuy; the seat is kept until then (T-A-19)."""

    entry: int
    until_ms: int


class AddChips(NamedTuple):
    """Gives a player the chips of a rebuy or an add-on; those in a hand have them after it."""

    entry: int
    table: int
    seat: int
    chips: int


class Eliminate(NamedTuple):
    """An entry is out (31, 44)."""

    entry: int


class MarkAway(NamedTuple):
    """Marks a player as away, or as back (26)."""

    entry: int
    table: int
    seat: int
    is_away: bool


class FreezePrizes(NamedTuple):
    """The pool and the paid places are final (T-A-21)."""

    prizes: Prizes


class Ranked(NamedTuple):
    """The place of an entry, or of those that tie, is final."""

    place: Place


class Pay(NamedTuple):
    """Pays out of the pool."""

    pay_out: PayOut


class Cancelled(NamedTuple):
    """The tournament is cancelled, under this letter of 36."""

    paragraph: str
    reason: str


class Finished(NamedTuple):
    """The tournament is over, and its pool is empty."""


class DrawsMade(NamedTuple):
    """The draws that this fact has caused, for the log (T-A-12)."""

    draws: tuple[Drawn, ...]


Order = (
    OpenTable
    | CloseTable
    | SeatPlayer
    | MovePlayer
    | StartHand
    | HoldTable
    | LevelBegins
    | BreakBegins
    | BreakEnds
    | HandForHand
    | LastLapBegins
    | AskRebuy
    | AddChips
    | Eliminate
    | MarkAway
    | FreezePrizes
    | Ranked
    | Pay
    | Cancelled
    | Finished
    | DrawsMade
)
