"""Carries out what players ask for about their caves: each command acts once, wherever the table is by then (G3)."""

from __future__ import annotations

from typing import Generic

from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from feltro.wallet.v1 import wallet_pb2
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.caves.money import buy_in_request_id
from services.kit.table.caves.rules import Presence
from services.kit.table.caves.table import CaveTable
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Bets, Outcome
from services.kit.table.owned.registry import TableRegistry
from services.kit.table.refusals import TableRefused
from services.kit.table.server import validation
from services.kit.table.server.bet_commands import SEND_AGAIN
from services.kit.table.wallet.client import Wallet


class CaveCommands(Generic[Bets, Outcome]):
    """The commands at the tables of one process."""

    def __init__(self, registry: TableRegistry[Bets, Outcome], wallet: Wallet) -> None:
        self._registry = registry
        self._wallet = wallet

    def rules_in_force(self, table_id: str, caller: Caller) -> VersionedRules[Bets, Outcome]:
        """Returns the specific rules by which a table plays."""
        return self._registry.rules_in_force(validation.table_id(table_id), caller)

    async def buy_in(self, table_id: str, caller: Caller, command: BetCommand, cents: int) -> wallet_pb2.BuyInResponse:
        """Fills the player's cave, or returns the first answer to the command."""
        try:
            return await (await self._table(table_id, caller)).buy_in(caller.subject, command, cents)
        except TableRefused as refused:
            if refused.reason in SEND_AGAIN:
                raise
            first = await self._first_answer(table_id, caller.subject, command)
            if first is None:
                raise
            return first
        except Refused as refused:
            if refused.reason != "REQUEST_REUSED":
                raise
            # The wallet names its own id of the command.
            raise refusals.request_reused(command.request_id) from None

    async def set_presence(
        self, table_id: str, caller: Caller, presence: Presence, *, posts: bool = False
    ) -> types_pb2.CaveAtSeat:
        """Has the player sit out or rest from the next hand on, or come back."""
        return (await self._table(table_id, caller)).set_presence(caller.subject, presence, posts=posts)

    async def join_waiting_list(self, table_id: str, caller: Caller) -> events_pb2.WaitingPlace:
        """Puts the player on the waiting list, or returns their place on it."""
        return (await self._table(table_id, caller)).join_waiting_list(caller.subject)

    async def leave_waiting_list(self, table_id: str, caller: Caller) -> None:
        """Takes the player off the waiting list."""
        (await self._table(table_id, caller)).leave_waiting_list(caller.subject)

    async def register(self, table_id: str, caller: Caller) -> tuple[bool, int]:
        """Registers the player for the table's period; returns whether they are registered, and how many are."""
        table = await self._table(table_id, caller)
        await table.register(caller.subject)
        return table.registration(caller.subject)

    async def cancel_registration(self, table_id: str, caller: Caller) -> tuple[bool, int]:
        """Takes the player's registration back."""
        table = await self._table(table_id, caller)
        await table.cancel_registration(caller.subject)
        return table.registration(caller.subject)

    async def registration(self, table_id: str, caller: Caller) -> tuple[bool, int]:
        """Returns whether the player is registered, and how many are."""
        return (await self._table(table_id, caller)).registration(caller.subject)

    async def _first_answer(
        self, table_id: str, player_id: str, command: BetCommand
    ) -> wallet_pb2.BuyInResponse | None:
        """Reads the first answer from the ledger, for a player who has left since; None if there was none."""
        mode = self._registry.configured_rules(table_id).configuration.mode
        try:
            account = await self._wallet.find_account(wallet_pb2.FindAccountRequest(player_id=player_id, mode=mode))
            request_id = buy_in_request_id(table_id, account.balance.account_id, command)
            found = await self._wallet.get_first_answer(
                wallet_pb2.GetFirstAnswerRequest(request_id=request_id, command_digest=command.digest)
            )
        except Refused as refused:
            if refused.reason == "REQUEST_REUSED":
                raise refusals.request_reused(command.request_id) from None
            if refused.reason not in {"ACCOUNT_UNKNOWN", "REQUEST_UNKNOWN"}:
                raise
            return None
        return found.bought_in

    async def _table(self, table_id: str, caller: Caller) -> CaveTable[Bets, Outcome]:
        table = await self._registry.table(table_id, caller)
        if not isinstance(table, CaveTable):
            play = wallet_types.Play.Name(table.current_rules.configuration.play)
            sentence = "Nobody brings a cave to this table."
            raise TableRefused("WRONG_PLAY", sentence, table_id=table_id, play=play)
        return table
