"""An owner dies, is superseded or hands over before each single step that it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator

import pytest

from feltro.roulette.v1 import roulette_pb2
from services.kit.table.journal.entries import DrawTrigger
from tests.simulation import guarantees
from tests.simulation.environment.catalogue import configuration
from tests.simulation.environment.games import ROULETTE, SimulatedGame
from tests.simulation.environment.journal import RoundEntries
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.environment.replica import Replica
from tests.simulation.environment.virtual_time import OUTSIDE_CONTEXT
from tests.simulation.environment.world import World

# What happens to requests that are under way when their sender dies.
SENDER_DIES = ("arrives", "lost", "late")
TABLE_ID = "mesa"

Script = Callable[[World], Awaitable[None]]


async def send_until_answered(send: Callable[[], Awaitable[object]], tries: int = 6) -> None:
    """Sends a command until its answer is certain."""
    for _ in range(tries):
        answer = await send()
        if getattr(answer, "reason", "") not in {"UNAVAILABLE", "TABLE_ELSEWHERE"} and answer is not None:
            return
        await asyncio.sleep(0.4)


async def _multi_player_round(world: World) -> None:
    """Two players bet, repeat a command, and cancel a part."""
    world.open_tables(TABLE_ID, configuration(window_ms=3_000, result_shown_ms=100))
    ana, rui = Player(world, "ana", TABLE_ID), Player(world, "rui", TABLE_ID)
    for player in (ana, rui):
        world.deposit(player.player_id, 50_000)
        player.timeout_s = 1.5
        await send_until_answered(player.send_enter)
    round_id = await ana.wait_for_open_round()
    bets = [
        ana.prepare_bet(round_id, {"17": 200, "red": 1_000})[1],
        rui.prepare_bet(round_id, {"dozen-1": 302, "0": 102})[1],
        ana.prepare_bet(round_id, {"red": 502, "1-2": 104})[1],
    ]
    await asyncio.gather(*(send_until_answered(send) for send in bets))
    await asyncio.gather(
        send_until_answered(bets[0]), send_until_answered(ana.prepare_cancel(round_id, {"red": 502})[1])
    )
    await send_until_answered(rui.prepare_cancel(round_id)[1])
    await send_until_answered(rui.prepare_bet(round_id, {"black": 706})[1])
    await asyncio.sleep(4.0)
    # Repeated after the round, the command has the answer that it had, or none.
    await send_until_answered(bets[0])


async def _individual_round(world: World) -> None:
    """A player at an individual table bets, cancels a part and launches the ball."""
    world.open_tables(TABLE_ID, configuration(regulation="804/2015", individual=True, result_shown_ms=100))
    ana = Player(world, "ana", TABLE_ID)
    world.deposit("ana", 50_000)
    ana.timeout_s = 1.5
    await send_until_answered(ana.send_enter)
    round_id = await ana.wait_for_open_round()
    await send_until_answered(ana.prepare_bet(round_id, {"00": 200, "red": 1_000})[1])
    await send_until_answered(ana.prepare_bet(round_id, {"odd": 302})[1])
    await send_until_answered(ana.prepare_cancel(round_id, {"red": 500})[1])
    spin = ana.prepare_spin(round_id)[1]
    await send_until_answered(spin)
    await asyncio.sleep(1.0)
    await send_until_answered(spin)


async def _round_of_a_player_who_leaves(world: World) -> None:
    """A player at an individual table bets, cancels one bet and leaves: the platform launches the ball."""
    world.open_tables(TABLE_ID, configuration(individual=True, result_shown_ms=100))
    ana = Player(world, "ana", TABLE_ID)
    world.deposit("ana", 50_000)
    ana.timeout_s = 1.5
    await send_until_answered(ana.send_enter)
    round_id = await ana.wait_for_open_round()
    await send_until_answered(ana.prepare_bet(round_id, {"17": 200})[1])
    await send_until_answered(ana.prepare_bet(round_id, {"red": 500})[1])
    await send_until_answered(ana.prepare_cancel(round_id, {"17": 200})[1])
    ana.leave()
    await asyncio.sleep(2.0)


PLAYER_LEAVES = "player leaves"
SCRIPTS: dict[str, Script] = {
    "multi-player": _multi_player_round,
    "individual": _individual_round,
    PLAYER_LEAVES: _round_of_a_player_who_leaves,
}
# Who launched is on record.
BY_NAME = [
    pytest.param(name, marks=pytest.mark.rule("GLI-19 4.16") if name == PLAYER_LEAVES else ()) for name in SCRIPTS
]


def kill(world: World, owner: Replica) -> None:
    owner.process.kill()


def supersede(world: World, owner: Replica) -> None:
    """Starts another owner, while this one goes on as if it were alone."""
    world.loop.call_soon(world.start_owner, owner.placement_id, context=OUTSIDE_CONTEXT)


def hand_over(world: World, owner: Replica) -> None:
    owner.hand_over.set()


Fault = Callable[[World, Replica], None]


def run_script(
    script: Script,
    *,
    step: int | None,
    under_way: str = "arrives",
    fault: Fault = kill,
    game: SimulatedGame = ROULETTE,
) -> World:
    """Runs a script with a fault of its first owner before one step."""
    world = World(0, game)
    world.takeover_delay_s = 0.7
    world.network.delivery_of = lambda *_: Delivery(if_sender_dies=under_way)
    start = world.start_owner
    disturbed: list[Replica] = []

    def disturb(owner: Replica) -> None:
        disturbed.append(owner)
        fault(world, owner)

    def start_owner(placement_id: str) -> Replica:
        owner = start(placement_id)
        if len(world.replicas) == 1:
            owner.process.fault_at_step = step
            owner.process.fault = lambda: disturb(owner)
        return owner

    world.start_owner = start_owner  # type: ignore[method-assign]
    world.run(lambda: script(world))
    assert bool(disturbed) == (step is not None), f"there was no fault before step {step}"
    return world


def worlds_with_fault(
    script: Script, fault: Fault, under_way: str = "arrives", *, every: int = 1, game: SimulatedGame = ROULETTE
) -> Iterator[World]:
    """Runs a script once for each step, or for one in `every`, with the fault before it; no run violates anything."""
    without_fault = run_script(script, step=None, game=game)
    assert not guarantees.violations(without_fault)
    steps = without_fault.replicas[0].steps_before_faults_end
    assert steps > 60
    for step in range(1, steps + 1, every):
        world = run_script(script, step=step, under_way=under_way, fault=fault, game=game)
        violations = guarantees.violations(world)
        assert not violations, f"fault before step {step} of {steps}:\n" + "\n".join(violations)
        yield world


def _endings(name: str, fault: Fault, under_way: str = "arrives") -> set[str]:
    """Returns how the rounds of all runs ended.

    Wherever the fault is, a player who has left never launches, and the record names the platform.
    """
    rounds = _rounds(name, fault, under_way)
    if name == PLAYER_LEAVES:
        assert {entries.drawn.draw_trigger for entries in rounds if entries.drawn} == {DrawTrigger.SESSION_ENDED}
    return {entries.ended.ending.name for entries in rounds if entries.ended}


def _rounds(name: str, fault: Fault, under_way: str = "arrives") -> list[RoundEntries]:
    """Returns the rounds of all runs with the fault before one step."""
    worlds = worlds_with_fault(SCRIPTS[name], fault, under_way)
    return [entries for world in worlds for entries in world.journal.rounds.values()]


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G8", "G10")
@pytest.mark.rule("804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23", "903-B/2015:6.3.4", "903-B/2015:6.7.5")
@pytest.mark.parametrize("under_way", SENDER_DIES)
@pytest.mark.parametrize("name", BY_NAME)
def test_killed_at_every_step(name: str, under_way: str) -> None:
    assert _endings(name, kill, under_way) == {"SETTLED", "VOID"}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G8", "G10")
@pytest.mark.parametrize("name", BY_NAME)
def test_superseded_at_every_step(name: str) -> None:
    assert _endings(name, supersede) == {"SETTLED", "VOID"}


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.rule("804/2015:20", "807/2015:22")
@pytest.mark.parametrize("name", BY_NAME)
def test_handed_over_at_every_step(name: str) -> None:
    """A handover makes no round void."""
    assert _endings(name, hand_over) == {"SETTLED"}


def test_no_round_is_void_unless_its_owner_died() -> None:
    for script in SCRIPTS.values():
        world = run_script(script, step=None)
        answers = [answer for command in world.commands for answer in command.answers]
        assert any(isinstance(answer, roulette_pb2.PlaceBetsResponse) for answer in answers)
        assert {entries.ended.ending.name for entries in world.journal.rounds.values() if entries.ended} == {"SETTLED"}
