"""Answers the gRPC calls of PokerService: layout, caves, presence, waiting list and histories of hands.

Decisions are `TableService.Act`.
"""

from __future__ import annotations

from feltro.poker.v1 import poker_pb2
from services.kit.access.identity import OPERATOR, Caller
from services.kit.table import refusals as table_refusals
from services.kit.table.banked.commands import BetCommand
from services.kit.table.caves.rules import Presence
from services.kit.table.game import Rules
from services.kit.table.server.cave_commands import CaveCommands
from services.kit.table.server.game_commands import EndedRounds
from services.poker import specific_rules_message
from services.poker.game import PokerRules
from services.poker.history import export
from services.poker.history.export import HandRules
from services.poker.messages import Brought, Outcome
from services.poker.tournament_hands import TournamentHands


class PokerService:
    """Implements PokerService; poker.proto says what each method does."""

    descriptor = poker_pb2.DESCRIPTOR.services_by_name["PokerService"]

    def __init__(self, caves: CaveCommands[Brought, Outcome], ended_rounds: EndedRounds[Brought, Outcome]) -> None:
        self._caves = caves
        self._ended_rounds = ended_rounds

    async def get_layout(self, request: poker_pb2.GetLayoutRequest, caller: Caller) -> poker_pb2.GetLayoutResponse:
        in_force = self._caves.rules_in_force(request.table_id, caller)
        rules = _poker(in_force.rules).table.specific_rules
        return poker_pb2.GetLayoutResponse(
            regulation=in_force.configuration.regulation,
            seats=rules.seats,
            rules=specific_rules_message.message_of(rules),
            decision_ms=in_force.configuration.decision_ms,
        )

    async def buy_in(self, request: poker_pb2.BuyInRequest, caller: Caller) -> poker_pb2.BuyInResponse:
        command = BetCommand.of(request)
        bought = await self._caves.buy_in(request.table_id, caller, command, request.amount_cents)
        return poker_pb2.BuyInResponse(
            amount_cents=request.amount_cents, commission_cents=bought.commission_cents, balance=bought.balance
        )

    async def set_presence(
        self, request: poker_pb2.SetPresenceRequest, caller: Caller
    ) -> poker_pb2.SetPresenceResponse:
        if request.presence not in tuple(map(int, Presence)):
            raise table_refusals.invalid("presence", "has to be PRESENCE_PLAYING, PRESENCE_AWAY or PRESENCE_RESTING.")
        cave = await self._caves.set_presence(
            request.table_id, caller, Presence(request.presence), posts=request.posts_big_blind
        )
        return poker_pb2.SetPresenceResponse(cave=cave)

    async def join_waiting_list(
        self, request: poker_pb2.JoinWaitingListRequest, caller: Caller
    ) -> poker_pb2.JoinWaitingListResponse:
        place = await self._caves.join_waiting_list(request.table_id, caller)
        return poker_pb2.JoinWaitingListResponse(position=place.position, seat=place.seat)

    async def leave_waiting_list(
        self, request: poker_pb2.LeaveWaitingListRequest, caller: Caller
    ) -> poker_pb2.LeaveWaitingListResponse:
        await self._caves.leave_waiting_list(request.table_id, caller)
        return poker_pb2.LeaveWaitingListResponse()

    async def register_for_period(
        self, request: poker_pb2.RegisterForPeriodRequest, caller: Caller
    ) -> poker_pb2.RegisterForPeriodResponse:
        registration = _registration(*await self._caves.register(request.table_id, caller))
        return poker_pb2.RegisterForPeriodResponse(registration=registration)

    async def cancel_period_registration(
        self, request: poker_pb2.CancelPeriodRegistrationRequest, caller: Caller
    ) -> poker_pb2.CancelPeriodRegistrationResponse:
        registration = _registration(*await self._caves.cancel_registration(request.table_id, caller))
        return poker_pb2.CancelPeriodRegistrationResponse(registration=registration)

    async def get_period_registration(
        self, request: poker_pb2.GetPeriodRegistrationRequest, caller: Caller
    ) -> poker_pb2.GetPeriodRegistrationResponse:
        registration = _registration(*await self._caves.registration(request.table_id, caller))
        return poker_pb2.GetPeriodRegistrationResponse(registration=registration)

    async def export_hand(self, request: poker_pb2.ExportHandRequest, caller: Caller) -> poker_pb2.ExportHandResponse:
        ended = await self._ended_rounds.read(request.table_id, request.round_id)
        rules = _of_hands(ended.rules.rules)
        if OPERATOR in caller.scopes:
            return poker_pb2.ExportHandResponse(phh=export.for_operator(ended.record, rules))
        return poker_pb2.ExportHandResponse(phh=export.for_player(ended.record, rules, caller.subject))


def _registration(registered: bool, players: int) -> poker_pb2.PeriodRegistration:  # noqa: FBT001 - as it is told
    return poker_pb2.PeriodRegistration(registered=registered, players=players)


def _poker(rules: Rules[Brought, Outcome]) -> PokerRules:
    if not isinstance(rules, PokerRules):
        raise table_refusals.unavailable("The table is not one of poker")
    return rules


def _of_hands(rules: Rules[Brought, Outcome]) -> HandRules:
    return rules if isinstance(rules, TournamentHands) else _poker(rules)
