"""The lineup of a table as the runtime keeps it: the engine's, with caves as the ledger has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from feltro.poker.v1 import poker_pb2
from services.kit.table.caves.rules import Decisions, SeatAfterHand, SeatAtTable, Standing
from services.poker import refusals
from services.poker.lineup import lineup as engine
from services.poker.lineup import money
from services.poker.lineup.entry import is_ready
from services.poker.lineup.lineup import Lineup
from services.poker.lineup.seated import Presence, Seated
from services.poker.messages import Brought, Outcome


@dataclass(frozen=True, slots=True)
class SeatedLineup:
    """Implements `services.kit.table.caves.rules.Lineup`. Never changed once made."""

    lineup: Lineup
    # The seats of the hand before at a former owner, whose players are seated again.
    established: frozenset[int] = field(default=frozenset())

    def seats(self) -> Sequence[SeatAtTable]:
        return [
            SeatAtTable(seat, each.cave_cents + each.top_up_cents, self._standing(each))
            for seat, each in sorted(self.lineup.seated.items())
        ]

    def _standing(self, each: Seated) -> Standing:
        if each.is_leaving:
            return Standing.LEAVING
        if each.seat in self.lineup.dealt:
            return Standing.PLAYING
        if each.presence is not Presence.PLAYING:
            return Standing.AWAY
        if not is_ready(self.lineup.rules, each):
            return Standing.SHORT
        return Standing.PLAYING if each.is_established else Standing.WAITING

    def take_seat(self, seat: int, cave_cents: int, kept: bytes = b"") -> SeatedLineup:
        """Seats a player; the cave is what the ledger has, which was judged when it was bought in."""
        record = poker_pb2.KeptSeat.FromString(kept)
        each = Seated(
            seat,
            cave_cents,
            presence=Presence.AWAY if record.away else Presence.PLAYING,
            is_established=seat in self.established and not record.away,
            timeout_hands=record.timeout_hands,
        )
        return self._with(dataclasses.replace(self.lineup, seated={**self.lineup.seated, seat: each}))

    def kept(self, seat: int) -> bytes:
        each = self.lineup.seated[seat]
        away = each.presence is not Presence.PLAYING
        return poker_pb2.KeptSeat(away=away, timeout_hands=each.timeout_hands).SerializeToString()

    def leave(self, seat: int) -> SeatedLineup:
        return self._with(self.lineup.leave(seat)) if seat in self.lineup.seated else self

    def set_away(self, seat: int, *, away: bool) -> SeatedLineup:
        each = self.lineup.seated[seat]
        if away == (each.presence is not Presence.PLAYING):
            return self
        return self._with(self.lineup.sit_out(seat) if away else self.lineup.come_back(seat))

    def verify_buy_in(self, seat: int, cents: int) -> None:
        rules, each = self.lineup.rules, self.lineup.seated[seat]
        if each.cave_cents == 0 and seat not in self.lineup.dealt:
            money.verify_entry(rules, cents, money.entry_bounds(rules, None, 0))
        elif seat in self.lineup.dealt:
            # What waits is judged again when the hand has left a cave.
            most = rules.top_up_to_max_cents - each.top_up_cents
            if not 1 <= cents <= most:
                raise refusals.cave_out_of_bounds(cents, 1, most, rules.variant.rule("14"))
        else:
            money.verify_top_up(rules, each.cave_cents, cents)

    def buy_in(self, seat: int, cents: int) -> SeatedLineup:
        each = self.lineup.seated[seat]
        if seat in self.lineup.dealt:
            each = dataclasses.replace(each, top_up_cents=each.top_up_cents + cents)
        else:
            each = dataclasses.replace(each, cave_cents=each.cave_cents + cents)
        return self._with(dataclasses.replace(self.lineup, seated={**self.lineup.seated, seat: each}))

    def next_hand(self) -> tuple[SeatedLineup, Mapping[int, Brought] | None]:
        by_lot = self.lineup.button is None
        # The lot decides the button and not who is dealt in.
        begun, positions = self.lineup.start_hand(lambda _: 0)
        if positions is None:
            return self._with(begun), None
        button = 0 if by_lot else positions.button
        brought = {
            seat: Brought(seat, stack, button)
            for seat, stack in sorted(zip(positions.seats, positions.stacks, strict=True))
        }
        return self._with(begun), brought

    def after_hand(
        self, outcome: Outcome, decisions: Mapping[int, Decisions]
    ) -> tuple[SeatedLineup, Sequence[SeatAfterHand]]:
        caves = {
            seat: self.lineup.seated[seat].cave_cents - result.staked_cents + result.won_cents
            for seat, result in outcome.result.seats.items()
            if seat in self.lineup.seated
        }
        bet = frozenset(seat for seat, result in outcome.result.seats.items() if result.staked_cents)
        decided = {seat: engine.Decisions(*each) for seat, each in decisions.items()}
        ended, reports = self.lineup.end_hand(caves, bet, decided)
        ended = dataclasses.replace(ended, button=outcome.record.view.button)
        return self._with(ended), [
            SeatAfterHand(report.seat, report.excused, report.cave_below_minimum, report.released_cents)
            for report in reports
        ]

    def after_void_hand(self) -> SeatedLineup:
        ended, _ = self.lineup.void_hand()
        return self._with(ended)

    def _with(self, lineup: Lineup) -> SeatedLineup:
        return dataclasses.replace(self, lineup=lineup)
