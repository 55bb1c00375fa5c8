"""The tables of one configured table under one lease: the table itself, or the tables of its players (individual play).

A new owner first shuts the former one out, then ends every round that it left: pays those whose outcome is journalled,
returns the stakes of the others. Only then does play go on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic

from google.protobuf.message import DecodeError

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.configuration.catalogue import Catalogue, VersionedRules
from services.kit.table.encoding import packed
from services.kit.table.events import messages
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import DrawnOutcome
from services.kit.table.live.dependencies import EventPublisher, RuntimeDependencies, TableDependencies
from services.kit.table.live.individual_ids import SUFFIX_CHARACTERS
from services.kit.table.live.kinds import FoundTable
from services.kit.table.live.seat_record import SeatRecord
from services.kit.table.live.shoe import OpenShoe, shoe_on_record
from services.kit.table.live.table import PAST_OUTCOMES_SHOWN, PLATFORM_FAULT, LiveTable, inactivity_policy
from services.kit.table.owned.demo_credits import refill_request
from services.kit.table.owned.openings import OPENINGS_LIMIT, Openings
from services.kit.table.owned.recovery import RoundRecovery
from services.kit.table.wallet.client import WalletFailed, WalletUnanswered
from services.kit.table.wallet.table_wallet import (
    RETRY_AFTER_MAX_S,
    TableWallet,
    retry_for_a_while,
    retry_until_answered,
)

# Players' own tables that one configured table keeps open (G11).
TABLES_LIMIT = 5_000
# How often seats are compared with the sessions that the wallet has: so long a missed report of a session may matter.
RECONCILE_EVERY_S = 10.0
# How long a player's own table has been empty, at least, when it is closed; and how many are closed side by side.
EMPTY_FOR_S = 30.0
CLOSINGS_LIMIT = 16
# Tables that are opened side by side because somebody sits there: fewer than may be opened at a time, so that no call
# of a player waits behind all of them.
SEATED_OPENINGS_LIMIT = OPENINGS_LIMIT // 2
# How often it is looked whether a blocked table is due to be tried (`retries.py`).
ENDING_CHECK_INTERVAL_S = 1.0
# How long an operator who declares a round void waits for its end.
VOID_TIMEOUT_S = 10.0
# How long the last events of a table may take to reach the bus.
FLUSH_TIMEOUT_S = 1.0

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _RunningTable(Generic[Bets, Outcome]):
    """A table and the task that runs it."""

    table: LiveTable[Bets, Outcome]
    task: asyncio.Task[None]


class ConfiguredHost(Generic[Bets, Outcome]):
    """Implements `TableHost` for the tables of one configured table."""

    def __init__(self, placement_id: str, dependencies: RuntimeDependencies[Bets, Outcome]) -> None:
        self._placement_id = placement_id
        self._catalogue = dependencies.catalogue
        self._wallet = dependencies.wallet

    def rules_in_force(self) -> VersionedRules[Bets, Outcome]:
        return self._catalogue.rules_in_force(self._placement_id)

    def closed_reason(self) -> str | None:
        return self._catalogue.closed_reason(self._placement_id)

    def switch_off(self, reason: str, *, whole_game: bool) -> None:
        self._catalogue.switch_off(None if whole_game else self._placement_id, reason)

    async def refill_demo_account(self, player_id: str, request_id: str) -> None:
        request = refill_request(player_id, request_id)
        try:
            await retry_until_answered(lambda: self._wallet.refill_demo_account(request))
        except Refused as refused:
            # A blocked player, for instance, is no reason to stop the table (G9).
            _log.info("no new credits", extra={"player_id": player_id, "reason": refused.reason})
        except WalletFailed as failed:
            _log.error("no new credits", extra={"player_id": player_id, "error": str(failed)})


class OwnedTables(Generic[Bets, Outcome]):
    """The tables of one configured table while this process owns them."""

    def __init__(self, placement_id: str, dependencies: RuntimeDependencies[Bets, Outcome]) -> None:
        self.placement_id = placement_id
        self._dependencies = dependencies
        self._host = ConfiguredHost(placement_id, dependencies)
        self._epoch = 0
        self._recovery: RoundRecovery[Bets, Outcome] | None = None
        self._tables: dict[str, _RunningTable[Bets, Outcome]] = {}
        self._publishers: dict[str, EventPublisher] = {}
        # Session events for a table that is being opened: they may be newer than the sessions read meanwhile.
        self._sessions_while_opening: dict[str, list[session_pb2.Session]] = {}
        self._openings: Openings[_RunningTable[Bets, Outcome]] = Openings(self._open)
        # Players' own tables that are being closed because nobody sits there.
        self._closings: dict[str, asyncio.Event] = {}
        # Since when each of the players' own tables is empty.
        self._empty_since: dict[str, float] = {}
        # Whether players' own tables may have to be opened: at the beginning, when one is blocked no more, and when one
        # could not be opened.
        self._opening_due = True
        # Wakes the task that keeps tables open.
        self._freed = asyncio.Event()
        # How the wallet has refused the opening of a table as another owner's.
        self._stale: StaleOwner | None = None
        self._leaving = False
        # Set when another process has taken the tables.
        self._superseded: asyncio.Event = asyncio.Event()
        self.ready = asyncio.Event()

    # -- what the process asks of it ---------------------------------------------------------------------------------

    @property
    def individual(self) -> bool:
        return self._host.rules_in_force().configuration.play == wallet_types.PLAY_INDIVIDUAL

    def tables(self) -> Mapping[str, LiveTable[Bets, Outcome]]:
        return {table_id: running.table for table_id, running in self._tables.items()}

    @property
    def seated_count(self) -> int:
        """How many players sit at these tables."""
        return sum(running.table.seated_count for running in self._tables.values())

    def contains(self, table_id: str) -> bool:
        """Whether this id is the configured table's, or can be that of a player's own table there."""
        return table_id == self.placement_id or (
            self.individual
            and table_id.startswith(f"{self.placement_id}-")
            and len(table_id) == len(self.placement_id) + SUFFIX_CHARACTERS
        )

    async def table(self, table_id: str) -> LiveTable[Bets, Outcome]:
        """Returns a table, and opens it first if it is not open."""
        if self.individual and table_id not in self._tables and not await self._has_session(table_id):
            # Only entering creates a table: an invented id opens none (G11).
            raise refusals.individual_table_unknown(table_id)
        return await self._open_once(table_id)

    async def _has_session(self, table_id: str) -> bool:
        return table_id != self.placement_id and bool(
            await TableWallet(self._dependencies.wallet, table_id, self._epoch).list_sessions()
        )

    async def table_for(self, player_id: str) -> LiveTable[Bets, Outcome]:
        """Returns the table at which this player plays, and opens it first if it is not open."""
        return await self._open_once(self._individual_table_id(player_id) if self.individual else self.placement_id)

    async def void_unreadable_round(self, round_id: str, reason: str) -> bool:
        """Makes a dealt round void for an operator; returns false if its cards can be read, or it has ended."""
        ended = None if self._recovery is None else self._recovery.unreadable.declare_void(round_id, reason)
        if ended is None:
            return False
        await background.wait_for_event(ended, VOID_TIMEOUT_S)
        if not ended.is_set():
            raise refusals.unavailable("It is not known yet whether the round is void")
        return True

    def apply_session(self, session: session_pb2.Session) -> None:
        """Passes a session that has started, moved on or ended to its table."""
        if self._is_foreign(session):
            return
        running = self._tables.get(session.table_id)
        if running is not None:
            running.table.apply_session(session)
        elif session.table_id in self._sessions_while_opening:
            self._sessions_while_opening[session.table_id].append(session)

    def _is_foreign(self, session: session_pb2.Session) -> bool:
        """Whether a session belongs to another player than the individual table: it seats nobody (`804/2015:4`)."""
        return self.individual and session.table_id != self._individual_table_id(session.player_id)

    def _individual_table_id(self, player_id: str) -> str:
        return self._dependencies.individual_ids.table_id(self.placement_id, player_id)

    def wake(self) -> None:
        """Has every table look at configurations and switches again."""
        for running in self._tables.values():
            running.table.wake()

    # -- its life ----------------------------------------------------------------------------------------------------

    async def run(
        self, announce: Callable[[int], Awaitable[None]], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        """Runs the tables until they are to be handed over; then finishes the rounds under way.

        A lost lease is no reason to drop those: the fences of wallet and journal keep a stale owner from changing
        anything (G8), and as long as no other process has taken the tables the players are served best if their round
        ends.
        """
        declaring: asyncio.Task[None] | None = None
        try:
            self._epoch = await self._dependencies.journal.take_ownership(self.placement_id)
            recovery = self._recovery = RoundRecovery(
                self.placement_id,
                self._epoch,
                self._dependencies,
                self._host.rules_in_force,
                self._publisher_of,
                self._on_freed,
            )
            await announce(self._epoch)
            await recovery.find_unfinished_rounds()
            if self.individual:
                # Each table waits for its own round alone.
                self.ready.set()
                declaring = asyncio.create_task(self._declare_configured_table(recovery))
            await self._work_until_handover(recovery, hand_over, lost)
            for running in self._tables.values():
                running.table.hand_over()
            await self._wait_for_rounds()
            if self._stale is not None:
                raise self._stale
        except StaleOwner as stale:
            await self._make_up_lost_epochs(stale)
            raise
        finally:
            self.ready.clear()
            self._leaving = True
            if declaring is not None:
                await background.cancel_and_wait([declaring])
            if self._recovery is not None:
                self._recovery.close()
            await self._openings.close()
            await background.cancel_and_wait([running.task for running in self._tables.values()])
            self._tables.clear()
            await asyncio.gather(
                *(close_publisher(publisher) for publisher in self._publishers.values()), return_exceptions=True
            )
            self._publishers.clear()

    async def _declare_configured_table(self, recovery: RoundRecovery[Bets, Outcome]) -> None:
        """Opens the configured table itself at the wallet, where operators set the inactivity policy of all its tables.

        Players' tables do so too if the wallet is silent now.
        """
        configured = self._host.rules_in_force()
        try:
            wallet, _ = await recovery.open_at_wallet(self.placement_id)
            await wallet.apply_specific_rules(configured.version.version, inactivity_policy(configured))
        except StaleOwner as stale:
            self._stale = stale
            self._superseded.set()
        except (Refused, WalletFailed, WalletUnanswered) as failed:
            _log.warning("a configured table could not be declared at the wallet", extra={"error": str(failed)})

    async def _work_until_handover(
        self, recovery: RoundRecovery[Bets, Outcome], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        """Ends rounds that were left and keeps tables open, until the tables are to be left: that is heeded at once."""
        reasons = [asyncio.create_task(event.wait()) for event in (hand_over, lost, self._superseded)]
        work = [
            asyncio.create_task(self._end_left_rounds(recovery)),
            asyncio.create_task(self._keep_tables_open(recovery)),
        ]
        try:
            await asyncio.wait([*reasons, *work], return_when=asyncio.FIRST_COMPLETED)
            self._leaving = True
            for task in work:
                if task.done():
                    task.result()
        finally:
            # What is cut off may have been carried out: the next owner repeats it, and nothing happens twice (G3).
            await background.cancel_and_wait([*reasons, *work])

    async def _make_up_lost_epochs(self, stale: StaleOwner) -> None:
        """Lets the next owner begin above the epochs that the wallet has seen, if no other process is the owner.

        Then the journal was restored from a backup and has lost epochs, which the wallet refuses.
        """
        if stale.known_epoch > self._epoch:
            await self._dependencies.journal.raise_epoch(self.placement_id, self._epoch, stale.known_epoch)

    async def _end_left_rounds(self, recovery: RoundRecovery[Bets, Outcome]) -> None:
        """Ends the rounds of blocked tables, and tries again for as long as there are any."""
        while True:
            if recovery.blocks_any():
                await recovery.end_unfinished_rounds()
            if recovery.blocks(self.placement_id):
                # Players are told that the table is closed, and not that it is elsewhere.
                self.ready.set()
            declared = recovery.unreadable.declared
            await background.wait_for_event(declared, ENDING_CHECK_INTERVAL_S)
            if declared.is_set():
                declared.clear()
                recovery.hurry()

    async def _keep_tables_open(self, recovery: RoundRecovery[Bets, Outcome]) -> None:
        """Opens the tables at which somebody sits, makes up for missed reports of sessions, and closes empty tables."""
        while True:
            self._freed.clear()
            if not self.individual and not self._tables:
                await self._open_shared_table(recovery)
            try:
                await self._follow_sessions(recovery)
            except (Refused, WalletFailed, WalletUnanswered) as failed:
                # Until the next attempt a seat stays taken that might be free.
                _log.error("the seats of tables could not be reconciled", extra={"error": str(failed)})
                self._opening_due = True
            if self.individual:
                await self._close_empty_tables()
            await background.wait_for_event(self._freed, RECONCILE_EVERY_S)

    def _on_freed(self) -> None:
        self._opening_due = True
        self._freed.set()

    async def _follow_sessions(self, recovery: RoundRecovery[Bets, Outcome]) -> None:
        """Compares all seats with the sessions that the wallet has, and opens the players' own tables that are not."""
        asked_about = {
            table_id: running.table.seated_session_ids()
            for table_id, running in self._tables.items()
            if not running.task.done()
        }
        if not any(asked_about.values()) and not (self.individual and self._opening_due):
            return
        self._opening_due = False
        sessions: dict[str, list[session_pb2.Session]] = {}
        for session in await self._list_sessions():
            if not self._is_foreign(session):
                sessions.setdefault(session.table_id, []).append(session)
        for table_id, session_ids in asked_about.items():
            running = self._tables.get(table_id)
            if running is not None and not running.task.done():
                running.table.reconcile_seats(session_ids, sessions.get(table_id, ()))
        if self.individual:
            unopened = [
                table_id for table_id in sessions if table_id not in self._tables and not recovery.blocks(table_id)
            ]
            await background.for_each(unopened, self._open_seated, SEATED_OPENINGS_LIMIT)

    async def _list_sessions(self) -> Sequence[session_pb2.Session]:
        """Reads the sessions at all tables of the placement at once."""
        wallet = self._dependencies.wallet
        if self.individual:
            return await retry_for_a_while(lambda: wallet.list_placement_sessions(self.placement_id))
        return await retry_for_a_while(lambda: wallet.list_table_sessions(self.placement_id))

    async def _open_seated(self, table_id: str) -> None:
        """Opens a player's own table, so that they see at once where they are; if that fails it is tried again."""
        try:
            await self._open_once(table_id)
        except Exception as failed:  # noqa: BLE001 - whatever it was, it concerns this table only
            _log.warning("a table cannot be opened", extra={"table_id": table_id, "error": str(failed)})
            self._opening_due = True

    async def _close_empty_tables(self) -> None:
        """Closes the players' own tables that have been empty for a while."""
        now = asyncio.get_running_loop().time()
        empty = [
            table_id for table_id, running in self._tables.items() if running.table.is_empty and not running.task.done()
        ]
        self._empty_since = {table_id: self._empty_since.get(table_id, now) for table_id in empty}
        due = [table_id for table_id, since in self._empty_since.items() if now - since >= EMPTY_FOR_S]
        await background.for_each(due, self._close, CLOSINGS_LIMIT)

    async def _close(self, table_id: str) -> None:
        """Closes one table; a call that needs it meanwhile opens it anew."""
        running, closed = self._tables[table_id], asyncio.Event()
        self._closings[table_id] = closed
        try:
            running.table.hand_over()
            await asyncio.wait([running.task])
            self._tables.pop(table_id, None)
            await close_publisher(self._publishers.pop(table_id))
        finally:
            del self._closings[table_id]
            closed.set()

    async def _wait_for_rounds(self) -> None:
        """Returns when every round under way has ended; a table that fails ends no other table's round (G9)."""
        playing = {running.task for running in self._tables.values()}
        while playing:
            done, playing = await asyncio.wait(playing, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                if isinstance(task.exception(), StaleOwner):
                    task.result()

    async def _open_once(self, table_id: str) -> LiveTable[Bets, Outcome]:
        running = self._tables.get(table_id)
        if running is None or table_id in self._closings:
            running = await self._openings.open(table_id)
        return running.table

    async def _open_shared_table(self, recovery: RoundRecovery[Bets, Outcome]) -> None:
        """Opens the one table that all players share, however long the wallet is silent or fails."""
        while not recovery.blocks(self.placement_id):
            try:
                await self._open_once(self.placement_id)
            except (WalletFailed, WalletUnanswered) as failed:
                error = str(failed)
            except Refused as refused:
                # Slowness passes; any other refusal is about the table, and needs an operator.
                if refused.reason != "UNAVAILABLE":
                    raise
                error = refused.sentence
            else:
                self.ready.set()
                return
            _log.warning("a table cannot be opened", extra={"table_id": self.placement_id, "error": error})
            await asyncio.sleep(RETRY_AFTER_MAX_S)

    async def _open(self, table_id: str) -> _RunningTable[Bets, Outcome]:
        while table_id in self._closings:
            await self._closings[table_id].wait()
        recovery = self._recovery
        if self._leaving or recovery is None:
            raise refusals.unavailable("The table is just moving to another process")
        await recovery.wait_for_first_attempt(table_id)
        if recovery.blocks(table_id):
            raise refusals.unavailable("A round of this table has not ended yet")
        if len(self._tables) + len(self._openings) > TABLES_LIMIT:
            raise refusals.overloaded(TABLES_LIMIT)
        try:
            wallet, last_round_number = await recovery.open_at_wallet(table_id)
        except StaleOwner as stale:
            # Rounds under way at other tables may end before the tables are left.
            self._stale = stale
            self._superseded.set()
            raise
        runtime, journal = self._dependencies, self._dependencies.journal
        publisher = await self._publisher_of(table_id)
        past = await journal.past_outcomes(table_id, PAST_OUTCOMES_SHOWN)
        # The ledger knows more rounds than a journal that was restored from a backup: no id is used twice (G4).
        last_round_number = max(last_round_number, await journal.last_round_number(table_id))
        seat_record = self._seat_record(table_id)
        resumed = recovery.resumed(table_id)
        kept_seats = () if seat_record is None else await seat_record.read()
        found: FoundTable[Bets, Outcome] = FoundTable(
            table_id,
            self.placement_id,
            self._epoch,
            last_round_number=last_round_number,
            past_outcomes=await read_past_outcomes(runtime.catalogue, self.placement_id, past),
            resumed=resumed,
            seat_record=seat_record,
            shoe=await self._read_shoe(table_id, last_round_number) if resumed is None else None,
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
        table = await runtime.kind.open_table(found, dependencies)
        self._sessions_while_opening[table_id] = []
        try:
            sessions = await wallet.list_sessions()
        finally:
            newer_sessions = self._sessions_while_opening.pop(table_id)
        own_sessions = [session for session in (*sessions, *newer_sessions) if not self._is_foreign(session)]
        table.seat_again(kept_seats, own_sessions)
        # The handover may have begun meanwhile, and waits only for the tables that were open then.
        if self._leaving:
            raise refusals.unavailable("The table is just moving to another process")
        recovery.forget_resumed(table_id)
        task = asyncio.create_task(table.run())
        task.add_done_callback(partial(self._table_ended, recovery, table_id))
        running = self._tables[table_id] = _RunningTable(table, task)
        return running

    async def _read_shoe(self, table_id: str, last_round_number: int) -> OpenShoe | None:
        """Returns the shoe that the table's next round goes on with; None where each begins with a shuffle."""
        configured = self._host.rules_in_force()
        if configured.rules.cut_card is None:
            return None
        return shoe_on_record(await self._dependencies.journal.latest_deal(table_id), configured, last_round_number)

    def _seat_record(self, table_id: str) -> SeatRecord | None:
        """Returns the record of a table's seats; None where nobody chooses one."""
        runtime = self._dependencies
        if self.individual or not runtime.game.has_decisions:
            return None
        return SeatRecord(runtime.seats, self.placement_id, table_id, self._epoch, runtime.clock)

    async def _publisher_of(self, table_id: str) -> EventPublisher:
        if table_id not in self._publishers:
            self._publishers[table_id] = await self._dependencies.publisher_of(table_id, self._epoch)
        return self._publishers[table_id]

    def _table_ended(self, recovery: RoundRecovery[Bets, Outcome], table_id: str, task: asyncio.Task[None]) -> None:
        failed = None if task.cancelled() else task.exception()
        if isinstance(failed, StaleOwner):
            self._superseded.set()
        elif failed is not None:
            # Its round is ended like one that a former owner left, and the other tables play on (G9).
            _log.error("a table has failed", exc_info=failed, extra={"table_id": table_id})
            self._tables.pop(table_id, None)
            recovery.block(table_id, PLATFORM_FAULT)


async def close_publisher(publisher: EventPublisher) -> None:
    """Closes a publisher. Unsent events may be lost: the next owner publishes a full snapshot."""
    try:
        async with asyncio.timeout(FLUSH_TIMEOUT_S):
            await publisher.flush()
    except TimeoutError:
        _log.warning("the last events of a table did not reach the bus in time")
    await publisher.close()


async def read_past_outcomes(
    catalogue: Catalogue[Bets, Outcome], placement_id: str, drawn: Sequence[DrawnOutcome]
) -> list[types_pb2.PastOutcome]:
    """Reads outcomes, each by the rules of its own round: the wheel may have been another one.

    An outcome that cannot be read is not shown, for no picture of the past may keep a table closed (G9).
    """
    past: list[types_pb2.PastOutcome] = []
    for round_id, drawn_at, outcome, version in drawn:
        try:
            rules = (await catalogue.rules_of_version(placement_id, version)).rules
            message = rules.outcome_message(rules.read_outcome(outcome))
        except (DecodeError, LookupError, ValueError, Refused):
            _log.exception("a past outcome cannot be read", extra={"round_id": round_id, "version": version})
        else:
            past.append(messages.past_outcome(round_id, drawn_at, packed(message)))
    return past
