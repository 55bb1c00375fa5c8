"""One live table that is played for chips: it plays a hand whenever its director tells it to, and says how it ended.

It has no wallet, no sessions and no caves. A player in *sit out* is dealt in, and checks or folds at once: nobody's
absence removes them (810/2015:26, 27, 43).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Generic, NamedTuple

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from services.kit.table.banked.round import FinishedRound, Round
from services.kit.table.chips.directed import DirectedTable
from services.kit.table.chips.presence import SeenPlayers
from services.kit.table.chips.rules import ChipTimes, chip_rules
from services.kit.table.chips.seam import Destination, HandReporter
from services.kit.table.chips.settlement import ChipSettlement
from services.kit.table.chips.time_banks import TimeBanks
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, Outcome
from services.kit.table.hands.table import HandTable
from services.kit.table.journal.entries import ActedBy, Drawn, Ending, JournalStake
from services.kit.table.live.dependencies import TableDependencies
from services.kit.table.live.kinds import FoundTable
from services.kit.table.live.table import BUS_CHECK_EVERY_S
from services.kit.table.seat import Seat
from services.kit.table.turns.hand import Hand

HAND_OF_CLOSED_TABLE = "the tournament has closed the table"


class EndedHand(NamedTuple):
    """The latest hand of a table that has ended, by its number in the tournament."""

    number: int
    outcome: bytes | None
    """None if it is void."""


class LiveChipTable(HandTable[Bets, Outcome], Generic[Bets, Outcome]):
    """Runs one table of a tournament under the tournament's lease."""

    def __init__(
        self,
        found: FoundTable[Bets, Outcome],
        dependencies: TableDependencies[Bets, Outcome],
        directed: DirectedTable,
        reporter: HandReporter,
        banks: TimeBanks,
        seen: SeenPlayers,
        ended: EndedHand | None,
    ) -> None:
        """`banks` and `seen` are those of all tables: players go from one to another.

        `ended` is the latest hand that was dealt here, if it has ended.
        """
        self._directed = directed
        self._reporter = reporter
        self._banks = banks
        self._ended = ended
        # The number of the hand under way, or of the last one.
        self._hand_number = 0
        self._seen = seen
        # Who sat out when the director's orders were followed last.
        self._known_away = frozenset(directed.away)
        self._told: types_pb2.ChipTable | None = None
        super().__init__(
            found,
            dependencies,
            ChipSettlement(dependencies.wallet, dependencies.journal, found.epoch, dependencies.clock),
        )
        if found.resumed is not None:
            self._hand_number = _number_of(found.resumed.rules, found.resumed.stakes)
        self._sit_down()

    @property
    def _times(self) -> ChipTimes:
        return chip_rules(self._configured).times

    # -- what others see ---------------------------------------------------------------------------------------------

    def snapshot(self) -> types_pb2.TableSnapshot:
        snapshot = super().snapshot()
        snapshot.chips.CopyFrom(self._chip_table())
        return snapshot

    def _chip_table(self) -> types_pb2.ChipTable:
        directed = self._directed
        return types_pb2.ChipTable(
            seats=[
                types_pb2.ChipsAtSeat(
                    seat=seat,
                    chips=directed.chips.get(seat, 0),
                    away=seat in directed.away,
                    disconnected=seat in self._disconnected,
                )
                for seat in sorted(directed.players)
            ],
            held=directed.held,
            notice=directed.notice,
        )

    def _tell_seats(self) -> None:
        chips = self._chip_table()
        if chips != self._told:
            self._told = chips
            self._publish(events_pb2.TableEvent(chips_changed=events_pb2.ChipsChanged(chips=chips)))

    def own_chips(self, player_id: str) -> table_pb2.OwnChips | None:
        seat = self._directed.seat_of(player_id)
        if seat is None:
            return None
        return table_pb2.OwnChips(time_bank_ms=self._bank_of(seat) // timedelta(milliseconds=1))

    # -- what the director orders ------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Takes over what the director has ordered."""
        self._sit_down()
        for seat in self._known_away - self._directed.away:
            if (player := self._directed.players.get(seat)) is not None:
                self._seen.note_decision(player.player_id)
        self._known_away = frozenset(self._directed.away)
        self.tell_chips()
        if self._directed.is_closed and self._hand is not None:
            self._hand.declare_void(HAND_OF_CLOSED_TABLE)
        self.wake()

    def tell_chips(self) -> None:
        """Tells everybody the chips and the notice, where they have changed: every table, whenever a player is out."""
        if self._snapshot_published:
            self._tell_seats()

    def _sit_down(self) -> None:
        players = self._directed.players
        for seat in self._seating.seats():
            player = players.get(seat.number)
            if player is None or player.player_id != seat.player_id:
                self._seating.stand(seat.player_id)
        for number, player in players.items():
            entry_id = f"{self.placement_id}.{player.entry}"
            self._seating.sit(Seat(number, player.player_id, player.account_id, entry_id))

    def tell_moved(self, player_id: str, to: Destination, table_id: str) -> None:
        """Tells a player, and nobody else, where they go on (810/2015:48)."""
        moved_to = events_pb2.MovedTo(table_id=table_id, seat=to.seat)
        self._own_view_publisher.publish(
            events_pb2.OwnViewChanged(table_id=self.table_id, player_id=player_id, moved_to=moved_to)
        )

    # -- who is away -------------------------------------------------------------------------------------------------

    def _mark(self, seat: int, player_id: str, *, away: bool) -> None:
        if away:
            self._directed.away.add(seat)
            self._reporter.went_away(player_id)
        else:
            self._directed.away.discard(seat)
            self._reporter.came_back(player_id)
        self._known_away = frozenset(self._directed.away)
        self._tell_seats()
        self.wake()

    def _is_away(self, player_id: str) -> bool:
        return self._directed.seat_of(player_id) in self._directed.away

    def _after_decision(self) -> None:
        super()._after_decision()
        moved = None if self._hand is None or not self._hand.moves else self._hand.moves[-1]
        player = None if moved is None else self._directed.players.get(moved.seat)
        if moved is None or player is None:
            return
        if moved.acted_by is ActedBy.PLAYER:
            self._seen.note_decision(player.player_id)
        elif moved.acted_by is ActedBy.CLOCK:
            # In *sit out* from the first decision that is missed (810/2015:43).
            self._seen.note_missed(player.player_id)
            if moved.seat not in self._directed.away:
                self._mark(moved.seat, player.player_id, away=True)

    def _note_absent(self, seats: Iterable[int]) -> None:
        """Has those sit out who are not there when a hand begins (810/2015:26)."""
        for seat in seats:
            player = self._directed.players.get(seat)
            if player is None or seat in self._directed.away:
                continue
            if self._seen.is_absent(player.player_id, self._line_of(player.player_id)):
                self._mark(seat, player.player_id, away=True)

    def _follow_lines(self) -> None:
        super()._follow_lines()
        for seat, player in sorted(self._directed.players.items()):
            is_back = self._seen.is_back(player.player_id, self._line_of(player.player_id))
            if is_back and seat in self._directed.away:
                self._mark(seat, player.player_id, away=False)

    # -- time --------------------------------------------------------------------------------------------------------

    def _bank_of(self, seat: int) -> timedelta:
        player = self._directed.players.get(seat)
        whole = self._times.time_bank
        return whole if player is None else self._banks.of_player(player.player_id, whole)

    def _spend(self, seat: int, spent: timedelta) -> None:
        player = self._directed.players.get(seat)
        if player is not None:
            self._banks.spend(player.player_id, spent, self._times.time_bank)

    # -- hands -------------------------------------------------------------------------------------------------------

    async def _tell_wallet(self, configured: VersionedRules[Bets, Outcome], round_id: str) -> None:
        """Tells the wallet nothing: no money is at a table of chips."""

    async def _wait_for_next_round(self) -> bool:
        while not (self._handing_over or self._directed.is_closed):
            closed_reason = self._host.closed_reason()
            self._publish_idle_phase(closed_reason)
            hand = self._directed.hand
            if hand is not None and self._ended is not None and hand.number <= self._ended.number:
                # It was played here, by this owner or a former one, and its director does not know that it has ended.
                self._directed.hand = None
                if hand.number == self._ended.number:
                    await self._report(self._ended)
                continue
            if hand is not None and closed_reason is None and not self._publisher.full:
                return True
            await self._wait(None if not self._publisher.full else BUS_CHECK_EVERY_S)
        return False

    async def _play(self) -> None:
        """Deals the hand that the director has ordered, and plays it to its end."""
        hand = self._directed.hand
        if hand is None:
            return
        self._configured = self._host.rules_in_force()
        self._hand_number = hand.number
        self._note_absent(hand.seats)
        round_ = await self._begin_round(None)
        await round_.ensure_opened()
        brought = chip_rules(self._configured).brought(hand, {seat: self._bank_of(seat) for seat in hand.seats})
        for seat in hand.seats:
            if (player := self._directed.players.get(seat)) is not None:
                self._banks.note_hand(player.player_id, hand.number, self._times.time_bank)
        await self._deal_in(round_, brought)

    async def _play_hand(self, round_: Round[Bets, Outcome], drawn: Drawn, hand: Hand[Bets, Outcome]) -> None:
        if self._directed.is_closed:
            hand.declare_void(HAND_OF_CLOSED_TABLE)
        await super()._play_hand(round_, drawn, hand)

    async def _finish(self, round_: Round[Bets, Outcome]) -> None:
        """Reports a hand whose end is journalled (G5), and then shows its result."""
        last, directed = self.last_round, self._directed
        if last is not None and last.round_id == round_.round_id:
            ended = self._ended = EndedHand(self._hand_number, _outcome_of(last))
            if directed.hand is not None and directed.hand.number <= ended.number:
                directed.hand = None
            if not directed.is_closed:
                await self._report(ended)
        await super()._finish(round_)

    async def _show_result(self, round_: Round[Bets, Outcome]) -> None:
        if not self._directed.is_closed:
            await super()._show_result(round_)

    async def _report(self, ended: EndedHand) -> None:
        number = self._directed.number
        if ended.outcome is None:
            await self._reporter.hand_voided(number, ended.number)
        else:
            await self._reporter.hand_ended(number, ended.number, ended.outcome)


def _outcome_of(finished: FinishedRound[Bets, Outcome]) -> bytes | None:
    """Returns the outcome of a hand as it is journalled; None if it is void."""
    if finished.entry.ending is Ending.VOID or finished.outcome is None:
        return None
    return finished.rules.outcome_message(finished.outcome).SerializeToString()


def _number_of(rules: VersionedRules[Bets, Outcome], stakes: Sequence[JournalStake]) -> int:
    """Returns the number that a dealt hand has in its tournament."""
    first = rules.rules.read_bets(stakes[0].bets)
    return chip_rules(rules).read_brought(first).hand
