"""What triggers the draw of a round, and how that is recorded."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.journal.entries import DrawTrigger, Ending
from services.kit.table.live.closing import HANDOVER_DRAW_TIMEOUT_S, NO_BETS_LEFT
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import (
    STARTING_CENTS,
    TABLE_ID,
    Scenario,
    both_regulations,
    closes_at,
    placed_stake,
    refusal_reason,
)


@both_regulations
@pytest.mark.rule("804/2015:15", "807/2015:17")
def test_at_an_individual_table_the_player_launches_the_ball(regulation: str) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        assert refusal_reason(await ana.spin(round_id)) == "NOTHING_STAKED"
        await ana.bet(round_id, {"red": 500})
        await asyncio.sleep(100.0)
        assert scenario.round_entries(round_id).drawn is None
        spun = await ana.spin(round_id)
        assert isinstance(spun, roulette_pb2.SpinResponse)
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        assert spun.outcome.SerializeToString() == drawn.outcome
        assert drawn.draw_trigger is DrawTrigger.PLAYER
        # A repeated spin draws nothing more.
        again = await ana.spin(round_id)
        assert isinstance(again, roulette_pb2.SpinResponse)
        assert again.outcome == spun.outcome
        assert refusal_reason(await ana.bet(round_id, {"red": 502})) == "BETTING_CLOSED"

    Scenario(regulation=regulation, individual=True).run(script)


@pytest.mark.rule("GLI-19 4.16")
def test_the_platform_launches_the_ball_for_a_player_who_left() -> None:
    """The journal records the draw trigger, and the event shows it."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        ana.leave()
        await asyncio.sleep(1.0)
        written = scenario.round_entries(round_id)
        assert written.drawn is not None
        assert written.drawn.draw_trigger is DrawTrigger.SESSION_ENDED
        assert written.ended is not None
        assert written.ended.ending is Ending.SETTLED
        assert not scenario.world.wallet.running_sessions(ana.table_id)
        (event,) = scenario.published("outcome_drawn", ana.table_id)
        assert event.draw_trigger == types_pb2.DRAW_TRIGGER_SESSION_ENDED

    Scenario(individual=True).run(script)


def test_no_ball_is_launched_when_every_bet_was_cancelled() -> None:
    """Neither when the player leaves nor when the table is handed over."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        for player, begin_end in ((ana, ana.leave), (rui, scenario.world.current_owners[TABLE_ID].hand_over.set)):
            round_id = await player.wait_for_open_round()
            placed_stake(await player.bet(round_id, {"red": 500}))
            assert not refusal_reason(await player.cancel_bets(round_id))
            begin_end()
            await asyncio.sleep(1.0)
            written = scenario.round_entries(round_id)
            assert written.drawn is None
            assert written.ended is not None
            assert (written.ended.ending, written.ended.void_reason) == (Ending.VOID, NO_BETS_LEFT)
            assert scenario.free_cents(player.player_id) == STARTING_CENTS
            assert not scenario.published("outcome_drawn", player.table_id)
        assert not scenario.world.wallet.running_sessions(ana.table_id)

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G4")
def test_no_ball_is_launched_beside_a_bet_that_is_refused() -> None:
    """The spin waits for what was clicked before it, and then there is no bet."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana", cents=100)
        round_id = await ana.wait_for_open_round()
        scenario.set_deliveries(PlaceStakes=Delivery(request_delay_s=0.5))
        betting = asyncio.create_task(ana.bet(round_id, {"red": 500}))
        await asyncio.sleep(0.1)
        assert refusal_reason(await ana.spin(round_id)) == "NOTHING_STAKED"
        assert refusal_reason(await betting) == "INSUFFICIENT_FUNDS"
        # The round goes on, and takes another bet.
        placed_stake(await ana.bet(round_id, {"red": 100}))
        assert isinstance(await ana.spin(round_id), roulette_pb2.SpinResponse)

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G4")
def test_no_ball_is_launched_beside_a_bet_that_is_taken_back() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        scenario.set_deliveries(CancelStakes=Delivery(request_delay_s=0.5))
        taking_back = asyncio.create_task(ana.cancel_bets(round_id))
        await asyncio.sleep(0.1)
        assert refusal_reason(await ana.spin(round_id)) == "NOTHING_STAKED"
        assert not refusal_reason(await taking_back)

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G4")
@pytest.mark.parametrize("taken_back", [True, False], ids=["taken back", "refused"])
def test_the_platform_launches_no_ball_when_the_last_bet_goes(*, taken_back: bool) -> None:
    """The player leaves while the wallet is being asked for their only bet: the round is void without a draw."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana", cents=1_000)
        round_id = await ana.wait_for_open_round()
        if taken_back:
            placed_stake(await ana.bet(round_id, {"red": 500}))
        slow = Delivery(request_delay_s=0.5)
        scenario.set_deliveries(CancelStakes=slow, PlaceStakes=slow)
        command = ana.cancel_bets(round_id) if taken_back else ana.bet(round_id, {"red": 5_000})
        under_way = asyncio.create_task(command)
        await asyncio.sleep(0.1)
        ana.leave()
        assert bool(refusal_reason(await under_way)) != taken_back
        await asyncio.sleep(2.0)
        written = scenario.round_entries(round_id)
        assert written.drawn is None
        assert written.ended is not None
        assert (written.ended.ending, written.ended.void_reason) == (Ending.VOID, NO_BETS_LEFT)
        assert scenario.free_cents("ana") == 1_000

    Scenario(individual=True).run(script)


@pytest.mark.rule("GLI-19 4.16")
def test_a_launch_by_the_player_counts_although_they_leave() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        launched = asyncio.create_task(ana.spin(round_id))
        scenario.set_deliveries(write_drawn=Delivery(answer_delay_s=1.0))
        await asyncio.sleep(0.1)
        ana.leave()
        assert isinstance(await launched, roulette_pb2.SpinResponse)
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        assert drawn.draw_trigger is DrawTrigger.PLAYER

    Scenario(individual=True).run(script)


@pytest.mark.rule("GLI-19 4.16")
def test_at_a_multi_player_table_the_clock_closes_betting() -> None:
    """One player leaves and one stays: the clock is the draw trigger all the same."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        await asyncio.gather(ana.bet(round_id, {"red": 500}), rui.bet(round_id, {"black": 500}))
        announced = closes_at(await rui.get_snapshot())
        ana.leave()
        await asyncio.sleep(7.0)
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        assert drawn.draw_trigger is DrawTrigger.CLOCK
        assert drawn.closed_at.timestamp() == pytest.approx(announced)
        assert [event.draw_trigger for event in scenario.published("outcome_drawn")] == [types_pb2.DRAW_TRIGGER_CLOCK]

    Scenario().run(script)


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize(
    ("spins", "trigger"), [(False, DrawTrigger.TABLE_HANDED_OVER), (True, DrawTrigger.PLAYER)], ids=["waits", "spins"]
)
def test_during_a_handover_the_player_may_still_launch(*, spins: bool, trigger: DrawTrigger) -> None:
    """If the player does not launch in time, the platform does; the draw trigger says which."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        asked_at = scenario.world.loop.now()
        scenario.world.current_owners[TABLE_ID].hand_over.set()
        await asyncio.sleep(HANDOVER_DRAW_TIMEOUT_S - 1.0)
        assert scenario.round_entries(round_id).drawn is None
        if spins:
            assert isinstance(await ana.spin(round_id), roulette_pb2.SpinResponse)
        await asyncio.sleep(5.0)
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        assert drawn.draw_trigger is trigger
        assert spins or drawn.closed_at - asked_at >= timedelta(seconds=HANDOVER_DRAW_TIMEOUT_S)
        assert scenario.world.current_owners[TABLE_ID].process.name == "mesa#2"
        (event,) = scenario.published("outcome_drawn", ana.table_id)
        assert event.draw_trigger == trigger.value

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G11")
def test_nothing_delays_a_handover() -> None:
    """An event that wakes the table does not restart the time that the player has to launch."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        scenario.world.current_owners[TABLE_ID].hand_over.set()
        await asyncio.sleep(HANDOVER_DRAW_TIMEOUT_S - 1.0)
        scenario.world.catalogue.set_switch(TABLE_ID, "maintenance")
        await asyncio.sleep(1.5)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Scenario(individual=True).run(script)


@pytest.mark.rule("GLI-19 4.16", "GLI-19 2.8.2")
@pytest.mark.guarantee("G6")
def test_the_next_owner_publishes_the_draw_trigger() -> None:
    """The owner has drawn and journalled the outcome, and dies before it has published anything."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        await ana.bet(round_id, {"17": 100})
        assert not refusal_reason(await ana.cancel_bets(round_id, {"17": 100}))
        scenario.set_deliveries(write_drawn=Delivery(answer_delay_s=1.0))
        ana.leave()
        await asyncio.sleep(0.5)
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        assert not scenario.published("outcome_drawn", ana.table_id)
        scenario.world.current_owners[TABLE_ID].process.kill()
        scenario.restore_network()
        await asyncio.sleep(5.0)
        assert scenario.round_entries(round_id).ended is not None
        (event,) = scenario.published("outcome_drawn", ana.table_id)
        assert drawn.draw_trigger is DrawTrigger.SESSION_ENDED
        assert event.draw_trigger == types_pb2.DRAW_TRIGGER_SESSION_ENDED
        assert [cancelled.stake.amount_cents for cancelled in drawn.cancelled_stakes] == [100]

    Scenario(individual=True).run(script)
