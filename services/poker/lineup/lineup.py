"""The lineup of a table: everybody who is seated, from hand to hand. Every command returns the lineup after it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from services.poker import refusals
from services.poker.lineup import money
from services.poker.lineup.entry import Draw, Positions, is_ready, next_positions
from services.poker.lineup.seated import Presence, Seated
from services.poker.specific_rules import EntryMode, SpecificRules

_HOUR_MS = 3_600_000


class Decisions(NamedTuple):
    """How a player decided in a hand: in person, and by running out of time (A-22, A-25)."""

    in_person: int = 0
    timeouts: int = 0


class SeatReport(NamedTuple):
    """What the end of a hand means for one seat, dealt in or not."""

    seat: int
    # Whether chips of the seat went into the pot, a blind among them (20).
    bet: bool
    # Whether a hand without a bet does not count towards inactivity.
    excused: bool
    # Whether the cave is below the minimum bet: nothing is dealt before a *reposição* (15, 70.a).
    cave_below_minimum: bool
    # What was added to the cave of a *reposição* that waited, and what goes back to the account.
    topped_up_cents: int
    released_cents: int
    # The cave that goes to the account of a player who has left; None for a player who stays.
    cashed_out_cents: int | None
    # Whether the player sits out from now on because the clock decided everything.
    sits_out: bool


_NO_DECISIONS = Decisions()


@dataclass(frozen=True, slots=True)
class Lineup:
    """Everybody who is seated, and where the button is. Never changed once made."""

    rules: SpecificRules
    seated: Mapping[int, Seated] = field(default_factory=dict)
    # The seat that has the button; None before the table starts, and while it is suspended: then it is drawn (46).
    button: int | None = None
    # The seats in the hand that is running; empty between hands.
    dealt: frozenset[int] = frozenset()

    @property
    def is_hand_running(self) -> bool:
        return bool(self.dealt)

    # -- coming and going ------------------------------------------------------------------------------------------

    def take_seat(self, seat: int, cave_cents: int, bounds: money.Bounds) -> Lineup:
        """Seats a player with a cave inicial within the bounds (8); the seat is dealt in as its turn comes (A-20)."""
        rules = self.rules
        if not 1 <= seat <= rules.seats:
            raise refusals.seat_unknown(seat, rules.seats, rules.variant.rule("5"))
        if seat in self.seated:
            raise refusals.seat_taken(seat, rules.variant.rule("9"))
        money.verify_entry(rules, cave_cents, bounds)
        return self._with(Seated(seat, cave_cents, time_bank_ms=rules.time_bank_s * 1000))

    def leave(self, seat: int) -> Lineup:
        """Lets a player go with the cave (10): at once, or when the hand is over that the player is in (A-18)."""
        if seat in self.dealt:
            return self._with(dataclasses.replace(self.seated[seat], is_leaving=True))
        return dataclasses.replace(self, seated={at: each for at, each in self.seated.items() if at != seat})

    def sit_out(self, seat: int) -> Lineup:
        """Deals a player out from the next hand on (A-21)."""
        return self._with(
            dataclasses.replace(self.seated[seat], presence=Presence.AWAY, posts=False, resting_until_ms=0)
        )

    def rest(self, seat: int, now_ms: int) -> Lineup:
        """Grants a rest, as many in an hour as the table offers (68)."""
        rules, each = self.rules, self.seated[seat]
        taken = _rests_of_the_hour(each, now_ms)
        if not self.rests_left(seat, now_ms):
            raise refusals.rest_refused(rules.rest_per_hour, rules.rest_period_s, rules.variant.rule("68"))
        return self._with(
            dataclasses.replace(
                each,
                presence=Presence.RESTING,
                posts=False,
                resting_until_ms=now_ms + rules.rest_period_s * 1000,
                rests_ms=(*taken, now_ms),
            )
        )

    def rests_left(self, seat: int, now_ms: int) -> int:
        """Returns how many rests a player may still take in this hour (68)."""
        rules = self.rules
        if rules.rest_period_s == 0:
            return 0
        return max(0, rules.rest_per_hour - len(_rests_of_the_hour(self.seated[seat], now_ms)))

    def end_rests(self, now_ms: int) -> Lineup:
        """Ends the rests whose time is over: who has not come back sits out without leave."""
        over = {
            seat: dataclasses.replace(each, presence=Presence.AWAY, resting_until_ms=0)
            for seat, each in self.seated.items()
            if each.presence is Presence.RESTING and now_ms >= each.resting_until_ms
        }
        return dataclasses.replace(self, seated={**self.seated, **over}) if over else self

    def spend_time(self, seat: int, spent_ms: int) -> Lineup:
        """Takes time out of a player's bank (44)."""
        each = self.seated[seat]
        return self._with(dataclasses.replace(each, time_bank_ms=max(0, each.time_bank_ms - spent_ms)))

    def come_back(self, seat: int) -> Lineup:
        """Lets a player be dealt in again, like a newcomer if a hand was missed (A-20)."""
        each = self.seated[seat]
        return self._with(
            dataclasses.replace(each, presence=Presence.PLAYING, came_back=True, timeout_hands=0, resting_until_ms=0)
        )

    def post(self, seat: int) -> Lineup:
        """Lets a newcomer enter by posting a big blind of their own free will, where the table offers it (A-20)."""
        rule = self.rules.variant.rule("21")
        if self.rules.entry_mode is not EntryMode.WAIT_OR_VOLUNTARY_POST:
            raise refusals.post_refused(seat, "this table has no voluntary posts", rule)
        each = self.seated[seat]
        if each.is_established or not is_ready(self.rules, each):
            raise refusals.post_refused(seat, "only a player who waits to be dealt in may", rule)
        return self._with(dataclasses.replace(each, posts=True))

    # -- *reposições* (11.b, 12, A-24) -------------------------------------------------------------------------------

    def top_up(self, seat: int, amount_cents: int) -> Lineup:
        """Adds to a cave, strictly between hands: while one is running, the amount waits for its end.

        What waits is judged again then, by the cave that the hand has left.
        """
        each = self.seated[seat]
        if not self.is_hand_running:
            money.verify_top_up(self.rules, each.cave_cents, amount_cents)
            return self._with(dataclasses.replace(each, cave_cents=each.cave_cents + amount_cents))
        largest_cents = self.rules.top_up_to_max_cents
        if not 1 <= amount_cents <= largest_cents - each.top_up_cents:
            rule = self.rules.variant.rule("14")
            raise refusals.cave_out_of_bounds(amount_cents, 1, largest_cents - each.top_up_cents, rule)
        return self._with(dataclasses.replace(each, top_up_cents=each.top_up_cents + amount_cents))

    # -- from hand to hand -------------------------------------------------------------------------------------------

    def start_hand(self, draw: Draw) -> tuple[Lineup, Positions | None]:
        """Begins a hand with all who are dealt in; without two of them the table is suspended (7, A-21)."""
        positions = next_positions(self.rules, self.seated.values(), self.button, draw)
        if positions is None:
            return dataclasses.replace(self, button=None), None
        dealt = frozenset(positions.seats)
        seated = {
            seat: dataclasses.replace(each, is_established=seat in dealt, posts=each.posts and seat not in dealt)
            for seat, each in self.seated.items()
        }
        return dataclasses.replace(self, seated=seated, button=positions.button, dealt=dealt), positions

    def end_hand(
        self, caves_cents: Mapping[int, int], bet: frozenset[int], decisions: Mapping[int, Decisions]
    ) -> tuple[Lineup, tuple[SeatReport, ...]]:
        """Ends a hand with the caves, by seat, that it has left, and says what that means for each seat.

        `bet` are the seats with chips in the pot, and `decisions` how each seat that had any has decided.
        """
        seated: dict[int, Seated] = {}
        reports: list[SeatReport] = []
        for seat, each in sorted(self.seated.items()):
            decided = decisions.get(seat, _NO_DECISIONS)
            after, report = self._end_for(each, caves_cents.get(seat, each.cave_cents), decided, bet=seat in bet)
            reports.append(report)
            if report.cashed_out_cents is None:
                seated[seat] = after
        return dataclasses.replace(self, seated=seated, dealt=frozenset()), tuple(reports)

    def void_hand(self) -> tuple[Lineup, tuple[SeatReport, ...]]:
        """Ends a void hand: caves are as before it, it counts for nobody, and the button is drawn anew (72, A-28)."""
        after, reports = self.end_hand({}, frozenset(), {})
        return dataclasses.replace(after, button=None), tuple(report._replace(excused=True) for report in reports)

    def _end_for(self, each: Seated, cave_cents: int, decided: Decisions, *, bet: bool) -> tuple[Seated, SeatReport]:
        rules = self.rules
        top_up_cents = 0 if each.is_leaving else money.fitting_top_up_cents(rules, cave_cents, each.top_up_cents)
        timeout_hands = each.timeout_hands
        if decided.in_person:
            timeout_hands = 0
        elif decided.timeouts:
            timeout_hands += 1
        sits_out = each.presence is Presence.PLAYING and timeout_hands >= rules.auto_sitout_after
        after = dataclasses.replace(
            each,
            cave_cents=cave_cents + top_up_cents,
            presence=Presence.AWAY if sits_out else each.presence,
            top_up_cents=0,
            timeout_hands=timeout_hands,
            came_back=False,
        )
        if each.seat in self.dealt:
            after = _with_refilled_bank(rules, after)
        report = SeatReport(
            seat=each.seat,
            bet=bet,
            excused=self._is_excused(each, decided),
            cave_below_minimum=after.cave_cents < rules.big_blind_cents,
            topped_up_cents=top_up_cents,
            released_cents=each.top_up_cents - top_up_cents,
            cashed_out_cents=after.cave_cents if each.is_leaving else None,
            sits_out=sits_out,
        )
        return after, report

    def _is_excused(self, each: Seated, decided: Decisions) -> bool:
        """Whether a hand without a bet of this seat does not count: only absence does, if the table says so (A-25)."""
        if each.presence is Presence.RESTING:
            return True
        if not self.rules.inactive_requires_absence:
            return False
        # Waiting for the big blind is no absence.
        is_absent = each.presence is Presence.AWAY or decided.timeouts > 0
        return decided.in_person > 0 or each.came_back or not is_absent

    def _with(self, each: Seated) -> Lineup:
        return dataclasses.replace(self, seated={**self.seated, each.seat: each})


def _rests_of_the_hour(each: Seated, now_ms: int) -> tuple[int, ...]:
    return tuple(began for began in each.rests_ms if now_ms - began < _HOUR_MS)


def _with_refilled_bank(rules: SpecificRules, each: Seated) -> Seated:
    """Counts a hand that the player was dealt into; after so many the time bank is refilled, up to its cap (44)."""
    hands = each.hands_since_refill + 1
    if hands < rules.time_bank_refill_hands:
        return dataclasses.replace(each, hands_since_refill=hands)
    bank_ms = min(each.time_bank_ms + rules.time_bank_refill_s * 1000, rules.time_bank_cap_s * 1000)
    return dataclasses.replace(each, hands_since_refill=0, time_bank_ms=max(bank_ms, each.time_bank_ms))
