"""Hands that wait for their player, and players who are not there."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.journal.entries import ActedBy
from services.kit.table.owned.owned_tables import EMPTY_FOR_S
from tests.simulation.decisions.players import DECLINE, DRAW, STAND
from tests.simulation.decisions.scenario import BlackjackScenario, acted
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, refusal_reason

HOUR_S = 3_600.0
# Twelve against a bank of 17, and what it draws.
TWELVE = "Ts 9h 2d 8c 7h"


@pytest.mark.guarantee("G4", "G8", "G9")
@pytest.mark.rule("903-B/2015:6.3.2", "805/2015:23")
def test_an_open_hand_survives_handovers_and_is_finished_by_its_player() -> None:
    """Nobody decides for a player who is alone, whatever becomes of the process: for hours, over four owners."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        await ana.wait_for_turn()
        for change in ("handed over", "killed", "handed over", "killed"):
            await asyncio.sleep(HOUR_S / 2)
            former = scenario.world.current_owners[TABLE_ID]
            if change == "killed":
                former.process.kill()
            else:
                former.hand_over.set()
            await scenario.wait_for_next_owner(former)
        assert scenario.moves(round_id) == []
        acted(await ana.decide(DRAW))
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "draw", ActedBy.PLAYER), (1, "stand", ActedBy.PLAYER)]
        assert scenario.free_cents("ana") == STARTING_CENTS + 1_000

    BlackjackScenario(TWELVE, individual=True, open_hand_hours=3).run(script)


@pytest.mark.guarantee("G4", "G8", "G9")
@pytest.mark.rule("903-B/2015:6.3.2")
def test_an_open_hand_is_ended_by_the_published_defaults_at_its_deadline() -> None:
    """The deadline counts from the deal, and no handover moves it."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        await asyncio.sleep(HOUR_S / 2)
        await scenario.kill_owner()
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        left_s = HOUR_S - (scenario.world.loop.now() - drawn.drawn_at).total_seconds()
        await asyncio.sleep(left_s - 1.0)
        assert scenario.moves(round_id) == []
        await asyncio.sleep(2.0)
        # Twelve may stand, and does.
        assert scenario.moves(round_id) == [(1, "stand", ActedBy.CLOCK)]
        assert scenario.is_settled(round_id)

    BlackjackScenario(TWELVE, individual=True, open_hand_hours=1).run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.rule("903-B/2015:6.3.2")
def test_a_player_who_leaves_an_open_hand_comes_back_to_it() -> None:
    """Their session waits for the round, their table stays open, and nothing is decided for them."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        await ana.wait_for_turn()
        ana.leave()
        await asyncio.sleep(EMPTY_FOR_S + 15.0)
        await scenario.kill_owner()
        await asyncio.sleep(EMPTY_FOR_S + 15.0)
        assert scenario.moves(round_id) == []
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "stand", ActedBy.PLAYER)]

    BlackjackScenario(TWELVE, individual=True).run(script)


@pytest.mark.guarantee("G9", "G12")
@pytest.mark.rule("903-B/2015:6.3.2")
def test_a_player_who_has_left_a_shared_table_is_decided_for_at_once() -> None:
    """The others do not wait for the clock, and the record says that the player was away."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        await ana.wait_for_turn()
        left_at = scenario.world.loop.time()
        ana.leave()
        await rui.wait_for_turn()
        assert scenario.world.loop.time() - left_at < 0.5
        assert scenario.moves(round_id) == [(1, "stand", ActedBy.AWAY)]
        acted(await rui.decide(STAND))
        await scenario.wait_for_end(round_id)

    BlackjackScenario("Ts 9s 9h 6d 9d 8c").run(script)


@pytest.mark.guarantee("G9")
def test_a_player_who_is_away_is_decided_for_among_questions_to_all() -> None:
    """Insurance is asked side by side: who is there keeps their time, who has left does not hold the table up."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        await ana.wait_for_turn()
        rui.leave()
        await scenario.wait_until(lambda: scenario.moves(round_id), within_s=0.5)
        assert scenario.moves(round_id) == [(2, "decline", ActedBy.AWAY)]
        acted(await ana.decide(DECLINE))
        acted(await ana.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id)[-1] == (2, "stand", ActedBy.AWAY)

    BlackjackScenario("Ts 9s Ah 6d 9d 9c Td Th").run(script)


@pytest.mark.guarantee("G3", "G12")
def test_a_player_who_left_and_came_back_is_not_decided_for() -> None:
    """Until the default is journalled the player may decide, and afterwards the click is for a turn that is over."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        turn = await ana.wait_for_turn()
        ana.leave()
        await scenario.wait_until(lambda: scenario.moves(round_id), within_s=0.5)
        assert refusal_reason(await ana.prepare_act(round_id, turn.turn, DRAW)[1]()) == "TURN_OVER"
        acted(await rui.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "stand", ActedBy.AWAY), (2, "stand", ActedBy.PLAYER)]

    BlackjackScenario("Ts 9s 9h 6d 9d 8c").run(script)
