"""Answers the gRPC calls of RouletteService: layout, bets and spins."""

from __future__ import annotations

from collections.abc import Sequence

from feltro.roulette.v1 import roulette_pb2
from services.kit.access.identity import Caller
from services.kit.table import refusals
from services.kit.table.banked.round import FinishedRound, PlacedBets
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.journal.entries import Ending, Journal, JournalStake
from services.kit.table.live.registry import TableRegistry
from services.kit.table.live.table import LiveTable
from services.kit.table.refusals import TableRefused
from services.kit.table.server import validation
from services.kit.wire_format import timestamp
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteRules

RouletteTable = LiveTable[Bets, Outcome]


class RouletteService:
    """Implements RouletteService; roulette.proto says what each method does."""

    descriptor = roulette_pb2.DESCRIPTOR.services_by_name["RouletteService"]

    def __init__(self, registry: TableRegistry[Bets, Outcome], journal: Journal) -> None:
        self._registry = registry
        self._journal = journal

    async def get_layout(
        self, request: roulette_pb2.GetLayoutRequest, caller: Caller
    ) -> roulette_pb2.GetLayoutResponse:
        return _rules(self._registry.rules_in_force(validation.table_id(request.table_id), caller)).layout()

    async def place_bets(
        self, request: roulette_pb2.PlaceBetsRequest, caller: Caller
    ) -> roulette_pb2.PlaceBetsResponse:
        table, round_id, request_id = await self._bettable_table(request, caller)
        placed = await self._stored_placement(table, round_id, caller.subject, request_id, request.bets)
        if placed is None:
            round_, seat = table.open_round_and_seat(round_id, caller.subject, request_id)
            bets = _rules(table).read_place_request(request.bets)
            placed = _placed_response(_rules(table), round_id, await round_.place(seat, request_id, bets))
        return placed

    async def repeat_bets(
        self, request: roulette_pb2.RepeatBetsRequest, caller: Caller
    ) -> roulette_pb2.RepeatBetsResponse:
        table, round_id, request_id = await self._bettable_table(request, caller)
        placed = await self._stored_placement(table, round_id, caller.subject, request_id)
        if placed is None:
            bets = await self._last_bets(table, caller.subject)
            round_, seat = table.open_round_and_seat(round_id, caller.subject, request_id)
            placed = _placed_response(_rules(table), round_id, await round_.place(seat, request_id, bets))
        return roulette_pb2.RepeatBetsResponse(stake=placed.stake, on_felt=placed.on_felt)

    async def cancel_bets(
        self, request: roulette_pb2.CancelBetsRequest, caller: Caller
    ) -> roulette_pb2.CancelBetsResponse:
        table, round_id, request_id = await self._bettable_table(request, caller)
        round_, seat = table.open_round_and_seat(round_id, caller.subject, request_id)
        if table.current_rules.configuration.cancel_forbidden:
            raise TableRefused(
                "CANCEL_FORBIDDEN", "At this table bets cannot be taken back.", table_id=request.table_id
            )
        rules = _rules(table)
        bets = rules.read_cancel_request(request.bets) if request.bets else None
        cancelled = await round_.cancel_bets(seat, request_id, bets)
        return roulette_pb2.CancelBetsResponse(
            cancelled_cents=cancelled.cents, on_felt=_on_felt(rules, cancelled.on_felt), balance=cancelled.balance
        )

    async def spin(self, request: roulette_pb2.SpinRequest, caller: Caller) -> roulette_pb2.SpinResponse:
        table = await self._registry.table(validation.table_id(request.table_id), caller)
        round_id = validation.round_id(request.round_id)
        finished = await table.trigger_draw(caller.subject, round_id)
        if finished is None:
            raise TableRefused(
                "BETTING_CLOSED",
                "This round ended a while ago: look it up among your rounds.",
                round_id=round_id,
                current_round_id="" if table.round is None else table.round.round_id,
                closed_at="",
            )
        return _spin_response(table, finished, caller.subject)

    # -- requests ----------------------------------------------------------------------------------------------------

    async def _bettable_table(
        self,
        request: roulette_pb2.PlaceBetsRequest | roulette_pb2.RepeatBetsRequest | roulette_pb2.CancelBetsRequest,
        caller: Caller,
    ) -> tuple[RouletteTable, str, str]:
        """Returns the table of a bet request, its round id and its request id, once the round has opened."""
        table = await self._registry.table(validation.table_id(request.table_id), caller)
        round_id, request_id = validation.round_id(request.round_id), validation.request_id(request.request_id)
        await table.wait_if_opening(round_id)
        return table, round_id, request_id

    async def _stored_placement(
        self,
        table: RouletteTable,
        round_id: str,
        player_id: str,
        request_id: str,
        requested: Sequence[roulette_pb2.Bet] | None = None,
    ) -> roulette_pb2.PlaceBetsResponse | None:
        """Returns the answer to a repeated command of an earlier round; refuses it if it has other bets (G3)."""
        if table.round is not None and table.round.round_id == round_id:
            return None
        stake = await self._journal.find_stake(round_id, player_id, request_id)
        if stake is None:
            return None
        if requested is not None and not _same_bets(_rules(table), requested, stake):
            raise refusals.request_reused(request_id)
        return _stored_response(round_id, stake)

    async def _last_bets(self, table: RouletteTable, player_id: str) -> Bets:
        rules = _rules(table)
        bets: Bets | None = None
        for message in await self._journal.last_bets(table.table_id, player_id):
            bets = rules.add(bets, rules.read_bets(message))
        if bets is None:
            raise TableRefused(
                "NOTHING_TO_REPEAT", "You have not played a round at this table yet.", table_id=table.table_id
            )
        return bets


def _rules(rules_of: RouletteTable | VersionedRules[Bets, Outcome] | FinishedRound[Outcome]) -> RouletteRules:
    rules = rules_of.current_rules.rules if isinstance(rules_of, LiveTable) else rules_of.rules
    if not isinstance(rules, RouletteRules):
        raise refusals.unavailable("The table is not a roulette")
    return rules


def _same_bets(rules: RouletteRules, requested: Sequence[roulette_pb2.Bet], stake: JournalStake) -> bool:
    try:
        return rules.read_cancel_request(requested) == rules.read_bets(stake.bets)
    except TableRefused:
        return False


def _on_felt(rules: RouletteRules, bets: Bets | None) -> roulette_pb2.Bets:
    return roulette_pb2.Bets() if bets is None else rules.bets_message(bets)


def _placed_response(rules: RouletteRules, round_id: str, placed: PlacedBets[Bets]) -> roulette_pb2.PlaceBetsResponse:
    stake = roulette_pb2.PlacedStake(
        stake_id=placed.confirmation.stake_id,
        round_id=round_id,
        amount_cents=placed.stake.amount_cents,
        placed_at=placed.confirmation.placed_at,
        balance=placed.confirmation.balance,
        bets=rules.bets_message(placed.stake.bets),
    )
    return roulette_pb2.PlaceBetsResponse(stake=stake, on_felt=_on_felt(rules, placed.on_felt))


def _stored_response(round_id: str, stake: JournalStake) -> roulette_pb2.PlaceBetsResponse:
    bets = roulette_pb2.Bets.FromString(stake.bets)
    stored = roulette_pb2.PlacedStake(
        stake_id=stake.stake_id,
        round_id=round_id,
        amount_cents=stake.amount_cents,
        placed_at=timestamp(stake.placed_at),
        bets=bets,
    )
    return roulette_pb2.PlaceBetsResponse(stake=stored, on_felt=bets)


def _spin_response(table: RouletteTable, finished: FinishedRound[Outcome], player_id: str) -> roulette_pb2.SpinResponse:
    rules = _rules(finished)
    mine = [stake for stake in finished.stakes if stake.player_id == player_id]
    payouts = dict(finished.entry.payouts)
    void = finished.entry.ending is Ending.VOID or finished.outcome is None
    response = roulette_pb2.SpinResponse(
        round_id=finished.round_id,
        staked_cents=sum(stake.amount_cents for stake in mine),
        payout_cents=sum(payouts[stake.stake_id] for stake in mine),
        balance=next((finished.balances[s.account_id] for s in mine if s.account_id in finished.balances), None),
        void_reason=finished.entry.void_reason,
        next_round_id=table.next_round_id,
        next_round_opens_at=None if table.next_round_opens_at is None else timestamp(table.next_round_opens_at),
    )
    if not void and finished.outcome is not None:
        response.outcome.CopyFrom(rules.outcome_message(finished.outcome))
        for stake in mine:
            response.results.MergeFrom(rules.results_message(finished.outcome, rules.read_bets(stake.bets)))
    return response
