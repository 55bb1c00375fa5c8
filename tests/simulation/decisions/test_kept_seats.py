"""Seats that players have chosen are theirs at every owner: a seat is a place."""

from __future__ import annotations

import asyncio

import pytest

from tests.simulation.decisions.players import STAND
from tests.simulation.decisions.scenario import BlackjackScenario, acted
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import TABLE_ID, refusal_reason

HANDS = "Ts 9s 9h 6d 9d 8c"


def recorded(scenario: BlackjackScenario) -> dict[int, str]:
    """Returns who has which seat on record."""
    return {number: seat.player_id for (_, number), seat in scenario.world.journal.seats.items()}


@pytest.mark.guarantee("G4", "G8", "G9")
@pytest.mark.rule("805/2015:4.a")
@pytest.mark.parametrize("change", ["killed", "handed over", "superseded"])
def test_players_keep_the_seats_that_they_chose_between_rounds(change: str) -> None:
    """The wallet knows who sits at the table, and the record where: handovers at every round, and nobody moves."""

    async def script(scenario: BlackjackScenario) -> None:
        players = ana, rui = await scenario.seat_players("ana", "rui", seats=(4, 2))
        for _ in range(3):
            round_id = await scenario.bet_all(*players)
            for player in (rui, ana):
                acted(await player.decide(STAND))
            await scenario.wait_for_end(round_id)
            former = scenario.world.current_owners[TABLE_ID]
            if change == "killed":
                former.process.kill()
            elif change == "superseded":
                scenario.world.start_owner(TABLE_ID)
            else:
                former.hand_over.set()
            await scenario.wait_for_next_owner(former)
            await ana.wait_for_open_round()
            assert [await ana.place(), await rui.place()] == ["4", "2"]
        assert recorded(scenario) == {4: "ana", 2: "rui"}

    BlackjackScenario(HANDS).run(script)


@pytest.mark.guarantee("G9")
def test_a_seat_that_was_left_is_free_at_the_next_owner() -> None:
    """Left at the former owner, or while there was none."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva", seats=(4, 2, 5))
        await asyncio.sleep(1.0)
        rui.leave()
        await scenario.wait_until(lambda: recorded(scenario) == {4: "ana", 5: "eva"}, within_s=1.0)
        scenario.world.current_owners[TABLE_ID].process.kill()
        eva.leave()
        await asyncio.sleep(5.0)
        await ana.wait_for_open_round()
        assert recorded(scenario) == {4: "ana"}
        assert await rui.enter(5)
        assert await rui.place() == "5"
        assert not await eva.enter(4)
        assert refusal_reason(next(c for c in reversed(scenario.world.commands) if c.kind == "enter").answers[-1]) == (
            "SEAT_TAKEN"
        )

    BlackjackScenario(HANDS).run(script)


@pytest.mark.guarantee("G9", "G11")
def test_no_player_waits_for_the_record() -> None:
    """While the database is slow players come, play and go; afterwards the record is as they sit."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui", seats=(4, 2))
        scenario.set_deliveries(take_seat=Delivery(request_delay_s=6.0), leave_seat=Delivery(request_delay_s=6.0))
        rui.leave()
        await asyncio.sleep(0.5)
        assert await rui.enter(3)
        round_id = await scenario.bet_all(ana, rui)
        for player in (rui, ana):
            acted(await player.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert recorded(scenario) == {4: "ana", 2: "rui"}
        scenario.restore_network()
        await scenario.wait_until(lambda: recorded(scenario) == {4: "ana", 3: "rui"}, within_s=8.0)

    BlackjackScenario(HANDS).run(script)
