"""A table of a tournament that the test directs: it is played for chips, and tells how the tournament stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from services.poker import specific_rules_message
from services.poker.engine import Table
from tests.browser.recorded.directed.messages import in_ms, moment, packed
from tests.browser.recorded.poker.table import ScriptedTable
from tests.browser.recorded.tournaments.tournament import DirectedTournament

# Longer than any test looks.
LEVEL_ENDS_IN = timedelta(minutes=9)


def first_level() -> poker_pb2.TournamentNotice:
    """What players are told in the first level."""
    notice = poker_pb2.TournamentNotice(
        level=1,
        small_blind=50,
        big_blind=100,
        next_small_blind=75,
        next_big_blind=150,
        players_left=12,
        average_chips=1500,
        paid_places=2,
    )
    notice.level_ends_at.CopyFrom(moment(in_ms(LEVEL_ENDS_IN // timedelta(milliseconds=1))))
    return notice


@dataclass(kw_only=True)
class TournamentTable(ScriptedTable):
    """One table. Its stacks are those that the hands of poker call caves."""

    tournament: DirectedTournament
    notice: poker_pb2.TournamentNotice = field(default_factory=first_level)
    held: str = ""
    away: set[int] = field(default_factory=set)

    @property
    def engine(self) -> Table:
        return Table(specific_rules_message.read(super().configuration()))

    def configuration(self) -> types_pb2.TableConfiguration:
        configuration = super().configuration()
        configuration.regulation = "810/2015"
        configuration.name.CopyFrom(self.tournament.summary.configuration.name)
        configuration.rules.CopyFrom(packed(self.tournament.summary.configuration.rules))
        return configuration

    def snapshot(self) -> types_pb2.TableSnapshot:
        snapshot = super().snapshot()
        del snapshot.caves[:]
        del snapshot.seats[:]
        snapshot.chips.CopyFrom(self.chips())
        return snapshot

    def own_seat(self) -> table_pb2.OwnSeat | None:
        seat = super().own_seat()
        if seat is not None:
            seat.ClearField("cave")
            seat.chips.time_bank_ms = self.options.time_bank_ms
        return seat

    def chips(self) -> types_pb2.ChipTable:
        return types_pb2.ChipTable(
            seats=[
                types_pb2.ChipsAtSeat(
                    seat=seat, chips=chips, away=seat in self.away, disconnected=seat in self.disconnected
                )
                for seat, chips in sorted(self.caves.items())
            ],
            held=self.held,
            notice=packed(self.notice),
        )

    def tell_caves(self) -> None:
        self.event("chips_changed", events_pb2.ChipsChanged(chips=self.chips()))

    def mark(self, seat: int, *, away: bool) -> None:
        """Tells that a player sits out, or is back."""
        (self.away.add if away else self.away.discard)(seat)
        self.tell_caves()

    def hold(self, why: str) -> None:
        """Tells why no hand begins."""
        self.held = why
        self.tell_caves()
