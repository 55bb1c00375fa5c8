"""Answers the gRPC calls of BlackjackService: layout, bets and the deal. Decisions are `TableService.Act`."""

from __future__ import annotations

from feltro.blackjack.v1 import blackjack_pb2
from services.blackjack.game import BlackjackRules
from services.blackjack.messages import Bets, Outcome, bets_message
from services.kit.access.identity import Caller
from services.kit.table import refusals
from services.kit.table.banked.answers import PlacedBets
from services.kit.table.game import Rules
from services.kit.table.server.bet_commands import BetCommands


class BlackjackService:
    """Implements BlackjackService; blackjack.proto says what each method does."""

    descriptor = blackjack_pb2.DESCRIPTOR.services_by_name["BlackjackService"]

    def __init__(self, bet_commands: BetCommands[Bets, Outcome]) -> None:
        self._bet_commands = bet_commands

    async def get_layout(
        self, request: blackjack_pb2.GetLayoutRequest, caller: Caller
    ) -> blackjack_pb2.GetLayoutResponse:
        return _blackjack(self._bet_commands.rules_in_force(request.table_id, caller).rules).layout()

    async def place_bets(
        self, request: blackjack_pb2.PlaceBetsRequest, caller: Caller
    ) -> blackjack_pb2.PlaceBetsResponse:
        placed = await self._bet_commands.place(
            request, caller, lambda rules: _blackjack(rules).read_place_request(request.bets)
        )
        return blackjack_pb2.PlaceBetsResponse(stake=_placed_stake(placed), on_felt=_bets(placed.on_felt))

    async def cancel_bets(
        self, request: blackjack_pb2.CancelBetsRequest, caller: Caller
    ) -> blackjack_pb2.CancelBetsResponse:
        def read_bets(rules: Rules[Bets, Outcome]) -> Bets | None:
            return _blackjack(rules).read_cancel_request(request.bets) if request.bets else None

        cancelled = await self._bet_commands.cancel(request, caller, read_bets)
        return blackjack_pb2.CancelBetsResponse(
            cancelled_cents=cancelled.cents,
            on_felt=_bets(cancelled.on_felt),
            balance=cancelled.balance,
            cancelled_stake_ids=cancelled.cancelled_stake_ids,
            reduced_stakes=[
                blackjack_pb2.ReducedStake(
                    stake_id=stake.stake_id, amount_cents=stake.amount_cents, bets=_bets(stake.bets)
                )
                for stake in cancelled.reduced_stakes
            ],
        )

    async def deal(self, request: blackjack_pb2.DealRequest, caller: Caller) -> blackjack_pb2.DealResponse:
        started = await self._bet_commands.deal(request.table_id, request.round_id, caller)
        return blackjack_pb2.DealResponse(
            round_id=started.round_id, staked_cents=started.staked_cents, void_reason=started.void_reason
        )


def _blackjack(rules: Rules[Bets, Outcome]) -> BlackjackRules:
    if not isinstance(rules, BlackjackRules):
        raise refusals.unavailable("The table is not one of blackjack")
    return rules


def _placed_stake(placed: PlacedBets[Bets]) -> blackjack_pb2.PlacedStake:
    return blackjack_pb2.PlacedStake(
        stake_id=placed.stake_id,
        round_id=placed.round_id,
        amount_cents=placed.amount_cents,
        placed_at=placed.placed_at,
        balance=placed.balance,
        bets=_bets(placed.bets),
    )


def _bets(bets: Bets | None) -> blackjack_pb2.Bets:
    return blackjack_pb2.Bets() if bets is None else bets_message(bets)
