"""Specific rules that come into force at a table of poker while players sit there."""

from __future__ import annotations

import asyncio

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.wallet.v1 import wallet_pb2
from tests.simulation.caves.game import configuration
from tests.simulation.caves.players import FOLD, RAISE
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.seated.test_caves import FIRST, SECOND, actor_of
from tests.simulation.caves.seated.test_presence import handed_over
from tests.simulation.scenario import TABLE_ID, refusal_reason

THIRD = f"{TABLE_ID}.3"


@pytest.mark.rule("806/2015:R3", "811/2015:R3")
@pytest.mark.parametrize("moves", [False, True])
def test_new_rules_begin_with_the_next_hand(moves: bool) -> None:  # noqa: FBT001 - a parameter
    """The hand under way is played to its end by those that it began under; no handover is needed for the new ones."""

    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui")
        actor = await actor_of(*players)
        changed = configuration(limit=poker_pb2.LIMIT_POT, cave_min_cents=5_000, cave_max_cents=20_000)
        scenario.world.catalogue.configure(TABLE_ID, changed)
        if moves:
            await handed_over(scenario)
        turn = await actor.wait_for_turn()
        assert turn.legal.max_to_cents == 10_000
        await actor.prepare_act(turn, RAISE, 10_000)[1]()
        other = next(player for player in players if player is not actor)
        await other.act(FOLD)
        await scenario.wait_for_end(FIRST)

        await scenario.wait_until(lambda: SECOND in scenario.world.journal.rounds)
        actor = await actor_of(*players)
        turn = await actor.wait_for_turn()
        assert turn.legal.max_to_cents == 300
        assert refusal_reason(await actor.prepare_act(turn, RAISE, 10_000)[1]()) == "ABOVE_MAXIMUM"
        versions = [scenario.round_entries(each).opened.configuration_version for each in (FIRST, SECOND)]
        assert versions == [1, 2]
        # What a cave may hold is new, too.
        await actor.act(FOLD)
        await scenario.wait_for_end(SECOND)
        poorer = min(players, key=lambda player: scenario.cave_cents(player.player_id))
        assert isinstance(await poorer.buy_in(9_000), wallet_pb2.BuyInResponse)

    PokerScenario(result_shown_ms=5_000).run(script)


@pytest.mark.rule("806/2015:46", "811/2015:46")
def test_after_a_table_was_switched_off_the_button_is_drawn_by_lot() -> None:
    async def script(scenario: PokerScenario) -> None:
        players = await scenario.seat_players("ana", "rui")
        await (await actor_of(*players)).act(FOLD)
        await scenario.wait_for_end(FIRST)
        scenario.world.catalogue.set_switch(TABLE_ID, "maintenance")
        await asyncio.sleep(10)
        assert SECOND not in scenario.world.journal.rounds
        scenario.world.catalogue.set_switch(TABLE_ID, None)
        await (await actor_of(*players)).act(FOLD)
        await scenario.wait_for_end(SECOND)
        await scenario.wait_until(lambda: THIRD in scenario.world.journal.rounds)
        await (await actor_of(*players)).act(FOLD)
        await scenario.wait_for_end(THIRD)
        # 0 is the lot; without a pause the button goes on to the next player.
        assert [button_brought(scenario, each) for each in (FIRST, SECOND)] == [0, 0]
        assert button_brought(scenario, THIRD) == 3 - scenario.outcome(SECOND).view.button

    PokerScenario(result_shown_ms=2_000).run(script)


def button_brought(scenario: PokerScenario, round_id: str) -> int:
    """Returns the seat that was to have the button when a hand was dealt; 0 if it was drawn by lot."""
    drawn = scenario.round_entries(round_id).drawn
    assert drawn is not None
    (button,) = {poker_pb2.SeatInHand.FromString(stake.bets).button for stake in drawn.stakes}
    return button
