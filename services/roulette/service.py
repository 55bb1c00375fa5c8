"""Answers the gRPC calls of RouletteService: layout, bets and spins."""

from __future__ import annotations

from feltro.roulette.v1 import roulette_pb2
from services.kit.access.identity import Caller
from services.kit.table.server.bet_commands import BetCommands
from services.kit.table.server.bet_service import DrawService
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteRules, bets_message


class RouletteService(DrawService[Bets, Outcome, RouletteRules]):
    """Implements RouletteService; roulette.proto says what each method does."""

    descriptor = roulette_pb2.DESCRIPTOR.services_by_name["RouletteService"]

    def __init__(self, bet_commands: BetCommands[Bets, Outcome]) -> None:
        super().__init__(bet_commands, RouletteRules, roulette_pb2, bets_message)

    async def get_layout(
        self, request: roulette_pb2.GetLayoutRequest, caller: Caller
    ) -> roulette_pb2.GetLayoutResponse:
        return self._game_rules(self._bet_commands.rules_in_force(request.table_id, caller).rules).layout()

    async def spin(self, request: roulette_pb2.SpinRequest, caller: Caller) -> roulette_pb2.SpinResponse:
        return await self._draw(request, caller, roulette_pb2.SpinResponse)
