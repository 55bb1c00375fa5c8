"""The clocks of a table of poker: time banks, lost connections, and the platform's own failures."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from services.kit.bus.connections import Line
from services.kit.table.journal.entries import ActedBy, Ending
from tests.simulation.caves.game import CAVE_CENTS
from tests.simulation.caves.players import CALL, CHECK, FOLD, RAISE, PokerPlayer
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.scenario import TABLE_ID

FIRST, SECOND = f"{TABLE_ID}.1", f"{TABLE_ID}.2"
DECISION = timedelta(seconds=10)


def at(message: object) -> datetime:
    """Returns the time of a message."""
    return message.ToDatetime(UTC)  # type: ignore[attr-defined,no-any-return]


async def in_turn(*players: PokerPlayer) -> PokerPlayer:
    """Waits until one of these players may act, and returns them."""
    while True:
        for player in players:
            if await player.own_turn() is not None:
                return player
        await asyncio.sleep(0.05)


def seat_of(player: PokerPlayer) -> int:
    return {"ana": 1, "rui": 2, "eva": 3}[player.player_id]


def no_result(view: poker_pb2.View) -> bool:
    """Whether a view of two players who are all in says neither whose combination wins nor what it wins."""
    return not any(seat.combination or seat.best_cards or seat.stack_cents for seat in view.seats)


@pytest.mark.rule("806/2015:43", "806/2015:44", "806/2015:45")
def test_the_time_bank_starts_when_the_time_to_decide_is_over_and_what_is_left_is_kept() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await in_turn(ana, rui)
        turn = scenario.turn()
        assert at(turn.decide_by) - at(turn.extra_time_from) == timedelta(seconds=30)
        assert at(turn.extra_time_from) - scenario.now <= DECISION
        # Twelve seconds of the bank are used up.
        await asyncio.sleep((at(turn.extra_time_from) - scenario.now).total_seconds() + 12.0)
        await actor.act(CALL)
        left_ms = scenario.own_cave(actor.player_id).time_bank_ms
        assert 17_500 < left_ms <= 18_000
        other = await in_turn(ana, rui)
        assert other is not actor
        assert scenario.own_cave(other.player_id).time_bank_ms == 30_000
        # What is left survives a takeover (G9), and the next decision has no more.
        await asyncio.sleep(1.0)
        await scenario.kill_owner()
        await in_turn(other)
        assert scenario.own_cave(actor.player_id).time_bank_ms == left_ms
        await other.act(CHECK)
        await in_turn(actor)
        turn = scenario.turn()
        assert at(turn.decide_by) - at(turn.extra_time_from) == timedelta(milliseconds=left_ms)
        # With the bank, the time is over: only then the clock decides.
        await scenario.wait_until(lambda: len(scenario.round_entries(FIRST).moves) == 3)
        assert scenario.round_entries(FIRST).moves[-1].acted_by is ActedBy.CLOCK
        assert scenario.round_entries(FIRST).moves[-1].moved_at >= at(turn.decide_by)
        assert scenario.own_cave(actor.player_id).time_bank_ms == 0

    PokerScenario(time_bank_s=30, time_bank_cap_s=60).run(script)


@pytest.mark.rule("806/2015:44")
def test_the_time_bank_is_refilled_after_so_many_hands_up_to_its_cap() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        banks = []
        for number in range(1, 8):
            await scenario.wait_until(partial(scenario.world.journal.rounds.__contains__, f"{TABLE_ID}.{number}"))
            await (await in_turn(ana, rui)).act(FOLD)
            await scenario.wait_for_end(f"{TABLE_ID}.{number}")
            await asyncio.sleep(0.2)
            banks.append(scenario.own_cave("ana").time_bank_ms // 1000)
        assert banks == [10, 14, 14, 18, 18, 20, 20]

    PokerScenario(time_bank_s=10, time_bank_refill_s=4, time_bank_refill_hands=2, time_bank_cap_s=20).run(script)


@pytest.mark.rule("806/2015:73")
def test_a_players_own_lost_line_gives_more_time_once_and_then_the_clock_decides() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await in_turn(ana, rui)
        decide_by = at(scenario.turn().decide_by)
        scenario.world.set_line(actor.player_id, Line.AWAY)
        await scenario.wait_until(lambda: scenario.table().snapshot().caves[seat_of(actor) - 1].disconnected)
        # A lost line stops no clock.
        assert not scenario.turn().HasField("paused_since")
        assert at(scenario.turn().decide_by) == decide_by
        await scenario.wait_until(lambda: scenario.now > decide_by)
        extended = scenario.turn()
        assert at(extended.extra_time_from) - decide_by <= timedelta(seconds=1)
        assert at(extended.decide_by) - at(extended.extra_time_from) == timedelta(seconds=20)
        await actor.act(CALL)
        other = await in_turn(ana, rui)
        await other.act(CHECK)
        # In this hand the player has had more time already.
        await scenario.wait_until(lambda: seat_of(actor) in scenario.turn().seats)
        decide_by = at(scenario.turn().decide_by)
        await scenario.wait_until(lambda: len(scenario.round_entries(FIRST).moves) == 3)
        moved = scenario.round_entries(FIRST).moves[-1]
        assert moved.acted_by is ActedBy.CLOCK
        assert moved.moved_at - decide_by <= timedelta(seconds=1)

    PokerScenario(disconnect_extra_s=20).run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:72", "806/2015:73")
def test_the_clock_stands_while_our_gateway_is_away_and_begins_anew_when_the_player_is_back() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await in_turn(ana, rui)
        scenario.world.set_line(actor.player_id, Line.UNKNOWN)
        await scenario.wait_until(lambda: scenario.turn().HasField("paused_since"))
        # Much longer than the time to decide.
        await asyncio.sleep(40.0)
        assert scenario.round_entries(FIRST).moves == []
        scenario.world.set_line(actor.player_id, Line.CONNECTED)
        await scenario.wait_until(lambda: not scenario.turn().HasField("paused_since"))
        assert at(scenario.turn().decide_by) - scenario.now > DECISION - timedelta(seconds=1)
        changed = scenario.published("turn_changed")
        assert [each.turn.HasField("paused_since") for each in changed] == [True, False]
        await actor.act(CALL)
        # The line of another player than the one in turn stops nobody's clock.
        other = await in_turn(ana, rui)
        scenario.world.set_line(actor.player_id, Line.UNKNOWN)
        await scenario.wait_until(lambda: len(scenario.round_entries(FIRST).moves) == 2)
        assert scenario.round_entries(FIRST).moves[-1].acted_by is ActedBy.CLOCK
        scenario.world.set_line(actor.player_id, Line.CONNECTED)
        assert other is not actor

    PokerScenario().run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.rule("806/2015:72")
def test_a_hand_is_void_when_our_gateway_is_away_for_longer_than_it_may_wait() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await in_turn(ana, rui)
        turn = await actor.wait_for_turn()
        await actor.prepare_act(turn, RAISE, turn.legal.min_to_cents)[1]()
        other = await in_turn(ana, rui)
        scenario.world.declared_void_reasons.add("the platform's line to a player has failed")
        scenario.world.cut_off_rounds.add(FIRST)
        scenario.world.set_line(other.player_id, Line.UNKNOWN)
        began = scenario.now
        await scenario.wait_for_end(FIRST)
        assert timedelta(seconds=30) <= scenario.now - began < timedelta(seconds=33)
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert ended.ending is Ending.VOID
        # What was bet went back to who bet it, and the next hand draws the button anew (46).
        assert [scenario.cave_cents(name) for name in ("ana", "rui")] == [CAVE_CENTS, CAVE_CENTS]
        scenario.world.set_line(other.player_id, Line.CONNECTED)
        await scenario.wait_until(lambda: SECOND in scenario.world.journal.rounds)
        await (await in_turn(ana, rui)).check_or_fold()

    PokerScenario(gateway_pause_s=30).run(script)


@pytest.mark.rule("806/2015:3", "806/2015:53", "806/2015:55", "806/2015:57")
@pytest.mark.rule("811/2015:3", "811/2015:53", "811/2015:55", "811/2015:57")
@pytest.mark.parametrize(("regulation", "hole_cards"), [("806/2015", 2), ("811/2015", 4)])
def test_no_clock_runs_before_cards_lie_and_the_streets_of_a_run_out_follow_each_other(
    regulation: str, hole_cards: int
) -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        actor = await in_turn(ana, rui)
        (dealt,) = scenario.published("round_dealt")
        assert at(dealt.turn.decide_by) - at(dealt.shown_at) == DECISION
        assert at(dealt.shown_at) - scenario.published_at("round_dealt") == 2 * hole_cards * timedelta(seconds=0.5)
        await actor.act(CALL)
        other = await in_turn(ana, rui)
        await other.act(CHECK)
        flop = scenario.published("move_made")[-1]
        assert at(flop.turn.decide_by) - at(flop.shown_at) == DECISION
        actor = await in_turn(ana, rui)
        turn = await actor.wait_for_turn()
        await actor.prepare_act(turn, RAISE, turn.legal.max_to_cents)[1]()
        await (await in_turn(rui if actor is ana else ana)).act(CALL)
        await scenario.wait_for_end(FIRST)
        called, shown = scenario.published("move_made")[-1], scenario.published("cards_shown")
        boards = []
        for event in (called, *shown):
            view = scenario.world.game.messages.View()
            event.view.Unpack(view)
            boards.append(len(view.board))
            # All turn up their cards before the first of these streets; who wins is said when the last card lies.
            assert all(len(seat.cards) == hole_cards for seat in view.seats)
            assert no_result(view)
        assert boards == [3, 4, 5]
        river_at, turn_at = at(shown[1].shown_at), at(shown[0].shown_at)
        assert river_at - turn_at == timedelta(milliseconds=500)
        assert scenario.published_at("outcome_drawn") >= river_at

    PokerScenario(regulation=regulation, limit=poker_pb2.LIMIT_NO_LIMIT, dealing_ms=500).run(script)


@pytest.mark.rule("806/2015:60", "811/2015:60")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
def test_who_looks_at_the_table_while_the_last_card_is_dealt_does_not_see_who_wins(regulation: str) -> None:
    """Who comes in the middle of a run-out sees no more in the snapshot than the others have been told."""

    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        raiser = await in_turn(ana, rui)
        turn = await raiser.wait_for_turn()
        await raiser.prepare_act(turn, RAISE, turn.legal.max_to_cents)[1]()
        await (rui if raiser is ana else ana).act(CALL)
        boards = set[int]()
        while (snapshot := scenario.table().snapshot()).phase == types_pb2.PHASE_PLAYING:
            view = poker_pb2.View()
            assert snapshot.round.view.Unpack(view)
            assert no_result(view)
            boards.add(len(view.board))
            await asyncio.sleep(0.1)
        assert boards == {3, 4, 5}
        seats = scenario.outcome(FIRST).view.seats
        assert all(seat.combination for seat in seats)
        assert any(seat.stack_cents for seat in seats)

    PokerScenario(regulation=regulation, limit=poker_pb2.LIMIT_NO_LIMIT, dealing_ms=500).run(script)
