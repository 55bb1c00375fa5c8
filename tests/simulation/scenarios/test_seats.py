"""Who has a seat when sessions end while the table looks elsewhere."""

from __future__ import annotations

import asyncio

from feltro.table.v1 import table_pb2
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import (
    TABLE_ID,
    Scenario,
)


def test_a_player_who_left_during_a_takeover_has_no_seat() -> None:
    """The session ends after the sessions were read and before the table is open."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        scenario.world.current_owners[TABLE_ID].process.kill()
        scenario.set_deliveries(ListTableSessions=Delivery(answer_delay_s=1.0))
        scenario.world.start_owner(TABLE_ID)
        await asyncio.sleep(0.5)
        ana.leave()
        await asyncio.sleep(3.0)
        snapshot = await rui.get_snapshot()
        assert snapshot is not None
        assert snapshot.seated == 1

    Scenario().run(script)


def test_a_repeated_enter_after_leaving_seats_nobody() -> None:
    """The wallet repeats its first answer, in which the session is still running."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        (entered,) = (command for command in scenario.world.commands if command.player_id == "ana")
        ana.leave()
        await asyncio.sleep(1.0)
        request = table_pb2.EnterTableRequest(request_id=entered.request_id, table_id=TABLE_ID)
        await scenario.world.call(
            scenario.world.current_owners[TABLE_ID], lambda owner: owner.registry.enter("ana", request)
        )
        snapshot = await rui.get_snapshot()
        assert snapshot is not None
        assert snapshot.seated == 1

    Scenario().run(script)
