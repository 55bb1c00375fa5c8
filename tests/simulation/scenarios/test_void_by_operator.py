"""A round that an operator makes void while its owner dies: the void of the ledger stands, with the operator's reason."""

from __future__ import annotations

import asyncio

import pytest

from feltro.table.v1 import table_pb2
from services.kit.table.journal.entries import Ending
from services.wallet.model.state import StakeState
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario, placed_stake, refusal_reason

REASON = "the wheel was touched"


@pytest.mark.guarantee("G4", "G10")
@pytest.mark.rule("804/2015:21", "903-B/2015:6.3.3")
@pytest.mark.parametrize("individual", [False, True])
def test_g4_a_void_that_its_owner_could_not_journal_is_journalled_as_the_ledger_has_it(*, individual: bool) -> None:
    """The next owner has another reason of its own, which is not what happened."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        placed_stake(await ana.bet(round_id, {"17": 200}))
        assert not refusal_reason(await ana.cancel_bets(round_id, {"17": 60}))
        if not individual:
            placed_stake(await rui.bet(round_id, {"18": 300}))
        scenario.set_deliveries(VoidRound=Delivery(answer_lost=True))
        asked = scenario.has_asked("VoidRound")
        voiding = asyncio.create_task(scenario.void(round_id, REASON))
        await scenario.wait_until(lambda: asked() and scenario.world.wallet.rounds[round_id].void_reason)
        former = scenario.world.current_owners[TABLE_ID]
        former.process.kill()
        scenario.restore_network()
        await scenario.wait_for_next_owner(former)
        await scenario.wait_for_end(round_id)
        await asyncio.gather(voiding, return_exceptions=True)

        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, REASON)
        assert {state for _, state in scenario.stakes(round_id)} == {StakeState.RETURNED}
        # What every player got back, and had then, is on record as the ledger has it.
        assert {
            result.player_id: (result.staked_cents, result.payout_cents, result.balance_after_cents)
            for result in ended.player_results
        } == {name: (cents, cents, STARTING_CENTS) for name, cents in (("ana", 640), ("rui", 300))[: 2 - individual]}
        assert await ana.wait_for_open_round() != round_id

    Scenario(individual=individual).run(script)


@pytest.mark.guarantee("G4")
def test_g4_an_operators_void_is_told_when_the_wallet_has_answered() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        assert isinstance(await scenario.void(round_id, REASON), table_pb2.VoidOpenRoundResponse)
        assert [(told.round_id, told.reason) for told in scenario.published("round_voided")] == [(round_id, REASON)]
        assert scenario.free_cents("ana") == STARTING_CENTS

    Scenario().run(script)
