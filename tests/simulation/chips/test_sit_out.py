"""Absent players stay in: their blinds are taken, and they check or fold at once until they come back (26, 27, 43)."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.bus.connections import Line
from services.kit.table.journal.entries import ActedBy, Ending
from tests.simulation.caves.players import CALL, RAISE
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.chips.director import Course
from tests.simulation.chips.scenario import FIRST_TABLE, ChipScenario
from tests.simulation.chips.test_hands import FIRST, SECOND, THREE, play_on
from tests.simulation.scenario import TABLE_ID


def _away(scenario: ChipScenario) -> dict[int, bool]:
    return {each.seat: each.away for each in scenario.table().snapshot().chips.seats}


@pytest.mark.rule("810/2015:42", "810/2015:43")
def test_t21_who_does_not_decide_in_time_sits_out_and_comes_back_with_one_click() -> None:
    async def script(scenario: ChipScenario) -> None:
        ana, rui, eva = await scenario.start()
        # The small blind is rui's; the button, ana, is first to act before the flop.
        await ana.act(RAISE, 200)
        await asyncio.sleep(10.5)
        # Facing a raise the clock folds, and from now on the player is away, as everybody sees.
        assert scenario.moves(FIRST)[1] == (2, "ACTION_FOLD", ActedBy.CLOCK)
        await scenario.wait_until(lambda: scenario.director.away == {"rui"})
        assert _away(scenario) == {1: False, 2: True, 4: False}
        assert scenario.published("chips_changed", FIRST_TABLE)[-1].chips.seats[1].away
        await play_on(scenario, [ana, eva], FIRST)
        # In the next hand the player has the button: dealt in, and folded at once.
        began = scenario.world.loop.time()
        await scenario.wait_until(lambda: len(scenario.hand_ids()) == 2 and len(scenario.moves(SECOND)) >= 1)
        assert scenario.world.loop.time() - began < 3.0
        assert scenario.moves(SECOND)[0] == (2, "ACTION_FOLD", ActedBy.AWAY)
        # One click: the next decision is the player's own again.
        scenario.director.came_back("rui")
        await play_on(scenario, [ana, eva], SECOND)
        await scenario.wait_until(lambda: len(scenario.hand_ids()) == 3)
        assert _away(scenario) == {1: False, 2: False, 4: False}
        third = scenario.hand_ids()[2]
        await play_on(scenario, [ana, rui, eva], third)
        assert {acted_by for _, _, acted_by in scenario.moves(third)} == {ActedBy.PLAYER}

    ChipScenario(Course(THREE, hands=3), {"initial_button": "seat_1"}).run(script)


@pytest.mark.rule("810/2015:27", "810/2015:43")
def test_who_sits_out_checks_where_it_is_free() -> None:
    """A player of cash poker who has left folds; of a tournament the absent big blind checks (T-A-09, T-18)."""

    async def script(scenario: ChipScenario) -> None:
        ana, rui, _ = await scenario.start()
        await scenario.wait_until(scenario.is_open)
        scenario.director.went_away("eva")
        await scenario.wait_until(lambda: _away(scenario)[4])
        await ana.act(CALL)
        await rui.act(CALL)
        # Nobody has raised: she checks, and again whenever it is free.
        await scenario.wait_until(lambda: len(scenario.moves(FIRST)) >= 3)
        assert scenario.moves(FIRST)[2] == (4, "ACTION_CHECK", ActedBy.AWAY)
        await play_on(scenario, [ana, rui], FIRST)
        assert {act for seat, act, _ in scenario.moves(FIRST) if seat == 4} == {"ACTION_CHECK"}

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.rule("810/2015:26", "810/2015:27")
def test_who_is_not_connected_when_a_hand_begins_sits_out_until_the_line_is_back() -> None:
    async def script(scenario: ChipScenario) -> None:
        scenario.world.set_line("ana", Line.AWAY)
        # Of a line that cannot be known nobody is taken for absent.
        scenario.world.set_line("eva", Line.UNKNOWN)
        ana, rui, eva = await scenario.start()
        await scenario.wait_until(lambda: scenario.is_open() and len(scenario.hand_ids()) == 1)
        await scenario.wait_until(lambda: len(scenario.moves(FIRST)) >= 1)
        assert scenario.moves(FIRST)[0] == (1, "ACTION_FOLD", ActedBy.AWAY)
        assert _away(scenario) == {1: True, 2: False, 4: False}
        assert [each.seat for each in scenario.table().snapshot().chips.seats if each.disconnected] == [1]
        scenario.world.set_line("eva", Line.CONNECTED)
        await play_on(scenario, [rui, eva], FIRST)
        scenario.world.set_line("ana", Line.CONNECTED)
        await scenario.wait_until(lambda: not scenario.director.away)
        await play_on(scenario, [ana, rui, eva], SECOND)
        assert {acted_by for _, _, acted_by in scenario.moves(SECOND)} == {ActedBy.PLAYER}

    ChipScenario(Course(THREE)).run(script)


@pytest.mark.rule("810/2015:27", "810/2015:43")
def test_who_has_decided_and_loses_the_line_has_the_time_to_decide_before_sitting_out() -> None:
    """A program that polls has no line at all, and plays; it says once that it is there."""

    async def script(scenario: ChipScenario) -> None:
        scenario.world.set_line("rui", Line.AWAY)
        ana, rui, eva = await scenario.start()
        await scenario.wait_until(scenario.is_open)
        await scenario.wait_until(lambda: scenario.director.away == {"rui"})
        scenario.director.came_back("rui")
        await scenario.wait_until(lambda: not _away(scenario)[2])
        await ana.act(CALL)
        # Without a line the player decides, and in the next hand, too.
        await rui.act(CALL)
        scenario.world.set_line("eva", Line.AWAY)
        await play_on(scenario, [ana, rui, eva], FIRST)
        await scenario.kill_owner()
        await play_on(scenario, [ana, rui, eva], SECOND)
        assert {acted_by for _, _, acted_by in scenario.moves(SECOND)} == {ActedBy.PLAYER}
        # Who does not come back in time sits out then, by the clock.
        third = f"{FIRST_TABLE}.3"
        await scenario.wait_until(lambda: len(scenario.hand_ids()) == 3)
        await play_on(scenario, [ana, rui], third)
        assert (4, ActedBy.CLOCK) in {(seat, acted_by) for seat, _, acted_by in scenario.moves(third)}
        await scenario.wait_until(lambda: scenario.director.away == {"eva"})

    ChipScenario(Course(THREE, hands=3)).run(script)


@pytest.mark.rule("810/2015:26", "810/2015:27")
def test_a_table_of_absent_players_plays_on_until_the_chips_are_somebodys() -> None:
    async def script(scenario: ChipScenario) -> None:
        for name in ("ana", "rui", "eva"):
            scenario.world.set_line(name, Line.AWAY)
        await scenario.start()
        await scenario.wait_until(lambda: scenario.ended_hands() == 6)
        assert all(scenario.round_entries(each).ended.ending is Ending.SETTLED for each in scenario.hand_ids())  # type: ignore[union-attr]
        assert sum(scenario.director.state[1].chips.values()) == 4_500
        # Nobody was removed, and blinds went round.
        assert [each.seat for each in scenario.table().snapshot().chips.seats] == [1, 2, 4]

    ChipScenario(Course(THREE, hands=6), result_shown_ms=0).run(script)


@pytest.mark.rule("810/2015:42")
def test_the_time_bank_is_one_for_the_whole_tournament_and_survives_its_owner() -> None:
    async def script(scenario: ChipScenario) -> None:
        ana, rui, eva = await scenario.start()
        turn = await ana.wait_for_turn()
        # Ten seconds to decide, and four of the bank.
        await asyncio.sleep(14.0)
        assert (await ana.prepare_act(turn, CALL)[1]()) is not None
        assert scenario.moves(FIRST)[0][2] is ActedBy.PLAYER
        left = scenario.table().own_chips("ana")
        assert left is not None
        assert 15_000 < left.time_bank_ms < 17_000
        await play_on(scenario, [ana, rui, eva], FIRST)
        # It is journalled with the next hand, and the next owner knows it.
        await scenario.wait_until(lambda: len(scenario.hand_ids()) == 2)
        await in_turn(ana, rui, eva)
        await scenario.kill_owner()
        await scenario.wait_until(scenario.is_open)
        assert scenario.table().own_chips("ana") == left
        whole = scenario.table().own_chips("rui")
        assert whole is not None
        assert whole.time_bank_ms == 20_000

    ChipScenario(Course(THREE), {"time_bank_seconds": 20}).run(script)


@pytest.mark.rule("806/2015:72")
def test_a_hand_that_waits_too_long_for_the_platforms_line_is_void_and_played_again() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        first = await in_turn(*players)
        scenario.world.set_line(first.player_id, Line.UNKNOWN)
        scenario.world.cut_off_rounds.add(FIRST)
        scenario.world.declared_void_reasons.add("the platform's line to a player has failed")
        await scenario.wait_until(lambda: len(scenario.hand_ids()) == 2, within_s=200.0)
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert ended.ending is Ending.VOID
        # Again with the same button and the same chips, under another number.
        assert [(each.what, each.number) for each in scenario.director.reported] == [("voided", 1)]
        brought = [scenario.round_entries(each).drawn for each in (FIRST, SECOND)]
        assert scenario.director.state[1].chips == {1: 1_500, 2: 1_500, 4: 1_500}
        assert brought[0] is not None
        assert brought[1] is not None
        assert brought[0].entropy != brought[1].entropy
        rules = scenario.world.catalogue.rules_in_force(TABLE_ID).rules
        buttons = {rules.read_bets(drawn.stakes[0].bets).button for drawn in brought if drawn is not None}
        assert len(buttons) == 1
        scenario.world.set_line(first.player_id, Line.CONNECTED)
        await play_on(scenario, players, SECOND)

    ChipScenario(Course(THREE, hands=1)).run(script)
