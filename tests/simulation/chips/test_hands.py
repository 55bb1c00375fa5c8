"""Hands of a tournament's table: dealt when the director says so, decided by its players, reported when they end."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta
from itertools import pairwise

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.table.chips.seam import Destination
from services.kit.table.journal.entries import ActedBy
from services.poker.tournament.levels import Level
from tests.simulation.caves.players import CALL, CHECK, FOLD, RAISE, PokerPlayer
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.chips.director import Course
from tests.simulation.chips.scenario import FIRST_TABLE, SECOND_TABLE, ChipScenario
from tests.simulation.scenario import refusal_reason

THREE = {1: {1: "ana", 2: "rui", 4: "eva"}}
TWO_TABLES = {1: {1: "ana", 2: "rui"}, 2: {1: "eva", 3: "ivo"}}
FIRST, SECOND = f"{FIRST_TABLE}.1", f"{FIRST_TABLE}.2"


async def play_on(scenario: ChipScenario, players: list[PokerPlayer], round_id: str) -> None:
    """Has players check and call until a hand has ended."""
    while round_id not in scenario.world.journal.rounds or scenario.round_entries(round_id).ended is None:
        for player in players:
            turn = await player.own_turn()
            if turn is not None and turn.round_id == round_id:
                await player.prepare_act(turn, CALL if turn.legal.to_call_cents else CHECK)[1]()
        await asyncio.sleep(0.05)


@pytest.mark.guarantee("G5", "G7")
def test_a_hand_is_dealt_decided_and_reported_and_the_next_one_follows() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        folder = await in_turn(*players)
        await folder.act(FOLD)
        await play_on(scenario, players, FIRST)
        await scenario.wait_until(lambda: scenario.director.reported)
        reported = scenario.director.reported[0]
        assert (reported.what, reported.table, reported.number) == ("ended", 1, 1)
        assert reported.outcome == scenario.round_entries(FIRST).outcome
        assert {acted_by for _, _, acted_by in scenario.moves(FIRST)} == {ActedBy.PLAYER}
        await play_on(scenario, players, SECOND)
        # The director starts no third one.
        await asyncio.sleep(30.0)
        assert [(each.what, each.number) for each in scenario.director.reported] == [("ended", 1), ("ended", 2)]
        assert scenario.hand_ids() == [FIRST, SECOND]

    ChipScenario(Course(THREE)).run(script)


@pytest.mark.rule("810/2015:47")
def test_tables_play_side_by_side_and_each_by_its_directors_word() -> None:
    async def script(scenario: ChipScenario) -> None:
        ana, rui, eva, ivo = await scenario.start()
        await play_on(scenario, [ana, rui], FIRST)
        await scenario.wait_until(lambda: scenario.ended_hands() == 1)
        # The other table has not decided anything yet.
        assert scenario.hand_ids(SECOND_TABLE) == [f"{SECOND_TABLE}.1"]
        assert not scenario.moves(f"{SECOND_TABLE}.1")
        await play_on(scenario, [eva, ivo], f"{SECOND_TABLE}.1")
        assert {(each.table, each.number) for each in scenario.director.reported} == {(1, 1), (2, 2)}

    ChipScenario(Course(TWO_TABLES, hands=1)).run(script)


def test_everybody_sees_chips_marks_notice_and_why_the_table_waits() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await play_on(scenario, players, FIRST)
        await scenario.wait_until(lambda: scenario.table().snapshot().chips.held == "break")
        chips = scenario.table().snapshot().chips
        assert [each.seat for each in chips.seats] == [1, 2, 4]
        assert sum(each.chips for each in chips.seats) == 3 * 1_500
        assert {each.seat: each.chips for each in chips.seats} == scenario.director.state[1].chips
        notice = poker_pb2.TournamentNotice()
        assert chips.notice.Unpack(notice)
        assert (notice.level, notice.players_left) == (1, 3)
        # What changed was published: clients that watch the table know the same.
        assert scenario.published("chips_changed", FIRST_TABLE)[-1].chips == chips
        # Nobody's money is named, and the owner of a seat sees that it has a time bank of the tournament.
        answer = await players[0].get_table()
        assert answer is not None
        assert answer.own_seat.chips.time_bank_ms == 7_000
        assert not answer.own_seat.HasField("cave")
        assert not answer.table.caves

    ChipScenario(Course(THREE, hands=1), {"time_bank_seconds": 7}).run(script)


@pytest.mark.rule("810/2015:48")
@pytest.mark.guarantee("G7")
def test_a_player_who_is_moved_is_told_alone_where_they_go_on() -> None:
    async def script(scenario: ChipScenario) -> None:
        ana, rui, eva = await scenario.start()
        await play_on(scenario, [ana, rui, eva], FIRST)
        await scenario.wait_until(lambda: scenario.table().snapshot().chips.held == "break")
        table = scenario.director.table(1)
        await table.stand(2, Destination(2, 5))
        await table.stand(2, Destination(2, 5))
        told = scenario.world.own_views.by_player
        moves = [each for each in told["rui"] if each.HasField("moved_to")]
        assert [(each.moved_to.table_id, each.moved_to.seat) for each in moves] == [(SECOND_TABLE, 5)]
        assert not [each for name in ("ana", "eva") for each in told[name] if each.HasField("moved_to")]
        assert [each.seat for each in scenario.table().snapshot().chips.seats] == [1, 4]
        await scenario.wait_until(lambda: scenario.published("seat_left", FIRST_TABLE))
        assert [each.seat for each in scenario.published("seat_left", FIRST_TABLE)] == [2]
        answer = await rui.get_table()
        assert answer is not None
        assert not answer.HasField("own_seat")

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.guarantee("G9", "G11")
def test_nobody_enters_buys_in_or_opens_a_table_by_themselves() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await in_turn(*players)
        stranger = PokerPlayer(scenario.world, "zoe", "mesa")
        for table_id in (FIRST_TABLE, "mesa"):
            stranger.table_id = stranger.placement_id = table_id
            scenario.world.current_owners[table_id] = scenario.world.current_owners["mesa"]
        stranger.placement_id = FIRST_TABLE
        assert refusal_reason(await stranger.send_enter()) == "WRONG_PLAY"
        stranger.table_id = FIRST_TABLE
        assert refusal_reason(await stranger.buy_in(1_000)) == "WRONG_PLAY"
        # Anybody may watch a table that there is, and sees no more than everybody.
        answer = await stranger.get_table()
        assert answer is not None
        assert answer.table.round.round_id == FIRST
        assert not answer.HasField("own_seat")
        owner = scenario.world.current_owners["mesa"]
        for unknown in ("mesa-t3", "mesa-t01", "mesa-tx", "mesa"):
            with pytest.raises(Refused) as refused:
                await owner.tables.get_table(
                    table_pb2.GetTableRequest(table_id=unknown), Caller("zoe", frozenset({"player"}), 0.0)
                )
            assert refused.value.reason == "TABLE_UNKNOWN"
        del scenario.world.current_owners[FIRST_TABLE]

    ChipScenario(Course(THREE, hands=1)).run(script)


@pytest.mark.rule("810/2015:46")
def test_t14_the_blinds_are_those_of_the_hands_level_and_short_ones_are_posted_as_far_as_they_go() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        await in_turn(*players)
        view = poker_pb2.View()
        scenario.published("round_dealt", FIRST_TABLE)[0].view.Unpack(view)
        bets = {each.seat: each.bet_cents for each in view.seats}
        assert (bets[view.small_blind], bets[view.big_blind]) == (100, 60)
        assert view.legal.to_call_cents == 200

    # The first button is at seat 1: seat 2 has the small blind and seat 4 the big one.
    ChipScenario(Course(THREE, hands=1, level=2, uneven={"eva": 60})).run(script)


@pytest.mark.rule("810/2015:26")
def test_t18_a_hand_that_its_blinds_decide_is_run_out_street_by_street() -> None:
    """Nobody decides when both are all in with their blinds; until the last card lies nothing says who wins."""

    async def script(scenario: ChipScenario) -> None:
        await scenario.start()
        await scenario.wait_until(lambda: scenario.ended_hands() == 1)
        entries = scenario.round_entries(FIRST)
        assert not entries.moves
        kinds = [event.WhichOneof("event") for event in scenario.events(FIRST_TABLE)]
        of_hand = [kind for kind in kinds if kind in {"round_dealt", "cards_shown", "outcome_drawn", "round_settled"}]
        assert of_hand == ["round_dealt", *["cards_shown"] * 3, "outcome_drawn", "round_settled"]
        shown = [each.shown_at.ToDatetime(UTC) for each in scenario.published("cards_shown", FIRST_TABLE)]
        dealt = scenario.published("round_dealt", FIRST_TABLE)[0].shown_at.ToDatetime(UTC)
        # Three cards of the flop, the turn and the river, each in its time.
        assert [after - before for before, after in pairwise([dealt, *shown])] == [
            timedelta(seconds=seconds) for seconds in (0.6, 0.2, 0.2)
        ]
        assert scenario.published_at("outcome_drawn", FIRST_TABLE) >= shown[-1]
        assert scenario.director.reported[0].outcome == entries.outcome

    levels = (Level(50, 100), Level(100, 200))
    course = Course({1: {1: "ana", 2: "rui"}}, hands=1, uneven={"ana": 40, "rui": 30})
    ChipScenario(course, {"levels": levels}, dealing_ms=200).run(script)


def test_an_all_in_hand_leaves_the_chips_that_it_moved() -> None:
    async def script(scenario: ChipScenario) -> None:
        players = await scenario.start()
        first = await in_turn(*players)
        turn = await first.wait_for_turn()
        await first.prepare_act(turn, RAISE, turn.legal.max_to_cents)[1]()
        other = await in_turn(*[player for player in players if player is not first])
        await other.act(CALL)
        await scenario.wait_until(lambda: scenario.ended_hands() == 1)
        chips = scenario.director.state[1].chips
        assert sum(chips.values()) == 3_000
        assert len(scenario.published("cards_shown", FIRST_TABLE)) >= 3

    ChipScenario(Course({1: {1: "ana", 2: "rui"}}, hands=1)).run(script)
