"""Hands of poker at a simulated table: dealt, decided and paid among the caves."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.journal.entries import ActedBy
from tests.simulation.caves.game import CAVE_CENTS
from tests.simulation.caves.players import FOLD
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID


@pytest.mark.rule("806/2015:8", "806/2015:36", "806/2015:48")
def test_two_players_buy_in_and_a_hand_is_dealt_folded_and_paid() -> None:
    async def script(scenario: PokerScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        assert scenario.free_cents("ana") == STARTING_CENTS - CAVE_CENTS
        round_id = f"{TABLE_ID}.1"
        # Two play: the small blind is not the button, and acts first.
        turns = await asyncio.gather(ana.hole_cards(), rui.hole_cards())
        assert [len(cards) for cards in turns] == [2, 2]
        actor = ana if await ana.own_turn() is not None else rui
        seat = 1 if actor is ana else 2
        await actor.act(FOLD)
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(seat, "ACTION_FOLD", ActedBy.PLAYER)]
        folded, won = ("ana", "rui") if actor is ana else ("rui", "ana")
        assert scenario.cave_cents(folded) == CAVE_CENTS - 50
        assert scenario.cave_cents(won) == CAVE_CENTS + 50

    PokerScenario().run(script)
