"""A house: one configured table under one lease, with the tables of its players if it is an individual one.

Whoever takes a house first shuts the former owner out, then ends every round it left: pays those whose outcome is
journalled, gives the stakes of the others back. Only then does play go on.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Generic, Protocol

from prometheus_client import Gauge

from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import session_pb2, wallet_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from services.kit.clock import Clock
from services.kit.randomness.source import Randomness
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.settlement import OWNER_LOST, Settlement, cancelled_in_ledger, stakes_in_ledger
from services.kit.table.events import messages as appearance
from services.kit.table.game import Bets, Game, Outcome
from services.kit.table.journal.entries import CancelledStake, Journal, StaleOwner, UnfinishedRound
from services.kit.table.live.dependencies import EventPublisher, TableDependencies, VersionedRules
from services.kit.table.live.table import PAST_OUTCOMES_SHOWN, PLATFORM_FAULT, LiveTable
from services.kit.table.refusals import TableRefused
from services.kit.table.wallet.table_wallet import (
    RETRY_AFTER_MAX_S,
    TableWallet,
    Wallet,
    WalletFailed,
    WalletUnanswered,
    retry_for_a_while,
    retry_until_answered,
)

# Players' own tables that one house keeps open (G11), and how often those that nobody sits at are closed.
TABLES_LIMIT = 5_000
SWEEP_EVERY_S = 30.0
# How often it is tried once more to end a round that could not be ended, or whose table has failed.
RETRY_ENDING_EVERY_S = 5.0
# How long a player's table waits for its turn to be opened.
OPENING_TIMEOUT_S = 10.0
# How long the last words of a table may take to reach the bus.
FLUSH_TIMEOUT_S = 1.0
# What a player of the demonstration gets, and gets again when it is gone.
DEMO_CREDITS_CENTS = 100_000

_log = logging.getLogger(__name__)
_STUCK = Gauge("feltro_tables_stuck", "Tables that stay closed because a round of theirs cannot be ended")


class Catalogue(Protocol[Bets, Outcome]):
    """What the operator has laid down for the tables of the game, as far as this process has heard."""

    def rules_in_force(self, placement_id: str) -> VersionedRules[Bets, Outcome]:
        """The specific rules in force now."""

    async def rules_of_version(self, placement_id: str, version: int) -> VersionedRules[Bets, Outcome]:
        """Those that a round was opened under."""

    def closed_reason(self, placement_id: str) -> str | None:
        """Why the table is switched off, if it is."""

    async def switch_off(self, placement_id: str | None, reason: str) -> None:
        """The platform's own switch: of one table, or of the whole game."""


@dataclass(frozen=True, slots=True)
class RuntimeDependencies(Generic[Bets, Outcome]):
    """What all houses of a process share."""

    game: Game[Bets, Outcome]
    catalogue: Catalogue[Bets, Outcome]
    wallet: Wallet
    journal: Journal
    randomness: Randomness
    clock: Clock
    publisher_of: Callable[[str, int], Awaitable[EventPublisher]]
    """Of a table, for the owner of this epoch."""


@dataclass(slots=True)
class _Running(Generic[Bets, Outcome]):
    """A table and the task that runs it."""

    table: LiveTable[Bets, Outcome]
    task: asyncio.Task[None]


class _Premises(Generic[Bets, Outcome]):
    """The house as one of its tables sees it."""

    def __init__(self, placement_id: str, resources: RuntimeDependencies[Bets, Outcome]) -> None:
        self._house_id = placement_id
        self._catalogue = resources.catalogue
        self._wallet = resources.wallet

    def rules_in_force(self) -> VersionedRules[Bets, Outcome]:
        return self._catalogue.rules_in_force(self._house_id)

    def closed_reason(self) -> str | None:
        return self._catalogue.closed_reason(self._house_id)

    async def switch_off(self, reason: str, *, whole_game: bool) -> None:
        await self._catalogue.switch_off(None if whole_game else self._house_id, reason)

    async def refill_demo_account(self, player_id: str, request_id: str) -> None:
        request = wallet_pb2.RefillDemoAccountRequest(
            request_id=request_id, player_id=player_id, amount_cents=DEMO_CREDITS_CENTS
        )
        try:
            await retry_until_answered(lambda: self._wallet.refill_demo_account(request))
        except Refused as refused:
            # Such as a blocked player: that is between him and the wallet, and no reason to stop the table (G9).
            _log.info("no new credits", extra={"player_id": player_id, "reason": refused.reason})
        except WalletFailed as failed:
            _log.error("no new credits", extra={"player_id": player_id, "error": str(failed)})


class OwnedTables(Generic[Bets, Outcome]):
    """A house while this process owns it."""

    def __init__(self, placement_id: str, dependencies: RuntimeDependencies[Bets, Outcome]) -> None:
        self.placement_id = placement_id
        self._resources = dependencies
        self._premises = _Premises(placement_id, dependencies)
        self._epoch = 0
        self._tables: dict[str, _Running[Bets, Outcome]] = {}
        self._voices: dict[str, EventPublisher] = {}
        # What was heard of sessions at a table that is being opened, and may be newer than what was read of them.
        self._heard_meanwhile: dict[str, list[session_pb2.Session]] = {}
        # Tables with a round of a former owner that cannot be ended, and those that have failed since; and why their
        # rounds are void where nothing was drawn.
        self._stuck: dict[str, str] = {}
        self._opening = asyncio.Lock()
        self._leaving = False
        # Another process has taken the house.
        self._overtaken: asyncio.Event = asyncio.Event()
        self.ready = asyncio.Event()

    # -- what the process asks of it ---------------------------------------------------------------------------------

    @property
    def individual(self) -> bool:
        return self._premises.rules_in_force().configuration.play == wallet_types.PLAY_INDIVIDUAL

    def tables(self) -> Mapping[str, LiveTable[Bets, Outcome]]:
        return {table_id: running.table for table_id, running in self._tables.items()}

    def contains(self, table_id: str) -> bool:
        """Whether a table of this id would stand in this house."""
        return table_id == self.placement_id or (
            self.individual
            and table_id.startswith(f"{self.placement_id}-")
            and len(table_id) == len(self.placement_id) + 17
        )

    async def table(self, table_id: str) -> LiveTable[Bets, Outcome]:
        """A table of this house, opened if need be."""
        if self.individual and table_id not in self._tables and not await self._somebody_sits_at(table_id):
            # Only entering makes a table: whoever makes up ids opens none (G11).
            raise TableRefused(
                "TABLE_UNKNOWN",
                "At an individual table everybody has a table of his own: enter it to learn its id.",
                table_id=table_id,
            )
        return await self._opened(table_id)

    async def _somebody_sits_at(self, table_id: str) -> bool:
        return table_id != self.placement_id and bool(
            await TableWallet(self._resources.wallet, table_id, self._epoch).list_sessions()
        )

    async def table_for(self, player_id: str) -> LiveTable[Bets, Outcome]:
        """The table at which this player plays in this house."""
        return await self._opened(
            individual_table_id(self.placement_id, player_id) if self.individual else self.placement_id
        )

    def apply_session(self, session: session_pb2.Session) -> None:
        if self._of_somebody_else(session):
            return
        running = self._tables.get(session.table_id)
        if running is not None:
            running.table.apply_session(session)
        elif session.table_id in self._heard_meanwhile:
            self._heard_meanwhile[session.table_id].append(session)

    def _of_somebody_else(self, session: session_pb2.Session) -> bool:
        """At a player's own table nobody else sits, whoever has started a session there (`804/2015:4`)."""
        return self.individual and session.table_id != individual_table_id(self.placement_id, session.player_id)

    def wake(self) -> None:
        """Configurations or switches have changed."""
        for running in self._tables.values():
            running.table.wake()

    # -- its life ----------------------------------------------------------------------------------------------------

    async def run(
        self, announce: Callable[[int], Awaitable[None]], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        """Runs the house until it is to be left; then finishes the rounds under way.

        A lost lease is no reason to drop them: the fences of wallet and journal keep a stale owner from changing
        anything (G8), and as long as nobody has taken the house its players are served best if their round ends.
        """
        try:
            self._epoch = await self._resources.journal.take_ownership(self.placement_id)
            await announce(self._epoch)
            await self._end_what_was_left()
            if not self.individual and not self._stuck:
                await self._open_shared_table()
            self.ready.set()
            await self._until_asked(hand_over, lost)
            self._leaving = True
            for running in self._tables.values():
                running.table.hand_over()
            await self._until_left()
        finally:
            self.ready.clear()
            self._leaving = True
            self._note_stuck({})
            await background.cancel_and_wait([running.task for running in self._tables.values()])
            self._tables.clear()
            await asyncio.gather(*(_hush(voice) for voice in self._voices.values()), return_exceptions=True)
            self._voices.clear()

    async def _until_asked(self, leave: asyncio.Event, lost: asyncio.Event) -> None:
        waiting = [asyncio.create_task(event.wait()) for event in (leave, lost, self._overtaken)]
        loop = asyncio.get_running_loop()
        swept_at = loop.time()
        try:
            while not any(event.is_set() for event in (leave, lost, self._overtaken)):
                await asyncio.wait(waiting, timeout=RETRY_ENDING_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
                if self._stuck:
                    await self._end_what_is_stuck()
                if loop.time() - swept_at >= SWEEP_EVERY_S:
                    await self._sweep()
                    swept_at = loop.time()
        finally:
            for task in waiting:
                task.cancel()

    async def _until_left(self) -> None:
        """Returns when every round under way has ended; one table that fails takes no other's round with it (G9)."""
        playing = {running.task for running in self._tables.values()}
        while playing:
            done, playing = await asyncio.wait(playing, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                if isinstance(task.exception(), StaleOwner):
                    task.result()

    async def _sweep(self) -> None:
        """Frees seats whose players have gone unheard, and closes players' own tables that nobody sits at."""
        for running in list(self._tables.values()):
            if not running.task.done():
                try:
                    await running.table.reconcile_seats()
                except (WalletFailed, WalletUnanswered) as failed:
                    # It is looked again; until then a seat stays taken that might be free.
                    _log.error("a table could not be looked after", extra={"error": str(failed)})
        if not self.individual or self._leaving:
            return
        async with self._opening:
            for table_id, running in list(self._tables.items()):
                if running.table.is_empty and not running.task.done():
                    running.table.hand_over()
                    await asyncio.wait([running.task])
                    self._tables.pop(table_id, None)
                    await _hush(self._voices.pop(table_id))

    async def _opened(self, table_id: str) -> LiveTable[Bets, Outcome]:
        running = self._tables.get(table_id)
        if running is None:
            if table_id in self._stuck:
                raise refusals.unavailable("A round of this table has not ended yet")
            running = await self._open_in_turn(table_id)
        return running.table

    async def _open_in_turn(self, table_id: str) -> _Running[Bets, Outcome]:
        """Tables are opened one after the other; while the wallet is silent nobody waits for a turn for ever (G11)."""
        try:
            async with asyncio.timeout(OPENING_TIMEOUT_S):
                await self._opening.acquire()
        except TimeoutError:
            raise refusals.unavailable("Other tables are just being opened") from None
        try:
            return self._tables.get(table_id) or await self._open(table_id)
        finally:
            self._opening.release()

    async def _open_shared_table(self) -> None:
        """Opens the one table that all players share, however long the wallet is silent."""
        while True:
            try:
                await self._opened(self.placement_id)
            except WalletUnanswered:
                await asyncio.sleep(RETRY_AFTER_MAX_S)
            else:
                return

    async def _open(self, table_id: str) -> _Running[Bets, Outcome]:
        if self._leaving or not self._epoch:
            raise refusals.unavailable("The table is just moving to another process")
        if len(self._tables) >= TABLES_LIMIT:
            raise refusals.overloaded(TABLES_LIMIT)
        journal = self._resources.journal
        bank = await self._admit(table_id)
        voice = await self._voice(table_id)
        past = await journal.past_outcomes(table_id, PAST_OUTCOMES_SHOWN)
        table: LiveTable[Bets, Outcome] = LiveTable(
            table_id,
            self.placement_id,
            self._epoch,
            TableDependencies(self._premises, bank, journal, self._resources.randomness, self._resources.clock, voice),
            last_round_number=await journal.last_round_number(table_id),
            past_outcomes=[self._past_outcome(*outcome) for outcome in past],
        )
        self._heard_meanwhile[table_id] = []
        try:
            there = await bank.list_sessions()
        finally:
            heard = self._heard_meanwhile.pop(table_id)
        for session in (*there, *heard):
            if not self._of_somebody_else(session):
                table.apply_session(session)
        task = asyncio.create_task(table.run())
        task.add_done_callback(partial(self._look_at, table_id))
        running = self._tables[table_id] = _Running(table, task)
        return running

    async def _voice(self, table_id: str) -> EventPublisher:
        if table_id not in self._voices:
            self._voices[table_id] = await self._resources.publisher_of(table_id, self._epoch)
        return self._voices[table_id]

    def _look_at(self, table_id: str, task: asyncio.Task[None]) -> None:
        failed = None if task.cancelled() else task.exception()
        if isinstance(failed, StaleOwner):
            self._overtaken.set()
        elif failed is not None:
            # Its round is ended like one that a former owner left, and the other tables play on (G9).
            _log.error("a table has failed", exc_info=failed, extra={"table_id": table_id})
            del self._tables[table_id]
            self._note_stuck({**self._stuck, table_id: PLATFORM_FAULT})

    def _past_outcome(self, round_id: str, drawn_at: datetime, outcome: bytes) -> types_pb2.PastOutcome:
        rules = self._premises.rules_in_force().rules
        message = rules.outcome_message(rules.read_outcome(outcome))
        return appearance.past_outcome(round_id, drawn_at, appearance.packed(message))

    # -- what a former owner left ------------------------------------------------------------------------------------

    async def _admit(self, table_id: str) -> TableWallet:
        """Opens the table at the wallet, which shuts the former owner out; ends rounds unknown to the journal."""
        configuration = self._premises.rules_in_force().configuration
        bank = TableWallet(self._resources.wallet, table_id, self._epoch)
        answer = await bank.open_table(
            configuration.game, configuration.regulation, configuration.mode, configuration.play
        )
        if answer.open_round_ids:
            known = {
                left.opened.round_id for left in await self._resources.journal.unfinished_rounds(self.placement_id)
            }
            for round_id in sorted(set(answer.open_round_ids) - known):
                _log.error("a round the journal does not know is made void", extra={"round_id": round_id})
                await bank.void_round(round_id, OWNER_LOST)
        return bank

    async def _end_what_was_left(self, at: Collection[str] | None = None) -> None:
        """Ends what a former owner left, at these tables only if they are named.

        A table stays closed where that fails: somebody has to look why. Nobody else's table or money waits for it (G9).
        """
        banks: dict[str, TableWallet] = {}
        stuck: dict[str, str] = {}
        for left in await self._resources.journal.unfinished_rounds(self.placement_id):
            table_id, round_id = left.opened.table_id, left.opened.round_id
            if table_id in stuck or (at is not None and table_id not in at):
                continue
            reason = self._stuck.get(table_id, OWNER_LOST)
            try:
                if table_id not in banks:
                    banks[table_id] = await self._admit(table_id)
                events = await self._end_round(left, banks[table_id], reason)
            except StaleOwner:
                raise
            except WalletUnanswered as silent:
                extra = {"table_id": table_id, "round_id": round_id, "error": str(silent)}
                _log.warning("a round cannot be ended before the wallet answers", extra=extra)
                stuck[table_id] = reason
                continue
            except Exception:  # noqa: BLE001 - whatever it was, it is of this round
                _log.exception("a round cannot be ended", extra={"table_id": table_id, "round_id": round_id})
                stuck[table_id] = reason
                continue
            for event in events:
                event.at.FromDatetime(self._resources.clock.now())
            (await self._voice(table_id)).publish(*events)
        # Another table may have failed meanwhile.
        others = {} if at is None else {table: why for table, why in self._stuck.items() if table not in at}
        self._note_stuck({**others, **stuck})

    def _note_stuck(self, tables: dict[str, str]) -> None:
        _STUCK.inc(len(tables) - len(self._stuck))
        self._stuck = tables

    async def _end_what_is_stuck(self) -> None:
        """Tries once more: what was in the way may have been mended, or passed."""
        try:
            await self._end_what_was_left(frozenset(self._stuck))
        except StaleOwner:
            raise
        except Exception:  # noqa: BLE001 - the tables that are open go on
            _log.exception("what was left could not be looked up", extra={"placement_id": self.placement_id})
        if not self.individual and not self._tables and not self._stuck and not self._leaving:
            await self._open_shared_table()

    async def _end_round(self, left: UnfinishedRound, bank: TableWallet, reason: str) -> list[events_pb2.TableEvent]:
        settlement: Settlement[Bets, Outcome] = Settlement(bank, self._resources.journal, self._epoch)
        round_id = left.opened.round_id
        if left.drawn is not None:
            version = left.opened.configuration_version
            rules = (await self._resources.catalogue.rules_of_version(self.placement_id, version)).rules
            result = await settlement.settle(left.drawn, rules)
            _log.info("a round left behind is paid", extra={"round_id": round_id})
            seats = {stake.player_id: stake.seat for stake in left.drawn.stakes}
            # The former owner may have died before anybody saw the outcome.
            outcome = rules.outcome_message(rules.read_outcome(left.drawn.outcome))
            shown_until = self._resources.clock.now()
            return [
                appearance.outcome_drawn(round_id, outcome, left.drawn.draw_trigger),
                appearance.round_settled(round_id, seats, result.entry, shown_until),
            ]
        # The money first: what is read for the record after that stands in no refund's way (G4).
        returned = await settlement.return_stakes(round_id, reason)
        ledger = await bank.get_round(round_id)
        players = await self._players(ledger)
        taken_back: list[CancelledStake] = []
        if any(stake.state == wallet_types.STAKE_STATE_CANCELLED for stake in ledger.stakes):
            taken_back = cancelled_in_ledger(ledger, players, await bank.list_cancellation_times(round_id))
        stakes = stakes_in_ledger(ledger, players)
        await settlement.journal_void(round_id, reason, returned, stakes, taken_back)
        _log.info("a round left behind is void", extra={"round_id": round_id})
        return [appearance.round_void(round_id, reason)]

    async def _players(self, ledger: wallet_pb2.Round) -> dict[str, str]:
        """Whose sessions they are that have stakes in a round."""
        wallet = self._resources.wallet
        players: dict[str, str] = {}
        for session_id in dict.fromkeys(stake.session_id for stake in ledger.stakes):
            request = session_pb2.GetSessionRequest(session_id=session_id)
            answer = await retry_for_a_while(partial(wallet.get_session, request))
            players[session_id] = answer.session.player_id
        return players


async def _hush(voice: EventPublisher) -> None:
    """Ends a voice. Whoever speaks next says how the table stands, so what does not leave in a moment is let go."""
    try:
        async with asyncio.timeout(FLUSH_TIMEOUT_S):
            await voice.flush()
    except TimeoutError:
        _log.warning("the last words of a table were not heard")
    await voice.close()


def individual_table_id(placement_id: str, player_id: str) -> str:
    """The id of a player's own table: the house's, and sixteen digits that stand for the player."""
    return f"{placement_id}-{hashlib.blake2b(player_id.encode(), digest_size=8).hexdigest()}"
