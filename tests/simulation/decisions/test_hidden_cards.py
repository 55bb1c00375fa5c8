"""Hidden cards are nowhere (G7): two worlds that differ in them alone say the same, byte for byte."""

from __future__ import annotations

import logging
from collections import defaultdict

import pytest

from feltro.table.v1 import events_pb2
from services.kit.table.journal.entries import ActedBy
from tests.simulation.decisions.players import DECLINE, DOUBLE, DRAW, INSURE, SPLIT, STAND
from tests.simulation.decisions.scenario import BlackjackScenario, acted
from tests.simulation.environment.process_output import counted, kept_log
from tests.simulation.told import told, told_answers

# What lies face up is the same. The hole card, a blackjack of the bank in one world, and what follows differ.
SEEN = "8s 9s Ah 8d 2d"
HOLE_CARDS = ("Kc", "7c", "As", "Ah")
NEXT_CARDS = ("5h 2c 9c Td", "6h Kd 3s 2s", "Ks Kh Qd Qs")


def _said_while_the_hole_card_is_hidden(hole: str, following: str) -> list[bytes]:
    """Returns all that is said up to the first new card, to players, on the bus, in histories, logs and metrics."""

    async def script(scenario: BlackjackScenario) -> list[bytes]:
        # A simulated world is silent unless it is listened to.
        logging.disable(logging.NOTSET)
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
        round_id = await scenario.bet_all(ana, rui)
        turn = await ana.wait_for_turn()
        seen = [await player.get_table() for player in (ana, rui, eva)]
        # Possible and impossible, by those who are asked and those who are not.
        for player, decision in ((eva, DECLINE), (ana, DOUBLE), (rui, SPLIT), (rui, DRAW)):
            await player.prepare_act(round_id, turn.turn, decision, 2)[1]()
        acted(await ana.decide(INSURE, 500))
        seen += [await player.get_table() for player in (ana, rui, eva)]
        await scenario.kill_owner()
        acted(await rui.decide(DECLINE))
        await ana.wait_for_turn()
        seen += [await player.get_table() for player in (ana, rui, eva)]
        said = [told(each) for each in seen]
        said += told_answers(scenario.world)
        said += [event.SerializeToString() for event in scenario.events()]
        said += [
            view.SerializeToString()
            for player_id in sorted(scenario.world.own_views.by_player)
            for view in scenario.world.own_views.by_player[player_id]
        ]
        said += [repr((stake.detail, stake.stake)).encode() for stake in scenario.world.wallet.stakes_of(round_id)]
        said += [scenario.world.wallet.rounds[round_id].outcome]
        assert log.lines
        said += log.lines
        grown = {sample: count - before[sample] for sample, count in sorted(counted().items())}
        said += [f"{sample} {count}".encode() for sample, count in grown.items() if count]
        for player in (ana, rui):
            await player.finish_hand()
        await scenario.wait_for_end(round_id)
        assert len(scenario.events()) > 10
        return said

    before = defaultdict(float, counted())
    with kept_log() as log:
        return BlackjackScenario(f"{SEEN} {hole} {following}").run(script)


@pytest.mark.guarantee("G6", "G7")
@pytest.mark.rule("805/2015:14.b")
def test_g7_worlds_that_differ_in_hidden_cards_say_the_same() -> None:
    said = [
        _said_while_the_hole_card_is_hidden(hole, following)
        for hole, following in (*((hole, NEXT_CARDS[0]) for hole in HOLE_CARDS), *(("7c", each) for each in NEXT_CARDS))
    ]
    assert all(each == said[0] for each in said[1:])


@pytest.mark.guarantee("G7")
def test_g7_nobody_is_told_the_decisions_of_another_player() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana, rui, eva = await scenario.seat_players("ana", "rui", "eva")
        round_id = await scenario.bet_all(ana, rui)
        await ana.wait_for_turn()
        assert await rui.own_turn() is None
        assert await eva.own_turn() is None
        acted(await ana.decide(STAND))
        assert await ana.own_turn() is None
        await rui.wait_for_turn()
        acted(await rui.decide(STAND))
        await scenario.wait_for_end(round_id)
        views = scenario.world.own_views.by_player
        assert set(views) == {"ana", "rui"}
        assert [view.HasField("own_view") for view in views["ana"]] == [True, False]
        assert scenario.moves(round_id) == [(1, "stand", ActedBy.PLAYER), (2, "stand", ActedBy.PLAYER)]

    BlackjackScenario("Ts 9s 9h 6d 9d 8c").run(script)


@pytest.mark.guarantee("G7")
@pytest.mark.rule("805/2015:20.c")
def test_g7_a_hole_card_that_decides_nothing_is_never_shown() -> None:
    """Everybody has given up, is bust or was paid: the record of the round lacks the card, for ever."""

    async def script(scenario: BlackjackScenario) -> None:
        ana = await scenario.seat_one()
        round_id = await ana.bet_and_deal(1_000)
        acted(await ana.decide(DRAW))
        await scenario.wait_for_end(round_id)
        (outcome,) = scenario.published("outcome_drawn", ana.table_id)
        assert isinstance(outcome, events_pb2.OutcomeDrawn)
        assert b"8c" not in outcome.SerializeToString()
        assert b"8c" not in scenario.world.wallet.rounds[round_id].outcome

    BlackjackScenario("Ts 9h 6d 8c Td", individual=True).run(script)
