"""One live table whose players bring caves: between two hands they buy in, come back and leave; then a hand is dealt.

What a player brings to a hand is fixed when it is dealt, and journalled as the stake of their seat. Chips that are
bought in meanwhile lie in the cave and are in play from the next hand on (`806/2015:11.b`). One transfer ends the hand.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Generic, cast

from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import session_pb2, wallet_pb2
from services.kit import background
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.banked.round import Round
from services.kit.table.banked.settlement import RoundResult, Settlement
from services.kit.table.caves.money import Caves
from services.kit.table.caves.rules import CaveRules, CaveSeat
from services.kit.table.caves.settlement import HandSettlement
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import ActedBy, Drawn, DrawTrigger, Journal, JournalStake
from services.kit.table.live.dependencies import TableDependencies
from services.kit.table.live.kinds import FoundTable
from services.kit.table.live.table import BUS_CHECK_EVERY_S, WALLET_RETRY_S, LiveTable
from services.kit.table.refusals import TableRefused
from services.kit.table.seat import Seat
from services.kit.table.turns.hand import Hand
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
        return HandSettlement(wallet, journal, epoch, caves)


class CaveTable(LiveTable[Bets, Outcome]):
    """Runs one table with caves under one lease."""

    def __init__(
        self, found: FoundTable[Bets, Outcome], dependencies: TableDependencies[Bets, Outcome], caves: Caves
    ) -> None:
        self._caves = caves
        # Sessions whose players sit out.
        self._away: set[str] = set()
        # How many hands in a row each session has left to the clock.
        self._left_to_clock: Counter[str] = Counter()
        # The hand before, and the sessions that were dealt in; nothing when the table starts or resumes.
        self._last: Outcome | None = None
        self._dealt_in: frozenset[str] = frozenset()
        self._lineup: Mapping[int, Bets] = {}
        # Caves that are being filled: to the end, even if nobody waits for it.
        self._filling: set[asyncio.Task[wallet_pb2.BuyInResponse]] = set()
        # The seats of the hand before at a former owner, until their players are seated again.
        self._seats_before: frozenset[int] = frozenset()
        super().__init__(
            found.table_id,
            found.placement_id,
            found.epoch,
            dependencies,
            last_round_number=found.last_round_number,
            past_outcomes=found.past_outcomes,
            resumed=found.resumed,
            seat_record=found.seat_record,
            settlement=HandSettlement(dependencies.wallet, dependencies.journal, found.epoch, caves),
        )
        self._read_last_hand(found)

    @property
    def rules(self) -> CaveRules[Bets, Outcome]:
        """The rules of the hand under way, or of the next one."""
        return cast("CaveRules[Bets, Outcome]", self._configured.rules)

    def _read_last_hand(self, found: FoundTable[Bets, Outcome]) -> None:
        """Takes up the button where a former owner left it, if the hand before was finished and no other began."""
        last_round_id = f"{found.table_id}.{found.last_round_number}"
        if found.resumed is None and found.past_outcomes and found.past_outcomes[0].round_id == last_round_id:
            self._last = self.rules.read_outcome(found.past_outcomes[0].outcome.value)
            self._seats_before = self.rules.seats_dealt_in(self._last)

    # -- what others see ---------------------------------------------------------------------------------------------

    def snapshot(self) -> types_pb2.TableSnapshot:
        snapshot = super().snapshot()
        snapshot.caves.extend(self._caves_at_seats())
        return snapshot

    def _caves_at_seats(self) -> list[types_pb2.CaveAtSeat]:
        return [
            types_pb2.CaveAtSeat(
                seat=seat.number, cave_cents=self._caves.cents_of(seat.session_id), standing=self._standing_of(seat)
            )
            for seat in sorted(self._seating.seats(), key=lambda each: each.number)
        ]

    def _standing_of(self, seat: Seat) -> types_pb2.CaveStanding.ValueType:
        if self._seating.is_ending(seat.player_id):
            return types_pb2.CAVE_STANDING_LEAVING
        if self._caves.cents_of(seat.session_id) < self.rules.minimum_cents and not self._is_in_hand(seat):
            return types_pb2.CAVE_STANDING_SHORT
        if seat.session_id in self._away:
            return types_pb2.CAVE_STANDING_AWAY
        if seat.session_id in self._dealt_in or self._is_in_hand(seat):
            return types_pb2.CAVE_STANDING_PLAYING
        return types_pb2.CAVE_STANDING_WAITING

    def _is_in_hand(self, seat: Seat) -> bool:
        return self._hand is not None and any(stake.session_id == seat.session_id for stake in self._hand.stakes)

    def _tell_caves(self) -> None:
        """Tells everybody what is in the caves and who plays on."""
        self._publish(events_pb2.TableEvent(caves_changed=events_pb2.CavesChanged(caves=self._caves_at_seats())))

    # -- what players do ---------------------------------------------------------------------------------------------

    async def buy_in(self, player_id: str, command: BetCommand, cents: int) -> wallet_pb2.BuyInResponse:
        """Fills the cave of a player who sits here; the chips are in play from the next hand on (`806/2015:11.b`)."""
        seat = self._seat_of(player_id)
        held = self._caves.cents_of(seat.session_id)
        bounds = self.rules.buy_in_bounds(held)
        if not bounds.least_cents <= cents <= bounds.most_cents:
            raise TableRefused(
                "BUY_IN_OUT_OF_BOUNDS",
                f"Bring from {bounds.least_cents} to {bounds.most_cents} cents.",
                amount_cents=cents,
                minimum_cents=bounds.least_cents,
                maximum_cents=bounds.most_cents,
                rule=bounds.rule,
            )
        commission_cents = self.rules.buy_in_commission_cents(cents)
        filling = asyncio.create_task(self._buy_in(seat, command, cents, commission_cents))
        self._filling.add(filling)
        filling.add_done_callback(self._filling.discard)
        return await background.shared_result(filling)

    async def _buy_in(
        self, seat: Seat, command: BetCommand, cents: int, commission_cents: int
    ) -> wallet_pb2.BuyInResponse:
        answer = await self._caves.buy_in(seat, command, cents, commission_cents)
        self._tell_caves()
        self.wake()
        return answer

    def set_away(self, player_id: str, *, away: bool) -> None:
        """Has a player sit out from the next hand on, or come back (`806/2015:68`)."""
        seat = self._seat_of(player_id)
        self._left_to_clock[seat.session_id] = 0
        if (seat.session_id in self._away) != away:
            self._away ^= {seat.session_id}
            self._tell_caves()
            self.wake()

    def _seat_of(self, player_id: str) -> Seat:
        seat = self._seating.seat_of(player_id)
        if seat is None:
            raise refusals.not_seated(self.table_id)
        return seat

    # -- between hands -----------------------------------------------------------------------------------------------

    async def _wait_for_next_round(self) -> bool:
        while not self._handing_over:
            await self._cash_out_leaving()
            closed_reason = self._host.closed_reason()
            self._publish_idle_phase(closed_reason)
            self._configured = self._host.rules_in_force()
            lineup = self._next_lineup()
            if lineup is None:
                # Fewer than two can play: when the table resumes, the button is drawn by lot (`806/2015:7`, `46`).
                self._last, self._dealt_in, self._seats_before = None, frozenset(), frozenset()
            elif closed_reason is None and not self._publisher.full:
                self._lineup = lineup
                return True
            await self._wait(None if not self._publisher.full else BUS_CHECK_EVERY_S)
        return False

    def _next_lineup(self) -> Mapping[int, Bets] | None:
        """Returns what each seat brings to the next hand, if one can be dealt now."""
        seats = [
            CaveSeat(seat.number, self._caves.cents_of(seat.session_id), self._was_dealt_in(seat))
            for seat in sorted(self._seating.seats(), key=lambda each: each.number)
            if self._may_be_dealt_in(seat)
        ]
        return self.rules.lineup(seats, self._last)

    def _may_be_dealt_in(self, seat: Seat) -> bool:
        """Whether a player takes part in the next hand, if the lineup has room for them (`806/2015:15`, A-21)."""
        return (
            seat.session_id not in self._away
            and not self._seating.is_ending(seat.player_id)
            and self._caves.cents_of(seat.session_id) >= self.rules.minimum_cents
        )

    def _was_dealt_in(self, seat: Seat) -> bool:
        return seat.session_id in self._dealt_in or seat.number in self._seats_before

    async def _cash_out_leaving(self) -> None:
        """Gives the caves back of the players who leave, which ends their sessions (`806/2015:10`)."""
        for seat in self._seating.seats():
            if self._seating.is_ending(seat.player_id):
                answer = await self._caves.cash_out(seat)
                if answer.session_ended:
                    self._seating.free_seats([seat.session_id])
                self._forget(seat.session_id)

    def _forget(self, session_id: str) -> None:
        self._away.discard(session_id)
        del self._left_to_clock[session_id]
        self._tell_caves()

    # -- hands -------------------------------------------------------------------------------------------------------

    async def _play(self) -> None:
        """Deals one hand and plays it to its end, until the next may be dealt."""
        try:
            round_ = await self._begin_round(None)
            await round_.ensure_opened()
        except (WalletFailed, WalletUnanswered) as failed:
            _log.warning("no hand can begin", extra={"table_id": self.table_id, "error": str(failed)})
            await self._wait(WALLET_RETRY_S)
            return
        self._round, self._opening, self._next_round_opens_at = round_, "", None
        round_.close()
        round_.draw_trigger = DrawTrigger.CLOCK
        try:
            stakes = self._stakes(round_)
            round_.session_ids = [*(stake.session_id for stake in stakes), *self._sessions_sitting_out()]
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
                self.rules.total_cents(brought),
                self.rules.bets_message(brought).SerializeToString(),
                now,
            )
            for number, brought in self._lineup.items()
        ]

    def _sessions_sitting_out(self) -> list[str]:
        """Returns the sessions that miss a hand by their own doing: who waits for the big blind misses none."""
        return [seat.session_id for seat in self._seating.seats() if seat.session_id in self._away]

    def _lay_again(self, round_: Round[Bets, Outcome], stake: JournalStake) -> None:
        """Leaves a former owner's hand as it is: caves lie at their seats and not on the felt."""

    async def _settle(
        self, round_: Round[Bets, Outcome], drawn: Drawn, shown_at: datetime, hand: Hand[Bets, Outcome] | None
    ) -> None:
        await super()._settle(round_, drawn, shown_at, hand)
        self._last = round_.outcome
        self._note_players(drawn, hand)
        self._tell_caves()

    def _note_players(self, drawn: Drawn, hand: Hand[Bets, Outcome] | None) -> None:
        """Notes who played on, and has players sit out who have left hands to the clock (A-22)."""
        self._dealt_in = frozenset(stake.session_id for stake in drawn.stakes)
        self._seats_before = frozenset()
        for stake in drawn.stakes:
            own = [moved.acted_by for moved in (() if hand is None else hand.moves) if moved.seat == stake.seat]
            if own and all(acted_by is not ActedBy.PLAYER for acted_by in own):
                self._left_to_clock[stake.session_id] += 1
            elif own:
                self._left_to_clock[stake.session_id] = 0
            if self._left_to_clock[stake.session_id] >= self.rules.hands_before_away:
                self._away.add(stake.session_id)

    async def _void(self, round_: Round[Bets, Outcome]) -> None:
        """Ends a hand that could not be finished: the caves are as before, and the button is drawn anew (A-28)."""
        await super()._void(round_)
        self._last, self._dealt_in = None, frozenset()

    def _end(self, round_: Round[Bets, Outcome], result: RoundResult, stakes: Sequence[JournalStake]) -> None:
        super()._end(round_, result, stakes)
        for seat in self._seating.seats():
            if seat.session_id in result.sessions.ending_session_ids:
                self._seating.seat_session(
                    session_pb2.Session(
                        session_id=seat.session_id,
                        player_id=seat.player_id,
                        account_id=seat.account_id,
                        state=session_pb2.SESSION_STATE_ENDING,
                    )
                )
