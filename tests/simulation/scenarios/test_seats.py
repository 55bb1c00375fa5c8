"""Who has a seat when sessions end while the table looks elsewhere."""

from __future__ import annotations

import asyncio

import pytest

from feltro.table.v1 import table_pb2
from services.kit.refusal import Refused
from services.kit.table.journal.entries import DrawTrigger, Ending
from services.kit.table.owned.owned_tables import RECONCILE_EVERY_S
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario, placed_stake, refusal_reason

# Until a missed report is made up for.
RECONCILED_WITHIN_S = RECONCILE_EVERY_S + 1.0


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


def test_a_seat_beyond_the_table_and_a_wallet_that_is_silent_seat_nobody() -> None:
    async def script(scenario: Scenario) -> None:
        await scenario.open_table("ana")
        rui = Player(scenario.world, "rui", TABLE_ID)
        scenario.world.deposit("rui", STARTING_CENTS)
        refused = await rui.send_enter(21)
        assert isinstance(refused, Refused)
        assert (refused.reason, refused.facts) == ("INVALID", {"field": "seat"})
        rui.timeout_s = 120.0
        scenario.set_deliveries(StartSession=Delivery(refused_at_once=True))
        assert refusal_reason(await rui.send_enter(20)) == "UNAVAILABLE"
        scenario.restore_network()
        # The seat that was asked for is not kept for anybody.
        eva = Player(scenario.world, "eva", TABLE_ID)
        scenario.world.deposit("eva", STARTING_CENTS)
        assert await eva.enter(20)
        assert refusal_reason(await rui.send_enter(20)) == "SEAT_TAKEN"
        assert await rui.enter()

    Scenario(seats=20).run(script)


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


@pytest.mark.guarantee("G11")
def test_g11_a_seat_whose_end_was_not_reported_is_freed_while_others_have_bets_down() -> None:
    async def script(scenario: Scenario) -> None:
        ana, rui, eva = await scenario.open_table("ana", "rui", "eva")
        round_id = await rui.wait_for_open_round()
        placed_stake(await rui.bet(round_id, {"red": 500}))
        placed_stake(await eva.bet(round_id, {"black": 500}))
        assert await eva.cancel_bets(round_id)
        scenario.world.session_reports_lost = True
        ana.leave()
        eva.leave()
        await asyncio.sleep(RECONCILED_WITHIN_S)
        snapshot = await rui.get_snapshot()
        assert snapshot is not None
        # Still the same round, with the other player's bet on the felt.
        assert (snapshot.round.round_id, snapshot.seated, len(snapshot.bets)) == (round_id, 1, 1)
        assert [left.seat for left in scenario.published("seat_left")] == [1, 3]
        # The place is free for another player, and for the same one again.
        assert await ana.enter()
        placed_stake(await ana.bet(round_id, {"red": 300}))

    Scenario(window_ms=120_000).run(script)


@pytest.mark.guarantee("G4", "G9", "G11")
@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.parametrize("killed", [False, True])
def test_g11_a_round_whose_player_left_unreported_ends_in_bounded_time(*, killed: bool) -> None:
    """At an individual table the platform launches the ball for a player who has left."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        scenario.world.session_reports_lost = True
        ana.leave()
        if killed:
            # While the round that was made up for is being settled.
            scenario.set_deliveries(SettleRound=Delivery(answer_delay_s=3.0))
            await scenario.wait_until(lambda: scenario.published("outcome_drawn", ana.table_id))
            scenario.world.current_owners[TABLE_ID].process.kill()
            scenario.restore_network()
        await asyncio.sleep(RECONCILED_WITHIN_S)
        entries = scenario.round_entries(round_id)
        assert entries.drawn is not None
        assert entries.ended is not None
        assert (entries.drawn.draw_trigger, entries.ended.ending) == (DrawTrigger.SESSION_ENDED, Ending.SETTLED)

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G9")
def test_g9_a_player_who_enters_while_seats_are_reconciled_keeps_the_seat() -> None:
    """The wallet's answer is older than the session."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        scenario.world.session_reports_lost = True
        ana.leave()
        scenario.set_deliveries(ListTableSessions=Delivery(answer_delay_s=2.0))
        await scenario.wait_until(scenario.has_asked("ListTableSessions"))
        assert await ana.enter()
        await asyncio.sleep(4.0)
        snapshot = await rui.get_snapshot()
        assert snapshot is not None
        assert snapshot.seated == 2
        placed_stake(await ana.bet(await ana.wait_for_open_round(), {"red": 500}))

    Scenario().run(script)
