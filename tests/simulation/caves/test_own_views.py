"""What a table tells each player alone: their own view, when it has changed or when they are asked again."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import events_pb2
from tests.simulation.caves.players import CALL, CHECK, RAISE
from tests.simulation.caves.scenario import PokerScenario
from tests.simulation.caves.seated.test_caves import actor_of


def is_asked(changed: events_pb2.OwnViewChanged) -> bool:
    view = poker_pb2.OwnView()
    changed.own_view.Unpack(view)
    return view.HasField("legal")


def test_a_view_in_which_nothing_has_changed_is_not_told_again() -> None:
    async def script(scenario: PokerScenario) -> None:
        names = ("ana", "rui", "eva")
        players = await scenario.seat_players(*names)
        first = await actor_of(*players)
        at = players.index(first)
        _, second, third = *players[at:], *players[:at]
        await first.act(RAISE, 300)
        await second.act(CALL)
        await third.act(CALL)
        for _ in range(4):
            await (await actor_of(*players)).act(CHECK)
            await asyncio.sleep(0.1)
        told = scenario.world.own_views.by_player
        for name in names:
            for before, after in pairwise(told[name]):
                assert before.own_view != after.own_view or is_asked(after), name
        # The first to act is asked, then waits through decisions that change nothing, and is asked on the flop.
        assert [is_asked(each) for each in told[first.player_id][:3]] == [True, False, True]
        assert all(any(map(is_asked, told[name])) for name in names)

    PokerScenario(min_players=3).run(script)
