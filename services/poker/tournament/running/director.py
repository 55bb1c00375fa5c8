"""The course of a tournament: a state and a fact give the next state and the orders that follow (`apply`).

Pure and deterministic: time comes in with the facts, entropy too. Whoever replays the facts after a crash has the same
state, and the same orders under the same keys.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from services.poker.tournament.levels import moment
from services.poker.tournament.money.awards import Why
from services.poker.tournament.money.entries import Entry, EntryState, PayIn, Purchase
from services.poker.tournament.ranking import Out
from services.poker.tournament.refusals import TournamentRefused
from services.poker.tournament.running import orders, requests
from services.poker.tournament.running.ending import Ending
from services.poker.tournament.running.facts import (
    AddedOn,
    CameBack,
    CancelOrdered,
    Event,
    Fact,
    HandEnded,
    HandVoided,
    Paid,
    Rebought,
    RebuyDeclined,
    TimePassed,
    Unregistered,
    WentAway,
)
from services.poker.tournament.running.orders import Order
from services.poker.tournament.running.state import Awaited, Phase, Tournament
from services.poker.tournament.specific_rules import Start, TournamentRules, verify
from services.poker.tournament.tables.balancing import shortest
from services.poker.tournament.tables.draws import seats_at_start
from services.poker.tournament.tables.last_lap import LastLap
from services.poker.tournament.tables.lineup import TournamentTable


def create(tournament_id: str, rules: TournamentRules, starts_at_ms: int | None = None) -> Tournament:
    """Returns a tournament that players can register for, under rules that are verified first."""
    if (rules.start is Start.SCHEDULED) is (starts_at_ms is None):
        raise ValueError("A scheduled tournament has a time at which it starts, and a sit & go has none.")
    return Tournament(tournament_id, verify(rules), starts_at_ms)


def apply(state: Tournament, event: Event) -> tuple[Tournament, tuple[Order, ...]]:
    """Returns the state after a fact, and what is to be done now."""
    if state.phase in {Phase.FINISHED, Phase.CANCELLED} and not isinstance(event.fact, Paid | Rebought | AddedOn):
        return state, ()
    course = _Course(state, event.entropy)
    course.pass_time(max(event.at_ms, state.now_ms))
    course.happen(event.fact)
    course.go_on()
    return course.state, course.orders()


class _Course(Ending):
    """One fact and all that follows from it."""

    # -- time --------------------------------------------------------------------------------------------------------

    def pass_time(self, now_ms: int) -> None:
        """Does what is due by now: the start, levels and breaks, the end of a rebuy's time, the end of the time."""
        self.update(now_ms=now_ms)
        state = self.state
        if state.phase is Phase.REGISTERING:
            if state.starts_at_ms is not None and now_ms >= state.starts_at_ms:
                self._start_or_cancel()
            return
        if state.phase is not Phase.RUNNING:
            return
        late = sorted((each.until_ms, number) for number, each in state.awaited.items() if each.until_ms <= now_ms)
        for _, number in late:
            self.end_wait(number)
        self._turn_level()
        self._end_time()

    def _start_or_cancel(self) -> None:
        if len(self.state.registered) < self.state.rules.min_players:
            # Called off before a card is dealt: as before the hour (36.a, T-A-24).
            self.cancel("too few participants")
        else:
            self._start()

    def _start(self) -> None:
        """Distributes the players at random, with the same chips, and opens all tables at once (39, 41, 47)."""
        state = self.state
        rules = state.rules
        numbers = [entry.number for entry in state.registered]
        drawn = seats_at_start(numbers, rules.seats, self.draws)
        tables: dict[int, TournamentTable] = {}
        for number, seats in drawn.items():
            table = TournamentTable(number, rules.seats)
            for seat, entry in seats.items():
                table = table.sit(seat, entry, rules.starting_stack)
            tables[number] = table
            self.order(orders.OpenTable(number, seats))
        playing = {
            number: dataclasses.replace(state.entries[number], state=EntryState.PLAYING) for number in numbers
        }  # fmt: skip
        self.update(
            phase=Phase.RUNNING,
            entries={**state.entries, **playing},
            tables=tables,
            tables_opened=len(tables),
            started_at_ms=state.now_ms,
            level=1,
        )
        self.order(orders.LevelBegins(1))
        for each in self.state.playing:
            if each.player in state.away:
                self._mark(each, is_away=True)

    def _turn_level(self) -> None:
        """Begins the level or the break that it is time for (45, 46); during the last lap there is none."""
        state = self.state
        if state.lap is not None:
            return
        seconds = (state.now_ms - state.started_at_ms) // 1000
        now = moment(state.rules.levels, seconds)
        if state.is_break and (now.level, now.is_break) != (state.level, True):
            self.order(orders.BreakEnds())
        if now.level != state.level:
            self.order(orders.LevelBegins(now.level))
        if now.is_break and (now.level, state.is_break) != (state.level, True):
            self.order(orders.BreakBegins(state.started_at_ms + (now.ends_at_seconds or 0) * 1000))
        self.update(level=now.level, is_break=now.is_break)

    def _end_time(self) -> None:
        """Begins the last lap of a timed tournament when its time is up: no rebuys from then on (52, T-A-15)."""
        state = self.state
        minutes = state.rules.timed_minutes
        if minutes is None or state.lap is not None or state.now_ms < state.started_at_ms + minutes * 60_000:
            return
        for number in sorted(state.awaited):
            self.end_wait(number)
        if self.state.is_break:
            self.order(orders.BreakEnds())
        self.update(lap=LastLap.begin(self.state.tables.values(), self.state.level), is_break=False)
        self.order(orders.LastLapBegins())

    # -- facts -------------------------------------------------------------------------------------------------------

    def happen(self, fact: Fact) -> None:
        match fact:
            case HandEnded():
                self._hand_ended(fact)
            case HandVoided(table, number):
                self._hand_voided(table, number)
            case CancelOrdered(reason):
                self.cancel(reason)
            case WentAway(player) | CameBack(player):
                self._presence(player, is_away=isinstance(fact, WentAway))
            case TimePassed():
                pass
            case _:
                self._money_fact(fact)

    def _money_fact(self, fact: Paid | Unregistered | Rebought | RebuyDeclined | AddedOn) -> None:
        match fact:
            case Paid():
                self._paid(fact)
            case Unregistered(player):
                self._unregistered(player)
            case Rebought(player):
                self._rebought(player)
            case RebuyDeclined(player):
                self._rebuy_declined(player)
            case AddedOn(player):
                self._added_on(player)

    def _paid(self, fact: Paid) -> None:
        state = self.state
        is_reentry = bool(state.entries_of(fact.player))
        purchase = Purchase.REENTRY if is_reentry else Purchase.ENTRY
        pay_in = PayIn(fact.player, purchase, state.rules.price, fact.paid_by, fact.ticket)
        number = len(state.entries) + 1
        entry = Entry(number, fact.player, pay_in.price, fact.paid_by, fact.ticket, is_reentry)
        self.update(pool_cents=state.pool_cents + entry.price.total_cents)
        try:
            requests.verify_entry(state, pay_in)
        except TournamentRefused:
            # Closed while the money was on its way.
            self.give_back(entry, Why.TOO_LATE, "23")
            return
        self.put(entry)
        if state.phase is Phase.RUNNING:
            self._seat_late(entry)
        elif state.rules.start is Start.ON_FULL and len(self.state.registered) == state.rules.max_players:
            self._start()

    def _seat_late(self, entry: Entry) -> None:
        """Seats a player who enters after the start: by draw, at one of the tables with the fewest players (48)."""
        state = self.state
        self.put(dataclasses.replace(entry, state=EntryState.PLAYING))
        number = shortest(state.tables, self.draws)
        if number is None:
            number = state.tables_opened + 1
            self.update(tables_opened=number)
            self.put_table(TournamentTable(number, state.rules.seats))
            self.order(orders.OpenTable(number, {}))
        table = self.state.tables[number]
        seat = self.draws.one(f"seat of table {number}", table.free_seats)
        # The same chips as everybody had at the start (41, T-A-20).
        self.put_table(table.sit(seat, entry.number, state.rules.starting_stack))
        self.order(orders.SeatPlayer(entry.number, number, seat))
        if entry.player in state.away:
            self._mark(entry, is_away=True)

    def _unregistered(self, player: str) -> None:
        """Refunds an entry that its player has cancelled in time (24, 25); after the start it stays (T-A-31)."""
        entry = self.state.entry_in(player)
        if self.state.phase is Phase.REGISTERING and entry is not None:
            self.give_back(entry, Why.UNREGISTERED, "25")

    def _rebought(self, player: str) -> None:
        state, rules = self.state, self.state.rules
        self.update(pool_cents=state.pool_cents + rules.rebuy_price.total_cents)
        try:
            requests.rebuy(state, player)
        except TournamentRefused:
            self.give_back_more(player, rules.rebuy_price)
            return
        self._add_chips(player, Purchase.REBUY, rules.rebuy_chips)

    def _rebuy_declined(self, player: str) -> None:
        entry = self.state.entry_in(player)
        if entry is not None and entry.number in self.state.awaited:
            self.end_wait(entry.number)

    def _added_on(self, player: str) -> None:
        state, rules = self.state, self.state.rules
        self.update(pool_cents=state.pool_cents + rules.addon_price.total_cents)
        try:
            requests.addon(state, player)
        except TournamentRefused:
            self.give_back_more(player, rules.addon_price)
            return
        self._add_chips(player, Purchase.ADDON, rules.addon_chips)

    def _add_chips(self, player: str, purchase: Purchase, chips: int) -> None:
        entry, rules = self.state.entry_in(player), self.state.rules
        if entry is None:
            raise AssertionError(f"{player} was judged to be in")
        price = rules.rebuy_price if purchase is Purchase.REBUY else rules.addon_price
        self.put(entry.with_more(purchase, price))
        table, seat = self.state.seat_of(entry.number)
        self.put_table(table.add_chips(seat, chips))
        self.stop_waiting(entry.number)
        self.order(orders.AddChips(entry.number, table.number, seat, chips))

    def _hand_ended(self, fact: HandEnded) -> None:
        """Takes over the chips of a hand; who has none is out, unless a rebuy is possible (31, 44)."""
        before = self.state.tables.get(fact.table)
        if before is None or before.hand is None or before.hand.number != fact.number:
            raise ValueError(f"Table {fact.table} plays no hand {fact.number}.")
        hand = before.hand
        stacks = dict(zip(hand.positions.seats, hand.positions.stacks, strict=True))
        self.put_table(before.end_hand(fact.chips))
        if hand.step is None:
            self.update(hands_ended=self.state.hands_ended + 1)
        order = self.state.hands_ended if hand.step is None else hand.step
        table = self.state.tables[fact.table]
        for seat in hand.positions.seats:
            if table.seated[seat].chips:
                continue
            out = Out(table.seated[seat].entry, order, stacks[seat])
            takers = tuple(before.seated[taker].entry for taker in fact.takers.get(seat, ()))
            if not takers:
                raise ValueError(f"Table {fact.table}: somebody has taken the last chips of seat {seat}.")
            self._lost_all(out, takers)

    def _lost_all(self, out: Out, takers: Sequence[int]) -> None:
        """Asks a player without chips to rebuy, where that is possible; otherwise the player is out (31, 44)."""
        can_rebuy = requests.can_rebuy_after_loss(self.state, self.state.entries[out.entry])
        until_ms = self.state.now_ms + self.state.rules.rebuy_decision_seconds * 1000
        self.update(awaited={**self.state.awaited, out.entry: Awaited(until_ms, out, tuple(takers))})
        if can_rebuy:
            self.order(orders.AskRebuy(out.entry, until_ms))
        else:
            self.end_wait(out.entry)

    def _hand_voided(self, number: int, hand_number: int) -> None:
        """Plays a void hand again: the same chips, button and level (section 3 of the rulebook on 72)."""
        table = self.state.tables.get(number)
        if table is None or table.hand is None or table.hand.number != hand_number:
            raise ValueError(f"Table {number} plays no hand {hand_number}.")
        again = table.hand._replace(number=self.next_hand_number())
        self.put_table(dataclasses.replace(table, hand=again))
        self.order(orders.StartHand(number, again))

    def _presence(self, player: str, *, is_away: bool) -> None:
        """Marks a player as away or back; nobody's absence removes anybody (26, 27)."""
        away = self.state.away
        self.update(away=away | {player} if is_away else away - {player})
        entry = self.state.entry_in(player)
        if entry is not None and entry.state is EntryState.PLAYING and (player in away) is not is_away:
            self._mark(entry, is_away=is_away)

    def _mark(self, entry: Entry, *, is_away: bool) -> None:
        table, seat = self.state.seat_of(entry.number)
        self.order(orders.MarkAway(entry.number, table.number, seat, is_away))
