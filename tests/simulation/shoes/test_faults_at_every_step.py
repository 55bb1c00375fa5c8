"""The owner of a table with a shoe that goes on dies, is superseded or hands over before each single step."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import pytest

from services.kit.table.journal.entries import Ending
from tests.simulation.decisions.game import blackjack
from tests.simulation.decisions.game import configuration as blackjack_configuration
from tests.simulation.decisions.players import DRAW, STAND, DecidingPlayer, OwnTurn
from tests.simulation.environment.games import SimulatedGame
from tests.simulation.environment.world import World
from tests.simulation.leaning_bets.game import BACCARAT, BaccaratPlayer
from tests.simulation.leaning_bets.game import configuration as baccarat_configuration
from tests.simulation.test_faults_at_every_step import (
    SENDER_DIES,
    TABLE_ID,
    Fault,
    Script,
    hand_over,
    kill,
    send_until_answered,
    supersede,
    worlds_with_fault,
)

# Three rounds of baccarat take 12 cards at least: the last of them is dealt from another shoe.
BACCARAT_CUT_CARD = 9
# Sixteen, and the five that makes it twenty-one; then twenty and nineteen.
SHOE = blackjack("Ts 9h 6d Tc 5s Kc 8h Td Qc Jc 7h 9d Jd 6s 9c")
BLACKJACK_CUT_CARD = 9


async def _rounds_of_baccarat(world: World) -> None:
    """A player has three rounds dealt."""
    world.open_tables(TABLE_ID, baccarat_configuration(individual=True, cut_card=BACCARAT_CUT_CARD))
    ana = BaccaratPlayer(world, "ana", TABLE_ID)
    world.deposit("ana", 50_000)
    ana.timeout_s = 1.5
    await send_until_answered(ana.send_enter)
    for cents in (1_000, 1_100, 1_200):
        round_id = await ana.wait_for_open_round()
        await send_until_answered(ana.prepare_bet(round_id, {"ponto": cents})[1])
        await send_until_answered(ana.prepare_deal(round_id)[1])
        await asyncio.sleep(0.5)


async def _rounds_of_blackjack(world: World) -> None:
    """A player draws in the first round, and stands in the next two."""
    world.open_tables(
        TABLE_ID, blackjack_configuration(individual=True, result_shown_ms=100, cut_card=BLACKJACK_CUT_CARD)
    )
    ana = DecidingPlayer(world, "ana", TABLE_ID)
    world.deposit("ana", 50_000)
    ana.timeout_s = 1.5
    await send_until_answered(ana.send_enter)
    world.finish_open_hands = ana.finish_hand
    for cents, decisions in ((1_000, (DRAW, STAND)), (1_100, (STAND,)), (1_200, (STAND,))):
        round_id = await ana.wait_for_open_round()
        await send_until_answered(ana.prepare_bet(round_id, {"1": cents})[1])
        await send_until_answered(ana.prepare_deal(round_id)[1])
        for decision in decisions:
            turn = await _own_turn(ana)
            if turn is not None and turn.option(decision) is not None:
                await send_until_answered(ana.prepare_act(turn.round_id, turn.turn, decision)[1])
        await asyncio.sleep(0.5)


async def _own_turn(player: DecidingPlayer) -> OwnTurn | None:
    for _ in range(60):
        turn = await player.own_turn()
        if turn is not None:
            return turn
        await asyncio.sleep(0.05)
    return None


SCRIPTS: dict[str, Script] = {"baccarat": _rounds_of_baccarat, "blackjack": _rounds_of_blackjack}
GAMES: dict[str, SimulatedGame] = {"baccarat": BACCARAT, "blackjack": SHOE}
# Which steps of the longer script have a fault; those of a hand are those of `decisions`.
EVERY = {"baccarat": 1, "blackjack": 2}


def _worlds(name: str, fault: Fault, under_way: str = "arrives", every: int = 1) -> list[World]:
    """Returns the worlds of a script with the fault before each step, or before one in `every`."""
    return list(worlds_with_fault(SCRIPTS[name], fault, under_way, every=every, game=GAMES[name]))


def _verify_shoes(worlds: Iterable[World]) -> None:
    """No dealt round is void, and in all runs a shoe goes on; that it is the right one, each run has verified."""
    for world in worlds:
        dealt = [each for each in world.journal.rounds.values() if each.drawn is not None]
        assert all(each.ended is not None and each.ended.ending is Ending.SETTLED for each in dealt)
        assert len(dealt) < 2 or any(each.drawn is not None and each.drawn.cards_taken for each in dealt)


@pytest.mark.guarantee("G4", "G5", "G6", "G7", "G8", "G10")
@pytest.mark.rule("903-B/2015:6.3.4", "903-B/2015:6.7.5")
@pytest.mark.parametrize("under_way", SENDER_DIES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_killed_at_every_step(name: str, under_way: str) -> None:
    _verify_shoes(_worlds(name, kill, under_way, every=EVERY[name] * (1 if under_way == "arrives" else 2)))


@pytest.mark.guarantee("G4", "G6", "G8", "G10")
@pytest.mark.parametrize("name", SCRIPTS)
def test_superseded_at_every_step(name: str) -> None:
    _verify_shoes(_worlds(name, supersede, every=2 * EVERY[name]))


@pytest.mark.guarantee("G4", "G6", "G9")
@pytest.mark.parametrize("name", SCRIPTS)
def test_handed_over_at_every_step(name: str) -> None:
    _verify_shoes(_worlds(name, hand_over, every=2 * EVERY[name]))
