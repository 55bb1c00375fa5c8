"""What becomes of a player whose token ends while he plays, and of a visitor who has only come to try."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from uuid import uuid4

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2
from gateway.demo import DemoDoor
from services.kit.identity import CLOCK_SKEW_S
from services.kit.signing_key import SigningKey
from stack.issuer import AUDIENCE
from tests.engine.roulette import by_arithmetic
from tests.roulette_under_test import Metadata
from tests.service.roulette.casino import (
    HOUSES,
    INDIVIDUAL,
    REGULATIONS,
    Guest,
    Room,
    chips,
    outcome_in,
    refusal,
    refusal_of,
    until,
)
from tests.service.roulette.watch import Watch
from tests.wallet_under_test import DEMO

HOLDS_S = 3.0


@pytest.mark.guarantee("G12")
async def test_g12_an_expired_token_never_loses_a_win(room: Room) -> None:
    table_id = await room.table()
    guest = await room.guest(table_id, 100_000)
    watch = await room.watch(table_id)
    # One of them wins, whichever it is.
    bets = {str(number): 100 for number in range(37)}
    round_id, ending = await _bet_while_it_holds(room, guest, watch, bets)

    async def expired() -> bool:
        try:
            await room.roulette.tables.GetTable(table_pb2.GetTableRequest(table_id=table_id), metadata=ending)
        except grpc.aio.AioRpcError as refused:
            return refusal_of(refused).reason == "TOKEN_EXPIRED"
        return False

    await until(expired)

    settled = await watch.until("round_settled", round_id)

    drawn = next(event.outcome_drawn for event in watch.of("outcome_drawn", round_id))
    payout = int(by_arithmetic.payout(bets, outcome_in(drawn.outcome).number))
    assert payout == 3_600
    assert settled.seq
    assert await room.balance(guest) == (100_000 - 3_700 + payout, 0)


async def _bet_while_it_holds(room: Room, guest: Guest, watch: Watch, bets: Mapping[str, int]) -> tuple[str, Metadata]:
    """Bets in a round that has just opened, with a token that is about to end; the round, and the token."""
    seen = await room.open_round(guest)
    while True:
        # Where the machine was too busy for the round or for the token it is the next round's turn.
        seen = await watch.round(after=(await watch.until("round_settled", seen)).seq)
        ending = room.roulette.bearer("player", guest.player_id, (HOLDS_S - CLOCK_SKEW_S) / 60)
        request = roulette_pb2.PlaceBetsRequest(
            request_id=str(uuid4()), table_id=guest.table_id, round_id=seen, bets=chips(bets)
        )
        try:
            await room.roulette.roulette.PlaceBets(request, metadata=ending)
        except grpc.aio.AioRpcError as refused:
            if refusal_of(refused).reason not in {"BETTING_CLOSED", "TOKEN_EXPIRED"}:
                raise
        else:
            return seen, ending


@pytest.mark.rule("804/2015:30", "804/2015:31", "807/2015:32", "807/2015:33", "903-B/2015:6.1.3")
async def test_a_visitor_plays_for_credits_and_never_where_there_is_money(room: Room, regulation: str) -> None:
    key = SigningKey.read(room.casino.roulette.issuer.demo.key_file)
    visitor = DemoDoor(key, AUDIENCE).enter()
    bearer = (("authorization", f"Bearer {visitor.token}"),)
    demo_table = await room.table(wheel=REGULATIONS[regulation], play=INDIVIDUAL, mode=DEMO)

    def enter(table_id: str) -> Awaitable[table_pb2.EnterTableResponse]:
        request = table_pb2.EnterTableRequest(request_id=str(uuid4()), table_id=table_id)
        return room.roulette.tables.EnterTable(request, metadata=bearer)

    assert (await refusal(enter(HOUSES[regulation]))).reason == "ACCOUNT_UNKNOWN"
    entered = await enter(demo_table)
    own = entered.own
    guest = Guest(visitor.player_id, own.account_id, own.session_id, entered.table.table_id, own.seat)
    request = roulette_pb2.PlaceBetsRequest(
        request_id=str(uuid4()),
        table_id=guest.table_id,
        round_id=await room.open_round(guest),
        bets=chips({"red": 100}),
    )
    placed = await room.roulette.roulette.PlaceBets(request, metadata=bearer)
    assert placed.stake.amount_cents == 100
    spin = roulette_pb2.SpinRequest(table_id=guest.table_id, round_id=request.round_id)
    assert (await room.roulette.roulette.Spin(spin, metadata=bearer)).staked_cents == 100
    await room.leave(guest)
