"""What becomes of a round whose owner dies, is superseded or hands its table over."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import Ending
from services.kit.table.live.closing import HANDOVER_DRAW_TIMEOUT_S
from services.wallet.model.state import StakeState
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.scenario import (
    STARTING_CENTS,
    TABLE_ID,
    Scenario,
    both_regulations,
    placed_stake,
    pocket_of,
    refusal_reason,
)


@both_regulations
@pytest.mark.rule("804/2015:20", "807/2015:22", "903-B/2015:6.7.5")
@pytest.mark.guarantee("G4", "G6")
def test_a_journalled_outcome_stands(regulation: str) -> None:
    """Vector A8 of the rulebook: 8 is journalled, and the server dies before it has published it."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        scenario.world.next_pockets = [pocket_of(scenario, "8")]
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"8": 100}))
        scenario.set_deliveries(write_drawn=Delivery(answer_delay_s=1.0))
        await asyncio.sleep(5.2)
        assert scenario.round_entries(round_id).drawn is not None
        scenario.world.current_owners[TABLE_ID].process.kill()
        scenario.restore_network()
        await asyncio.sleep(5.0)
        assert scenario.free_cents("ana") == STARTING_CENTS + 3_500
        (event,) = [event for event in scenario.published("outcome_drawn") if event.round_id == round_id]
        assert event.outcome.value == scenario.round_entries(round_id).drawn.outcome  # type: ignore[union-attr]

    Scenario(regulation=regulation).run(script)


@pytest.mark.guarantee("G3", "G4")
def test_a_settlement_whose_answer_is_lost_pays_once() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        scenario.world.next_pockets = [pocket_of(scenario, "17")]
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"17": 100}))
        scenario.set_deliveries(SettleRound=Delivery(answer_lost=True, duplicate_after_s=12.0))
        await asyncio.sleep(20.0)
        assert scenario.free_cents("ana") == STARTING_CENTS + 3_500
        assert scenario.round_entries(round_id).ended is None
        scenario.restore_network()
        await asyncio.sleep(8.0)
        assert scenario.free_cents("ana") == STARTING_CENTS + 3_500
        assert scenario.round_entries(round_id).ended is not None

    Scenario().run(script)


@pytest.mark.rule("GLI-19 2.8.2")
@pytest.mark.guarantee("G10")
def test_cancelled_stakes_are_recorded_although_the_owner_died() -> None:
    """The next owner finds them in the ledger, with their times."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        await rui.bet(round_id, {"17": 300})
        await asyncio.sleep(1.0)
        assert not refusal_reason(await rui.cancel_bets(round_id))
        cancelled_by = scenario.world.loop.now()
        scenario.world.current_owners[TABLE_ID].process.kill()
        await asyncio.sleep(5.0)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
        assert [stake.amount_cents for stake in ended.returned_stakes] == [500]
        (cancelled,) = ended.cancelled_stakes
        assert (cancelled.stake.player_id, cancelled.stake.amount_cents) == ("rui", 300)
        assert cancelled.stake.placed_at + timedelta(seconds=1) <= cancelled.cancelled_at <= cancelled_by
        # Its process died while it took bets: it has no time of closing.
        assert ended.closed_at is None

    Scenario().run(script)


@pytest.mark.guarantee("G4", "G8", "G9")
@pytest.mark.parametrize("individual", [False, True])
def test_a_table_that_is_handed_over_finishes_its_round(*, individual: bool) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        scenario.world.current_owners[TABLE_ID].hand_over.set()
        await asyncio.sleep(HANDOVER_DRAW_TIMEOUT_S + 5.0)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        assert await ana.wait_for_open_round() != round_id
        assert scenario.world.current_owners[TABLE_ID].process.name == "mesa#2"

    Scenario(individual=individual).run(script)


@pytest.mark.guarantee("G4", "G9")
def test_no_table_opens_at_an_owner_that_is_handing_over() -> None:
    """A table whose opening had begun before the handover takes no bet that its owner could not bring to an end."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        placed_stake(await ana.bet(await ana.wait_for_open_round(), {"red": 500}))
        former = scenario.world.current_owners[TABLE_ID]
        scenario.world.deposit("rui", STARTING_CENTS)
        rui = Player(scenario.world, "rui", TABLE_ID)
        scenario.set_deliveries(ListTableSessions=Delivery(answer_delay_s=2.0))
        entering = asyncio.create_task(rui.send_enter())
        await asyncio.sleep(1.0)
        former.hand_over.set()
        await entering
        scenario.restore_network()
        assert rui.table_id not in former.owned_tables.tables()
        await asyncio.sleep(HANDOVER_DRAW_TIMEOUT_S + 5.0)
        assert scenario.world.current_owners[TABLE_ID] is not former
        assert await rui.enter()
        round_id = await rui.wait_for_open_round()
        placed_stake(await rui.bet(round_id, {"black": 500}))
        assert not scenario.published("round_voided", rui.table_id)

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G8")
def test_a_former_owner_changes_nothing() -> None:
    """It goes on as if it were alone: its bets, its draw and its settlement come to nothing."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        former = scenario.world.current_owners[TABLE_ID]
        scenario.world.start_owner(TABLE_ID)
        await asyncio.sleep(0.5)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
        scenario.world.current_owners[TABLE_ID], present = former, scenario.world.current_owners[TABLE_ID]
        assert await ana.bet(round_id, {"black": 500}) is None or refusal_reason(
            await ana.bet(round_id, {"black": 500})
        )
        scenario.world.current_owners[TABLE_ID] = present
        await asyncio.sleep(10.0)
        assert former.superseded
        assert scenario.stakes(round_id) == [(500, StakeState.RETURNED)]

    Scenario().run(script)


@pytest.mark.guarantee("G8")
def test_a_stake_of_a_dead_owner_is_refused() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        scenario.set_deliveries(PlaceStakes=Delivery(request_lost=True, duplicate_after_s=1.5))
        ana.timeout_s = 0.2
        assert await ana.bet(round_id, {"red": 500}) is None
        scenario.world.takeover_delay_s = 0.5
        scenario.world.current_owners[TABLE_ID].process.kill()
        scenario.restore_network()
        await asyncio.sleep(5.0)
        assert not scenario.stakes(round_id)
        assert scenario.free_cents("ana") == STARTING_CENTS

    Scenario().run(script)


@pytest.mark.guarantee("G8")
@pytest.mark.parametrize("individual", [False, True])
def test_g8_after_a_restored_journal_the_owner_continues_above_the_wallets_epochs(*, individual: bool) -> None:
    """The wallet has seen epochs that a journal restored from a backup has forgotten: one takeover makes up for all."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        forgotten = 700
        for table in scenario.world.wallet.tables.values():
            table.epoch = forgotten
        scenario.world.current_owners[TABLE_ID].process.kill()
        await asyncio.sleep(10.0)
        await ana.enter()
        await asyncio.sleep(10.0)
        await ana.enter()
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"17": 100}))
        assert scenario.world.journal.epochs[TABLE_ID] == forgotten + 1

    Scenario(individual=individual).run(script)


@pytest.mark.guarantee("G4", "G10")
@pytest.mark.rule("804/2015:21", "903-B/2015:6.3.3")
@pytest.mark.parametrize("individual", [False, True])
def test_g4_a_void_that_its_owner_could_not_journal_is_journalled_as_the_ledger_has_it(*, individual: bool) -> None:
    """The next owner has another reason of its own, which is not what happened."""

    async def script(scenario: Scenario) -> None:
        reason = "the wheel was touched"
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        placed_stake(await ana.bet(round_id, {"17": 200}))
        assert not refusal_reason(await ana.cancel_bets(round_id, {"17": 60}))
        if not individual:
            placed_stake(await rui.bet(round_id, {"18": 300}))
        scenario.set_deliveries(VoidRound=Delivery(answer_lost=True))
        asked = scenario.has_asked("VoidRound")
        voiding = asyncio.create_task(scenario.void(round_id, reason))
        await scenario.wait_until(lambda: asked() and scenario.world.wallet.rounds[round_id].void_reason)
        former = scenario.world.current_owners[TABLE_ID]
        former.process.kill()
        scenario.restore_network()
        await scenario.wait_for_next_owner(former)
        await scenario.wait_for_end(round_id)
        await asyncio.gather(voiding, return_exceptions=True)

        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, reason)
        assert {state for _, state in scenario.stakes(round_id)} == {StakeState.RETURNED}
        # What every player got back, and had then, is on record as the ledger has it.
        assert {
            result.player_id: (result.staked_cents, result.payout_cents, result.balance_after_cents)
            for result in ended.player_results
        } == {name: (cents, cents, STARTING_CENTS) for name, cents in (("ana", 640), ("rui", 300))[: 2 - individual]}
        assert await ana.wait_for_open_round() != round_id

    Scenario(individual=individual).run(script)
