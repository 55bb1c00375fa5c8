"""An owner dies, is overtaken or is asked to leave before each single step it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from feltro.roulette.v1 import roulette_pb2
from services.kit.table.journal.entries import DrawTrigger
from tests.simulation import guarantees
from tests.simulation.environment.catalogue import configuration
from tests.simulation.environment.journal import RoundEntries
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.environment.replica import Replica
from tests.simulation.environment.virtual_time import OUTSIDE_CONTEXT
from tests.simulation.environment.world import World

# What becomes of requests that are under way when their sender dies.
SENDER_DIES = ("arrives", "lost", "late")
TABLE_ID = "mesa"

Script = Callable[[World], Awaitable[None]]


async def _insist(send: Callable[[], Awaitable[object]], tries: int = 6) -> None:
    """Clicks until there is an answer that is one."""
    for _ in range(tries):
        answer = await send()
        if getattr(answer, "reason", "") not in {"UNAVAILABLE", "TABLE_ELSEWHERE"} and answer is not None:
            return
        await asyncio.sleep(0.4)


async def _round_of_many(world: World) -> None:
    """Two players, one round: bets, a click too many, a part taken back, and what comes of it."""
    world.open_tables(TABLE_ID, configuration(window_ms=3_000, result_shown_ms=100))
    ana, rui = Player(world, "ana", TABLE_ID), Player(world, "rui", TABLE_ID)
    for player in (ana, rui):
        world.deposit(player.player_id, 50_000)
        player.timeout_s = 1.5
        await _insist(player.send_enter)
    round_id = await ana.wait_for_open_round()
    bets = [
        ana.prepare_bet(round_id, {"17": 200, "red": 1_000})[1],
        rui.prepare_bet(round_id, {"dozen-1": 302, "0": 102})[1],
        ana.prepare_bet(round_id, {"red": 502, "1-2": 104})[1],
    ]
    await asyncio.gather(*(_insist(send) for send in bets))
    await asyncio.gather(_insist(bets[0]), _insist(ana.prepare_cancel(round_id, {"red": 502})[1]))
    await _insist(rui.prepare_cancel(round_id)[1])
    await _insist(rui.prepare_bet(round_id, {"black": 706})[1])
    await asyncio.sleep(4.0)
    # The late click after the round: the answer it had, or none.
    await _insist(bets[0])


async def _round_of_one(world: World) -> None:
    """A player at his own table bets, takes something back and launches the ball."""
    world.open_tables(TABLE_ID, configuration(regulation="804/2015", individual=True, result_shown_ms=100))
    ana = Player(world, "ana", TABLE_ID)
    world.deposit("ana", 50_000)
    ana.timeout_s = 1.5
    await _insist(ana.send_enter)
    round_id = await ana.wait_for_open_round()
    await _insist(ana.prepare_bet(round_id, {"00": 200, "red": 1_000})[1])
    await _insist(ana.prepare_bet(round_id, {"odd": 302})[1])
    await _insist(ana.prepare_cancel(round_id, {"red": 500})[1])
    spin = ana.prepare_spin(round_id)[1]
    await _insist(spin)
    await asyncio.sleep(1.0)
    await _insist(spin)


async def _round_of_one_who_leaves(world: World) -> None:
    """A player at his own table bets, takes one bet back, and goes: the platform launches the ball for him."""
    world.open_tables(TABLE_ID, configuration(individual=True, result_shown_ms=100))
    ana = Player(world, "ana", TABLE_ID)
    world.deposit("ana", 50_000)
    ana.timeout_s = 1.5
    await _insist(ana.send_enter)
    round_id = await ana.wait_for_open_round()
    await _insist(ana.prepare_bet(round_id, {"17": 200})[1])
    await _insist(ana.prepare_bet(round_id, {"red": 500})[1])
    await _insist(ana.prepare_cancel(round_id, {"17": 200})[1])
    ana.leave()
    await asyncio.sleep(2.0)


SCRIPTS: dict[str, Script] = {
    "of many": _round_of_many,
    "of one": _round_of_one,
    "of one who leaves": _round_of_one_who_leaves,
}


def _killed(world: World, owner: Replica) -> None:
    owner.process.kill()


def _overtaken(world: World, owner: Replica) -> None:
    """Another owner starts, and this one goes on as if it were alone."""
    world.loop.call_soon(world.start_owner, owner.placement_id, context=OUTSIDE_CONTEXT)


def _asked_to_leave(world: World, owner: Replica) -> None:
    owner.hand_over.set()


Fault = Callable[[World, Replica], None]


def _told(story: Script, *, step: int | None, under_way: str = "arrives", blow: Fault = _killed) -> World:
    """The story, with a blow to its first owner before one step."""
    world = World(0)
    world.takeover_delay_s = 0.7
    world.network.delivery_of = lambda *_: Delivery(if_sender_dies=under_way)
    start = world.start_owner

    def start_owner(placement_id: str) -> Replica:
        owner = start(placement_id)
        if len(world.replicas) == 1:
            owner.process.fault_at_step = step
            owner.process.fault = lambda: blow(world, owner)
        return owner

    world.start_owner = start_owner  # type: ignore[method-assign]
    world.run(lambda: story(world))
    return world


def _at_every_step(name: str, blow: Fault, under_way: str = "arrives") -> set[str]:
    """How the rounds ended, all in all."""
    return {written.ended.ending.name for written in _rounds(name, blow, under_way) if written.ended}


def _rounds(name: str, blow: Fault, under_way: str = "arrives") -> list[RoundEntries]:
    """All rounds of all tellings, struck before each step in turn."""
    story = SCRIPTS[name]
    whole = _told(story, step=None)
    assert not guarantees.violations(whole)
    steps = whole.replicas[0].steps_before_hand_over
    assert steps > 40
    rounds: list[RoundEntries] = []
    for step in range(1, steps + 1):
        world = _told(story, step=step, under_way=under_way, blow=blow)
        found = guarantees.violations(world)
        assert not found, f"struck at step {step} of {steps}:\n" + "\n".join(found)
        rounds += world.journal.rounds.values()
    return rounds


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G8", "G10")
@pytest.mark.rule("804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23", "903-B/2015:6.3.4", "903-B/2015:6.7.5")
@pytest.mark.parametrize("under_way", SENDER_DIES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_killed_at_every_step(name: str, under_way: str) -> None:
    assert _at_every_step(name, _killed, under_way) == {"SETTLED", "VOID"}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G8", "G10")
@pytest.mark.parametrize("name", SCRIPTS)
def test_superseded_at_every_step(name: str) -> None:
    assert _at_every_step(name, _overtaken) == {"SETTLED", "VOID"}


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.rule("804/2015:20", "807/2015:22")
@pytest.mark.parametrize("name", SCRIPTS)
def test_handed_over_at_every_step(name: str) -> None:
    """No round is void because a table changes hands as it should."""
    assert _at_every_step(name, _asked_to_leave) == {"SETTLED"}


@pytest.mark.rule("GLI-19 4.16")
@pytest.mark.guarantee("G4", "G6")
@pytest.mark.parametrize("blow", [_killed, _overtaken, _asked_to_leave])
def test_a_launch_by_the_platform_is_always_recorded(blow: Fault) -> None:
    """Wherever it is struck: the player who has left never launches, and who pays in the end says who did."""
    drawn = [written.drawn for written in _rounds("of one who leaves", blow) if written.drawn]
    launches = {entry.draw_trigger for entry in drawn}
    assert launches == {DrawTrigger.SESSION_ENDED}


def test_no_round_is_void_unless_its_owner_died() -> None:
    for story in SCRIPTS.values():
        world = _told(story, step=None)
        answers = [answer for command in world.commands for answer in command.answers]
        assert any(isinstance(answer, roulette_pb2.PlaceBetsResponse) for answer in answers)
        assert {w.ended.ending.name for w in world.journal.rounds.values() if w.ended} == {"SETTLED"}
