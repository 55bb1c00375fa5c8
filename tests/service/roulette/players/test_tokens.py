"""A token that expires during a round, and the token of a guest who plays the demonstration."""

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
from tests.processes.game import Metadata
from tests.processes.wallet import DEMO
from tests.service.game_driver import SeatedPlayer
from tests.service.refusals import refusal, refusal_of
from tests.service.roulette.platform import (
    INDIVIDUAL,
    INDIVIDUAL_TABLES,
    WHEEL_BY_REGULATION,
    RouletteDriver,
    bet_messages,
    unpack_outcome,
    wait_until,
)

# How long the token of a test is accepted: enough for one bet.
ACCEPTED_S = 3.0


@pytest.mark.guarantee("G12")
async def test_g12_an_expired_token_never_loses_a_win(driver: RouletteDriver) -> None:
    table_id = await driver.new_table()
    seated_player = await driver.seat_new_player(table_id, 100_000)
    watcher = await driver.watch(table_id)
    # One of them wins, whichever number is drawn.
    bets = {str(number): 100 for number in range(37)}
    round_id = await driver.wait_for_open_round(seated_player)
    token = await _bet_with_expiring_token(driver, seated_player, round_id, bets)

    async def expired() -> bool:
        try:
            await driver.roulette.tables.GetTable(table_pb2.GetTableRequest(table_id=table_id), metadata=token)
        except grpc.aio.AioRpcError as refused:
            return refusal_of(refused).reason == "TOKEN_EXPIRED"
        return False

    await wait_until(expired)
    await driver.end_betting()

    await watcher.wait_for("round_settled", round_id)
    drawn = next(event.outcome_drawn for event in watcher.events_of("outcome_drawn", round_id))
    payout = int(reference.payout(bets, unpack_outcome(drawn.outcome).number))
    assert payout == 3_600
    assert await driver.balance(seated_player) == (100_000 - 3_700 + payout, 0)


async def _bet_with_expiring_token(
    driver: RouletteDriver, seated_player: SeatedPlayer, round_id: str, bets: Mapping[str, int]
) -> Metadata:
    """Bets with a token that expires soon; the metadata with the token."""
    request = roulette_pb2.PlaceBetsRequest(
        request_id=str(uuid4()), table_id=seated_player.table_id, round_id=round_id, bets=bet_messages(bets)
    )
    while True:
        token = driver.roulette.bearer("player", seated_player.player_id, (ACCEPTED_S - CLOCK_SKEW_S) / 60)
        try:
            await driver.roulette.roulette.PlaceBets(request, metadata=token)
        except grpc.aio.AioRpcError as refused:
            # On a busy machine a token can expire before its bet arrives: the same bet goes out with another one.
            if refusal_of(refused).reason != "TOKEN_EXPIRED":
                raise
        else:
            return token


@pytest.mark.rule("804/2015:30", "804/2015:31", "807/2015:32", "807/2015:33", "903-B/2015:6.1.3")
async def test_a_guest_plays_for_credits_and_never_for_money(driver: RouletteDriver, regulation: str) -> None:
    key = SigningKey.read(driver.platform.roulette.issuer.demo_keys.key_file)
    guest = DemoTokenIssuer(key, AUDIENCE).issue()
    bearer = (("authorization", f"Bearer {guest.token}"),)
    demo_table = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation], play=INDIVIDUAL, mode=DEMO)

    def enter(table_id: str) -> Awaitable[table_pb2.EnterTableResponse]:
        request = table_pb2.EnterTableRequest(request_id=str(uuid4()), table_id=table_id)
        return driver.roulette.tables.EnterTable(request, metadata=bearer)

    for_money = await refusal(enter(INDIVIDUAL_TABLES[regulation]))
    assert (for_money.reason, for_money.facts) == ("SCOPE_MISSING", {"needed": "player"})
    multi_player = await driver.new_table(wheel=WHEEL_BY_REGULATION[regulation])
    assert (await refusal(enter(multi_player))).reason == "SCOPE_MISSING"
    entered = await enter(demo_table)
    own = entered.own_seat
    seated_player = SeatedPlayer(guest.player_id, own.account_id, own.session_id, entered.table.table_id, own.seat)
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
