"""An owner dies, is superseded or hands over around each kind of step of two hands for chips."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache

import pytest

from services.kit.table.journal.entries import Ending
from tests.simulation import guarantees
from tests.simulation.caves.players import CALL, CHECK, RAISE, PokerPlayer
from tests.simulation.chips.director import Course
from tests.simulation.chips.game import configuration, simulated_game
from tests.simulation.chips.scenario import start
from tests.simulation.environment.world import World
from tests.simulation.kinds_of_steps import after_each_question, around_each_kind, steps_by_kind
from tests.simulation.test_faults_at_every_step import (
    TABLE_ID,
    Fault,
    hand_over,
    kill,
    run_script,
    send_until_answered,
    supersede,
)

COURSE = Course({1: {1: "ana", 2: "rui", 3: "eva"}})
GAME = simulated_game(COURSE)


async def _act(player: PokerPlayer, raised: set[str]) -> bool:
    """Raises once in a hand and calls after that; returns false if it is not the player's turn."""
    turn = await player.own_turn()
    if turn is None:
        return False
    legal = turn.legal
    if turn.round_id not in raised and legal.min_to_cents:
        raised.add(turn.round_id)
        # In a later hand all is bet at once: the streets that are left are run out.
        action, to_cents = RAISE, legal.min_to_cents if turn.round_id.endswith(".1") else legal.max_to_cents
    else:
        action, to_cents = (CALL, 0) if legal.to_call_cents else (CHECK, 0)
    await send_until_answered(player.prepare_act(turn, action, to_cents)[1])
    return True


async def _two_hands(world: World) -> None:
    """Three players play two hands, and one of them does not decide in time."""
    players = await start(world, COURSE, configuration(result_shown_ms=100, decision_ms=3_000))
    for player in players:
        player.timeout_s = 1.5
    raised: set[str] = set()
    for _ in range(60):
        facts = world.tournaments.facts.get(TABLE_ID, [])
        if sum(fact.what == "ended" for fact in facts) == COURSE.hands:
            break
        if not [acted for player in players[:2] if (acted := await _act(player, raised))]:
            await asyncio.sleep(0.2)


def _violations(world: World) -> list[str]:
    """Returns what is wrong: with the guarantees, and with what has reached the director."""
    wrong = guarantees.violations(world)
    facts = world.tournaments.facts.get(TABLE_ID, [])
    ended = [fact.number for fact in facts if fact.what == "ended"]
    if ended != [1, 2]:
        wrong.append(f"G3: hands {ended} have ended to the director")
    settled = [
        entries
        for entries in world.journal.rounds.values()
        if entries.ended is not None and entries.ended.ending is Ending.SETTLED
    ]
    if [entries.outcome for entries in settled] != [fact.outcome for fact in facts if fact.what == "ended"]:
        wrong.append("G10: the director has other ends of hands than the journal")
    if dealt := [each for each, entries in world.journal.rounds.items() if entries.drawn and entries not in settled]:
        wrong.append(f"G6: {dealt} were dealt and are not what counts")
    return wrong


@cache
def _steps() -> dict[str, list[int]]:
    """Returns the steps of each kind that the script takes without a fault."""
    steps, world = steps_by_kind(_two_hands, GAME)
    assert not _violations(world)
    return steps


def _run(fault: Fault, steps: Iterable[int], under_way: str = "arrives") -> None:
    for step in steps:
        world = run_script(_two_hands, step=step, under_way=under_way, fault=fault, game=GAME)
        violations = _violations(world)
        assert not violations, f"fault before step {step}:\n" + "\n".join(violations)


def test_every_kind_of_step_is_among_those_that_are_disturbed() -> None:
    asked = {kind.rpartition(" ")[2] for kind in _steps() if kind.startswith("asks")}
    assert asked >= {"take_ownership", "unfinished_rounds", "latest_deal", "write_opened", "write_drawn", "write_moved"}
    assert asked >= {"write_ended", "read_facts", "write_fact", "publish"}
    published = {kind.rpartition(" ")[2] for kind in _steps() if kind.startswith(":")}
    assert published >= {"round_dealt", "move_made", "cards_shown", "outcome_drawn", "round_settled", "chips_changed"}
    # Nothing is asked of the wallet.
    assert not [kind for kind in _steps() if kind.startswith("asks wallet")]


@pytest.mark.guarantee("G3", "G4", "G5", "G6", "G7", "G8", "G10")
def test_killed_around_every_step_the_same_hands_end_and_reach_the_director() -> None:
    """Cards that were dealt are played to their end by every owner of the table."""
    _run(kill, around_each_kind(_steps()))


@pytest.mark.guarantee("G3", "G4", "G5", "G6", "G8", "G10")
@pytest.mark.parametrize("under_way", ["lost", "late"])
def test_killed_with_what_is_under_way_lost_or_late(under_way: str) -> None:
    _run(kill, after_each_question(_steps()), under_way)


@pytest.mark.guarantee("G3", "G4", "G6", "G8", "G10")
def test_superseded_the_same_hands_end_and_reach_the_director() -> None:
    _run(supersede, after_each_question(_steps()))


@pytest.mark.guarantee("G3", "G4", "G9")
def test_handed_over_the_same_hands_end_and_reach_the_director() -> None:
    _run(hand_over, after_each_question(_steps()))
