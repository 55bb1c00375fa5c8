"""The owner of a tournament's tables dies: hands go on with their very cards, and each end reaches the director."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from services.kit.table.chips import inner_table
from services.kit.table.chips.table import HAND_OF_CLOSED_TABLE, LiveChipTable
from services.kit.table.journal.entries import Ending
from services.kit.table.owned.recovery import HAND_INTERRUPTED
from tests.simulation.caves.players import CALL, FOLD
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.chips.director import Course, SmallDirector
from tests.simulation.chips.scenario import FIRST_TABLE, SECOND_TABLE, ChipScenario
from tests.simulation.chips.test_hands import FIRST, SECOND, THREE, TWO_TABLES, play_on
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import TABLE_ID


@pytest.mark.guarantee("G4", "G6", "G10")
def test_a_dealt_hand_goes_on_with_the_very_cards_and_its_decisions() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        cards = {player.player_id: await player.hole_cards() for player in players}
        await (await in_turn(*players)).act(CALL)
        view, drawn = scenario.table().snapshot().round.view, scenario.round_entries(FIRST).drawn
        await scenario.kill_owner()
        await scenario.wait_until(scenario.is_open)
        assert scenario.table().snapshot().round.view == view
        assert {player.player_id: await player.hole_cards() for player in players} == cards
        await play_on(scenario, players, FIRST)
        assert scenario.round_entries(FIRST).drawn is drawn
        await scenario.wait_until(lambda: scenario.director.reported)
        assert [(each.what, each.number) for each in scenario.director.reported] == [("ended", 1)]

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.guarantee("G3", "G5")
def test_a_hand_that_ended_without_a_fact_is_reported_again_and_not_played_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The owner dies when the end is journalled and its director has not written it down."""
    report = SmallDirector.hand_ended
    died: list[int] = []

    async def die(director: SmallDirector, table: int, number: int, outcome: bytes) -> None:
        if not died:
            died.append(number)
            director._process.kill()
            await asyncio.sleep(0)
        await report(director, table, number, outcome)

    monkeypatch.setattr(SmallDirector, "hand_ended", die)

    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        first_director = await _when_started(scenario)
        await play_on(scenario, players, FIRST)
        await scenario.wait_until(lambda: scenario.world.tournaments.facts.get(TABLE_ID))
        (fact,) = scenario.world.tournaments.facts[TABLE_ID]
        assert (fact.what, fact.number, fact.outcome) == ("ended", 1, scenario.round_entries(FIRST).outcome)
        # The one that died has written nothing down; the next one was told the same.
        assert died == [1]
        assert not first_director.reported
        assert scenario.director is not first_director
        # Of the next hand nothing was dealt twice.
        await play_on(scenario, players, SECOND)
        await scenario.wait_until(lambda: len(scenario.world.tournaments.facts[TABLE_ID]) == 2)
        assert scenario.hand_ids() == [FIRST, SECOND]

    ChipScenario(Course(THREE)).run(script)


async def _when_started(scenario: ChipScenario) -> SmallDirector:
    await scenario.wait_until(scenario.hand_ids)
    return scenario.director


@pytest.mark.guarantee("G4")
def test_a_hand_of_which_nothing_was_dealt_is_played_when_told() -> None:
    async def script(scenario: ChipScenario) -> None:
        scenario.set_deliveries(write_drawn=Delivery(request_lost=True))
        players = await scenario.start()
        await scenario.wait_until(scenario.hand_ids)
        await asyncio.sleep(1.0)
        scenario.restore_network()
        await scenario.kill_owner()
        await scenario.wait_until(lambda: len(scenario.hand_ids()) == 2)
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert ended.ending is Ending.VOID
        assert scenario.round_entries(FIRST).drawn is None
        # To the director it is one hand, which has just begun.
        await play_on(scenario, players, SECOND)
        await scenario.wait_until(lambda: scenario.director.reported)
        assert [(each.what, each.number) for each in scenario.director.reported] == [("ended", 1)]

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.rule("806/2015:72")
@pytest.mark.guarantee("G4")
def test_a_hand_that_was_interrupted_for_too_long_is_void_and_played_again() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await in_turn(*players)
        scenario.world.takeover_delay_s = 400.0
        scenario.world.cut_off_rounds.add(FIRST)
        scenario.world.declared_void_reasons.add(HAND_INTERRUPTED)
        former = scenario.world.current_owners[TABLE_ID]
        former.process.kill()
        await scenario.wait_until(lambda: scenario.world.current_owners[TABLE_ID] is not former, within_s=500.0)
        await play_on(scenario, players, SECOND)
        await scenario.wait_until(lambda: len(scenario.director.reported) == 2)
        assert [(each.what, each.number) for each in scenario.director.reported] == [("voided", 1), ("ended", 2)]
        voided = scenario.published("round_voided", FIRST_TABLE)
        assert [(each.round_id, each.reason) for each in voided] == [(FIRST, HAND_INTERRUPTED)]

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.guarantee("G4", "G5", "G6")
def test_g4_a_decided_hand_whose_end_was_not_written_ends_as_it_was_decided() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        scenario.set_deliveries(write_ended=Delivery(request_lost=True))
        for _ in players[1:]:
            await (await in_turn(*players)).act(FOLD)
        await scenario.wait_until(lambda: len(scenario.moves(FIRST)) == len(players) - 1)
        await asyncio.sleep(1.0)
        assert scenario.round_entries(FIRST).ended is None
        moves = scenario.moves(FIRST)
        scenario.restore_network()
        await scenario.kill_owner()
        await scenario.wait_for_end(FIRST)
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.SETTLED, "")
        assert scenario.moves(FIRST) == moves
        await scenario.wait_until(lambda: scenario.director.reported)
        assert [(each.what, each.number) for each in scenario.director.reported] == [("ended", 1)]
        # Players see its end, which the former owner had told nobody.
        assert [each.round_id for each in scenario.published("round_settled", FIRST_TABLE)] == [FIRST]
        assert scenario.hand_ids() == [FIRST]

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.rule("806/2015:72")
@pytest.mark.guarantee("G4", "G12")
def test_g12_a_hand_whose_cards_stay_unreadable_is_void_after_its_time_and_played_again() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await in_turn(*players)
        scenario.world.cut_off_rounds.add(FIRST)
        scenario.world.declared_void_reasons.add(HAND_INTERRUPTED)
        scenario.seal(FIRST)
        await scenario.kill_owner()
        await asyncio.sleep(60.0)
        assert scenario.round_entries(FIRST).ended is None
        await scenario.wait_until(lambda: scenario.round_entries(FIRST).ended, within_s=600.0)
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, HAND_INTERRUPTED)
        await play_on(scenario, players, SECOND)
        await scenario.wait_until(lambda: len(scenario.director.reported) == 2)
        assert [(each.what, each.number) for each in scenario.director.reported] == [("voided", 1), ("ended", 2)]

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.guarantee("G9", "G12")
def test_a_table_whose_cards_cannot_be_read_waits_while_the_others_play() -> None:
    async def script(scenario: ChipScenario) -> None:
        ana, rui, eva, ivo = await scenario.start()
        await in_turn(ana, rui)
        await in_turn(eva, ivo)
        scenario.seal(FIRST)
        await scenario.kill_owner()
        await play_on(scenario, [eva, ivo], f"{SECOND_TABLE}.1")
        assert not scenario.is_open()
        # The key is found: the hand goes on with its cards.
        scenario.unseal(FIRST)
        await scenario.wait_until(scenario.is_open, within_s=inner_table.LONGEST_PAUSE_S + 1.0)
        await play_on(scenario, [ana, rui], FIRST)
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    ChipScenario(Course(TWO_TABLES, hands=1)).run(script)


@pytest.mark.guarantee("G9", "G12")
def test_an_operator_makes_a_hand_void_whose_cards_cannot_be_read_and_it_is_played_again() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await in_turn(*players)
        scenario.seal(FIRST)
        await scenario.kill_owner()
        await scenario.wait_until(scenario.world.current_owners[TABLE_ID].owned_tables.ready.is_set)
        await asyncio.sleep(2.0)
        assert not isinstance(await scenario.void(FIRST, "the key is lost"), Exception)
        await play_on(scenario, players, SECOND)
        await scenario.wait_until(lambda: len(scenario.director.reported) == 2)
        assert [(each.what, each.number) for each in scenario.director.reported] == [("voided", 1), ("ended", 2)]

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.guarantee("G9")
def test_a_table_that_fails_is_opened_again_and_the_others_play_on(monkeypatch: pytest.MonkeyPatch) -> None:
    failures: list[str] = []
    finish = LiveChipTable._finish

    async def fail_once(table: LiveChipTable[Any, Any], round_: Any) -> None:  # noqa: ANN401 - passed on
        if table.table_id == FIRST_TABLE and not failures:
            failures.append(round_.round_id)
            raise RuntimeError("a fault")
        await finish(table, round_)

    monkeypatch.setattr(LiveChipTable, "_finish", fail_once)

    async def script(scenario: ChipScenario) -> None:
        ana, rui, eva, ivo = await scenario.start()
        owner = scenario.world.current_owners[TABLE_ID]
        await play_on(scenario, [ana, rui], FIRST)
        await play_on(scenario, [eva, ivo], f"{SECOND_TABLE}.1")
        # Its end is in the journal, from where the table that is opened again reports it.
        await scenario.wait_until(lambda: {each.table for each in scenario.director.reported} == {1, 2})
        assert failures == [FIRST]
        assert scenario.world.current_owners[TABLE_ID] is owner
        assert scenario.hand_ids() == [FIRST]
        await scenario.wait_until(lambda: scenario.table().snapshot().chips.held == "break")

    ChipScenario(Course(TWO_TABLES, hands=1)).run(script)


@pytest.mark.guarantee("G3", "G9")
def test_a_director_that_cannot_take_a_report_gives_the_lease_up(monkeypatch: pytest.MonkeyPatch) -> None:
    report = SmallDirector.hand_ended
    failed: list[int] = []

    async def fail_once(director: SmallDirector, table: int, number: int, outcome: bytes) -> None:
        if not failed:
            failed.append(number)
            director._world.durability.report = lambda *_: None  # type: ignore[method-assign]
            raise RuntimeError("a fault")
        await report(director, table, number, outcome)

    monkeypatch.setattr(SmallDirector, "hand_ended", fail_once)

    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        former = scenario.world.current_owners[TABLE_ID]
        await play_on(scenario, players, FIRST)
        await scenario.wait_for_next_owner(former)
        await scenario.wait_until(lambda: scenario.director.reported)
        assert [(each.what, each.number) for each in scenario.director.reported] == [("ended", 1)]
        assert scenario.hand_ids() == [FIRST]

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.rule("810/2015:35", "810/2015:36.b")
def test_a_table_that_is_closed_in_a_hand_ends_it_void_and_reports_nothing() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await (await in_turn(*players)).act(FOLD)
        scenario.world.cut_off_rounds.add(FIRST)
        scenario.world.declared_void_reasons.add(HAND_OF_CLOSED_TABLE)
        scenario.director.state[1].hand = None
        await scenario.director.table(1).close()
        await scenario.wait_until(lambda: not scenario.is_open())
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, HAND_OF_CLOSED_TABLE)
        assert scenario.published("chips_changed", FIRST_TABLE)[-1].chips.held == "closed"
        assert not scenario.director.reported
        assert await players[0].get_table() is None

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.guarantee("G12")
def test_no_hand_begins_while_the_tournament_is_switched_off() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await in_turn(*players)
        scenario.world.catalogue.set_switch(TABLE_ID, "an inspection")
        await play_on(scenario, players, FIRST)
        await asyncio.sleep(20.0)
        assert scenario.hand_ids() == [FIRST]
        assert scenario.table().snapshot().disabled_reason == "an inspection"
        scenario.world.catalogue.set_switch(TABLE_ID, None)
        await play_on(scenario, players, SECOND)

    ChipScenario(Course(THREE)).run(script)


@pytest.mark.guarantee("G4", "G9")
def test_a_planned_handover_stops_between_two_decisions_and_the_hand_goes_on() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await (await in_turn(*players)).act(CALL)
        former = scenario.world.current_owners[TABLE_ID]
        before = scenario.world.loop.now()
        former.hand_over.set()
        await scenario.wait_until(lambda: former.ended)
        assert scenario.world.loop.now() - before < timedelta(seconds=3)
        assert scenario.round_entries(FIRST).ended is None
        await scenario.wait_for_next_owner(former)
        await play_on(scenario, players, FIRST)
        await scenario.wait_until(lambda: scenario.director.reported)
        assert scenario.hand_ids() == [FIRST]

    ChipScenario(Course(THREE, hands=1)).run(script)
