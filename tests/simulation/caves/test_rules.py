"""Specific rules that come into force at a table of poker while players sit there."""

from __future__ import annotations

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.wallet.v1 import wallet_pb2
from tests.simulation.caves.game import configuration
from tests.simulation.caves.players import FOLD, RAISE
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.test_caves import FIRST, SECOND, actor_of
from tests.simulation.caves.test_presence import handed_over
from tests.simulation.scenario import TABLE_ID, refusal_reason


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
