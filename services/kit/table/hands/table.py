"""One live table at which nobody bets before the cards: each hand begins with what its players bring.

What a player brings to a hand is fixed when it is dealt, and journalled as the stake of their seat.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from services.kit import background
from services.kit.bus.connections import Line
from services.kit.table import refusals
from services.kit.table.banked.round import Round
from services.kit.table.banked.settlement import Settlement
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Outcome
from services.kit.table.hands.times import HandTimes
from services.kit.table.journal.entries import DrawTrigger, Ending, JournalStake
from services.kit.table.live.dependencies import TableDependencies
from services.kit.table.live.kinds import FoundTable
from services.kit.table.live.table import LiveTable
from services.kit.table.turns.extra_time import ExtraTime
from services.kit.table.wallet.client import WalletFailed


class HandTable(LiveTable[Bets, Outcome]):
    """Runs one table of hands under one lease."""

    def __init__(
        self,
        found: FoundTable[Bets, Outcome],
        dependencies: TableDependencies[Bets, Outcome],
        settlement: Settlement[Bets, Outcome],
    ) -> None:
        self._line_of: Callable[[str], Line] = dependencies.line_of
        # The seats whose players' lines are lost.
        self._disconnected: frozenset[int] = frozenset()
        super().__init__(
            found.table_id,
            found.placement_id,
            found.epoch,
            dependencies,
            last_round_number=found.last_round_number,
            past_outcomes=found.past_outcomes,
            resumed=found.resumed,
            seat_record=found.seat_record,
            settlement=settlement,
        )

    # -- what the kinds of such tables say ---------------------------------------------------------------------------

    @property
    @abstractmethod
    def _times(self) -> HandTimes:
        """The times of the table."""

    @abstractmethod
    def _bank_of(self, seat: int) -> timedelta:
        """Returns what is left of a player's time bank."""

    @abstractmethod
    def _spend(self, seat: int, spent: timedelta) -> None:
        """Takes time out of a player's bank."""

    @abstractmethod
    def _tell_seats(self) -> None:
        """Tells everybody how the players of the seats take part."""

    # -- hands -------------------------------------------------------------------------------------------------------

    async def _deal_in(self, round_: Round[Bets, Outcome], brought: Mapping[int, Bets]) -> None:
        """Deals to those who bring something to the hand, and plays it to its end."""
        self._round, self._opening, self._next_round_opens_at = round_, "", None
        round_.close()
        round_.draw_trigger = DrawTrigger.CLOCK
        try:
            stakes = self._stakes(round_, brought)
            round_.session_ids = [seat.session_id for seat in self._seating.seats()]
            dealt = self._deal(round_, stakes)
        except (StaleOwner, WalletFailed):
            raise
        except Exception:  # noqa: BLE001 - whatever it was, everybody keeps what they have
            self._fail(round_)
            dealt = None
        await self._end_round(round_, dealt)

    def _stakes(self, round_: Round[Bets, Outcome], brought: Mapping[int, Bets]) -> list[JournalStake]:
        """Returns what each seat brings to a hand, as it is now."""
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
                round_.rules.total_cents(brings),
                round_.rules.bets_message(brings).SerializeToString(),
                now,
            )
            for number, brings in brought.items()
        ]

    def _lay_again(self, round_: Round[Bets, Outcome], stake: JournalStake) -> None:
        """Leaves a former owner's hand as it is: what was brought lies at the seats and not on the felt."""

    async def void_open_round(self, round_id: str, reason: str) -> None:
        """Makes a hand void that is dealt and not decided: everybody has what they brought (`806/2015:72`)."""
        hand, round_ = self._hand, self._round
        if hand is None or round_ is None or hand.round_id != round_id or hand.dealt.turn is None:
            await super().void_open_round(round_id, reason)
            return
        hand.declare_void(reason)
        finished = await background.shared_result(round_.finished)
        if finished.entry.ending is not Ending.VOID:
            # Its last decision was being written.
            raise refusals.round_decided(round_id)

    async def _free_cents(self, player_id: str) -> int:  # noqa: ARG002 - of the tables where decisions are staked
        """Returns nothing: a hand is played with what was brought, and the wallet is not asked before a decision."""
        return 0

    # -- lines and time ----------------------------------------------------------------------------------------------

    def wake(self) -> None:
        self._follow_lines()
        super().wake()

    def _follow_lines(self) -> None:
        """Tells whose lines are lost, where that has changed."""
        lost = frozenset(seat.number for seat in self._seating.seats() if self._line_of(seat.player_id) is Line.AWAY)
        if lost != self._disconnected:
            self._disconnected = lost
            if self._snapshot_published:
                self._tell_seats()

    def _extra_time(self) -> ExtraTime | None:
        return _PlayersTime(self)


class _PlayersTime:
    """Implements `ExtraTime` for the players of one table."""

    def __init__(self, table: HandTable[Any, Any]) -> None:
        self._table = table

    @property
    def lost_line_extra(self) -> timedelta:
        return self._table._times.lost_line_extra  # noqa: SLF001 - a part of the table

    @property
    def gateway_pause(self) -> timedelta:
        return self._table._times.gateway_pause  # noqa: SLF001 - a part of the table

    def bank_of(self, seat: int) -> timedelta:
        return self._table._bank_of(seat)  # noqa: SLF001 - a part of the table

    def spend(self, seat: int, spent: timedelta) -> None:
        self._table._spend(seat, spent)  # noqa: SLF001 - a part of the table

    def line_of(self, seat: int) -> Line:
        holder = self._table._seating.holder_of(seat)  # noqa: SLF001 - a part of the table
        return Line.CONNECTED if holder is None else self._table._line_of(holder)  # noqa: SLF001 - a part of the table
