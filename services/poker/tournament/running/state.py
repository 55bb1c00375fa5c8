"""The state of a tournament. It follows from its rules and its facts alone, so replaying the facts gives it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from services.poker.tournament.levels import moment
from services.poker.tournament.money.awards import Award
from services.poker.tournament.money.entries import Entry, EntryState
from services.poker.tournament.money.prizes import Prizes, prizes_of
from services.poker.tournament.ranking import Out, Place
from services.poker.tournament.running.orders import Held
from services.poker.tournament.specific_rules import TournamentRules
from services.poker.tournament.tables.last_lap import LastLap
from services.poker.tournament.tables.lineup import TournamentTable

# What the draws of one fact may take: of a start for each entry, later for each table. More than enough, as discarded
# bytes are rare; if it is not, nothing has happened, and the fact is applied with new entropy.
_FIXED_BYTES, _BYTES_FOR_ENTRY, _BYTES_FOR_TABLE = 256, 16, 8


class Phase(StrEnum):
    """Where a tournament stands."""

    REGISTERING = "registering"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class Awaited(NamedTuple):
    """A player who has lost all chips and may rebuy until then; otherwise out with the hand that was lost (T-A-19)."""

    until_ms: int
    out: Out
    # The entries that took the last chips.
    takers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tournament:
    """A tournament at one moment. Never changed once made."""

    id: str
    rules: TournamentRules
    # The scheduled start; None: as soon as it is full.
    starts_at_ms: int | None = None
    phase: Phase = Phase.REGISTERING
    now_ms: int = 0
    entries: Mapping[int, Entry] = field(default_factory=dict)
    # Players in *sit out* (26, 27, 43).
    away: frozenset[str] = frozenset()
    tables: Mapping[int, TournamentTable] = field(default_factory=dict)
    tables_opened: int = 0
    held: Mapping[int, Held] = field(default_factory=dict)
    started_at_ms: int = 0
    level: int = 0
    is_break: bool = False
    is_hand_for_hand: bool = False
    lap: LastLap | None = None
    hands_started: int = 0
    # The order of elimination counts ends of hands, and hand-for-hand steps as one (T-A-13).
    hands_ended: int = 0
    awaited: Mapping[int, Awaited] = field(default_factory=dict)
    # Eliminated entries whose places are not final yet.
    outs: tuple[Out, ...] = ()
    places: tuple[Place, ...] = ()
    # Frozen prizes; None while the pool can grow (T-A-21).
    prizes: Prizes | None = None
    pool_cents: int = 0
    # Prizes of places that are final, and awards that are paid at the end (54).
    earned_cents: int = 0
    due: tuple[Award, ...] = ()
    # Payments for more chips that came too late and were given back.
    late_payments: int = 0

    @property
    def playing(self) -> tuple[Entry, ...]:
        """The entries that are still in, those that may rebuy among them."""
        return tuple(entry for entry in self.entries.values() if entry.state is EntryState.PLAYING)

    @property
    def players_left(self) -> int:
        """How many are still in while it runs: each has one seat. It is asked for after every fact."""
        return sum(table.size for table in self.tables.values())

    @property
    def registered(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries.values() if entry.state is EntryState.REGISTERED)

    @property
    def current_prizes(self) -> Prizes:
        """The prizes: provisional until they are frozen."""
        return self.prizes or prizes_of(self.rules, self.entries.values())

    @property
    def is_hand_running(self) -> bool:
        return any(table.hand is not None for table in self.tables.values())

    @property
    def is_step_running(self) -> bool:
        """Whether a hand of a hand-for-hand step is under way: all of them count as one (T-A-13)."""
        return any(table.hand is not None and table.hand.step is not None for table in self.tables.values())

    def entry_in(self, player: str) -> Entry | None:
        """Returns the one entry with which a player is in (inf-20); None if the player is not."""
        return next((entry for entry in self.entries.values() if entry.player == player and entry.is_in), None)

    def entries_of(self, player: str) -> tuple[Entry, ...]:
        """Returns all entries of a player that were not taken back."""
        return tuple(
            entry
            for entry in self.entries.values()
            if entry.player == player and entry.state is not EntryState.WITHDRAWN
        )

    def seat_of(self, entry: int) -> tuple[TournamentTable, int]:
        """Returns the table and the seat of an entry that is in play."""
        for table in self.tables.values():
            for seat, each in table.seated.items():
                if each.entry == entry:
                    return table, seat
        raise KeyError(f"Entry {entry} has no seat.")

    def chips(self) -> Mapping[int, int]:
        """Returns the chips of everybody in play, those of a hand under way as they were when it began (T-A-06)."""
        return {
            each.entry: each.chips + each.waiting for table in self.tables.values() for each in table.seated.values()
        }


def next_due_ms(state: Tournament) -> int | None:
    """Returns when time alone changes something; None if only facts can."""
    if state.phase is Phase.REGISTERING:
        return state.starts_at_ms
    if state.phase is not Phase.RUNNING:
        return None
    due = [awaited.until_ms for awaited in state.awaited.values()]
    if state.lap is None:
        ends = moment(state.rules.levels, (state.now_ms - state.started_at_ms) // 1000).ends_at_seconds
        if ends is not None:
            due.append(state.started_at_ms + ends * 1000)
        if state.rules.timed_minutes is not None:
            due.append(state.started_at_ms + state.rules.timed_minutes * 60_000)
    return min(due, default=None)


def entropy_bytes(state: Tournament) -> int:
    """Returns how much entropy the next fact needs for its draws."""
    if state.phase is Phase.REGISTERING:
        return _FIXED_BYTES + _BYTES_FOR_ENTRY * (len(state.entries) + 1)
    return _FIXED_BYTES + _BYTES_FOR_TABLE * len(state.tables)
