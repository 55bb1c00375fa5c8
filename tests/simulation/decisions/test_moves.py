"""Decisions of players count once, with their stakes, whatever fails meanwhile."""

from __future__ import annotations

import pytest

from services.kit.table.journal.entries import ActedBy
from tests.simulation.decisions.players import DOUBLE
from tests.simulation.decisions.scenario import DOUBLE_ON_ELEVEN, BlackjackScenario, acted
from tests.simulation.scenario import STARTING_CENTS


@pytest.mark.guarantee("G3", "G4", "G5", "G10")
@pytest.mark.rule("805/2015:15.b")
def test_a_double_is_staked_journalled_and_paid() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        answer = acted(await ana.decide(DOUBLE))
        assert (answer.position, answer.staked_cents) == (1, 1_000)
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "double", ActedBy.PLAYER)]
        assert scenario.free_cents("ana") == STARTING_CENTS + 2_000

    BlackjackScenario(DOUBLE_ON_ELEVEN, individual=True).run(script)
