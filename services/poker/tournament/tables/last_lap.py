"""The end of a timed tournament: one more lap at each table, until everybody has had the button again (52, T-A-15)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from services.poker.tournament.tables.lineup import TournamentTable


@dataclass(frozen=True, slots=True)
class LastLap:
    """Who has not had the button since time ran out, by table. Never changed once made."""

    # The level goes on as it was.
    level: int
    owed: Mapping[int, frozenset[int]]

    @classmethod
    def begin(cls, tables: Iterable[TournamentTable], level: int) -> LastLap:
        """Begins the lap when time runs out; a hand under way is finished, and its button does not count."""
        return cls(
            level,
            {
                table.number: frozenset(table.seated[seat].entry for seat in table.players)
                for table in tables
            },
        )  # fmt: skip

    def after_button(self, table: int, entry: int) -> LastLap:
        """Returns the lap after a hand has begun with the button at an entry."""
        return LastLap(self.level, {**self.owed, table: self.owed[table] - {entry}})

    def is_over(self, table: TournamentTable) -> bool:
        """Whether a table plays no further hand: everybody still in has had the button, or one player is left."""
        still_in = {table.seated[seat].entry for seat in table.players}
        return len(still_in) < 2 or not still_in & self.owed[table.number]
