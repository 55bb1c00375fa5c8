"""Two accounts on one device at one table: noticed by the operator, and refused where the specific rules say so."""

from __future__ import annotations

import grpc
import pytest

from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import relevant_events_pb2, session_pb2
from tests.service.poker.platform import PokerDriver
from tests.service.refusals import refusal_of

pytestmark = pytest.mark.rule("903-B/2015:6.6.1")


async def enter(
    driver: PokerDriver, player_id: str, table_id: str, address: str, fingerprint: str
) -> table_pb2.EnterTableResponse:
    """Enters as a player does whom the gateway saw at this address."""
    request = table_pb2.EnterTableRequest(
        request_id=driver.unique_name("enter"),
        table_id=table_id,
        device=session_pb2.Device(kind="browser", address=address, fingerprint=fingerprint),
    )
    return await driver.poker.tables.EnterTable(request, metadata=driver.poker.bearer("player", player_id))


async def events_at(driver: PokerDriver, table_id: str) -> list[relevant_events_pb2.RelevantEvent]:
    request = relevant_events_pb2.ListRelevantEventsRequest(
        kind=relevant_events_pb2.RELEVANT_EVENT_KIND_SHARED_DEVICE, page_size=500
    )
    listed = await driver.wallet.relevant_events.ListRelevantEvents(request, metadata=driver.wallet.operator)
    return [event for event in listed.events if event.table_id == table_id]


async def test_a_second_account_on_the_device_sits_down_and_the_operator_is_told(driver: PokerDriver) -> None:
    table_id = await driver.new_table()
    ana, rui, eva = [await driver.new_player() for _ in range(3)]
    there = await enter(driver, ana, table_id, "192.0.2.1", "one")
    came = await enter(driver, rui, table_id, "192.0.2.2", "one")
    await enter(driver, eva, table_id, "192.0.2.3", "three")

    (event,) = await events_at(driver, table_id)

    assert (event.player_id, event.session_id) == (rui, came.own_seat.session_id)
    assert (event.other_player_id, event.other_session_id) == (ana, there.own_seat.session_id)
    assert (event.refused, event.game, event.device.address) == (False, "poker", "192.0.2.2")


@pytest.mark.guarantee("G7")
async def test_the_table_refuses_a_second_account_where_its_rules_say_so(driver: PokerDriver) -> None:
    table_id = await driver.new_table(refuses_shared_devices=True)
    ana, rui = await driver.new_player(), await driver.new_player()
    there = await enter(driver, ana, table_id, "192.0.2.1", "one")

    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await enter(driver, rui, table_id, "192.0.2.1", "two")

    found = refusal_of(refused.value)
    assert (found.domain, found.reason, dict(found.facts)) == ("table.feltro", "SHARED_DEVICE", {"table_id": table_id})
    (event,) = await events_at(driver, table_id)
    assert (event.player_id, event.refused, event.session_id) == (rui, True, "")
    assert event.other_session_id == there.own_seat.session_id
    # Nobody has taken a seat, and from elsewhere the player may play.
    assert (await driver.table(table_id)).seated == 1
    assert (await enter(driver, rui, table_id, "192.0.2.9", "two")).own_seat.seat
    # The player who was there enters again, as after a lost connection.
    again = await enter(driver, ana, table_id, "192.0.2.9", "one")
    assert again.own_seat.session_id == there.own_seat.session_id
