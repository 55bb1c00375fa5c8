"""An owner dies, is superseded or hands over before each single step that it takes in a round with decisions."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.journal.entries import ActedBy, Ending
from tests.simulation.decisions.game import blackjack, configuration
from tests.simulation.decisions.players import DOUBLE, GIVE_UP, INSURE, SPLIT, STAND, DecidingPlayer, Decision
from tests.simulation.decisions.scenario import decision_of
from tests.simulation.environment.world import World
from tests.simulation.test_faults_at_every_step import (
    TABLE_ID,
    Fault,
    Script,
    hand_over,
    kill,
    send_until_answered,
    supersede,
    worlds_with_fault,
)

# Against an ace of the bank with a nine: a pair of eights, which is split; the first of its hands is doubled.
INSURED_SPLIT_AND_DOUBLED = blackjack("8s Ah 8d 9c 3h Td Th 2c 5s")
# A blackjack that is paid at once, sixteen that is given up for, and eleven that is doubled.
PAID_GIVEN_UP_AND_DOUBLED = blackjack("As Ts 6s 9h Kd 6d 5d 8c Td")


async def _decide(player: DecidingPlayer, decision: Decision) -> None:
    """Takes one decision, and sends it again until the answer is certain."""
    for _ in range(100):
        turn = await player.own_turn()
        if turn is not None:
            break
        await asyncio.sleep(0.05)
    else:
        return
    option = turn.option(decision)
    if option is None:
        return
    cents = option.cost_cents if decision == INSURE else 0
    await send_until_answered(player.prepare_act(turn.round_id, turn.turn, decision, option.place, cents)[1])


async def _seated(world: World, *names: str) -> list[DecidingPlayer]:
    players = [DecidingPlayer(world, name, TABLE_ID) for name in names]
    for player in players:
        world.deposit(player.player_id, 50_000)
        player.timeout_s = 1.5
        await send_until_answered(player.send_enter)

    async def finish() -> None:
        for player in players:
            await player.finish_hand()

    world.finish_open_hands = finish
    return players


async def _individual_hand(world: World) -> None:
    """A player insures, splits, doubles one hand and stands on the other."""
    world.open_tables(TABLE_ID, configuration(individual=True, result_shown_ms=100))
    (ana,) = await _seated(world, "ana")
    round_id = await ana.wait_for_open_round()
    bet = ana.prepare_bet(round_id, {"1": 1_000})[1]
    await send_until_answered(bet)
    deal = ana.prepare_deal(round_id)[1]
    await send_until_answered(deal)
    entries = world.journal.rounds.get(round_id)
    if entries is None or entries.drawn is None:
        return
    for decision in (INSURE, SPLIT, DOUBLE, STAND):
        await _decide(ana, decision)
    await asyncio.sleep(1.0)
    await send_until_answered(bet)
    await send_until_answered(deal)


async def _hand_of_three(world: World) -> None:
    """One has a blackjack, one gives up, and one doubles; who is not in time is decided for."""
    world.open_tables(TABLE_ID, configuration(result_shown_ms=100, decision_ms=4_000))
    players = await _seated(world, "ana", "rui", "eva")
    round_id = await players[0].wait_for_open_round()
    bets = [player.prepare_bet(round_id, {f"{seat}": 1_000})[1] for seat, player in enumerate(players, start=1)]
    await asyncio.gather(*map(send_until_answered, bets))
    await asyncio.sleep(3.0)
    await _decide(players[1], GIVE_UP)
    await _decide(players[2], DOUBLE)
    await asyncio.sleep(1.0)
    await send_until_answered(bets[2])


SCRIPTS: dict[str, Script] = {"individual": _individual_hand, "three players": _hand_of_three}
GAMES = {"individual": INSURED_SPLIT_AND_DOUBLED, "three players": PAID_GIVEN_UP_AND_DOUBLED}


def _worlds(name: str, fault: Fault, under_way: str = "arrives", every: int = 1) -> list[World]:
    """Returns the worlds of a script with the fault before each step, or before one in `every`."""
    return list(worlds_with_fault(SCRIPTS[name], fault, under_way, every=every, game=GAMES[name]))


def _hands(worlds: list[World]) -> set[tuple[str, ...]]:
    """Returns what was decided in the rounds with bets that were dealt, in all runs."""
    dealt = [each for world in worlds for each in world.journal.rounds.values() if each.drawn and each.drawn.stakes]
    assert all(entries.ended is not None and entries.ended.ending is Ending.SETTLED for entries in dealt)
    return {tuple(decision_of(moved) for moved in entries.moves) for entries in dealt}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G10")
@pytest.mark.rule("805/2015:15.b", "805/2015:15.f", "805/2015:21", "903-B/2015:6.3.4", "903-B/2015:6.7.5")
@pytest.mark.parametrize("under_way", ["arrives", "lost"])
def test_killed_at_every_step_of_insurance_split_and_double(under_way: str) -> None:
    """Every hand that was dealt is decided as its player wanted, each decision and its stake once."""
    worlds = _worlds("individual", kill, under_way)
    assert _hands(worlds) == {("insure", "split", "double", "stand")}
    moves = [moved for world in worlds for entries in world.journal.rounds.values() for moved in entries.moves]
    assert {moved.acted_by for moved in moves} == {ActedBy.PLAYER}
    # Some were staked and not journalled when their owner died.
    adopted = [moved for moved in moves if moved.stake is not None and not moved.command_digest]
    assert {decision_of(moved) for moved in adopted} == {"insure", "split", "double"}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G10")
def test_superseded_at_every_step_of_a_hand() -> None:
    assert _hands(_worlds("individual", supersede, every=2)) == {("insure", "split", "double", "stand")}


@pytest.mark.guarantee("G4", "G9")
def test_handed_over_at_every_step_of_a_hand() -> None:
    """A handover makes no round void, dealt or not."""
    worlds = _worlds("individual", hand_over, every=2)
    assert _hands(worlds) == {("insure", "split", "double", "stand")}
    endings = {entries.ended.ending for world in worlds for entries in world.journal.rounds.values() if entries.ended}
    assert endings == {Ending.SETTLED}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G7", "G8", "G10")
@pytest.mark.rule("805/2015:20.a", "805/2015:15.e")
@pytest.mark.parametrize("fault", [kill, supersede, hand_over])
def test_faults_between_the_decisions_and_early_payments_of_three_players(fault: Fault) -> None:
    worlds = _worlds("three players", fault, every=3)
    assert ("give_up", "double") in _hands(worlds)
    paid = {len(entries.paid) for world in worlds for entries in world.journal.rounds.values() if entries.moves}
    assert 2 in paid
