"""Answers the gRPC calls of BaccaratService: layout, roads, bets and deals."""

from __future__ import annotations

from feltro.baccarat.v1 import baccarat_pb2
from services.baccarat import specific_rules
from services.baccarat.engine import Bets, Outcome
from services.baccarat.game import BaccaratRules, bets_message, roads_message
from services.kit.access.identity import Caller
from services.kit.table.server.bet_commands import BetCommands
from services.kit.table.server.bet_service import DrawService

# As many as a large display has room for.
ROADS_ROUNDS = 120


class BaccaratService(DrawService[Bets, Outcome, BaccaratRules]):
    """Implements BaccaratService; baccarat.proto says what each method does."""

    descriptor = baccarat_pb2.DESCRIPTOR.services_by_name["BaccaratService"]

    def __init__(self, bet_commands: BetCommands[Bets, Outcome]) -> None:
        super().__init__(bet_commands, BaccaratRules, baccarat_pb2, bets_message)

    async def get_layout(
        self, request: baccarat_pb2.GetLayoutRequest, caller: Caller
    ) -> baccarat_pb2.GetLayoutResponse:
        in_force = self._bet_commands.rules_in_force(request.table_id, caller)
        return self._game_rules(in_force.rules).layout(specific_rules.unpack(in_force.configuration))

    async def get_roads(self, request: baccarat_pb2.GetRoadsRequest, caller: Caller) -> baccarat_pb2.GetRoadsResponse:
        return roads_message(await self._bet_commands.last_outcomes(request.table_id, caller, ROADS_ROUNDS))

    async def deal(self, request: baccarat_pb2.DealRequest, caller: Caller) -> baccarat_pb2.DealResponse:
        return await self._draw(request, caller, baccarat_pb2.DealResponse)
