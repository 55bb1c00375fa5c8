"""Hands that become void: an operator says so, or the platform was away for too long; caves are as at their start."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from functools import cache, partial

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import table_pb2
from services.kit.table.journal.entries import Ending
from services.kit.table.live.table import PLATFORM_FAULT, RANDOMNESS_FAILED
from services.kit.table.owned.recovery import HAND_INTERRUPTED
from services.kit.table.owned.retries import LONGEST_RETRY_AFTER
from tests.simulation import guarantees
from tests.simulation.caves.game import CAVE_CENTS, POKER, configuration
from tests.simulation.caves.players import CALL, CHECK, FOLD, RAISE, PokerPlayer
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.test_clocks import in_turn
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.world import Unanswered, World
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, declare_void, refusal_reason
from tests.simulation.test_faults_at_every_step import (
    Fault,
    hand_over,
    kill,
    run_script,
    send_until_answered,
    supersede,
)

pytestmark = pytest.mark.rule("806/2015:72")

FIRST, SECOND = f"{TABLE_ID}.1", f"{TABLE_ID}.2"
REASON = "the cards were shown by mistake"
# The time to decide; no player has a bank or more time for a lost line here.
DECISION_S, LIMIT_S = 10, 60


async def raise_once(scenario: PokerScenario, *players: PokerPlayer) -> None:
    """Has the player in turn raise, so that chips of both lie in the pot."""
    turn = await (actor := await in_turn(*players)).wait_for_turn()
    await actor.prepare_act(turn, RAISE, turn.legal.min_to_cents)[1]()
    scenario.world.cut_off_rounds.add(FIRST)


def void_reason(scenario: PokerScenario, round_id: str) -> str:
    ended = scenario.round_entries(round_id).ended
    assert ended is not None
    assert (ended.ending, ended.outcome) == (Ending.VOID, None)
    return ended.void_reason


@pytest.mark.guarantee("G1", "G4")
@pytest.mark.rule("806/2015:46", "903-B/2015:6.3.3")
def test_an_operator_makes_a_hand_void_that_is_being_played() -> None:
    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui")
        await raise_once(scenario, *players)
        waiting = await in_turn(*players)

        assert isinstance(await scenario.void(FIRST, REASON), table_pb2.VoidOpenRoundResponse)

        assert void_reason(scenario, FIRST) == REASON
        assert [scenario.cave_cents(name) for name in ("ana", "rui")] == [CAVE_CENTS, CAVE_CENTS]
        (told,) = scenario.published("round_voided")
        assert (told.round_id, told.reason) == (FIRST, REASON)
        assert not scenario.published("round_settled")
        # A decision that comes now is too late, and a second void changes nothing.
        assert await waiting.own_turn() is None
        assert refusal_reason(await scenario.void(FIRST, REASON)) == "ROUND_DECIDED"
        # The next hand draws the button with its cards.
        await scenario.wait_until(lambda: SECOND in scenario.world.journal.rounds)
        await scenario.wait_until(lambda: scenario.round_entries(SECOND).drawn is not None)
        drawn = scenario.round_entries(SECOND).drawn
        assert drawn is not None
        assert {poker_pb2.SeatInHand.FromString(stake.bets).button for stake in drawn.stakes} == {0}
        await (await in_turn(*players)).act(FOLD)
        await scenario.wait_for_end(SECOND)

    PokerScenario().run(script)


@pytest.mark.guarantee("G4", "G6")
def test_a_hand_that_is_decided_or_unknown_cannot_become_void() -> None:
    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui")
        await (await in_turn(*players)).act(FOLD)
        await scenario.wait_for_end(FIRST)
        assert refusal_reason(await scenario.void(FIRST, REASON)) == "ROUND_DECIDED"
        assert refusal_reason(await scenario.void(f"{TABLE_ID}.99", REASON)) == "ROUND_UNKNOWN"
        ended = scenario.round_entries(FIRST).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    PokerScenario().run(script)


@pytest.mark.guarantee("G6")
def test_while_the_streets_of_a_decided_hand_are_run_out_it_cannot_become_void() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        turn = await (raiser := await in_turn(ana, rui)).wait_for_turn()
        await raiser.prepare_act(turn, RAISE, turn.legal.max_to_cents)[1]()
        await (rui if raiser is ana else ana).act(CALL)
        await scenario.wait_until(lambda: scenario.published("cards_shown"))
        assert scenario.round_entries(FIRST).ended is None
        assert refusal_reason(await scenario.void(FIRST, REASON)) == "ROUND_DECIDED"
        await scenario.wait_for_end(FIRST)

    PokerScenario(dealing_ms=500).run(script)


@pytest.mark.guarantee("G1")
@pytest.mark.rule("806/2015:11.b", "806/2015:14")
def test_what_was_bought_in_during_a_void_hand_and_does_not_fit_goes_back() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        await raise_once(scenario, ana, rui)
        await ana.buy_in(1_000)
        assert scenario.cave_cents("ana") == CAVE_CENTS + 1_000
        await scenario.void(FIRST, REASON)
        # The cave is as full as it may be without what was lost in no hand.
        assert scenario.cave_cents("ana") == CAVE_CENTS
        assert scenario.own_cave("ana").cave_cents == CAVE_CENTS
        assert scenario.free_cents("ana") == STARTING_CENTS - CAVE_CENTS

    PokerScenario().run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.parametrize(("away_s", "is_void"), [(LIMIT_S - 5, False), (LIMIT_S + DECISION_S + 1, True)])
def test_a_hand_is_void_when_the_platform_was_away_for_longer_than_it_is_waited_for(
    away_s: int, *, is_void: bool
) -> None:
    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui")
        await raise_once(scenario, *players)
        scenario.world.declared_void_reasons.add(HAND_INTERRUPTED)
        scenario.world.takeover_delay_s = away_s
        await scenario.kill_owner()
        if is_void:
            await scenario.wait_for_end(FIRST)
            assert void_reason(scenario, FIRST) == HAND_INTERRUPTED
            assert [scenario.cave_cents(name) for name in ("ana", "rui")] == [CAVE_CENTS, CAVE_CENTS]
            await scenario.wait_until(lambda: SECOND in scenario.world.journal.rounds)
            await (await in_turn(*players)).act(FOLD)
        else:
            # The very hand goes on, with fresh time to decide.
            await (await in_turn(*players)).act(FOLD)
            await scenario.wait_for_end(FIRST)
            ended = scenario.round_entries(FIRST).ended
            assert ended is not None
            assert ended.ending is Ending.SETTLED

    PokerScenario(recovery_limit_s=LIMIT_S).run(script)


@pytest.mark.guarantee("G9", "G12")
def test_a_hand_whose_cards_cannot_be_read_is_void_after_that_time() -> None:
    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui")
        await raise_once(scenario, *players)
        scenario.world.declared_void_reasons.add(HAND_INTERRUPTED)
        scenario.seal(FIRST)
        began = scenario.now
        await scenario.kill_owner()
        await asyncio.sleep(LIMIT_S - 5)
        assert scenario.round_entries(FIRST).ended is None
        await scenario.wait_for_end(FIRST)
        # The cards are tried again from time to time, after growing waits.
        assert scenario.now - began <= timedelta(seconds=LIMIT_S + DECISION_S) + LONGEST_RETRY_AFTER
        assert void_reason(scenario, FIRST) == HAND_INTERRUPTED
        assert [scenario.cave_cents(name) for name in ("ana", "rui")] == [CAVE_CENTS, CAVE_CENTS]

    PokerScenario(recovery_limit_s=LIMIT_S).run(script)


@pytest.mark.guarantee("G1", "G9")
def test_g9_a_hand_that_cannot_be_dealt_is_void_and_everybody_keeps_their_cave() -> None:
    async def script(scenario: PokerScenario) -> None:
        def fail(*_: object) -> None:
            raise ZeroDivisionError

        owner = scenario.world.open_tables(TABLE_ID, scenario.configuration)
        await owner.owned_tables.ready.wait()
        rules = scenario.world.catalogue.rules_in_force(TABLE_ID).rules
        setattr(rules, "deal", fail)  # noqa: B010 - the method of this one table's rules
        for seat, name in enumerate(("ana", "rui"), 1):
            player = PokerPlayer(scenario.world, name, TABLE_ID)
            scenario.world.deposit(name, STARTING_CENTS)
            assert await player.enter(seat)
            assert not refusal_reason(await player.buy_in(CAVE_CENTS))
        await scenario.wait_until(lambda: FIRST in scenario.world.journal.rounds)
        await scenario.wait_for_end(FIRST)
        assert void_reason(scenario, FIRST) == PLATFORM_FAULT
        assert [scenario.cave_cents(name) for name in ("ana", "rui")] == [CAVE_CENTS, CAVE_CENTS]
        assert scenario.world.catalogue.switches == [(TABLE_ID, PLATFORM_FAULT)]
        await asyncio.sleep(60.0)
        assert SECOND not in scenario.world.journal.rounds

    scenario = PokerScenario()
    scenario.world.run(lambda: script(scenario))
    (violation,) = guarantees.violations(scenario.world)
    assert violation.endswith(f"is void without a malfunction ({PLATFORM_FAULT})")


@pytest.mark.guarantee("G4", "G10")
def test_g10_a_void_of_a_former_owner_is_journalled_with_its_own_reason() -> None:
    """The source of randomness has failed, and the owner dies when the wallet knows that the hand is void."""

    async def script(scenario: PokerScenario) -> None:
        scenario.set_deliveries(VoidRound=Delivery(answer_lost=True))
        scenario.world.randomness_fails = True
        asked = scenario.has_asked("VoidRound")
        await scenario.seat_players("ana", "rui")
        await scenario.wait_until(lambda: asked() and FIRST in scenario.world.wallet.rounds)
        former = scenario.world.current_owners[TABLE_ID]
        former.process.kill()
        scenario.restore_network()
        await scenario.wait_for_next_owner(former)
        await scenario.wait_for_end(FIRST)
        assert void_reason(scenario, FIRST) == RANDOMNESS_FAILED
        assert [scenario.cave_cents(name) for name in ("ana", "rui")] == [CAVE_CENTS, CAVE_CENTS]

    PokerScenario().run(script)


# -- owners that die in the middle of a void --------------------------------------------------------------------------


async def _act(player: PokerPlayer) -> bool:
    turn = await player.own_turn()
    if turn is None:
        return False
    await send_until_answered(player.prepare_act(turn, CALL if turn.legal.to_call_cents else CHECK)[1])
    return True


async def _declare(world: World) -> object:
    try:
        return await declare_void(world, FIRST, REASON)
    except Unanswered:
        return None


async def _void_hand(world: World, steps: list[int] | None = None) -> None:
    """Players raise and top up, an operator makes the hand void, one of them leaves, and the others play on.

    Notes in `steps` how many the first owner had taken when the void was asked for, and when it was answered.
    """
    noted = [] if steps is None else steps
    world.open_tables(TABLE_ID, configuration(result_shown_ms=100, cave_min_cents=1_000, decision_ms=60_000))
    world.cut_off_rounds.add(FIRST)
    players = [PokerPlayer(world, name, TABLE_ID) for name in ("ana", "rui", "eva")]
    for player in players:
        world.deposit(player.player_id, STARTING_CENTS)
        player.timeout_s = 1.5
        await send_until_answered(player.send_enter)
        await send_until_answered(player.prepare_buy_in(CAVE_CENTS)[1])
    turns = [(player, turn) for player in players if (turn := await player.own_turn()) is not None]
    for player, turn in turns:
        await send_until_answered(player.prepare_act(turn, RAISE, turn.legal.min_to_cents)[1])
    top_up = players[0].prepare_buy_in(1_000)[1]
    await send_until_answered(top_up)
    noted.append(world.replicas[0].process.steps)
    await send_until_answered(partial(_declare, world))
    noted.append(world.replicas[0].process.steps)
    players[1].leave()
    for _ in range(12):
        if not [player for player in (players[0], players[2]) if await _act(player)]:
            await asyncio.sleep(0.2)
    await send_until_answered(top_up)
    await asyncio.sleep(0.5)


# Steps before the void and after it that are taken, too: what was asked for before it may be under way.
AROUND = 12


@cache
def _steps() -> range:
    """Runs the script without a fault, and returns the steps around the void."""
    asked: list[int] = []
    world = run_script(partial(_void_hand, steps=asked), step=None, game=POKER)
    assert not guarantees.violations(world)
    first = world.journal.rounds[FIRST].ended
    assert first is not None
    assert (first.ending, first.void_reason) == (Ending.VOID, REASON)
    begins, ends = asked
    assert ends - begins > 8
    return range(begins - AROUND, ends + AROUND)


def _endings(fault: Fault, steps: Iterable[int], under_way: str = "arrives") -> set[Ending]:
    """Runs the script once for each step, with the fault before it; returns how the first hand has ended."""
    endings: set[Ending] = set()
    for step in steps:
        world = run_script(_void_hand, step=step, under_way=under_way, fault=fault, game=POKER)
        violations = guarantees.violations(world)
        assert not violations, f"fault before step {step}:\n" + "\n".join(violations)
        entries = world.journal.rounds[FIRST]
        assert entries.ended is not None
        assert entries.ended.void_reason == REASON
        endings.add(entries.ended.ending)
        assert len(world.journal.rounds) > 1, f"fault before step {step}: no hand was dealt after the void"
    return endings


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G7", "G8", "G10")
@pytest.mark.parametrize("under_way", ["arrives", "lost", "late"])
def test_killed_around_every_step_of_a_void_that_an_operator_declares(under_way: str) -> None:
    """The operator asks until there is an answer: then the hand is void, once, and the caves are as at its start."""
    assert _endings(kill, _steps(), under_way) == {Ending.VOID}


@pytest.mark.guarantee("G1", "G4", "G8")
def test_superseded_at_every_step_of_such_a_void() -> None:
    assert _endings(supersede, _steps()) == {Ending.VOID}


@pytest.mark.guarantee("G4", "G9")
def test_handed_over_at_every_step_of_such_a_void() -> None:
    assert _endings(hand_over, _steps()) == {Ending.VOID}
