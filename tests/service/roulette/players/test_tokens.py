"""What becomes of a player whose token ends while he plays, and of a visitor who has only come to try."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from uuid import uuid4

import grpc
import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import table_pb2
from gateway.access.demonstration import DemoTokenIssuer
from services.kit.access.identity import CLOCK_SKEW_S
from services.kit.access.signing_key import SigningKey
from stack.issuer import AUDIENCE
from tests.engine.roulette import reference
from tests.processes.roulette import Metadata
from tests.processes.wallet import DEMO
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    WHEEL_BY_REGULATION,
    RouletteDriver,
    SeatedPlayer,
    bet_messages,
    refusal,
    refusal_of,
    unpack_outcome,
    wait_until,
)
from tests.service.roulette.table_watcher import TableWatcher

HOLDS_S = 3.0


@pytest.mark.guarantee("G12")
async def test_g12_an_expired_token_never_loses_a_win(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    seated_player = await driver.seat_new_player(table_id, 100_000)
    watch = await driver.watch(table_id)
    # One of them wins, whichever it is.
    bets = {str(number): 100 for number in range(37)}
    round_id, ending = await _bet_while_it_holds(driver, seated_player, watch, bets)

    async def expired() -> bool:
        try:
            await driver.roulette.tables.GetTable(table_pb2.GetTableRequest(table_id=table_id), metadata=ending)
        except grpc.aio.AioRpcError as refused:
            return refusal_of(refused).reason == "TOKEN_EXPIRED"
        return False

    await wait_until(expired)

    settled = await watch.wait_for("round_settled", round_id)

    drawn = next(event.outcome_drawn for event in watch.events_of("outcome_drawn", round_id))
    payout = int(reference.payout(bets, unpack_outcome(drawn.outcome).number))
    assert payout == 3_600
    assert settled.seq
    assert await driver.balance(seated_player) == (100_000 - 3_700 + payout, 0)


async def _bet_while_it_holds(
    driver: RouletteDriver, seated_player: SeatedPlayer, watch: TableWatcher, bets: Mapping[str, int]
) -> tuple[str, Metadata]:
    """Bets in a round that has just opened, with a token that is about to end; the round, and the token."""
    seen = await driver.wait_for_open_round(seated_player)
    while True:
        # Where the machine was too busy for the round or for the token it is the next round's turn.
        seen = await watch.next_round(after=(await watch.wait_for("round_settled", seen)).seq)
        ending = driver.roulette.bearer("player", seated_player.player_id, (HOLDS_S - CLOCK_SKEW_S) / 60)
        request = roulette_pb2.PlaceBetsRequest(
            request_id=str(uuid4()), table_id=seated_player.table_id, round_id=seen, bets=bet_messages(bets)
        )
        try:
            await driver.roulette.roulette.PlaceBets(request, metadata=ending)
        except grpc.aio.AioRpcError as refused:
            if refusal_of(refused).reason not in {"BETTING_CLOSED", "TOKEN_EXPIRED"}:
                raise
        else:
            return seen, ending


@pytest.mark.rule("804/2015:30", "804/2015:31", "807/2015:32", "807/2015:33", "903-B/2015:6.1.3")
async def test_a_visitor_plays_for_credits_and_never_where_there_is_money(
    driver: RouletteDriver, regulation: str
) -> None:
    key = SigningKey.read(driver.platform.roulette.issuer.demo_keys.key_file)
    visitor = DemoTokenIssuer(key, AUDIENCE).issue()
    bearer = (("authorization", f"Bearer {visitor.token}"),)
    demo_table = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL, mode=DEMO)

    def enter(table_id: str) -> Awaitable[table_pb2.EnterTableResponse]:
        request = table_pb2.EnterTableRequest(request_id=str(uuid4()), table_id=table_id)
        return driver.roulette.tables.EnterTable(request, metadata=bearer)

    assert (await refusal(enter(INDIVIDUAL_TABLES[regulation]))).reason == "ACCOUNT_UNKNOWN"
    entered = await enter(demo_table)
    own = entered.own_seat
    seated_player = SeatedPlayer(visitor.player_id, own.account_id, own.session_id, entered.table.table_id, own.seat)
    request = roulette_pb2.PlaceBetsRequest(
        request_id=str(uuid4()),
        table_id=seated_player.table_id,
        round_id=await driver.wait_for_open_round(seated_player),
        bets=bet_messages({"red": 100}),
    )
    placed = await driver.roulette.roulette.PlaceBets(request, metadata=bearer)
    assert placed.stake.amount_cents == 100
    spin = roulette_pb2.SpinRequest(table_id=seated_player.table_id, round_id=request.round_id)
    assert (await driver.roulette.roulette.Spin(spin, metadata=bearer)).staked_cents == 100
    await driver.leave(seated_player)
