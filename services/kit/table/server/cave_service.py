"""Answers the calls of the CaveService: players fill their caves, sit out and come back."""

from __future__ import annotations

from typing import Generic, cast

from feltro.table.v1 import caves_pb2
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.table import refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.caves.table import CaveTable
from services.kit.table.game import Bets, Outcome
from services.kit.table.live.registry import TableRegistry
from services.kit.table.server import validation


class CaveService(Generic[Bets, Outcome]):
    """One method for each rpc; caves.proto says what each promises."""

    descriptor = caves_pb2.DESCRIPTOR.services_by_name["CaveService"]

    def __init__(self, registry: TableRegistry[Bets, Outcome]) -> None:
        self._registry = registry

    async def buy_in(self, request: caves_pb2.BuyInRequest, caller: Caller) -> caves_pb2.BuyInResponse:
        validation.request_id(request.request_id)
        table = await self._table(request.table_id, caller)
        command = BetCommand.of(request)
        try:
            answer = await table.buy_in(caller.subject, command, request.amount_cents)
        except Refused as refused:
            if refused.reason != "REQUEST_REUSED":
                raise
            # The wallet names its own id of the command.
            raise refusals.request_reused(request.request_id) from None
        return caves_pb2.BuyInResponse(cave_cents=answer.cave_cents, balance=answer.balance)

    async def set_away(self, request: caves_pb2.SetAwayRequest, caller: Caller) -> caves_pb2.SetAwayResponse:
        if not request.HasField("away"):
            raise refusals.invalid("away", "has to be given: true or false.")
        (await self._table(request.table_id, caller)).set_away(caller.subject, away=request.away)
        return caves_pb2.SetAwayResponse()

    async def _table(self, table_id: str, caller: Caller) -> CaveTable[Bets, Outcome]:
        return cast("CaveTable[Bets, Outcome]", await self._registry.table(validation.table_id(table_id), caller))
