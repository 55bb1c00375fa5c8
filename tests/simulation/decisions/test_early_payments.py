"""What is decided for good is paid at once and once, whatever fails around the payment."""

from __future__ import annotations

import asyncio

import pytest

from services.kit.table.journal.entries import ActedBy, Ending
from tests.simulation.decisions.players import DOUBLE, DRAW, GIVE_UP, STAND
from tests.simulation.decisions.scenario import BLACKJACK_AND_ELEVEN, BlackjackScenario, acted
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID

# What ana has after a blackjack with a bet of 1000 cents.
WITH_BLACKJACK = STARTING_CENTS + 1_500
PAYMENT_FAULTS = {
    "before the payment": {"PayStakes": Delivery(request_lost=True)},
    "between payment and journal": {"write_paid": Delivery(request_lost=True)},
    "before it is told": {"write_paid": Delivery(answer_delay_s=20.0)},
}


@pytest.mark.guarantee("G4", "G5")
@pytest.mark.rule("805/2015:20.a")
def test_a_blackjack_is_paid_while_others_decide() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        await rui.wait_for_turn()
        await scenario.wait_until(lambda: scenario.published("stakes_paid"), within_s=1.0)
        assert scenario.free_cents("ana") == WITH_BLACKJACK
        assert sorted(state.name for _, state in scenario.stakes(round_id)) == ["OPEN", "PAID"]
        acted(await rui.decide(DOUBLE))
        await scenario.wait_for_end(round_id)
        assert scenario.free_cents("ana") == WITH_BLACKJACK
        assert scenario.free_cents("rui") == STARTING_CENTS + 2_000
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert {result.player_id: result.payout_cents for result in ended.player_results} == {
            "ana": 2_500,
            "rui": 4_000,
        }

    BlackjackScenario(BLACKJACK_AND_ELEVEN).run(script)


@pytest.mark.parametrize("where", PAYMENT_FAULTS)
@pytest.mark.guarantee("G3", "G4", "G8")
@pytest.mark.rule("805/2015:20.a")
def test_g4_an_owner_that_dies_around_an_early_payment_pays_once(where: str) -> None:
    """The blackjack is kept and paid once, and the round goes on for the other player."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        scenario.world.network.delivery_of = lambda _, method: PAYMENT_FAULTS[where].get(method, Delivery())
        round_id = await scenario.bet_all(ana, rui)
        await asyncio.sleep(1.0)
        paid = scenario.round_entries(round_id).paid
        assert bool(paid) == (where == "before it is told")
        assert scenario.free_cents("ana") == (
            STARTING_CENTS - 1_000 if where == "before the payment" else WITH_BLACKJACK
        )
        scenario.restore_network()
        await scenario.kill_owner()
        await rui.wait_for_turn()
        assert scenario.free_cents("ana") == WITH_BLACKJACK
        acted(await rui.decide(DOUBLE))
        await scenario.wait_for_end(round_id)
        assert scenario.free_cents("ana") == WITH_BLACKJACK
        assert [len(entry.payouts) for entry in scenario.round_entries(round_id).paid] == [1]

    BlackjackScenario(BLACKJACK_AND_ELEVEN).run(script)


@pytest.mark.guarantee("G4", "G8")
@pytest.mark.rule("805/2015:20.a")
def test_g4_what_was_paid_is_not_due_at_a_later_owner() -> None:
    """More was decided since the payment when the owner dies, so that it could not be taken for the same payment."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        acted(await rui.decide(DRAW))
        await scenario.kill_owner()
        acted(await rui.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.free_cents("ana") == WITH_BLACKJACK
        assert [entry.position for entry in scenario.round_entries(round_id).paid] == [0]

    BlackjackScenario("As 6s 9h Kd 5d 8c 2d").run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.rule("805/2015:20.a")
def test_a_player_who_was_paid_may_leave_and_keeps_the_money() -> None:
    """Nothing of theirs is in play any more: their session ends, and the round ends without them."""

    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        await rui.wait_for_turn()
        await scenario.wait_until(lambda: scenario.published("stakes_paid"), within_s=1.0)
        ana.leave()
        await asyncio.sleep(0.5)
        assert not [s for s in scenario.world.wallet.running_sessions(TABLE_ID) if s.player_id == "ana"]
        await scenario.kill_owner()
        acted(await rui.decide(DOUBLE))
        await scenario.wait_for_end(round_id)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        assert {result.player_id: result.payout_cents for result in ended.player_results}["ana"] == 2_500
        assert scenario.free_cents("ana") == WITH_BLACKJACK

    BlackjackScenario(BLACKJACK_AND_ELEVEN).run(script)


@pytest.mark.guarantee("G4")
@pytest.mark.rule("805/2015:15.e")
def test_half_of_the_bet_comes_back_at_once_on_giving_up() -> None:
    async def script(scenario: BlackjackScenario) -> None:
        ana, rui = await scenario.seat_players("ana", "rui")
        round_id = await scenario.bet_all(ana, rui)
        acted(await ana.decide(GIVE_UP))
        assert scenario.free_cents("ana") == STARTING_CENTS - 500
        assert scenario.round_entries(round_id).paid[0].position == 1
        acted(await rui.decide(STAND))
        await scenario.wait_for_end(round_id)
        assert scenario.moves(round_id) == [(1, "give_up", ActedBy.PLAYER), (2, "stand", ActedBy.PLAYER)]
        assert scenario.free_cents("ana") == STARTING_CENTS - 500

    BlackjackScenario("Ts 9s 9h 6d 9d 8c").run(script)
