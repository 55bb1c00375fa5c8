"""Ends the rounds that a former owner left: pays those with an outcome, goes on with dealt ones, refunds the others."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from functools import partial
from typing import Generic, NamedTuple

from prometheus_client import Gauge

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import session_pb2, types_pb2, wallet_pb2
from services.kit import background
from services.kit.table.banked.settlement import OWNER_LOST, Decided, Settlement
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.events import messages
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import Drawn, JournalStake, UnfinishedRound
from services.kit.table.journal.ledger_stakes import cancelled_in_ledger, stakes_in_ledger
from services.kit.table.live.dependencies import EventPublisher, RuntimeDependencies
from services.kit.table.owned.retries import Retries
from services.kit.table.owned.unreadable_rounds import UnreadableRound, UnreadableRounds
from services.kit.table.turns.resuming import DecisionsLost, ResumedRound, deal_again, reconcile
from services.kit.table.wallet.client import WalletUnanswered
from services.kit.table.wallet.table_wallet import TableWallet, retry_for_a_while

# Tables that are recovered side by side (G11).
RECOVERIES_LIMIT = 16

HAND_INTERRUPTED = "the platform has interrupted the hand for too long"

_log = logging.getLogger(__name__)
_STUCK = Gauge("feltro_tables_stuck", "Tables that stay closed because a round of theirs cannot be ended")


class TableAtWallet(NamedTuple):
    """A table that the wallet has opened for this owner."""

    wallet: TableWallet
    last_round_number: int
    """The number of the newest round that the ledger has of it; 0 if it has none."""


class RoundRecovery(Generic[Bets, Outcome]):
    """Ends the unfinished rounds of one configured table, for its owner of one epoch.

    A table with such a round is blocked until the round has ended. Tables are recovered side by side, and none waits
    for another (G9).
    """

    def __init__(
        self,
        placement_id: str,
        epoch: int,
        dependencies: RuntimeDependencies[Bets, Outcome],
        rules_in_force: Callable[[], VersionedRules[Bets, Outcome]],
        publisher_of: Callable[[str], Awaitable[EventPublisher]],
        on_freed: Callable[[], None],
    ) -> None:
        """Calls `on_freed` when a table is blocked no more."""
        self._placement_id = placement_id
        self._epoch = epoch
        self._dependencies = dependencies
        self._rules_in_force = rules_in_force
        self._publisher_of = publisher_of
        self._on_freed = on_freed
        # Why the rounds of each blocked table are void if nothing was drawn.
        self._blocked: dict[str, str] = {}
        # Blocked tables that are not tried for the first time.
        self._stuck: set[str] = set()
        self._retries = Retries(dependencies.clock)
        # Dealt rounds that wait for decisions, until their table is opened.
        self._resumed: dict[str, ResumedRound[Bets, Outcome]] = {}
        # Dealt rounds whose cards cannot be read.
        self.unreadable = UnreadableRounds(dependencies.clock)
        # Set when the first attempt at a table is over.
        self._first_attempts: dict[str, asyncio.Event] = {}

    def blocks_any(self) -> bool:
        """Whether any table stays closed because a round of it has not ended."""
        return bool(self._blocked)

    def blocks(self, table_id: str) -> bool:
        """Whether this table stays closed because a round of it has not ended."""
        return table_id in self._blocked

    async def wait_for_first_attempt(self, table_id: str) -> None:
        """Returns when a former owner's rounds of this table have ended, or could not be ended."""
        if table_id in self._first_attempts:
            await self._first_attempts[table_id].wait()

    def block(self, table_id: str, reason: str) -> None:
        """Closes a table that has failed, until its round is ended; `reason` is why it is void if nothing was drawn."""
        self._blocked[table_id] = reason
        self._retries.forget(table_id)
        self._note_stuck(table_id)

    def close(self) -> None:
        """Counts no table as stuck any more: they are another owner's business now."""
        _STUCK.dec(len(self._stuck))
        self._stuck.clear()
        self._blocked.clear()

    def _note_stuck(self, table_id: str) -> None:
        if table_id not in self._stuck:
            self._stuck.add(table_id)
            _STUCK.inc()

    def _free(self, table_id: str) -> None:
        del self._blocked[table_id]
        self._retries.forget(table_id)
        if table_id in self._stuck:
            self._stuck.remove(table_id)
            _STUCK.dec()
        self._on_freed()

    async def open_at_wallet(self, table_id: str, journalled: Collection[str] = ()) -> TableAtWallet:
        """Opens a table at the wallet, which shuts the former owner out; voids open rounds unknown to the journal.

        `journalled` are rounds of this table that the journal is known to have.
        """
        configuration = self._rules_in_force().configuration
        wallet = TableWallet(self._dependencies.wallet, table_id, self._epoch)
        answer = await wallet.open_table(
            configuration.game,
            configuration.regulation,
            configuration.mode,
            configuration.play,
            configured_table_id="" if table_id == self._placement_id else self._placement_id,
        )
        unknown = set(answer.open_round_ids) - set(journalled)
        if unknown:
            unfinished = await self._dependencies.journal.unfinished_rounds(self._placement_id)
            unknown -= {round_.opened.round_id for round_ in unfinished}
        for round_id in sorted(unknown):
            _log.error("a round unknown to the journal is made void", extra={"round_id": round_id})
            await wallet.void_round(round_id, OWNER_LOST)
        return TableAtWallet(wallet, _round_number(table_id, answer.last_round_id))

    async def find_unfinished_rounds(self) -> None:
        """Blocks the tables at which a former owner left a round, until that round has ended."""
        for unfinished in await self._dependencies.journal.unfinished_rounds(self._placement_id):
            table_id = unfinished.opened.table_id
            self._blocked[table_id] = OWNER_LOST
            self._first_attempts.setdefault(table_id, asyncio.Event())

    async def end_unfinished_rounds(self) -> None:
        """Tries to end the rounds of blocked tables that are due, and unblocks each table whose rounds have ended.

        A table where that fails stays closed until its cause is removed, or has passed.
        """
        due = [table_id for table_id in self._blocked if self._retries.is_due(table_id)]
        if not due:
            return
        try:
            unfinished = await self._dependencies.journal.unfinished_rounds(self._placement_id)
        except Exception:  # noqa: BLE001 - the tables that are open go on
            _log.exception("unfinished rounds could not be read", extra={"placement_id": self._placement_id})
            return
        rounds: dict[str, list[UnfinishedRound]] = {table_id: [] for table_id in due}
        for each in unfinished:
            # Another table may have a round under way.
            if each.opened.table_id in rounds:
                rounds[each.opened.table_id].append(each)
        await background.for_each(rounds.items(), self._recover, RECOVERIES_LIMIT)

    def hurry(self) -> None:
        """Has all blocked tables tried with the next attempt."""
        self._retries.hurry()

    async def _recover(self, table: tuple[str, list[UnfinishedRound]]) -> None:
        """Ends the rounds of one table, and unblocks it."""
        table_id, rounds = table
        extra = {"table_id": table_id, "round_ids": [unfinished.opened.round_id for unfinished in rounds]}
        try:
            await self._end_rounds(table_id, rounds)
        except StaleOwner:
            raise
        except WalletUnanswered as unanswered:
            error = str(unanswered)
            if self._retries.note_failure(table_id, error, grows=False):
                _log.warning("a round cannot be ended before the wallet answers", extra={**extra, "error": error})
            self._note_stuck(table_id)
        except UnreadableRound as unreadable:
            # The cause, for an operator; it never names a card (G7).
            error = str(unreadable)
            if self._retries.note_failure(table_id, error, grows=True):
                _log.error("a dealt round cannot be read: its table stays closed", extra={**extra, "error": error})
            self._note_stuck(table_id)
        except Exception as failed:  # noqa: BLE001 - whatever it was, it concerns this table only
            if self._retries.note_failure(table_id, repr(failed), grows=True):
                _log.exception("a round cannot be ended", extra=extra)
            self._note_stuck(table_id)
        else:
            self._free(table_id)
        finally:
            if table_id in self._first_attempts:
                self._first_attempts.pop(table_id).set()

    async def _end_rounds(self, table_id: str, rounds: list[UnfinishedRound]) -> None:
        if not rounds:
            return
        reason = self._blocked[table_id]
        wallet, last_number = await self.open_at_wallet(table_id, [each.opened.round_id for each in rounds])
        for unfinished in rounds:
            events = await self._end_round(unfinished, wallet, reason)
            if unfinished.opened.number < last_number:
                # Later rounds were played: its end was published then, and a restored journal has lost it.
                continue
            for event in events:
                event.at.FromDatetime(self._dependencies.clock.now())
            (await self._publisher_of(table_id)).publish(*events)

    async def _end_round(
        self, unfinished: UnfinishedRound, wallet: TableWallet, reason: str
    ) -> list[events_pb2.TableEvent]:
        """Ends one round and returns the events that say so; none for a dealt round that goes on."""
        settlement = await self._dependencies.kind.settlement(wallet, self._dependencies.journal, self._epoch)
        round_id, drawn = unfinished.opened.round_id, unfinished.drawn
        if drawn is not None and drawn.outcome is None:
            events = await self._go_on(unfinished, drawn, wallet, settlement)
            self.unreadable.forget(round_id)
            return events
        if drawn is not None and not drawn.is_lost:
            return await self._pay(drawn, (await self._rules_of(unfinished)).rules, settlement)
        # The money first: nothing that is read for the record may stand in the way of a refund (G4).
        returned = await settlement.return_stakes(round_id, reason)
        ledger_round = await wallet.get_round(round_id)
        player_ids = await self._player_ids(ledger_round)
        cancelled = cancelled_in_ledger(ledger_round, player_ids)
        stakes = stakes_in_ledger(ledger_round, player_ids)
        if ledger_round.state == types_pb2.ROUND_STATE_SETTLED:
            # Its end was published when it was paid.
            _log.error("the journal lacks the draw of a round that the ledger has paid", extra={"round_id": round_id})
            await settlement.journal_settled_in_ledger(ledger_round, stakes, cancelled)
            return []
        await settlement.journal_void(round_id, reason, returned, stakes, cancelled)
        _log.info("a round of a former owner is void", extra={"round_id": round_id})
        return [messages.round_voided(round_id, reason, self._dependencies.clock.now())]

    async def _rules_of(self, unfinished: UnfinishedRound) -> VersionedRules[Bets, Outcome]:
        version = unfinished.opened.configuration_version
        return await self._dependencies.catalogue.rules_of_version(self._placement_id, version)

    # -- dealt rounds in which players decide ------------------------------------------------------------------------

    async def _go_on(
        self,
        unfinished: UnfinishedRound,
        drawn: Drawn,
        wallet: TableWallet,
        settlement: Settlement[Bets, Outcome],
    ) -> list[events_pb2.TableEvent]:
        """Goes on with a dealt round, or ends it if it is decided; returns the events that say so."""
        round_id = drawn.round_id
        rules = await self._rules_of(unfinished)
        ledger_round = await wallet.find_round(round_id)
        if ledger_round.state == types_pb2.ROUND_STATE_VOID:
            return await self._void_dealt(unfinished, ledger_round.void_reason, wallet, settlement)
        try:
            resumed = deal_again_readably(unfinished, drawn, rules)
            if ledger_round.state == types_pb2.ROUND_STATE_SETTLED:
                _verify_outcome(resumed, ledger_round)
            resumed = await self._reconcile(resumed, wallet)
        except UnreadableRound:
            if ledger_round.state == types_pb2.ROUND_STATE_SETTLED:
                # Its end was published when it was paid.
                _log.error("the journal lacks decisions of a settled round", extra={"round_id": round_id})
                stakes = await self._stakes_of_dealt(unfinished, ledger_round)
                await settlement.journal_settled_in_ledger(ledger_round, stakes, (), drawn)
                return []
            reason = self.unreadable.void_reason(round_id)
            if reason is None and self._is_interrupted_for_too_long(last_turn_began(unfinished, drawn), rules):
                reason = HAND_INTERRUPTED
            if reason is None:
                raise
            return await self._void_dealt(unfinished, reason, wallet, settlement)
        is_decided = resumed.dealt.turn is None
        if not is_decided and self._is_interrupted_for_too_long(resumed.shown_at, rules):
            return await self._void_dealt(unfinished, HAND_INTERRUPTED, wallet, settlement)
        _log.info("a dealt round of a former owner goes on", extra={"round_id": round_id})
        if not is_decided:
            self._resumed[unfinished.opened.table_id] = resumed
            return []
        outcome = rules.rules.outcome_message(resumed.dealt.outcome).SerializeToString()
        complete = dataclasses.replace(drawn, outcome=outcome, stakes=tuple(resumed.stakes))
        return await self._pay(complete, rules.rules, settlement, Decided(resumed.moves, resumed.paid))

    def _is_interrupted_for_too_long(self, turn_began_at: datetime, rules: VersionedRules[Bets, Outcome]) -> bool:
        """Whether the platform has interrupted a dealt round for longer than its players have to wait."""
        within = self._dependencies.kind.recovered_within(rules)
        return within is not None and self._dependencies.clock.now() - turn_began_at > within

    async def _reconcile(
        self, resumed: ResumedRound[Bets, Outcome], wallet: TableWallet
    ) -> ResumedRound[Bets, Outcome]:
        journal, clock = self._dependencies.journal, self._dependencies.clock
        try:
            return await reconcile(resumed, wallet, journal, self._epoch, clock)
        except DecisionsLost as lost:
            raise UnreadableRound(str(lost)) from lost

    async def _void_dealt(
        self,
        unfinished: UnfinishedRound,
        reason: str,
        wallet: TableWallet,
        settlement: Settlement[Bets, Outcome],
    ) -> list[events_pb2.TableEvent]:
        """Returns every stake of a dealt round that was not paid; what was paid stays (`805/2015:28`)."""
        round_id = unfinished.opened.round_id
        returned = await settlement.return_stakes(round_id, reason)
        ledger_round = await wallet.get_round(round_id)
        on_record = () if unfinished.drawn is None else unfinished.drawn.stakes
        stakes = settlement.stakes_of_void(on_record, await self._stakes_of_dealt(unfinished, ledger_round))
        paid = {
            stake.stake_id: stake.payout_cents
            for stake in ledger_round.stakes
            if stake.state == types_pb2.STAKE_STATE_PAID
        }
        result = await settlement.journal_void(round_id, reason, returned, stakes, (), paid=paid)
        _log.error("a dealt round is void", extra={"round_id": round_id, "reason": result.entry.void_reason})
        return [messages.round_voided(round_id, result.entry.void_reason, self._dependencies.clock.now())]

    async def _stakes_of_dealt(self, unfinished: UnfinishedRound, ledger_round: wallet_pb2.Round) -> list[JournalStake]:
        """Returns the stakes as they are on record, and those that only the ledger knows: of decisions."""
        dealt = () if unfinished.drawn is None else unfinished.drawn.stakes
        decided = [moved.stake for moved in unfinished.moves if moved.stake is not None]
        on_record = {stake.stake_id: stake for stake in (*dealt, *decided)}
        seats = {stake.account_id: stake.seat for stake in dealt}
        in_ledger = stakes_in_ledger(ledger_round, await self._player_ids(ledger_round))
        return [
            on_record.get(stake.stake_id) or stake._replace(seat=seats.get(stake.account_id, 0)) for stake in in_ledger
        ]

    def resumed(self, table_id: str) -> ResumedRound[Bets, Outcome] | None:
        """Returns the dealt round that waits for decisions at a table; None if there is none."""
        return self._resumed.get(table_id)

    def forget_resumed(self, table_id: str) -> None:
        """Notes that a dealt round is played on by its table."""
        self._resumed.pop(table_id, None)

    async def _pay(
        self,
        drawn: Drawn,
        rules: Rules[Bets, Outcome],
        settlement: Settlement[Bets, Outcome],
        decided: Decided | None = None,
    ) -> list[events_pb2.TableEvent]:
        """Pays a decided round of a former owner, and returns the events that say so."""
        result = await settlement.settle(drawn, rules, decided)
        _log.info("a round of a former owner is paid", extra={"round_id": drawn.round_id})
        seats = {stake.player_id: stake.seat for stake in drawn.stakes}
        # The former owner may have died before anybody saw the outcome.
        assert drawn.outcome is not None  # noqa: S101 - it is paid by it
        outcome = rules.outcome_message(rules.read_outcome(drawn.outcome))
        now = self._dependencies.clock.now()
        return [
            messages.outcome_drawn(drawn.round_id, outcome, drawn.draw_trigger, now),
            messages.round_settled(drawn.round_id, seats, result.entry, now),
        ]

    async def _player_ids(self, ledger_round: wallet_pb2.Round) -> dict[str, str]:
        """Reads the players of the sessions that have stakes in a round."""
        wallet = self._dependencies.wallet
        player_ids: dict[str, str] = {}
        for session_id in dict.fromkeys(stake.session_id for stake in ledger_round.stakes):
            request = session_pb2.GetSessionRequest(session_id=session_id)
            answer = await retry_for_a_while(partial(wallet.get_session, request))
            player_ids[session_id] = answer.session.player_id
        return player_ids


def deal_again_readably(
    unfinished: UnfinishedRound, drawn: Drawn, rules: VersionedRules[Bets, Outcome]
) -> ResumedRound[Bets, Outcome]:
    """Deals a round of a former owner again; raises `UnreadableRound` if its cards or decisions cannot be read."""
    round_id = drawn.round_id
    if drawn.is_lost:
        raise UnreadableRound(f"the entropy of {round_id} is missing")
    if drawn.is_sealed:
        raise UnreadableRound(f"the key {drawn.sealed_with!r} that reads the cards of {round_id} is missing or wrong")
    try:
        return deal_again(unfinished, drawn, rules)
    except Exception as failed:
        # Whatever it was: the same entropy and decisions made a round before.
        raise UnreadableRound(f"{round_id} cannot be dealt again: {type(failed).__name__}") from failed


def _verify_outcome(resumed: ResumedRound[Bets, Outcome], ledger_round: wallet_pb2.Round) -> None:
    """Raises `UnreadableRound` if a round that the ledger has settled is not decided like that by what is on record."""
    if resumed.dealt.turn is None:
        outcome = resumed.rules.rules.outcome_message(resumed.dealt.outcome).SerializeToString()
        if outcome == ledger_round.outcome:
            return
    raise UnreadableRound(f"{ledger_round.round_id} is settled, and the journal lacks decisions")


def _round_number(table_id: str, round_id: str) -> int:
    """Reads the number in the id of a round; 0 if the round is not of this table."""
    of_table, _, number = round_id.rpartition(".")
    return int(number) if of_table == table_id and number.isdecimal() else 0


def last_turn_began(unfinished: UnfinishedRound, drawn: Drawn) -> datetime:
    """Returns when the turn under way began, as far as the decisions on record tell without the cards."""
    return unfinished.moves[-1].moved_at if unfinished.moves else drawn.drawn_at
