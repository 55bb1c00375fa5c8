"""The tables of one tournament under one lease, and its director.

A new owner first shuts the former one out. The director then says which tables there are and what they do; each finds
the hand that was left there in the journal, and goes on with it, reports its end, or plays it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic

from prometheus_client import Counter, Gauge

from feltro.wallet.v1 import session_pb2
from services.kit import background
from services.kit.table import refusals
from services.kit.table.chips.directed import DirectedTable
from services.kit.table.chips.inner_table import InnerTable
from services.kit.table.chips.presence import SeenPlayers
from services.kit.table.chips.recovery import HandRecovery
from services.kit.table.chips.rules import chip_rules
from services.kit.table.chips.seam import ChipTable, Director, DirectorOf, table_id_of
from services.kit.table.chips.settlement import ChipSettlement
from services.kit.table.chips.table import EndedHand, LiveChipTable
from services.kit.table.chips.time_banks import TimeBanks
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import ActedBy, Ending, LatestDeal, UnfinishedRound
from services.kit.table.live.dependencies import EventPublisher, RuntimeDependencies, TableDependencies
from services.kit.table.live.kinds import FoundTable
from services.kit.table.live.table import PAST_OUTCOMES_SHOWN, LiveTable
from services.kit.table.owned.owned_tables import ConfiguredHost, close_publisher, read_past_outcomes
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.table_wallet import TableWallet

# How long an operator who declares a hand void waits for its end.
VOID_TIMEOUT_S = 10.0
# Tables that are opened side by side (G11): fewer than there are connections to read by, for at a takeover all are
# opened at once, and one that waits for its turn at the database too long has failed.
OPENINGS_LIMIT = 4

_DIRECTED = Gauge("feltro_tournaments", "Tournaments that this process directs")
_FAILURES = Counter("feltro_tournament_failures", "Tournaments that this process gave up because something failed")

_log = logging.getLogger(__name__)


class OwnedChipTables(Generic[Bets, Outcome]):
    """The tables of a tournament while this process owns them. Implements `seam.ChipTables`."""

    def __init__(
        self, placement_id: str, dependencies: RuntimeDependencies[Bets, Outcome], director_of: DirectorOf
    ) -> None:
        self.placement_id = placement_id
        self.ready = asyncio.Event()
        self._dependencies = dependencies
        self._host = ConfiguredHost(placement_id, dependencies)
        self._director_of = director_of
        self._recovery = HandRecovery(placement_id, dependencies)
        self._banks = TimeBanks()
        self._seen = SeenPlayers()
        self._epoch = 0
        self._director: Director | None = None
        self._tables: dict[int, InnerTable[Bets, Outcome]] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._publishers: dict[str, EventPublisher] = {}
        # Hands without an end that a former owner left, by table, until its table is opened.
        self._left: dict[str, list[UnfinishedRound]] = {}
        # Tables that were opened here: what they have left since is in the journal.
        self._opened_before: set[str] = set()
        # Why the lease is given up: another process has taken it, or the director has failed.
        self._failed: BaseException | None = None
        self._must_end = asyncio.Event()
        self._openings = asyncio.Semaphore(OPENINGS_LIMIT)
        self._ids = re.compile(f"{re.escape(placement_id)}-t[1-9][0-9]{{0,8}}")

    # -- what the process asks of it ---------------------------------------------------------------------------------

    def tables(self) -> Mapping[str, LiveTable[Bets, Outcome]]:
        return {each.table_id: each.live for each in self._tables.values() if each.live is not None}

    @property
    def seated_count(self) -> int:
        return sum(table.seated_count for table in self.tables().values())

    def contains(self, table_id: str) -> bool:
        return self._ids.fullmatch(table_id) is not None

    async def table(self, table_id: str) -> LiveTable[Bets, Outcome]:
        table = next((each for each in self._tables.values() if each.table_id == table_id), None)
        is_complete = self._director is not None and self._director.ready.is_set()
        if table is None and is_complete:
            raise refusals.table_unknown(table_id)
        if table is None or table.live is None:
            raise refusals.unavailable("The table is just being opened")
        return table.live

    async def table_for(self, player_id: str) -> LiveTable[Bets, Outcome]:  # noqa: ARG002 - nobody enters by themselves
        raise TableRefused(
            "WRONG_PLAY",
            "Players of a tournament are seated by draw: register for it.",
            table_id=self.placement_id,
            play="PLAY_TOURNAMENT",
        )

    async def void_unreadable_round(self, round_id: str, reason: str) -> bool:
        ended = self._recovery.unreadable.declare_void(round_id, reason)
        if ended is None:
            return False
        for table in self._tables.values():
            table.hurry()
        await background.wait_for_event(ended, VOID_TIMEOUT_S)
        if not ended.is_set():
            raise refusals.unavailable("It is not known yet whether the round is void")
        return True

    def apply_session(self, session: session_pb2.Session) -> None:
        """Seats nobody: a tournament has no sessions at its tables."""

    def wake(self) -> None:
        for table in self.tables().values():
            table.wake()

    # -- what the director asks of it --------------------------------------------------------------------------------

    async def open(self, number: int) -> ChipTable:
        table = self._tables.get(number)
        if table is None:
            table = self._tables[number] = InnerTable(self.placement_id, number, self._open_in_turn)
            task = self._tasks[number] = asyncio.create_task(self._run_table(table))
            task.add_done_callback(lambda done: self._table_ended(number, done))
        return table

    async def _run_table(self, table: InnerTable[Bets, Outcome]) -> None:
        """Runs a table until it is closed or handed over."""
        await table.run()
        if (publisher := self._publishers.pop(table.table_id, None)) is not None:
            await close_publisher(publisher)

    # -- what tables report ------------------------------------------------------------------------------------------

    async def hand_ended(self, table: int, number: int, outcome: bytes) -> None:
        await self._reported(self._directing.hand_ended(table, number, outcome))

    async def hand_voided(self, table: int, number: int) -> None:
        await self._reported(self._directing.hand_voided(table, number))

    def went_away(self, player_id: str) -> None:
        self._directing.went_away(player_id)

    def came_back(self, player_id: str) -> None:
        self._directing.came_back(player_id)

    @property
    def _directing(self) -> Director:
        assert self._director is not None  # noqa: S101 - tables are opened by it
        return self._director

    async def _reported(self, reporting: Awaitable[None]) -> None:
        """Has the lease given up if the director cannot take a report: the next owner reports the same again."""
        try:
            await reporting
        except Exception as failed:
            self._give_up(failed)
            raise

    # -- its life ----------------------------------------------------------------------------------------------------

    async def run(
        self, announce: Callable[[int], Awaitable[None]], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        """Directs the tournament until it is to be handed over; hands under way stop between two decisions."""
        directing: asyncio.Task[None] | None = None
        _DIRECTED.inc()
        try:
            self._epoch = await self._dependencies.journal.take_ownership(self.placement_id)
            await announce(self._epoch)
            for left in await self._dependencies.journal.unfinished_rounds(self.placement_id):
                self._left.setdefault(left.opened.table_id, []).append(left)
            director = self._director = self._director_of(self.placement_id)
            directing = asyncio.create_task(director.run(self, self._epoch))
            directing.add_done_callback(self._directing_ended)
            self.ready.set()
            reasons = [asyncio.create_task(event.wait()) for event in (hand_over, lost, self._must_end)]
            try:
                await asyncio.wait(reasons, return_when=asyncio.FIRST_COMPLETED)
            finally:
                await background.cancel_and_wait(reasons)
            for table in self._tables.values():
                table.hand_over()
            if self._failed is None and (playing := self._begun_tasks()):
                # The director takes their last reports meanwhile.
                await asyncio.wait(playing)
            if self._failed is not None:
                raise self._failed
        finally:
            _DIRECTED.dec()
            self.ready.clear()
            tasks = [*self._tasks.values(), *([] if directing is None else [directing])]
            await background.cancel_and_wait(tasks)
            self._tables.clear()
            await asyncio.gather(
                *(close_publisher(publisher) for publisher in self._publishers.values()), return_exceptions=True
            )
            self._publishers.clear()

    def _begun_tasks(self) -> list[asyncio.Task[None]]:
        """Returns the tasks of the tables that are open: the others end by being cancelled."""
        return [self._tasks[number] for number, table in self._tables.items() if table.live is not None]

    def _directing_ended(self, directing: asyncio.Task[None]) -> None:
        if directing.cancelled():
            return
        failed = directing.exception()
        if failed is not None:
            self._give_up(failed)
        # Over for good: no other process takes it, as nobody runs it any more.
        self._must_end.set()

    def _table_ended(self, number: int, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (failed := task.exception()) is not None:
            # Any other failure ends no table: it is opened again.
            self._give_up(failed)
        elif not self._must_end.is_set() and not task.cancelled():
            self._tables.pop(number, None)
            self._tasks.pop(number, None)

    def _give_up(self, failed: BaseException) -> None:
        if self._failed is None and not isinstance(failed, StaleOwner):
            _FAILURES.inc()
        # That the lease is another's counts more than what came of it.
        if self._failed is None or isinstance(failed, StaleOwner):
            self._failed = failed
        self._must_end.set()

    async def _open_in_turn(self, directed: DirectedTable) -> LiveChipTable[Bets, Outcome]:
        async with self._openings:
            return await self._open_live(directed)

    async def _open_live(self, directed: DirectedTable) -> LiveChipTable[Bets, Outcome]:
        """Makes a live table: ends the hand that was left there, or lets it go on."""
        runtime, journal = self._dependencies, self._dependencies.journal
        table_id = table_id_of(self.placement_id, directed.number)
        wallet = TableWallet(runtime.wallet, table_id, self._epoch)
        if table_id not in self._publishers:
            self._publishers[table_id] = await runtime.publisher_of(table_id, self._epoch)
        publisher = self._publishers[table_id]
        settlement: ChipSettlement[Bets, Outcome] = ChipSettlement(wallet, journal, self._epoch, runtime.clock)
        resumed = None
        for left in await self._unfinished(table_id):
            resumed = await self._recovery.recover(left, settlement, publisher)
        latest = await journal.latest_deal(table_id)
        ended = None
        if latest is not None:
            ended = await self._note_latest(latest)
        past = await journal.past_outcomes(table_id, PAST_OUTCOMES_SHOWN)
        found: FoundTable[Bets, Outcome] = FoundTable(
            table_id,
            self.placement_id,
            self._epoch,
            last_round_number=await journal.last_round_number(table_id),
            past_outcomes=await read_past_outcomes(runtime.catalogue, self.placement_id, past),
            resumed=resumed,
            seat_record=None,
            shoe=None,
        )
        dependencies = TableDependencies(
            host=self._host,
            wallet=wallet,
            journal=journal,
            randomness=runtime.randomness,
            clock=runtime.clock,
            publisher=publisher,
            own_views=runtime.own_views,
            has_cards=runtime.game.has_cards,
            seats=runtime.seats,
            line_of=runtime.line_of,
        )
        return LiveChipTable(found, dependencies, directed, self, self._banks, self._seen, ended)

    async def _unfinished(self, table_id: str) -> list[UnfinishedRound]:
        """Returns the hands of a table without an end: as they were taken over, or after the table has failed."""
        if table_id not in self._opened_before:
            self._opened_before.add(table_id)
            return self._left.pop(table_id, [])
        unfinished = await self._dependencies.journal.unfinished_rounds(self.placement_id)
        return [left for left in unfinished if left.opened.table_id == table_id]

    async def _note_latest(self, latest: LatestDeal) -> EndedHand | None:
        """Takes what the latest hand of a table has on record; returns it if it has ended."""
        version = latest.opened.configuration_version
        rules = chip_rules(await self._dependencies.catalogue.rules_of_version(self.placement_id, version))
        brought = [(stake.player_id, rules.read_brought(rules.read_bets(stake.bets))) for stake in latest.drawn.stakes]
        self._banks.restore(brought)
        players = {stake.seat: stake.player_id for stake in latest.drawn.stakes}
        for moved in latest.moves:
            if moved.acted_by is ActedBy.PLAYER:
                self._seen.note_decision(players[moved.seat])
        if latest.ending is None:
            return None
        return EndedHand(brought[0][1].hand, latest.outcome if latest.ending is Ending.SETTLED else None)
