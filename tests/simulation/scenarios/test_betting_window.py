"""When bets are in time: the window, its close, and a player who is warned."""

from __future__ import annotations

import asyncio
from datetime import UTC

import pytest

from services.wallet.model.state import StakeState
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.virtual_time import STARTS_AT
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
@pytest.mark.rule("804/2015:14", "807/2015:16")
@pytest.mark.guarantee("G12")
def test_a_late_bet_is_refused_and_costs_nothing(regulation: str) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        left_s = closes_at(await ana.get_snapshot()) - STARTS_AT.timestamp() - scenario.world.loop.time()
        # A call takes a hundredth of a second, so the bet arrives exactly when the window closes.
        await asyncio.sleep(left_s - 0.01)
        assert refusal_reason(await ana.bet(round_id, {"red": 500})) == "BETTING_CLOSED"
        assert scenario.free_cents("ana") == STARTING_CENTS
        assert not scenario.stakes(round_id)
        await asyncio.sleep(3.0)
        assert refusal_reason(await ana.bet(round_id, {"red": 500})) == "BETTING_CLOSED"

    Scenario(regulation=regulation).run(script)


@both_regulations
@pytest.mark.rule("804/2015:14", "807/2015:16")
def test_every_player_has_the_same_betting_time(regulation: str) -> None:
    """The window is the same for all seated players, and both phrases are shown."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        assert closes_at(await ana.get_snapshot()) == closes_at(await rui.get_snapshot())
        await asyncio.sleep(
            closes_at(await ana.get_snapshot()) - STARTS_AT.timestamp() - scenario.world.loop.time() - 0.04
        )
        answers = await asyncio.gather(ana.bet(round_id, {"red": 500}), rui.bet(round_id, {"black": 500}))
        assert not any(map(refusal_reason, answers))
        await asyncio.sleep(1.0)
        (opened, *_), (closed, *_) = scenario.published("round_opened"), scenario.published("betting_closed")
        assert scenario.published_at("betting_closed") == opened.round.closes_at.ToDatetime(UTC)
        assert opened.phrase.pt.startswith("Façam")
        assert closed.phrase.pt.startswith("Jogo feito")

    Scenario(regulation=regulation).run(script)


@pytest.mark.rule("903-B/2015:6.1.4")
def test_the_window_is_never_shorter_than_announced() -> None:
    """A slow journal delays the opening, and does not shorten the time to bet."""

    async def script(scenario: Scenario) -> None:
        scenario.set_deliveries(write_opened=Delivery(request_delay_s=2.0, answer_delay_s=1.5))
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        left_s = closes_at(await ana.get_snapshot()) - STARTS_AT.timestamp() - scenario.world.loop.time()
        assert left_s > 2.9
        await asyncio.sleep(2.9)
        placed_stake(await ana.bet(round_id, {"red": 500}))

    Scenario(window_ms=3_000).run(script)


@both_regulations
@pytest.mark.rule("804/2015:29", "807/2015:31")
def test_a_warned_player_may_bet_at_once(regulation: str) -> None:
    """The warning names a round, and may arrive before a slow journal has opened it: the bet is not late."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = ""
        while not (warned := _warned_round(scenario, "ana")):
            opened = scenario.published("round_opened")
            if opened and opened[-1].round.round_id != round_id:
                round_id = opened[-1].round.round_id
                placed_stake(await rui.bet(round_id, {"red": 500}))
                scenario.set_deliveries(write_opened=Delivery(request_delay_s=0.3, answer_delay_s=0.3))
            await asyncio.sleep(0.01)
        assert warned not in [each.round.round_id for each in scenario.published("round_opened")]
        placed_stake(await ana.bet(warned, {"black": 500}))
        scenario.restore_network()

    Scenario(regulation=regulation).run(script)


def _warned_round(scenario: Scenario, name: str) -> str:
    """Returns the round that a player has been warned to bet in; an empty string before the warning."""
    (session,) = (each for each in scenario.world.wallet.running_sessions(TABLE_ID) if each.player_id == name)
    return session.warned_round_id or ""


@pytest.mark.guarantee("G6", "G12")
def test_repeating_bets_after_the_close_is_refused() -> None:
    """The round closes while the last bets are read: nothing is staked on an outcome that is drawn."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        await ana.bet(await ana.wait_for_open_round(), {"red": 500})
        await asyncio.sleep(6.0)
        round_id = await ana.wait_for_open_round()
        before = scenario.free_cents("ana")
        scenario.set_deliveries(
            last_bets=Delivery(request_delay_s=4.99),
            write_drawn=Delivery(answer_delay_s=1.0),
            SettleRound=Delivery(request_delay_s=1.0),
        )
        assert refusal_reason(await ana.prepare_repeat(round_id)[1]()) == "BETTING_CLOSED"
        assert scenario.free_cents("ana") == before

    Scenario().run(script)


@pytest.mark.guarantee("G5", "G9")
def test_bets_in_time_count_although_the_wallet_is_away_at_the_close() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        scenario.set_deliveries(wallet=Delivery(refused_at_once=True))
        ana.timeout_s = 30.0
        bet = asyncio.create_task(ana.bet(round_id, {"red": 500}))
        await asyncio.sleep(9.0)
        assert not bet.done()
        assert not scenario.published("outcome_drawn")
        scenario.restore_network()
        placed_stake(await bet)
        await asyncio.sleep(1.0)
        assert scenario.round_entries(round_id).ended is not None
        assert [state for _, state in scenario.stakes(round_id)] == [StakeState.SETTLED]

    Scenario().run(script)
