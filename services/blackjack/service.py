"""Answers the gRPC calls of BlackjackService: layout, bets and the deal. Decisions are `TableService.Act`."""

from __future__ import annotations

from feltro.blackjack.v1 import blackjack_pb2
from services.blackjack.game import BlackjackRules
from services.blackjack.messages import Bets, Outcome, bets_message
from services.kit.access.identity import Caller
from services.kit.table.server.bet_commands import BetCommands
from services.kit.table.server.bet_service import BetService


class BlackjackService(BetService[Bets, Outcome, BlackjackRules]):
    """Implements BlackjackService; blackjack.proto says what each method does."""

    descriptor = blackjack_pb2.DESCRIPTOR.services_by_name["BlackjackService"]

    def __init__(self, bet_commands: BetCommands[Bets, Outcome]) -> None:
        super().__init__(bet_commands, BlackjackRules, blackjack_pb2, bets_message)

    async def get_layout(
        self, request: blackjack_pb2.GetLayoutRequest, caller: Caller
    ) -> blackjack_pb2.GetLayoutResponse:
        return self._game_rules(self._bet_commands.rules_in_force(request.table_id, caller).rules).layout()

    async def deal(self, request: blackjack_pb2.DealRequest, caller: Caller) -> blackjack_pb2.DealResponse:
        started = await self._bet_commands.deal(request.table_id, request.round_id, caller)
        return blackjack_pb2.DealResponse(
            round_id=started.round_id, staked_cents=started.staked_cents, void_reason=started.void_reason
        )
