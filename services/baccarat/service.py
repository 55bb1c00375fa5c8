"""Answers the gRPC calls of BaccaratService: layout, roads, bets and deals."""

from __future__ import annotations

from feltro.baccarat.v1 import baccarat_pb2
from services.baccarat import specific_rules
from services.baccarat.engine import Bets, Outcome
from services.baccarat.game import BaccaratRules, bets_message, roads_message
from services.kit.access.identity import Caller
from services.kit.table import refusals
from services.kit.table.banked.answers import PlacedBets
from services.kit.table.game import Rules
from services.kit.table.server.bet_commands import BetCommands
from services.kit.wire_format import timestamp

# As many as a large display has room for.
ROADS_ROUNDS = 120


class BaccaratService:
    """Implements BaccaratService; baccarat.proto says what each method does."""

    descriptor = baccarat_pb2.DESCRIPTOR.services_by_name["BaccaratService"]

    def __init__(self, bet_commands: BetCommands[Bets, Outcome]) -> None:
        self._bet_commands = bet_commands

    async def get_layout(
        self, request: baccarat_pb2.GetLayoutRequest, caller: Caller
    ) -> baccarat_pb2.GetLayoutResponse:
        in_force = self._bet_commands.rules_in_force(request.table_id, caller)
        return _baccarat(in_force.rules).layout(specific_rules.unpack(in_force.configuration))

    async def get_roads(self, request: baccarat_pb2.GetRoadsRequest, caller: Caller) -> baccarat_pb2.GetRoadsResponse:
        return roads_message(await self._bet_commands.last_outcomes(request.table_id, caller, ROADS_ROUNDS))

    async def place_bets(
        self, request: baccarat_pb2.PlaceBetsRequest, caller: Caller
    ) -> baccarat_pb2.PlaceBetsResponse:
        placed = await self._bet_commands.place(
            request, caller, lambda rules: _baccarat(rules).read_request(request.bets)
        )
        return baccarat_pb2.PlaceBetsResponse(stake=_placed_stake(placed), on_felt=_bets(placed.on_felt))

    async def repeat_bets(
        self, request: baccarat_pb2.RepeatBetsRequest, caller: Caller
    ) -> baccarat_pb2.RepeatBetsResponse:
        placed = await self._bet_commands.repeat(request, caller)
        return baccarat_pb2.RepeatBetsResponse(stake=_placed_stake(placed), on_felt=_bets(placed.on_felt))

    async def cancel_bets(
        self, request: baccarat_pb2.CancelBetsRequest, caller: Caller
    ) -> baccarat_pb2.CancelBetsResponse:
        def read_bets(rules: Rules[Bets, Outcome]) -> Bets | None:
            return _baccarat(rules).read_request(request.bets) if request.bets else None

        cancelled = await self._bet_commands.cancel(request, caller, read_bets)
        return baccarat_pb2.CancelBetsResponse(
            cancelled_cents=cancelled.cents,
            on_felt=_bets(cancelled.on_felt),
            balance=cancelled.balance,
            cancelled_stake_ids=cancelled.cancelled_stake_ids,
            reduced_stakes=[
                baccarat_pb2.ReducedStake(
                    stake_id=stake.stake_id, amount_cents=stake.amount_cents, bets=_bets(stake.bets)
                )
                for stake in cancelled.reduced_stakes
            ],
        )

    async def deal(self, request: baccarat_pb2.DealRequest, caller: Caller) -> baccarat_pb2.DealResponse:
        played = await self._bet_commands.draw(request.table_id, request.round_id, caller)
        response = baccarat_pb2.DealResponse(
            round_id=played.round_id,
            staked_cents=sum(stake.amount_cents for stake in played.stakes),
            payout_cents=played.payout_cents,
            balance=played.balance,
            void_reason=played.void_reason,
            next_round_id=played.next_round_id,
            next_round_opens_at=timestamp(played.next_round_opens_at),
        )
        if played.outcome is not None:
            rules = _baccarat(played.rules)
            response.outcome.CopyFrom(rules.outcome_message(played.outcome))
            for stake in played.stakes:
                response.results.MergeFrom(rules.results_message(played.outcome, rules.read_bets(stake.bets)))
        return response


def _baccarat(rules: Rules[Bets, Outcome]) -> BaccaratRules:
    if not isinstance(rules, BaccaratRules):
        raise refusals.unavailable("The table is not a baccarat table")
    return rules


def _placed_stake(placed: PlacedBets[Bets]) -> baccarat_pb2.PlacedStake:
    return baccarat_pb2.PlacedStake(
        stake_id=placed.stake_id,
        round_id=placed.round_id,
        amount_cents=placed.amount_cents,
        placed_at=placed.placed_at,
        balance=placed.balance,
        bets=_bets(placed.bets),
    )


def _bets(bets: Bets | None) -> baccarat_pb2.Bets:
    return baccarat_pb2.Bets() if bets is None else bets_message(bets)
