"""One live table whose players bring caves: between two hands they buy in, come back and leave; then a hand is dealt.

What a player brings to a hand is fixed when it is dealt, and journalled as the stake of their seat. Chips that are
bought in meanwhile lie in the cave and are in play from the next hand on (`806/2015:11.b`). One transfer ends the hand.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Generic, cast

from feltro.table.v1 import events_pb2, kept_pb2, table_pb2, types_pb2
from feltro.wallet.v1 import session_pb2, wallet_pb2
from services.kit import background
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.banked.round import Round
from services.kit.table.banked.settlement import Decided, RoundResult, Settlement
from services.kit.table.caves.departures import Departures
from services.kit.table.caves.money import Caves
from services.kit.table.caves.period import TablePeriod
from services.kit.table.caves.record import LineupRecord
from services.kit.table.caves.rules import (
    CaveRules,
    CaveTimes,
    Decisions,
    Lineup,
    Presence,
    SeatAfterHand,
    Standing,
)
from services.kit.table.caves.settlement import HandSettlement
from services.kit.table.caves.waiting import WaitingList
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, LosesEarly, Outcome
from services.kit.table.hands.table import HandTable
from services.kit.table.hands.times import recovered_within
from services.kit.table.journal.entries import ActedBy, Journal, JournalStake
from services.kit.table.journal.seats import KeptSeat
from services.kit.table.live.dependencies import TableDependencies
from services.kit.table.live.kinds import FoundTable
from services.kit.table.live.table import BUS_CHECK_EVERY_S, WALLET_RETRY_S, LiveTable, round_id_of
from services.kit.table.seat import Seat
from services.kit.table.turns.resuming import ResumedRound
from services.kit.table.turns.turn_clock import NO_TIME
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered
from services.kit.table.wallet.table_wallet import TableWallet
from services.kit.wire_format import timestamp

_MILLISECOND = timedelta(milliseconds=1)
_log = logging.getLogger(__name__)


class CaveTables(Generic[Bets, Outcome]):
    """The kind of tables whose players play against each other, each with a cave."""

    async def open_table(
        self, found: FoundTable[Bets, Outcome], dependencies: TableDependencies[Bets, Outcome]
    ) -> LiveTable[Bets, Outcome]:
        caves = Caves(dependencies.wallet)
        await caves.load()
        record = LineupRecord(dependencies.seats, found.placement_id, found.table_id, found.epoch, dependencies.clock)
        return CaveTable(found, dependencies, caves, record, await record.read())

    async def settlement(self, wallet: TableWallet, journal: Journal, epoch: int) -> Settlement[Bets, Outcome]:
        caves = Caves(wallet)
        await caves.load()
        return HandSettlement(wallet, journal, epoch, caves)

    def recovered_within(self, rules: VersionedRules[Bets, Outcome]) -> timedelta | None:
        return recovered_within(timedelta(milliseconds=rules.configuration.decision_ms), _rules(rules).times)


class CaveTable(HandTable[Bets, Outcome]):
    """Runs one table with caves under one lease."""

    def __init__(
        self,
        found: FoundTable[Bets, Outcome],
        dependencies: TableDependencies[Bets, Outcome],
        caves: Caves,
        record: LineupRecord,
        kept: kept_pb2.KeptLineup,
    ) -> None:
        """`kept` is what the former owner has left on record of the lineup."""
        self._caves = caves
        self._record = record
        # By session, until its player is seated again.
        self._kept_places = {place.session_id: place for place in kept.places}
        self._departures = Departures(kept.departures)
        self._waiting = WaitingList(found.table_id)
        self._waiting.restore(kept.waiting)
        self._period = TablePeriod(found.table_id, kept.period)
        self._period.follow(_rules(dependencies.host.rules_in_force()).period)
        self._told_places: dict[str, events_pb2.WaitingPlace] = {}
        # By when caves have to be filled, by session.
        self._fill_by: dict[str, datetime] = {}
        # Caves that are being filled: to the end, even if nobody waits for it.
        self._filling: set[asyncio.Task[wallet_pb2.BuyInResponse]] = set()
        # What each seat brings to the hand that is about to be dealt, or has brought to the last one.
        self._brought: Mapping[int, Bets] = _dealt_in(found.resumed) or {}
        # Gives caves back while the table does something else.
        self._letting_go: asyncio.Task[None] | None = None
        # Sessions that were cashed out since the last hand: each once, whatever has become of it.
        self._cashed_out: set[str] = set()
        # What those have got back in the hand under way who have folded and leave, by session.
        self._taken_out: dict[str, int] = {}
        self._lineup: Lineup[Bets, Outcome] = _rules(dependencies.host.rules_in_force()).lineup(
            _last_outcome(found, _rules(dependencies.host.rules_in_force())), _dealt_in(found.resumed)
        )
        super().__init__(
            found,
            dependencies,
            HandSettlement(
                dependencies.wallet, dependencies.journal, found.epoch, caves, self._judge_hand, self._end_void_hand
            ),
        )

    @property
    def _times(self) -> CaveTimes:
        return _rules(self._configured).times

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            if self._letting_go is not None:
                await background.cancel_and_wait([self._letting_go])
            await self._record.close()

    # -- what others see ---------------------------------------------------------------------------------------------

    @property
    def refuses_shared_devices(self) -> bool:
        return _rules(self._host.rules_in_force()).refuses_shared_devices

    def snapshot(self) -> types_pb2.TableSnapshot:
        snapshot = super().snapshot()
        snapshot.caves.extend(self._caves_at_seats())
        snapshot.waiting = len(self._waiting)
        return snapshot

    def _caves_at_seats(self) -> list[types_pb2.CaveAtSeat]:
        return [
            types_pb2.CaveAtSeat(
                seat=each.seat,
                cave_cents=each.cave_cents,
                standing=types_pb2.CaveStanding.ValueType(each.standing),
                disconnected=each.seat in self._disconnected,
            )
            for each in self._lineup.seats()
        ]

    def _tell_caves(self) -> None:
        """Tells everybody what is in the caves and how their players take part, and keeps that on record."""
        changed = events_pb2.CavesChanged(caves=self._caves_at_seats(), waiting=len(self._waiting))
        self._publish(events_pb2.TableEvent(caves_changed=changed))
        self._keep()

    def _tell_seats(self) -> None:
        self._tell_caves()

    def own_cave(self, player_id: str) -> table_pb2.OwnCave | None:
        seat = self._seating.seat_of(player_id)
        if seat is None or not self._has_place(seat.number):
            return None
        place = self._lineup.own_place(seat.number, self._clock.now())
        least, most = self._lineup.buy_in_bounds(seat.number, self._left_with_cents(player_id))
        return table_pb2.OwnCave(
            cave_cents=place.cave_cents,
            waiting_cents=place.waiting_cents,
            buy_in_min_cents=least,
            buy_in_max_cents=most,
            time_bank_ms=place.time_bank // _MILLISECOND,
            rests_left=place.rests_left,
            resting_until=timestamp(place.resting_until),
            fill_by=timestamp(self._fill_by.get(seat.session_id)),
        )

    def _has_place(self, number: int) -> bool:
        return any(each.seat == number for each in self._lineup.seats())

    def _left_with_cents(self, player_id: str) -> int:
        return self._departures.cents_of(player_id, self._clock.now() - self._times.return_window)

    def _keep(self) -> None:
        """Keeps on record what a next owner goes on with."""
        by_number = {seat.number: seat.session_id for seat in self._seating.seats()}
        places = [
            kept_pb2.KeptPlace(
                session_id=by_number[each.seat],
                state=self._lineup.kept(each.seat),
                fill_by=timestamp(self._fill_by.get(by_number[each.seat])),
            )
            for each in self._lineup.seats()
            if each.seat in by_number
        ]
        self._departures.forget_before(self._clock.now() - self._times.return_window)
        self._record.note(
            kept_pb2.KeptLineup(
                # A former owner's players are seated again one after the other.
                places=[*places, *(self._kept_places[each] for each in sorted(self._kept_places))],
                departures=self._departures.messages(),
                waiting=self._waiting.messages(),
                period=self._period.message(),
            )
        )

    # -- sessions and seats ------------------------------------------------------------------------------------------

    def apply_session(self, session: session_pb2.Session) -> None:
        super().apply_session(session)
        self._follow_seats()

    def seat_again(self, kept: Sequence[KeptSeat], sessions: Collection[session_pb2.Session]) -> None:
        super().seat_again(kept, sessions)
        self._follow_seats()
        # The sessions that are not seated again have ended.
        self._kept_places.clear()
        self._keep()

    def reconcile_seats(self, asked_about: Collection[str], running: Iterable[session_pb2.Session]) -> None:
        super().reconcile_seats(asked_about, running)
        self._follow_seats()

    def _follow_seats(self) -> None:
        """Seats in the lineup who sits here, and lets those go who leave."""
        before = self._lineup
        known = {each.seat: each.standing for each in before.seats()}
        for seat in self._seating.seats():
            if self._seating.is_ending(seat.player_id):
                if known.get(seat.number) not in {None, Standing.LEAVING}:
                    self._lineup = self._lineup.leave(seat.number)
            elif seat.number not in known:
                kept = self._kept_places.pop(seat.session_id, kept_pb2.KeptPlace())
                self._lineup = self._lineup.take_seat(seat.number, self._caves.cents_of(seat.session_id), kept.state)
                if kept.HasField("fill_by"):
                    self._fill_by[seat.session_id] = kept.fill_by.ToDatetime(UTC)
        taken = {seat.number for seat in self._seating.seats()}
        for number in known.keys() - taken:
            self._lineup = self._lineup.leave(number)
        if self._lineup is not before:
            self._tell_caves()
        self._follow_waiting()

    # -- who waits for a seat ----------------------------------------------------------------------------------------

    def join_waiting_list(self, player_id: str) -> events_pb2.WaitingPlace:
        """Puts a player on the waiting list, and returns their place; refused to those who sit here."""
        if self._seating.seat_of(player_id) is not None:
            raise refusals.already_seated(self.table_id)
        self.verify_admitted(player_id)
        self._waiting.join(player_id)
        self._follow_waiting()
        return self._told_places[player_id]

    # -- tables that are open for a time fixed beforehand ------------------------------------------------------------

    def verify_admitted(self, player_id: str) -> None:
        self._period.verify_entry(player_id, self._clock.now())

    async def register(self, player_id: str) -> None:
        """Registers a player for the table's period; on record before it is answered (G5)."""
        self._follow_period()
        self._period.register(player_id, self._clock.now())
        await self._keep_registrations()

    async def cancel_registration(self, player_id: str) -> None:
        """Takes a player's registration back."""
        self._period.cancel(player_id)
        await self._keep_registrations()

    async def _keep_registrations(self) -> None:
        self._keep()
        if not await self._record.flush():
            # Sending it again changes nothing.
            raise refusals.unavailable("It is not on record yet")

    def registration(self, player_id: str) -> tuple[bool, int]:
        """Returns whether a player is registered, and how many are."""
        return self._period.is_registered(player_id), self._period.registered_count

    def _follow_period(self) -> None:
        self._period.follow(_rules(self._host.rules_in_force()).period)

    def leave_waiting_list(self, player_id: str) -> None:
        """Takes a player off the waiting list."""
        self._waiting.leave(player_id)
        self._follow_waiting()

    def players_with_kept_seats(self) -> frozenset[str]:
        return frozenset(self._waiting.kept_seats())

    def forget_wanted_seat(self, player_id: str) -> None:
        super().forget_wanted_seat(player_id)
        self._want_kept_seats()

    def _follow_waiting(self) -> None:
        """Keeps seats that are free for those who wait, and tells them; everybody learns how many wait."""
        for seat in self._seating.seats():
            self._waiting.leave(seat.player_id)
        taken = {seat.number for seat in self._seating.seats()}
        free = [number for number in range(1, self._configured.configuration.seats + 1) if number not in taken]
        kept_before = self._waiting.kept_seats()
        self._waiting.follow(free, self._clock.now())
        for player_id in kept_before.keys() - self._waiting.kept_seats().keys():
            super().forget_wanted_seat(player_id)
        self._want_kept_seats()
        places = self._waiting.places()
        if places == self._told_places:
            return
        for player_id in {*places, *self._told_places}:
            place = places.get(player_id, events_pb2.WaitingPlace())
            if place != self._told_places.get(player_id):
                self._own_view_publisher.publish(
                    events_pb2.OwnViewChanged(table_id=self.table_id, player_id=player_id, waiting=place)
                )
        self._told_places = places
        self._tell_caves()
        self.wake()

    def _want_kept_seats(self) -> None:
        for player_id, number in self._waiting.kept_seats().items():
            self._seating.want_seat(player_id, number)

    # -- what players do ---------------------------------------------------------------------------------------------

    async def buy_in(self, player_id: str, command: BetCommand, cents: int) -> wallet_pb2.BuyInResponse:
        """Fills the cave of a player who sits here; the chips are in play from the next hand on (`806/2015:11.b`)."""
        filling = asyncio.create_task(self._buy_in(player_id, command, cents))
        self._filling.add(filling)
        filling.add_done_callback(self._filling.discard)
        return await background.shared_result(filling)

    async def _buy_in(self, player_id: str, command: BetCommand, cents: int) -> wallet_pb2.BuyInResponse:
        async with self._caves.judging:
            seat, rules = self._seat_of(player_id), _rules(self._configured)
            if not self._caves.has_bought(seat, command):
                self._lineup.verify_buy_in(seat.number, cents, self._left_with_cents(player_id))
            answer, added_cents = await self._caves.buy_in(
                seat, command, rules.cave_growth_cents(cents), rules.buy_in_commission_cents(cents)
            )
            if added_cents and self._has_place(seat.number):
                self._lineup = self._lineup.buy_in(seat.number, added_cents)
                self._departures.forget(seat.player_id)
                if not self._is_short(seat.number):
                    self._fill_by.pop(seat.session_id, None)
                self._tell_caves()
                self.wake()
        return answer

    def _is_short(self, number: int) -> bool:
        return any(each.seat == number and each.standing is Standing.SHORT for each in self._lineup.seats())

    def set_presence(self, player_id: str, presence: Presence, *, posts: bool = False) -> types_pb2.CaveAtSeat:
        """Has a player sit out or rest from the next hand on, or come back (`806/2015:68`); returns their seat."""
        before, seat = self._lineup, self._seat_of(player_id)
        self._lineup = before.set_presence(seat.number, presence, self._clock.now(), posts=posts)
        if self._lineup is not before:
            self._tell_caves()
            self.wake()
        return next(each for each in self._caves_at_seats() if each.seat == seat.number)

    def _seat_of(self, player_id: str) -> Seat:
        """Returns the seat of a player who plays here; refused for others, and for those who leave."""
        seat = self._seating.seat_of(player_id)
        if seat is None or self._seating.is_ending(player_id):
            raise refusals.not_seated(self.table_id)
        return seat

    # -- time --------------------------------------------------------------------------------------------------------

    async def _wait(self, seconds: float | None) -> None:
        """Waits, but no longer than until the rest of a player or the time of a kept seat is over."""
        self._let_go()
        ends = [
            *(self._lineup.own_place(each.seat, self._clock.now()).resting_until for each in self._lineup.seats()),
            self._waiting.next_end(),
            self._period.next_change(self._clock.now()),
        ]
        for end in ends:
            if end is not None:
                left_s = max(0.0, (end - self._clock.now()).total_seconds())
                seconds = left_s if seconds is None else min(seconds, left_s)
        await super()._wait(seconds)
        before = self._lineup
        self._lineup = before.end_rests(self._clock.now())
        if self._lineup is not before:
            self._tell_caves()
        self._follow_waiting()

    def _bank_of(self, seat: int) -> timedelta:
        return self._lineup.own_place(seat, self._clock.now()).time_bank if self._has_place(seat) else NO_TIME

    def _spend(self, seat: int, spent: timedelta) -> None:
        if self._has_place(seat):
            self._lineup = self._lineup.spend_time(seat, spent)
            self._keep()

    # -- between hands -----------------------------------------------------------------------------------------------

    async def _wait_for_next_round(self) -> bool:
        while not self._handing_over:
            await self._let_all_go()
            self._follow_rules()
            if self._is_period_over():
                await self._close_period()
            closed_reason = self._host.closed_reason()
            if closed_reason is not None:
                self._lineup = self._lineup.suspend()
            self._publish_idle_phase(closed_reason)
            may_deal = closed_reason is None and self._period.has_begun(self._clock.now())
            if may_deal and self._seating and not self._publisher.full:
                self._lineup, brought = self._lineup.next_hand()
                if brought is not None:
                    self._brought = brought
                    return True
            await self._wait(None if not self._publisher.full else BUS_CHECK_EVERY_S)
        return False

    def _follow_rules(self) -> None:
        """Plays by the specific rules that have come into force since the last hand (`806/2015:R3`)."""
        in_force = self._host.rules_in_force()
        if in_force.version.version != self._configured.version.version:
            self._configured = in_force
            self._lineup = _rules(in_force).adopt(self._lineup)
            self._follow_period()
            self._tell_caves()

    def _is_period_over(self) -> bool:
        seats, lineup = self._configured.configuration.seats, self._lineup
        return self._period.is_over(self._clock.now(), seats, lineup.button, lineup.next_button)

    async def _close_period(self) -> None:
        """Ends the sessions of everybody who sits here: the time that the operator fixed is over (`806/2015:6.b`)."""
        self._lineup = self._lineup.suspend()
        for seat in self._seating.seats():
            if self._seating.is_ending(seat.player_id):
                continue
            try:
                session = await self._wallet.end_session(seat.session_id)
            except (WalletFailed, WalletUnanswered) as failed:
                _log.warning("a session does not end yet", extra={"table_id": self.table_id, "error": str(failed)})
                await self._wait(WALLET_RETRY_S)
                return
            self.apply_session(session)
        await self._let_all_go()

    def _let_go(self) -> None:
        """Begins to give caves back to players who leave and are in no hand, whatever others play (`806/2015:10`)."""
        if self._letting_go is not None and self._letting_go.done():
            ended, self._letting_go = self._letting_go, None
            # What has failed there fails the table, as if it had waited for it.
            ended.result()
        if self._letting_go is None and (self._free_to_go() or self._folded_to_go()):
            self._letting_go = asyncio.create_task(self._cash_out_leaving())
            self._letting_go.add_done_callback(lambda _: self._changed.set())

    async def _let_all_go(self) -> None:
        """Waits until the caves of those who leave are given back."""
        self._cashed_out.clear()
        self._let_go()
        if self._letting_go is not None:
            await asyncio.wait([self._letting_go])
            self._let_go()
        self._taken_out.clear()

    def _free_to_go(self) -> list[Seat]:
        """Returns the seats of players who leave and whose caves no hand can change any more."""
        return [
            seat
            for seat in self._seating.seats()
            if self._seating.is_ending(seat.player_id)
            and seat.session_id not in self._cashed_out
            and not self._is_in_hand(seat)
            and not self._has_place(seat.number)
        ]

    def _folded_to_go(self) -> list[tuple[Seat, int]]:
        """Returns the seats of players who leave and have folded, with what they have bet in the hand under way."""
        hand = self._hand
        if hand is None or not isinstance(hand.dealt, LosesEarly):
            return []
        seats = [
            (seat, hand.dealt.lost_cents(seat.number))
            for seat in self._seating.seats()
            if self._seating.is_ending(seat.player_id)
            and seat.session_id not in self._taken_out
            and self._is_in_hand(seat)
        ]
        return [(seat, lost_cents) for seat, lost_cents in seats if lost_cents is not None]

    def _is_in_hand(self, seat: Seat) -> bool:
        """Whether a cave was brought to the hand under way from this seat, folded or not."""
        return self._round is not None and seat.number in self._brought

    async def _cash_out_leaving(self) -> None:
        """Gives caves back, which ends the sessions of their players."""
        for seat, lost_cents in self._folded_to_go():
            await self._take_out(seat, lost_cents)
        for seat in self._free_to_go():
            if cents := self._caves.cents_of(seat.session_id):
                await self._note_departure(seat, cents + self._taken_out.get(seat.session_id, 0))
            answer = await self._caves.cash_out(seat)
            self._cashed_out.add(seat.session_id)
            if answer.session_ended:
                self._fill_by.pop(seat.session_id, None)
                self._seating.free_seats([seat.session_id])
                self._follow_seats()

    async def _take_out(self, seat: Seat, lost_cents: int) -> None:
        """Gives the cave of a player back who has folded and leaves, but for what they have lost.

        That is the transfer's of the hand, whose end is the end of their session, too. In a void hand it goes back.
        """
        hand = self._hand
        cents = self._caves.cents_of(seat.session_id) - lost_cents
        self._taken_out[seat.session_id] = cents
        if hand is None or cents <= 0:
            return
        await self._note_departure(seat, cents)
        request_id = f"{hand.round_id}.{seat.number}:take-out"
        if await self._caves.release(seat.account_id, seat.session_id, cents, request_id):
            # Who has bet nothing has nothing to wait for, but the hand names their seat until it ends.
            self._end_session(seat.player_id, seat.session_id)
        if self._hand is hand and self._has_place(seat.number):
            self._lineup = self._lineup.take_out(seat.number, cents)
            self._tell_caves()

    async def _note_departure(self, seat: Seat, cents: int) -> None:
        """Notes on record what a player takes away, before it is theirs: who comes back soon has to bring as much."""
        self._departures.note(seat.player_id, cents, self._clock.now())
        self._keep()
        await self._record.flush()

    def _awaits_result(self, player_id: str) -> bool:
        seat = self._seating.seat_of(player_id)
        return seat is not None and self._is_in_hand(seat)

    # -- hands -------------------------------------------------------------------------------------------------------

    async def _play(self) -> None:
        """Deals one hand and plays it to its end, until the next may be dealt."""
        try:
            round_ = await self._begin_round(None)
            await round_.ensure_opened()
        except (WalletFailed, WalletUnanswered) as failed:
            _log.warning("no hand can begin", extra={"table_id": self.table_id, "error": str(failed)})
            self._lineup, _ = self._lineup.after_void_hand()
            await self._wait(WALLET_RETRY_S)
            return
        await self._deal_in(round_, self._brought)

    async def _end_void_hand(self, round_id: str) -> None:
        """Ends a void hand in the lineup; what was bought in meanwhile and does not fit goes back (A-24)."""
        async with self._caves.judging:
            self._lineup, seats = self._lineup.after_void_hand()
            released = {each.seat: each.released_cents for each in seats if each.released_cents}
            for seat in self._seating.seats():
                if seat.number in released:
                    cents = released[seat.number]
                    request_id = f"{round_id}.{seat.number}:release"
                    await self._caves.release(seat.account_id, seat.session_id, cents, request_id)

    def _judge_hand(self, outcome: Outcome, decided: Decided | None) -> Mapping[str, SeatAfterHand]:
        """Ends the hand in the lineup, and says what that means for each session."""
        decisions: dict[int, Decisions] = {}
        for moved in () if decided is None else decided.moves:
            in_person, to_clock = decisions.get(moved.seat, Decisions(0, 0))
            by_player = moved.acted_by is ActedBy.PLAYER
            decisions[moved.seat] = Decisions(in_person + by_player, to_clock + (not by_player))
        self._lineup, seats = self._lineup.after_hand(outcome, decisions)
        after = {each.seat: each for each in seats}
        judged = {seat.session_id: after[seat.number] for seat in self._seating.seats() if seat.number in after}
        fill_by = self._clock.now() + self._times.fill_cave
        short = [session_id for session_id, each in judged.items() if each.is_short]
        self._fill_by = {session_id: self._fill_by.get(session_id, fill_by) for session_id in short}
        return judged

    def _end(self, round_: Round[Bets, Outcome], result: RoundResult, stakes: Sequence[JournalStake]) -> None:
        super()._end(round_, result, stakes)
        for session_id in result.sessions.ending_session_ids:
            self._seating.note_ending(session_id)
        self._period.note_button(self._lineup.button)
        self._follow_seats()
        self._tell_caves()


def _rules(versioned: VersionedRules[Bets, Outcome]) -> CaveRules[Bets, Outcome]:
    return cast("CaveRules[Bets, Outcome]", versioned.rules)


def _last_outcome(found: FoundTable[Bets, Outcome], rules: CaveRules[Bets, Outcome]) -> Outcome | None:
    """Returns the hand before, if it was finished and no other began: the button goes on from there."""
    if found.resumed is not None or not found.past_outcomes:
        return None
    last = found.past_outcomes[0]
    is_last = last.round_id == round_id_of(found.table_id, found.last_round_number)
    return rules.read_outcome(last.outcome.value) if is_last else None


def _dealt_in(resumed: ResumedRound[Bets, Outcome] | None) -> Mapping[int, Bets] | None:
    if resumed is None:
        return None
    return {stake.seat: resumed.rules.rules.read_bets(stake.bets) for stake in resumed.stakes}
