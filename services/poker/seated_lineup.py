"""The lineup of a table as the runtime keeps it: the engine's, with caves as the ledger has them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from feltro.poker.v1 import poker_pb2
from services.kit.table.caves import rules as caves
from services.kit.table.caves.rules import Decisions, OwnPlace, SeatAfterHand, SeatAtTable, Standing
from services.poker import refusals
from services.poker.lineup import lineup as engine
from services.poker.lineup import money
from services.poker.lineup.entry import is_ready
from services.poker.lineup.lineup import Lineup
from services.poker.lineup.seated import Presence, Seated
from services.poker.messages import Brought, Outcome
from services.poker.specific_rules import SpecificRules

_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class SeatedLineup:
    """Implements `services.kit.table.caves.rules.Lineup`. Never changed once made."""

    lineup: Lineup
    # The seats of the hand before at a former owner, whose players are seated again.
    established: frozenset[int] = field(default=frozenset())
    # What seats have brought to a former owner's hand that goes on: what else is in the cave waits for its end.
    brought_cents: Mapping[int, int] = field(default_factory=dict)

    def under(self, rules: SpecificRules) -> SeatedLineup:
        """Returns the lineup under other specific rules, which begin with a hand (R3)."""
        return self._with(dataclasses.replace(self.lineup, rules=rules))

    def seats(self) -> Sequence[SeatAtTable]:
        return [
            SeatAtTable(seat, each.cave_cents + each.top_up_cents, self._standing(each))
            for seat, each in sorted(self.lineup.seated.items())
        ]

    def _standing(self, each: Seated) -> Standing:
        if each.is_leaving:
            return Standing.LEAVING
        if each.presence is not Presence.PLAYING:
            return Standing.AWAY if each.presence is Presence.AWAY else Standing.RESTING
        if each.seat in self.lineup.dealt:
            return Standing.PLAYING
        if not is_ready(self.lineup.rules, each):
            return Standing.SHORT
        return Standing.PLAYING if each.is_established else Standing.WAITING

    def take_seat(self, seat: int, cave_cents: int, kept: bytes = b"") -> SeatedLineup:
        """Seats a player; the cave is what the ledger has, which was judged when it was bought in."""
        lineup, record = self.lineup, poker_pb2.KeptSeat.FromString(kept)
        brought_cents = self.brought_cents.get(seat, cave_cents)
        presence = Presence.PLAYING
        if record.away:
            presence = Presence.RESTING if record.resting_until_ms else Presence.AWAY
        each = Seated(
            seat,
            min(brought_cents, cave_cents),
            presence=presence,
            is_established=seat in lineup.dealt or (seat in self.established and not record.away),
            posts=record.posts,
            top_up_cents=max(0, cave_cents - brought_cents),
            timeout_hands=record.timeout_hands,
            resting_until_ms=record.resting_until_ms,
            rests_ms=tuple(record.rests_ms),
            time_bank_ms=record.time_bank_ms if kept else lineup.rules.time_bank_s * 1000,
            hands_since_refill=record.hands_since_refill,
        )
        return self._with(dataclasses.replace(lineup, seated={**lineup.seated, seat: each}))

    def kept(self, seat: int) -> bytes:
        each = self.lineup.seated[seat]
        return poker_pb2.KeptSeat(
            away=each.presence is not Presence.PLAYING,
            timeout_hands=each.timeout_hands,
            time_bank_ms=each.time_bank_ms,
            hands_since_refill=each.hands_since_refill,
            resting_until_ms=each.resting_until_ms if each.presence is Presence.RESTING else 0,
            rests_ms=each.rests_ms,
            posts=each.posts,
        ).SerializeToString(deterministic=True)

    def leave(self, seat: int) -> SeatedLineup:
        return self._with(self.lineup.leave(seat)) if seat in self.lineup.seated else self

    def set_presence(self, seat: int, presence: caves.Presence, now: datetime, *, posts: bool) -> SeatedLineup:
        each, lineup = self.lineup.seated[seat], self.lineup
        wanted = _PRESENCES[presence]
        if each.presence is not wanted:
            if wanted is Presence.PLAYING:
                lineup = lineup.come_back(seat)
            elif wanted is Presence.AWAY:
                lineup = lineup.sit_out(seat)
            else:
                lineup = lineup.rest(seat, _milliseconds(now))
        if posts and wanted is Presence.PLAYING and not lineup.seated[seat].posts:
            lineup = lineup.post(seat)
        return self if lineup is self.lineup else self._with(lineup)

    def end_rests(self, now: datetime) -> SeatedLineup:
        ended = self.lineup.end_rests(_milliseconds(now))
        return self if ended is self.lineup else self._with(ended)

    def own_place(self, seat: int, now: datetime) -> OwnPlace:
        each = self.lineup.seated[seat]
        is_resting = each.presence is Presence.RESTING
        return OwnPlace(
            each.cave_cents,
            each.top_up_cents,
            _MILLISECOND * each.time_bank_ms,
            self.lineup.rests_left(seat, _milliseconds(now)),
            _EPOCH + _MILLISECOND * each.resting_until_ms if is_resting else None,
        )

    def spend_time(self, seat: int, spent: timedelta) -> SeatedLineup:
        return self._with(self.lineup.spend_time(seat, -(-spent // _MILLISECOND)))

    def buy_in_bounds(self, seat: int, left_with_cents: int) -> tuple[int, int]:
        rules, each = self.lineup.rules, self.lineup.seated[seat]
        if each.is_leaving:
            return 0, 0
        if seat in self.lineup.dealt:
            # What waits is judged again when the hand has left a cave.
            most = rules.top_up_to_max_cents - each.top_up_cents
            return (1, most) if most > 0 else (0, 0)
        if each.cave_cents == 0:
            return self._entry_bounds(left_with_cents)
        return money.top_up_bounds(rules, each.cave_cents) or (0, 0)

    def _entry_bounds(self, left_with_cents: int) -> money.Bounds:
        departure = money.Departure(left_with_cents, 0) if left_with_cents else None
        return money.entry_bounds(self.lineup.rules, departure, 0)

    def verify_buy_in(self, seat: int, cents: int, left_with_cents: int) -> None:
        rules, each = self.lineup.rules, self.lineup.seated[seat]
        if seat in self.lineup.dealt:
            least, most = self.buy_in_bounds(seat, left_with_cents)
            if not least <= cents <= most:
                raise refusals.cave_out_of_bounds(cents, least, most, rules.variant.rule("14"))
        elif each.cave_cents == 0:
            money.verify_entry(rules, cents, self._entry_bounds(left_with_cents))
        else:
            money.verify_top_up(rules, each.cave_cents, cents)

    def buy_in(self, seat: int, cents: int) -> SeatedLineup:
        each = self.lineup.seated[seat]
        if seat in self.lineup.dealt:
            each = dataclasses.replace(each, top_up_cents=each.top_up_cents + cents)
        else:
            each = dataclasses.replace(each, cave_cents=each.cave_cents + cents)
        return self._with(dataclasses.replace(self.lineup, seated={**self.lineup.seated, seat: each}))

    def take_out(self, seat: int, cents: int) -> SeatedLineup:
        each = self.lineup.seated[seat]
        # First what waits for the end of the hand.
        from_waiting = min(cents, each.top_up_cents)
        each = dataclasses.replace(
            each, top_up_cents=each.top_up_cents - from_waiting, cave_cents=each.cave_cents - (cents - from_waiting)
        )
        return self._with(dataclasses.replace(self.lineup, seated={**self.lineup.seated, seat: each}))

    def next_hand(self) -> tuple[SeatedLineup, Mapping[int, Brought] | None]:
        by_lot = self.lineup.button is None
        # The lot decides the button and not who is dealt in.
        begun, positions = self.lineup.start_hand(lambda _: 0)
        if positions is None:
            return self._with(begun), None
        button = 0 if by_lot else positions.button
        posting = {positions.seats[at] for at in positions.posters}
        brought = {
            seat: Brought(seat, stack, button, seat in posting)
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
        return self._with(ended), _seats_after(reports)

    def after_void_hand(self) -> tuple[SeatedLineup, Sequence[SeatAfterHand]]:
        ended, reports = self.lineup.void_hand()
        return self._with(ended), _seats_after(reports)

    def _with(self, lineup: Lineup) -> SeatedLineup:
        return dataclasses.replace(self, lineup=lineup)


_PRESENCES = {
    caves.Presence.PLAYING: Presence.PLAYING,
    caves.Presence.AWAY: Presence.AWAY,
    caves.Presence.RESTING: Presence.RESTING,
}


def _seats_after(reports: Sequence[engine.SeatReport]) -> Sequence[SeatAfterHand]:
    return [
        SeatAfterHand(
            report.seat,
            report.excused,
            report.cave_below_minimum,
            # Who leaves gets it back with the cave.
            report.released_cents if report.cashed_out_cents is None else 0,
        )
        for report in reports
    ]


def _milliseconds(at: datetime) -> int:
    return (at - _EPOCH) // _MILLISECOND
