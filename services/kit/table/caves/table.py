"""One live table whose players bring caves: between two hands they buy in, come back and leave; then a hand is dealt.

What a player brings to a hand is fixed when it is dealt, and journalled as the stake of their seat. Chips that are
bought in meanwhile lie in the cave and are in play from the next hand on (`806/2015:11.b`). One transfer ends the hand.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Generic, cast

from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import session_pb2, wallet_pb2
from services.kit import background
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.banked.round import Round
from services.kit.table.banked.settlement import Decided, RoundResult, Settlement
from services.kit.table.caves.money import Caves
from services.kit.table.caves.rules import CaveRules, Decisions, Lineup, SeatAfterHand, Standing
from services.kit.table.caves.settlement import HandSettlement
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import ActedBy, DrawTrigger, Ending, Journal, JournalStake
from services.kit.table.journal.seats import KeptSeat
from services.kit.table.live.dependencies import TableDependencies
from services.kit.table.live.kinds import FoundTable
from services.kit.table.live.table import BUS_CHECK_EVERY_S, WALLET_RETRY_S, LiveTable, round_id_of
from services.kit.table.seat import Seat
from services.kit.table.turns.resuming import ResumedRound
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered
from services.kit.table.wallet.table_wallet import TableWallet

_log = logging.getLogger(__name__)


class CaveTables(Generic[Bets, Outcome]):
    """The kind of tables whose players play against each other, each with a cave."""

    async def open_table(
        self, found: FoundTable[Bets, Outcome], dependencies: TableDependencies[Bets, Outcome]
    ) -> LiveTable[Bets, Outcome]:
        caves = Caves(dependencies.wallet)
        await caves.load()
        return CaveTable(found, dependencies, caves)

    async def settlement(self, wallet: TableWallet, journal: Journal, epoch: int) -> Settlement[Bets, Outcome]:
        caves = Caves(wallet)
        await caves.load()
        return HandSettlement(wallet, journal, epoch, caves, _no_lineup)


class CaveTable(LiveTable[Bets, Outcome]):
    """Runs one table with caves under one lease."""

    def __init__(
        self, found: FoundTable[Bets, Outcome], dependencies: TableDependencies[Bets, Outcome], caves: Caves
    ) -> None:
        self._caves = caves
        # Caves that are being filled: to the end, even if nobody waits for it.
        self._filling: set[asyncio.Task[wallet_pb2.BuyInResponse]] = set()
        # What each seat brings to the hand that is about to be dealt.
        self._brought: Mapping[int, Bets] = {}
        self._lineup: Lineup[Bets, Outcome] = _rules(dependencies.host.rules_in_force()).lineup(
            _last_outcome(found, _rules(dependencies.host.rules_in_force())), _dealt_in(found.resumed)
        )
        super().__init__(
            found.table_id,
            found.placement_id,
            found.epoch,
            dependencies,
            last_round_number=found.last_round_number,
            past_outcomes=found.past_outcomes,
            resumed=found.resumed,
            seat_record=found.seat_record,
            settlement=HandSettlement(dependencies.wallet, dependencies.journal, found.epoch, caves, self._judge_hand),
        )

    # -- what others see ---------------------------------------------------------------------------------------------

    def snapshot(self) -> types_pb2.TableSnapshot:
        snapshot = super().snapshot()
        snapshot.caves.extend(self._caves_at_seats())
        return snapshot

    def _caves_at_seats(self) -> list[types_pb2.CaveAtSeat]:
        return [
            types_pb2.CaveAtSeat(
                seat=each.seat,
                cave_cents=each.cave_cents,
                standing=types_pb2.CaveStanding.ValueType(each.standing),
            )
            for each in self._lineup.seats()
        ]

    def _tell_caves(self) -> None:
        """Tells everybody what is in the caves and how their players take part."""
        self._publish(events_pb2.TableEvent(caves_changed=events_pb2.CavesChanged(caves=self._caves_at_seats())))

    # -- sessions and seats ------------------------------------------------------------------------------------------

    def apply_session(self, session: session_pb2.Session) -> None:
        super().apply_session(session)
        self._follow_seats()

    def seat_again(self, kept: Sequence[KeptSeat], sessions: Collection[session_pb2.Session]) -> None:
        super().seat_again(kept, sessions)
        self._follow_seats()

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
                self._lineup = self._lineup.take_seat(seat.number, self._caves.cents_of(seat.session_id))
        taken = {seat.number for seat in self._seating.seats()}
        for number in known.keys() - taken:
            self._lineup = self._lineup.leave(number)
        if self._lineup is not before:
            self._tell_caves()

    # -- what players do ---------------------------------------------------------------------------------------------

    async def buy_in(self, player_id: str, command: BetCommand, cents: int) -> wallet_pb2.BuyInResponse:
        """Fills the cave of a player who sits here; the chips are in play from the next hand on (`806/2015:11.b`)."""
        seat = self._seat_of(player_id)
        if not self._caves.has_bought(seat, command):
            self._lineup.verify_buy_in(seat.number, cents)
        filling = asyncio.create_task(self._buy_in(seat, command, cents))
        self._filling.add(filling)
        filling.add_done_callback(self._filling.discard)
        return await background.shared_result(filling)

    async def _buy_in(self, seat: Seat, command: BetCommand, cents: int) -> wallet_pb2.BuyInResponse:
        commission_cents = _rules(self._configured).buy_in_commission_cents(cents)
        answer, added_cents = await self._caves.buy_in(seat, command, cents, commission_cents)
        if added_cents and any(each.seat == seat.number for each in self._lineup.seats()):
            self._lineup = self._lineup.buy_in(seat.number, added_cents)
            self._tell_caves()
            self.wake()
        return answer

    def set_away(self, player_id: str, *, away: bool) -> None:
        """Has a player sit out from the next hand on, or come back (`806/2015:68`)."""
        before, seat = self._lineup, self._seat_of(player_id)
        self._lineup = before.set_away(seat.number, away=away)
        if self._lineup is not before:
            self._tell_caves()
            self.wake()

    def _seat_of(self, player_id: str) -> Seat:
        """Returns the seat of a player who plays here; refused for others, and for those who leave."""
        seat = self._seating.seat_of(player_id)
        if seat is None or self._seating.is_ending(player_id):
            raise refusals.not_seated(self.table_id)
        return seat

    # -- between hands -----------------------------------------------------------------------------------------------

    async def _wait_for_next_round(self) -> bool:
        while not self._handing_over:
            await self._cash_out_leaving()
            closed_reason = self._host.closed_reason()
            self._publish_idle_phase(closed_reason)
            if closed_reason is None and self._seating and not self._publisher.full:
                self._lineup, brought = self._lineup.next_hand()
                if brought is not None:
                    self._brought = brought
                    return True
            await self._wait(None if not self._publisher.full else BUS_CHECK_EVERY_S)
        return False

    async def _cash_out_leaving(self) -> None:
        """Gives the caves back of the players who leave, which ends their sessions (`806/2015:10`)."""
        for seat in self._seating.seats():
            if self._seating.is_ending(seat.player_id):
                answer = await self._caves.cash_out(seat)
                if answer.session_ended:
                    self._seating.free_seats([seat.session_id])
                    self._follow_seats()

    # -- hands -------------------------------------------------------------------------------------------------------

    async def _play(self) -> None:
        """Deals one hand and plays it to its end, until the next may be dealt."""
        try:
            round_ = await self._begin_round(None)
            await round_.ensure_opened()
        except (WalletFailed, WalletUnanswered) as failed:
            _log.warning("no hand can begin", extra={"table_id": self.table_id, "error": str(failed)})
            self._lineup = self._lineup.after_void_hand()
            await self._wait(WALLET_RETRY_S)
            return
        self._round, self._opening, self._next_round_opens_at = round_, "", None
        round_.close()
        round_.draw_trigger = DrawTrigger.CLOCK
        try:
            stakes = self._stakes(round_)
            round_.session_ids = [seat.session_id for seat in self._seating.seats()]
            dealt = self._deal(round_, stakes)
        except (StaleOwner, WalletFailed):
            raise
        except Exception:  # noqa: BLE001 - whatever it was, the caves stay as they are
            self._fail(round_)
            dealt = None
        await self._end_round(round_, dealt)

    def _stakes(self, round_: Round[Bets, Outcome]) -> list[JournalStake]:
        """Returns what each seat brings to a hand: its cave, as it is now."""
        now = self._clock.now()
        by_number = {seat.number: seat for seat in self._seating.seats()}
        return [
            JournalStake(
                f"{round_.round_id}.{number}",
                "",
                by_number[number].player_id,
                by_number[number].account_id,
                by_number[number].session_id,
                number,
                round_.rules.total_cents(brought),
                round_.rules.bets_message(brought).SerializeToString(),
                now,
            )
            for number, brought in self._brought.items()
        ]

    def _lay_again(self, round_: Round[Bets, Outcome], stake: JournalStake) -> None:
        """Leaves a former owner's hand as it is: caves lie at their seats and not on the felt."""

    def _judge_hand(self, outcome: Outcome, decided: Decided | None) -> Sequence[SeatAfterHand]:
        """Ends the hand in the lineup, and says what that means for each seat."""
        decisions: dict[int, Decisions] = {}
        for moved in () if decided is None else decided.moves:
            in_person, to_clock = decisions.get(moved.seat, Decisions(0, 0))
            by_player = moved.acted_by is ActedBy.PLAYER
            decisions[moved.seat] = Decisions(in_person + by_player, to_clock + (not by_player))
        self._lineup, seats = self._lineup.after_hand(outcome, decisions)
        return seats

    def _end(self, round_: Round[Bets, Outcome], result: RoundResult, stakes: Sequence[JournalStake]) -> None:
        super()._end(round_, result, stakes)
        if result.entry.ending is Ending.VOID:
            self._lineup = self._lineup.after_void_hand()
        for session_id in result.sessions.ending_session_ids:
            self._seating.note_ending(session_id)
        self._follow_seats()
        self._tell_caves()


def _no_lineup(_outcome: object, _decided: Decided | None) -> Sequence[SeatAfterHand]:
    """Says nothing of the seats: nobody is seated yet where a former owner's hand is ended."""
    return ()


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
