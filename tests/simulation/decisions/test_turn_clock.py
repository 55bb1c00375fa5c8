"""Who was in time: the clock of decisions against clicks, and against a wallet and a journal that are slow."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from services.kit.table.journal.entries import ActedBy
from tests.simulation.decisions.players import DECLINE, DOUBLE, DRAW, GIVE_UP, INSURE, STAND, DecidingPlayer
from tests.simulation.decisions.scenario import DOUBLE_ON_ELEVEN, BlackjackScenario, acted
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.world import PLAYER_DELAY_S
from tests.simulation.scenario import STARTING_CENTS, refusal_reason

# Two players against an ace of the bank.
TWO_AGAINST_AN_ACE = "Ts 9s Ah 2d 4d 9c 5h 6h"
# Two players with sixteen and eleven against a nine.
SIXTEEN_AND_ELEVEN = "Ts 6s 9h 6d 5d 8c Td"


async def decide_by(player: DecidingPlayer) -> datetime:
    answer = await player.get_table()
    assert answer is not None
    return answer.table.round.turn.decide_by.ToDatetime(UTC)


async def wait_until(scenario: BlackjackScenario, at: datetime) -> None:
    """Waits until a command that is sent now arrives at a moment."""
    await asyncio.sleep((at - scenario.world.loop.now()).total_seconds() - PLAYER_DELAY_S)


@pytest.mark.guarantee("G3", "G12")
@pytest.mark.rule("903-B/2015:6.1.4")
def test_a_click_in_time_counts_although_the_wallet_is_slow() -> None:
    """The stake is accepted when the time is long over: the decision was made, and no default is."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await scenario.bet_all(ana)
        _, send = await ana.prepare_decision(DOUBLE)
        await wait_until(scenario, await decide_by(ana) - timedelta(milliseconds=5))
        scenario.set_deliveries(PlaceStakes=Delivery(request_delay_s=4.0))
        acted(await send())
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "double", ActedBy.PLAYER)]

    BlackjackScenario(DOUBLE_ON_ELEVEN).run(script)


@pytest.mark.guarantee("G12")
@pytest.mark.rule("903-B/2015:6.1.4", "805/2015:15.a")
def test_a_late_click_is_refused_and_locks_nothing() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await scenario.bet_all(ana)
        _, send = await ana.prepare_decision(DOUBLE)
        await wait_until(scenario, await decide_by(ana) + timedelta(milliseconds=5))
        # Before the clock has been heard in the journal.
        scenario.set_deliveries(write_moved=Delivery(request_delay_s=1.0))
        assert refusal_reason(await send()) == "TURN_OVER"
        scenario.restore_network()
        await scenario.wait_for_end(round_id)
        # Eleven has to draw, and is 21 with the ten.
        assert scenario.moves(round_id) == [(1, "draw", ActedBy.CLOCK)]
        assert len(scenario.stakes(round_id)) == 1
        assert scenario.free_cents("ana") == STARTING_CENTS + 1_000

    BlackjackScenario(DOUBLE_ON_ELEVEN).run(script)


@pytest.mark.guarantee("G12")
@pytest.mark.rule("903-B/2015:6.1.4")
def test_the_clock_begins_when_the_cards_lie() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await scenario.bet_all(ana)
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        # Four cards of 400 ms, and ten seconds.
        lie_at = drawn.drawn_at + timedelta(seconds=1.6)
        until = await decide_by(ana)
        assert timedelta(0) <= until - lie_at - timedelta(seconds=10) < timedelta(seconds=0.1)
        await scenario.wait_for_end(round_id)

    BlackjackScenario(DOUBLE_ON_ELEVEN, dealing_ms=400).run(script)


@pytest.mark.guarantee("G9", "G12")
@pytest.mark.rule("903-B/2015:6.1.4")
def test_the_clock_stands_for_all_while_money_of_one_is_asked_for() -> None:
    """Both are asked side by side: the wallet is slow for one, and the time of the other stands still, too."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        _, insure = await ana.prepare_decision(INSURE, 500)
        _, decline = await rui.prepare_decision(DECLINE)
        until = await decide_by(ana)
        await wait_until(scenario, until - timedelta(seconds=1))
        scenario.set_deliveries(PlaceStakes=Delivery(request_delay_s=4.0))
        insuring = asyncio.ensure_future(insure())
        await wait_until(scenario, until + timedelta(seconds=1))
        acted(await decline())
        acted(await insuring)
        moves = scenario.moves(round_id)
        assert moves[:2] == [(1, "insure", ActedBy.PLAYER), (2, "decline", ActedBy.PLAYER)]
        await scenario.wait_for_end(round_id)

    BlackjackScenario(TWO_AGAINST_AN_ACE).run(script)


@pytest.mark.guarantee("G9", "G12")
@pytest.mark.rule("903-B/2015:6.1.4")
def test_a_slow_payment_takes_no_time_from_the_next_player() -> None:
    """One gives up and gets half back while the wallet is slow: the other has all the time that was announced."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        _, give_up = await ana.prepare_decision(GIVE_UP)
        scenario.set_deliveries(PayStakes=Delivery(request_delay_s=4.5))
        acted(await give_up())
        paid_at = scenario.round_entries(round_id).paid[0].paid_at
        _, send = await rui.prepare_decision(DOUBLE)
        await wait_until(scenario, paid_at + timedelta(seconds=9.9))
        acted(await send())
        assert [acted_by for _, _, acted_by in scenario.moves(round_id)] == [ActedBy.PLAYER] * 2
        await scenario.wait_for_end(round_id)

    BlackjackScenario(SIXTEEN_AND_ELEVEN).run(script)


@pytest.mark.guarantee("G9")
def test_each_decision_has_its_own_time() -> None:
    """Nobody who goes on deciding runs out of time; who stops is decided for."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await scenario.bet_all(ana)
        for _ in range(3):
            await wait_until(scenario, await decide_by(ana) - timedelta(milliseconds=100))
            acted(await ana.decide(DRAW))
        await scenario.wait_for_end(round_id)
        moves = scenario.moves(round_id)
        assert moves[:3] == [(1, "draw", ActedBy.PLAYER)] * 3
        assert {acted_by for _, _, acted_by in moves[3:]} == {ActedBy.CLOCK}

    BlackjackScenario("2s 9h 3d 8c 2h 2c 2d 3s 3h 4c Ts").run(script)


@pytest.mark.guarantee("G9")
def test_a_new_owner_gives_fresh_time() -> None:
    """What a failure of ours has taken from the player's time is given back."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await scenario.bet_all(ana)
        await ana.wait_for_turn()
        await wait_until(scenario, await decide_by(ana) - timedelta(seconds=1))
        await scenario.kill_owner()
        await ana.wait_for_turn()
        left = await decide_by(ana) - scenario.world.loop.now()
        assert left > timedelta(seconds=9.8)
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "stand", ActedBy.PLAYER)]

    BlackjackScenario("Ts 9h 6d 8c Td").run(script)
