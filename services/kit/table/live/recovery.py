"""Ends the rounds that a former owner left: pays those with a journalled outcome, returns the stakes of the others."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection
from functools import partial
from typing import Generic

from prometheus_client import Gauge

from feltro.table.v1 import events_pb2
from feltro.wallet.v1 import session_pb2, wallet_pb2
from services.kit.table.banked.settlement import OWNER_LOST, Settlement
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.events import messages
from services.kit.table.fencing import StaleOwner
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import UnfinishedRound
from services.kit.table.journal.ledger_stakes import cancelled_in_ledger, stakes_in_ledger
from services.kit.table.live.dependencies import EventPublisher, RuntimeDependencies
from services.kit.table.wallet.client import WalletUnanswered
from services.kit.table.wallet.table_wallet import TableWallet, retry_for_a_while

_log = logging.getLogger(__name__)
_STUCK = Gauge("feltro_tables_stuck", "Tables that stay closed because a round of theirs cannot be ended")


class RoundRecovery(Generic[Bets, Outcome]):
    """Ends the unfinished rounds of one configured table, for its owner of one epoch."""

    def __init__(
        self,
        placement_id: str,
        epoch: int,
        dependencies: RuntimeDependencies[Bets, Outcome],
        rules_in_force: Callable[[], VersionedRules[Bets, Outcome]],
        publisher_of: Callable[[str], Awaitable[EventPublisher]],
    ) -> None:
        self._placement_id = placement_id
        self._epoch = epoch
        self._dependencies = dependencies
        self._rules_in_force = rules_in_force
        self._publisher_of = publisher_of
        # Tables with a round that could not be ended, and why it is void if nothing was drawn.
        self._blocked: dict[str, str] = {}

    def blocks_any(self) -> bool:
        """Whether any table stays closed because a round of it could not be ended."""
        return bool(self._blocked)

    def blocks(self, table_id: str) -> bool:
        """Whether this table stays closed because a round of it could not be ended."""
        return table_id in self._blocked

    def block(self, table_id: str, reason: str) -> None:
        """Closes a table that has failed, until its round is ended; `reason` is why it is void if nothing was drawn."""
        self._set_blocked({**self._blocked, table_id: reason})

    def close(self) -> None:
        """Counts no table as stuck any more: they are another owner's business now."""
        self._set_blocked({})

    def _set_blocked(self, tables: dict[str, str]) -> None:
        _STUCK.inc(len(tables) - len(self._blocked))
        self._blocked = tables

    async def open_at_wallet(self, table_id: str) -> TableWallet:
        """Opens a table at the wallet, which shuts the former owner out; voids open rounds unknown to the journal."""
        configuration = self._rules_in_force().configuration
        wallet = TableWallet(self._dependencies.wallet, table_id, self._epoch)
        answer = await wallet.open_table(
            configuration.game, configuration.regulation, configuration.mode, configuration.play
        )
        if answer.open_round_ids:
            unfinished = await self._dependencies.journal.unfinished_rounds(self._placement_id)
            journalled = {round_.opened.round_id for round_ in unfinished}
            for round_id in sorted(set(answer.open_round_ids) - journalled):
                _log.error("a round unknown to the journal is made void", extra={"round_id": round_id})
                await wallet.void_round(round_id, OWNER_LOST)
        return wallet

    async def end_unfinished_rounds(self, table_ids: Collection[str] | None = None) -> None:
        """Ends the rounds without an end, at these tables only if any are named.

        A table where that fails stays closed until an operator has found out why. No other table waits for it (G9).
        """
        wallets: dict[str, TableWallet] = {}
        blocked: dict[str, str] = {}
        for unfinished in await self._dependencies.journal.unfinished_rounds(self._placement_id):
            table_id, round_id = unfinished.opened.table_id, unfinished.opened.round_id
            if table_id in blocked or (table_ids is not None and table_id not in table_ids):
                continue
            reason = self._blocked.get(table_id, OWNER_LOST)
            try:
                if table_id not in wallets:
                    wallets[table_id] = await self.open_at_wallet(table_id)
                events = await self._end_round(unfinished, wallets[table_id], reason)
            except StaleOwner:
                raise
            except WalletUnanswered as unanswered:
                extra = {"table_id": table_id, "round_id": round_id, "error": str(unanswered)}
                _log.warning("a round cannot be ended before the wallet answers", extra=extra)
                blocked[table_id] = reason
                continue
            except Exception:  # noqa: BLE001 - whatever it was, it concerns this round only
                _log.exception("a round cannot be ended", extra={"table_id": table_id, "round_id": round_id})
                blocked[table_id] = reason
                continue
            for event in events:
                event.at.FromDatetime(self._dependencies.clock.now())
            (await self._publisher_of(table_id)).publish(*events)
        # Another table may have failed meanwhile.
        others = (
            {}
            if table_ids is None
            else {table_id: reason for table_id, reason in self._blocked.items() if table_id not in table_ids}
        )
        self._set_blocked({**others, **blocked})

    async def retry(self) -> None:
        """Tries again to end what could not be ended: the cause may have been removed, or have passed."""
        try:
            await self.end_unfinished_rounds(frozenset(self._blocked))
        except StaleOwner:
            raise
        except Exception:  # noqa: BLE001 - the tables that are open go on
            _log.exception("unfinished rounds could not be read", extra={"placement_id": self._placement_id})

    async def _end_round(
        self, unfinished: UnfinishedRound, wallet: TableWallet, reason: str
    ) -> list[events_pb2.TableEvent]:
        """Ends one round and returns the events that say so."""
        settlement: Settlement[Bets, Outcome] = Settlement(wallet, self._dependencies.journal, self._epoch)
        round_id = unfinished.opened.round_id
        if unfinished.drawn is not None:
            version = unfinished.opened.configuration_version
            rules = (await self._dependencies.catalogue.rules_of_version(self._placement_id, version)).rules
            result = await settlement.settle(unfinished.drawn, rules)
            _log.info("a round of a former owner is paid", extra={"round_id": round_id})
            seats = {stake.player_id: stake.seat for stake in unfinished.drawn.stakes}
            # The former owner may have died before anybody saw the outcome.
            outcome = rules.outcome_message(rules.read_outcome(unfinished.drawn.outcome))
            shown_until = self._dependencies.clock.now()
            return [
                messages.outcome_drawn(round_id, outcome, unfinished.drawn.draw_trigger),
                messages.round_settled(round_id, seats, result.entry, shown_until),
            ]
        # The money first: nothing that is read for the record may stand in the way of a refund (G4).
        returned = await settlement.return_stakes(round_id, reason)
        ledger_round = await wallet.get_round(round_id)
        player_ids = await self._player_ids(ledger_round)
        cancelled = cancelled_in_ledger(ledger_round, player_ids)
        await settlement.journal_void(round_id, reason, returned, stakes_in_ledger(ledger_round, player_ids), cancelled)
        _log.info("a round of a former owner is void", extra={"round_id": round_id})
        return [messages.round_void(round_id, reason)]

    async def _player_ids(self, ledger_round: wallet_pb2.Round) -> dict[str, str]:
        """Reads the players of the sessions that have stakes in a round."""
        wallet = self._dependencies.wallet
        player_ids: dict[str, str] = {}
        for session_id in dict.fromkeys(stake.session_id for stake in ledger_round.stakes):
            request = session_pb2.GetSessionRequest(session_id=session_id)
            answer = await retry_for_a_while(partial(wallet.get_session, request))
            player_ids[session_id] = answer.session.player_id
        return player_ids
