"""Answers the gRPC calls of RouletteService: layout, bets and spins."""

from __future__ import annotations

from feltro.roulette.v1 import roulette_pb2
from services.kit.access.identity import Caller
from services.kit.table import refusals
from services.kit.table.banked.answers import PlacedBets
from services.kit.table.game import Rules
from services.kit.table.server.bet_commands import BetCommands
from services.kit.wire_format import timestamp
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteRules, bets_message


class RouletteService:
    """Implements RouletteService; roulette.proto says what each method does."""

    descriptor = roulette_pb2.DESCRIPTOR.services_by_name["RouletteService"]

    def __init__(self, bet_commands: BetCommands[Bets, Outcome]) -> None:
        self._bet_commands = bet_commands

    async def get_layout(
        self, request: roulette_pb2.GetLayoutRequest, caller: Caller
    ) -> roulette_pb2.GetLayoutResponse:
        return _roulette(self._bet_commands.rules_in_force(request.table_id, caller).rules).layout()

    async def place_bets(
        self, request: roulette_pb2.PlaceBetsRequest, caller: Caller
    ) -> roulette_pb2.PlaceBetsResponse:
        placed = await self._bet_commands.place(
            request, caller, lambda rules: _roulette(rules).read_place_request(request.bets)
        )
        return roulette_pb2.PlaceBetsResponse(stake=_placed_stake(placed), on_felt=_bets(placed.on_felt))

    async def repeat_bets(
        self, request: roulette_pb2.RepeatBetsRequest, caller: Caller
    ) -> roulette_pb2.RepeatBetsResponse:
        placed = await self._bet_commands.repeat(request, caller)
        return roulette_pb2.RepeatBetsResponse(stake=_placed_stake(placed), on_felt=_bets(placed.on_felt))

    async def cancel_bets(
        self, request: roulette_pb2.CancelBetsRequest, caller: Caller
    ) -> roulette_pb2.CancelBetsResponse:
        def read_bets(rules: Rules[Bets, Outcome]) -> Bets | None:
            return _roulette(rules).read_cancel_request(request.bets) if request.bets else None

        cancelled = await self._bet_commands.cancel(request, caller, read_bets)
        return roulette_pb2.CancelBetsResponse(
            cancelled_cents=cancelled.cents,
            on_felt=_bets(cancelled.on_felt),
            balance=cancelled.balance,
            cancelled_stake_ids=cancelled.cancelled_stake_ids,
            reduced_stakes=[
                roulette_pb2.ReducedStake(
                    stake_id=stake.stake_id, amount_cents=stake.amount_cents, bets=_bets(stake.bets)
                )
                for stake in cancelled.reduced_stakes
            ],
        )

    async def spin(self, request: roulette_pb2.SpinRequest, caller: Caller) -> roulette_pb2.SpinResponse:
        played = await self._bet_commands.draw(request.table_id, request.round_id, caller)
        response = roulette_pb2.SpinResponse(
            round_id=played.round_id,
            staked_cents=sum(stake.amount_cents for stake in played.stakes),
            payout_cents=played.payout_cents,
            balance=played.balance,
            void_reason=played.void_reason,
            next_round_id=played.next_round_id,
            next_round_opens_at=timestamp(played.next_round_opens_at),
        )
        if played.outcome is not None:
            rules = _roulette(played.rules)
            response.outcome.CopyFrom(rules.outcome_message(played.outcome))
            for stake in played.stakes:
                response.results.MergeFrom(rules.results_message(played.outcome, rules.read_bets(stake.bets)))
        return response


def _roulette(rules: Rules[Bets, Outcome]) -> RouletteRules:
    if not isinstance(rules, RouletteRules):
        raise refusals.unavailable("The table is not a roulette")
    return rules


def _placed_stake(placed: PlacedBets[Bets]) -> roulette_pb2.PlacedStake:
    return roulette_pb2.PlacedStake(
        stake_id=placed.stake_id,
        round_id=placed.round_id,
        amount_cents=placed.amount_cents,
        placed_at=placed.placed_at,
        balance=placed.balance,
        bets=_bets(placed.bets),
    )


def _bets(bets: Bets | None) -> roulette_pb2.Bets:
    return roulette_pb2.Bets() if bets is None else bets_message(bets)
