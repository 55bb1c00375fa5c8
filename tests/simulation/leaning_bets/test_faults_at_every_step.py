"""The owner of a baccarat table dies, is superseded or hands over before each single step that it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from tests.simulation.environment.world import World
from tests.simulation.leaning_bets.game import BACCARAT, BaccaratPlayer, configuration, watch_commits
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


async def _seated(world: World, money: Mapping[str, int]) -> list[BaccaratPlayer]:
    players = [BaccaratPlayer(world, name, TABLE_ID) for name in money]
    for player in players:
        world.deposit(player.player_id, money[player.player_id])
        player.timeout_s = 1.5
        await send_until_answered(player.send_enter)
    return players


async def _round_of_macau(world: World) -> None:
    """Three players lean on each other's bets; one of them has no money for what the others would need."""
    world.open_tables(TABLE_ID, configuration(macau=True))
    ana, rui, eva = await _seated(world, {"ana": 50_000, "rui": 50_000, "eva": 700})
    round_id = await ana.wait_for_open_round()
    first = ana.prepare_bet(round_id, {"ponto": 5_000, "tie": 300})[1]
    await asyncio.gather(
        send_until_answered(first),
        # The wallet refuses it: nobody may bet more on ponto because of it.
        send_until_answered(eva.prepare_bet(round_id, {"banca": 2_000})[1]),
        send_until_answered(rui.prepare_bet(round_id, {"ponto": 1_000})[1]),
    )
    await asyncio.gather(
        send_until_answered(rui.prepare_bet(round_id, {"banca": 3_000})[1]),
        send_until_answered(ana.prepare_bet(round_id, {"ponto": 2_000, "tie": 300})[1]),
    )
    await asyncio.gather(
        # Others lean on it by now, or not yet.
        send_until_answered(rui.prepare_cancel(round_id, {"banca": 2_000})[1]),
        send_until_answered(ana.prepare_bet(round_id, {"ponto": 2_200})[1]),
        send_until_answered(eva.prepare_bet(round_id, {"banca": 400, "ponto": 200})[1]),
    )
    await send_until_answered(ana.prepare_cancel(round_id, {"ponto": 1_000})[1])
    await asyncio.sleep(4.0)
    await send_until_answered(first)


async def _individual_round(world: World) -> None:
    """A player whose bets lean on one that the wallet refuses takes a part back and has the cards dealt."""
    world.open_tables(TABLE_ID, configuration(individual=True))
    (ana,) = await _seated(world, {"ana": 2_200})
    round_id = await ana.wait_for_open_round()
    await send_until_answered(ana.prepare_bet(round_id, {"ponto": 1_000})[1])
    await asyncio.gather(
        send_until_answered(ana.prepare_bet(round_id, {"ponto": 5_000})[1]),
        send_until_answered(ana.prepare_bet(round_id, {"banca": 1_000})[1]),
        send_until_answered(ana.prepare_bet(round_id, {"banca": 600, "tie": 100})[1]),
    )
    await send_until_answered(ana.prepare_cancel(round_id, {"ponto": 350})[1])
    await send_until_answered(ana.prepare_cancel(round_id, {"ponto": 200})[1])
    deal = ana.prepare_deal(round_id)[1]
    await send_until_answered(deal)
    await asyncio.sleep(1.0)
    await send_until_answered(deal)


SCRIPTS: dict[str, Script] = {"macau": _round_of_macau, "individual": _individual_round}


def watched(name: str, broken: list[list[str]]) -> Script:
    """The script in a world whose commits are watched."""

    async def script(world: World) -> None:
        broken.append(watch_commits(world, macau=name == "macau"))
        await SCRIPTS[name](world)

    return script


def _endings(name: str, fault: Fault, under_way: str = "arrives") -> set[str]:
    """Runs a script once for each step, with the fault before it; returns how the rounds of all runs ended."""
    broken: list[list[str]] = []
    endings = set()
    for world in worlds_with_fault(watched(name, broken), fault, under_way, game=BACCARAT):
        assert not broken[-1]
        endings |= {each.ended.ending.name for each in world.journal.rounds.values() if each.ended}
    return endings


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G8", "G10")
@pytest.mark.rule(
    "812/2015:13", "812/2015:29", "812/2015:43.a", "812/2015:43.b", "903-B/2015:6.3.4", "903-B/2015:6.7.5"
)
@pytest.mark.parametrize("under_way", SENDER_DIES)
@pytest.mark.parametrize("name", SCRIPTS)
def test_killed_at_every_step(name: str, under_way: str) -> None:
    assert _endings(name, kill, under_way) == {"SETTLED", "VOID"}


@pytest.mark.guarantee("G1", "G3", "G4", "G5", "G6", "G8", "G10")
@pytest.mark.rule("812/2015:13", "812/2015:43.a")
@pytest.mark.parametrize("name", SCRIPTS)
def test_superseded_at_every_step(name: str) -> None:
    assert _endings(name, supersede) == {"SETTLED", "VOID"}


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.rule("812/2015:29")
@pytest.mark.parametrize("name", SCRIPTS)
def test_handed_over_at_every_step(name: str) -> None:
    """A handover makes no round void."""
    assert _endings(name, hand_over) == {"SETTLED"}
