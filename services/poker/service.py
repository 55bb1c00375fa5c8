"""Answers the gRPC calls of PokerService. Caves are `CaveService`, decisions `TableService.Act`."""

from __future__ import annotations

from feltro.poker.v1 import poker_pb2
from services.kit.access.identity import Caller
from services.kit.table import refusals
from services.kit.table.server.bet_commands import BetCommands
from services.poker import specific_rules_message
from services.poker.game import PokerRules
from services.poker.messages import Brought, Outcome


class PokerService:
    """Implements PokerService; poker.proto says what each method does."""

    descriptor = poker_pb2.DESCRIPTOR.services_by_name["PokerService"]

    def __init__(self, commands: BetCommands[Brought, Outcome]) -> None:
        self._commands = commands

    async def get_layout(self, request: poker_pb2.GetLayoutRequest, caller: Caller) -> poker_pb2.GetLayoutResponse:
        rules = self._commands.rules_in_force(request.table_id, caller).rules
        if not isinstance(rules, PokerRules):
            raise refusals.unavailable("The table is not one of poker")
        specific = rules.table.specific_rules
        return poker_pb2.GetLayoutResponse(
            rules=specific_rules_message.message_of(specific), hole_cards=specific.variant.hole_cards
        )
