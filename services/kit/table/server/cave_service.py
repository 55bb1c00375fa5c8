"""Answers the calls of the CaveService: players fill their caves, sit out and come back."""

from __future__ import annotations

from typing import Generic, cast

from feltro.table.v1 import caves_pb2
from feltro.wallet.v1 import wallet_pb2
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.caves.money import buy_in_request_id
from services.kit.table.caves.table import CaveTable
from services.kit.table.game import Bets, Outcome
from services.kit.table.live.registry import TableRegistry
from services.kit.table.refusals import TableRefused
from services.kit.table.server import validation
from services.kit.table.server.bet_commands import SEND_AGAIN
from services.kit.table.wallet.client import Wallet


class CaveService(Generic[Bets, Outcome]):
    """One method for each rpc; caves.proto says what each promises."""

    descriptor = caves_pb2.DESCRIPTOR.services_by_name["CaveService"]

    def __init__(self, registry: TableRegistry[Bets, Outcome], wallet: Wallet) -> None:
        self._registry = registry
        self._wallet = wallet

    async def buy_in(self, request: caves_pb2.BuyInRequest, caller: Caller) -> caves_pb2.BuyInResponse:
        validation.request_id(request.request_id)
        validation.table_id(request.table_id)
        command = BetCommand.of(request)
        try:
            table = await self._table(request.table_id, caller)
            answer = await table.buy_in(caller.subject, command, request.amount_cents)
        except TableRefused as refused:
            if refused.reason in SEND_AGAIN:
                raise
            first = await self._first_answer(request.table_id, caller.subject, command)
            if first is None:
                raise
            answer = first
        except Refused as refused:
            if refused.reason != "REQUEST_REUSED":
                raise
            # The wallet names its own id of the command.
            raise refusals.request_reused(request.request_id) from None
        return caves_pb2.BuyInResponse(cave_cents=answer.cave_cents, balance=answer.balance)

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

    async def set_away(self, request: caves_pb2.SetAwayRequest, caller: Caller) -> caves_pb2.SetAwayResponse:
        if not request.HasField("away"):
            raise refusals.invalid("away", "has to be given: true or false.")
        (await self._table(request.table_id, caller)).set_away(caller.subject, away=request.away)
        return caves_pb2.SetAwayResponse()

    async def _table(self, table_id: str, caller: Caller) -> CaveTable[Bets, Outcome]:
        return cast("CaveTable[Bets, Outcome]", await self._registry.table(validation.table_id(table_id), caller))
