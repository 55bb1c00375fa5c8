"""An owner dies, is superseded or hands over before each single step that it takes at a table with caves."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.journal.entries import Ending
from tests.simulation import guarantees
from tests.simulation.caves.game import CAVE_CENTS, POKER, configuration
from tests.simulation.caves.players import CALL, CHECK, RAISE, PokerPlayer
from tests.simulation.environment.world import World
from tests.simulation.test_faults_at_every_step import (
    TABLE_ID,
    Fault,
    hand_over,
    kill,
    run_script,
    send_until_answered,
    supersede,
)

DEPOSIT_CENTS = 50_000


async def _act(player: PokerPlayer) -> bool:
    """Raises once and calls after that; returns false if it is not the player's turn."""
    turn = await player.own_turn()
    if turn is None:
        return False
    legal = turn.legal
    if legal.to_call_cents <= CAVE_CENTS // 100 and legal.min_to_cents:
        action, to_cents = RAISE, legal.min_to_cents
    else:
        action, to_cents = (CALL, 0) if legal.to_call_cents else (CHECK, 0)
    await send_until_answered(player.prepare_act(turn, action, to_cents)[1])
    return True


async def _two_hands(world: World) -> None:
    """Three players buy in and play; one tops up in the middle of a hand, one leaves in the next."""
    world.open_tables(TABLE_ID, configuration(result_shown_ms=100, cave_min_cents=1_000))
    players = [PokerPlayer(world, name, TABLE_ID) for name in ("ana", "rui", "eva")]
    for player in players:
        world.deposit(player.player_id, DEPOSIT_CENTS)
        player.timeout_s = 1.5
        await send_until_answered(player.send_enter)
        await send_until_answered(player.prepare_buy_in(5_000)[1])
    top_up = players[0].prepare_buy_in(1_000)[1]
    topped_up = left = False
    # Until the third hand is dealt, or the script has gone on long enough whatever has happened.
    for _ in range(60):
        hands = len(world.journal.rounds)
        if hands >= 3:
            break
        if not topped_up:
            topped_up = True
            await send_until_answered(top_up)
        if hands >= 2 and not left:
            left = True
            players[2].leave()
        if not [acted for player in players[: 2 if left else 3] if (acted := await _act(player))]:
            await asyncio.sleep(0.2)
    await send_until_answered(top_up)


def _worlds(fault: Fault, under_way: str = "arrives", every: int = 1) -> list[World]:
    """Runs the script once for each step, with the fault before it; returns the runs, which violate nothing."""
    without_fault = run_script(_two_hands, step=None, game=POKER)
    assert not guarantees.violations(without_fault)
    assert len(without_fault.journal.rounds) > 2
    steps = without_fault.replicas[0].steps_before_hand_over
    assert steps > 100
    worlds = []
    for step in range(1, steps + 1, every):
        world = run_script(_two_hands, step=step, under_way=under_way, fault=fault, game=POKER)
        violations = guarantees.violations(world)
        assert not violations, f"fault before step {step} of {steps}:\n" + "\n".join(violations)
        worlds.append(world)
    return worlds


def _dealt_endings(worlds: list[World]) -> set[Ending]:
    return {
        entries.ended.ending
        for world in worlds
        for entries in world.journal.rounds.values()
        if entries.ended is not None and entries.drawn is not None
    }


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G10")
@pytest.mark.rule("806/2015:72")
@pytest.mark.parametrize("under_way", ["arrives", "lost"])
def test_killed_at_every_step_of_buying_in_playing_and_leaving(under_way: str) -> None:
    """A hand that was dealt goes on with the same cards: none is void, and each is paid once."""
    worlds = _worlds(kill, under_way, every=5)
    assert _dealt_endings(worlds) == {Ending.SETTLED}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G10")
def test_superseded_at_every_step_of_a_hand() -> None:
    assert _dealt_endings(_worlds(supersede, every=9)) == {Ending.SETTLED}


@pytest.mark.guarantee("G4", "G9")
def test_handed_over_at_every_step_of_a_hand() -> None:
    assert _dealt_endings(_worlds(hand_over, every=9)) == {Ending.SETTLED}
