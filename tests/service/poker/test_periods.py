"""Tables in session mode: who registers beforehand, and how everybody is cashed out when the time is over (6.b)."""

from __future__ import annotations

from datetime import UTC, timedelta

import grpc
import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from tests.service.poker.platform import PokerDriver, table_rules
from tests.service.refusals import refusal_of

pytestmark = pytest.mark.rule("806/2015:6.b", "806/2015:2.m", "811/2015:6.b", "811/2015:2.m")

# Longer than any test of this file lasts, whatever else goes on.
FAR = timedelta(hours=6)


async def period(driver: PokerDriver, begins: timedelta, lasts: timedelta = FAR) -> poker_pb2.Period:
    """Returns a period that begins so long from now, by the tables' own clock: tests move it forward."""
    now = (await driver.table(await driver.new_table())).at.ToDatetime(UTC)
    made = poker_pb2.Period()
    made.begins_at.FromDatetime(now + begins)
    made.ends_at.FromDatetime(now + begins + lasts)
    return made


async def reason_of(driver: PokerDriver, player_id: str, table_id: str) -> str:
    """Returns why a player is refused who enters."""
    request = table_pb2.EnterTableRequest(request_id=driver.unique_name("enter"), table_id=table_id)
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.poker.tables.EnterTable(request, metadata=driver.poker.player(player_id))
    return refusal_of(refused.value).reason


async def test_players_register_before_the_period_and_sit_down_in_it(driver: PokerDriver) -> None:
    table_id = await driver.new_table(period=await period(driver, FAR))
    player_id, other = await driver.new_player(), await driver.new_player()
    calls, of = driver.poker.poker, driver.poker.player

    registered = await calls.RegisterForPeriod(
        poker_pb2.RegisterForPeriodRequest(table_id=table_id), metadata=of(player_id)
    )
    assert (registered.registration.registered, registered.registration.players) == (True, 1)
    asked = poker_pb2.GetPeriodRegistrationRequest(table_id=table_id)
    for each, is_registered in ((player_id, True), (other, False)):
        found = (await calls.GetPeriodRegistration(asked, metadata=of(each))).registration
        assert (found.registered, found.players) == (is_registered, 1)
    assert await reason_of(driver, player_id, table_id) == "OUTSIDE_PERIOD"
    cancelled = await calls.CancelPeriodRegistration(
        poker_pb2.CancelPeriodRegistrationRequest(table_id=table_id), metadata=of(player_id)
    )
    assert (cancelled.registration.registered, cancelled.registration.players) == (False, 0)


async def test_nobody_registers_in_the_period(driver: PokerDriver) -> None:
    table_id = await driver.new_table(period=await period(driver, -FAR / 2))
    player_id = await driver.new_player()

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await driver.poker.poker.RegisterForPeriod(
            poker_pb2.RegisterForPeriodRequest(table_id=table_id), metadata=driver.poker.player(player_id)
        )

    assert refusal_of(refused.value).reason == "PERIOD_BEGUN"
    assert await reason_of(driver, player_id, table_id) == "NOT_REGISTERED_FOR_PERIOD"


@pytest.mark.rule("806/2015:67", "811/2015:67")
async def test_sessions_end_and_caves_go_back_when_the_period_is_over(driver: PokerDriver) -> None:
    table_id = await driver.new_table(min_players=3)
    players = [await driver.seat_new_player(table_id, seat=seat) for seat in (1, 2)]
    for player in players:
        await driver.buy_in(player, 5_000)

    over = await period(driver, -FAR, FAR / 2)
    await driver.poker.configure(table_id, table_rules(min_players=3, period=over))

    for player in players:
        await driver.session_ended(player)
        assert await reason_of(driver, player.player_id, table_id) == "OUTSIDE_PERIOD"
    assert not (await driver.table(table_id)).caves
