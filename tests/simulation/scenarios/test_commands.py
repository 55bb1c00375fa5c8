"""What a command of a player does: repeated, partly legal, or without a connection to answer on."""

from __future__ import annotations

import asyncio

import pytest

from feltro.roulette.v1 import roulette_pb2
from services.kit.table.events import publisher
from services.kit.table.journal.entries import Ending
from services.wallet.model.state import StakeState
from tests.simulation.environment.network import Delivery
from tests.simulation.scenario import (
    STARTING_CENTS,
    TABLE_ID,
    Scenario,
    both_regulations,
    placed_stake,
    pocket_of,
    refusal_reason,
)


@pytest.mark.rule("903-B/2015:6.1.1")
@pytest.mark.guarantee("G3")
def test_a_repeated_command_acts_once() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        command, send = ana.prepare_bet(round_id, {"17": 300})
        answers = await asyncio.gather(*(send() for _ in range(5)))
        assert len({placed_stake(answer).stake_id for answer in answers}) == 1
        assert scenario.stakes(round_id) == [(300, StakeState.OPEN)]
        other = roulette_pb2.PlaceBetsRequest(
            request_id=command.request_id,
            table_id=TABLE_ID,
            round_id=round_id,
            bets=[roulette_pb2.Bet(place="18", amount_cents=300)],
        )
        owner = scenario.world.current_owners[TABLE_ID]
        with pytest.raises(Exception, match="used for something else"):
            await scenario.world.call(owner, lambda owner: owner.service.place_bets(other, ana.caller))
        await asyncio.sleep(7.0)
        # After the round it is still the same bet.
        assert placed_stake(await send()).stake_id == placed_stake(answers[0]).stake_id

    Scenario().run(script)


@pytest.mark.guarantee("G9")
def test_a_bet_must_be_legal_without_stakes_that_may_go() -> None:
    """A bet must be legal without a stake that the wallet may refuse and the player may cancel."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana", cents=160)
        round_id = await ana.wait_for_open_round()
        too_much = asyncio.create_task(ana.bet(round_id, {"red": 170}))
        await asyncio.sleep(0.001)
        # Alone it is below the minimum, and the other stake is still on its way to the wallet.
        too_small = await ana.bet(round_id, {"red": 60})
        assert refusal_reason(await too_much) == "INSUFFICIENT_FUNDS"
        assert refusal_reason(too_small) == "BELOW_MINIMUM"
        placed_stake(await ana.bet(round_id, {"red": 100}))
        await ana.bet(round_id, {"red": 58})
        assert not refusal_reason(await ana.cancel_bets(round_id))
        assert {state for _, state in scenario.stakes(round_id)} == {StakeState.CANCELLED}
        assert await ana.get_snapshot() is not None

    Scenario().run(script)


@pytest.mark.guarantee("G12")
def test_bets_stay_where_cancelling_is_forbidden() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        await ana.bet(round_id, {"red": 500})
        assert refusal_reason(await ana.cancel_bets(round_id)) == "CANCEL_FORBIDDEN"
        assert scenario.stakes(round_id) == [(500, StakeState.OPEN)]

    Scenario(cancel_forbidden=True).run(script)


@both_regulations
@pytest.mark.rule("804/2015:22", "804/2015:23", "807/2015:24", "807/2015:25")
@pytest.mark.guarantee("G9")
def test_a_bet_stands_when_the_player_loses_the_connection(regulation: str) -> None:
    """Vector A6 of the rulebook: one euro on 17, the device is offline, the ball falls on 17."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        scenario.world.next_pockets = [pocket_of(scenario, "17")]
        round_id = await ana.wait_for_open_round()
        # The connection breaks while the wallet is being called, which cancels the player's call at the table.
        scenario.set_deliveries(PlaceStakes=Delivery(request_delay_s=0.5))
        ana.timeout_s = 0.1
        assert await ana.bet(round_id, {"17": 100}) is None
        await rui.bet(round_id, {"red": 300})
        await asyncio.sleep(7.0)
        assert scenario.free_cents("ana") == STARTING_CENTS + 3_500
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Scenario(regulation=regulation).run(script)


@both_regulations
@pytest.mark.rule("804/2015:5", "807/2015:5")
def test_one_result_binds_all_players(regulation: str) -> None:
    async def script(scenario: Scenario) -> None:
        players = await scenario.open_table("ana", "rui", "eva")
        scenario.world.next_pockets = [pocket_of(scenario, "17")]
        round_id = await players[0].wait_for_open_round()
        for player, place in zip(players, ("17", "black", "red"), strict=True):
            placed_stake(await player.bet(round_id, {place: 200}))
        await asyncio.sleep(6.0)
        assert [event.round_id for event in scenario.published("outcome_drawn")] == [round_id]
        won = {name: scenario.free_cents(name) - STARTING_CENTS for name in ("ana", "rui", "eva")}
        assert won == {"ana": 7_000, "rui": 200, "eva": -200}

    Scenario(regulation=regulation).run(script)


@pytest.mark.guarantee("G9")
def test_a_refused_demo_refill_stops_no_other_player() -> None:
    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        # On zero, low and high both lose.
        scenario.world.next_pockets = [pocket_of(scenario, "0")]
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"low": 50_000, "high": 50_000}))
        (account,) = (a for a in scenario.world.wallet.accounts.values() if a.player_id == "ana")
        account.blocked = True
        await asyncio.sleep(7.0)
        assert account.free_cents == 0
        assert await rui.wait_for_open_round() != round_id
        assert scenario.world.current_owners[TABLE_ID].process.name == "mesa#1"

    Scenario(demo=True).run(script)


@pytest.mark.guarantee("G11", "G12")
def test_g11_no_bet_is_taken_that_watchers_would_not_see_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bus is away: bets count while there is room for their events, and again when it is back."""
    monkeypatch.setattr(publisher, "FULL_FROM_EVENTS", 3)

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        scenario.set_deliveries(publish=Delivery(refused_at_once=True))
        answers = [refusal_reason(await ana.bet(round_id, {"red": 100 + 2 * number})) for number in range(8)]
        counted = answers.index("OVERLOADED")
        assert counted > 2
        assert set(answers[:counted]) == {""}
        assert set(answers[counted:]) == {"OVERLOADED"}
        assert len(scenario.stakes(round_id)) == counted
        scenario.restore_network()
        await scenario.wait_until(lambda: len(scenario.published("bets_placed")) == counted)
        placed_stake(await ana.bet(round_id, {"black": 250}))

    Scenario(window_ms=60_000).run(script)


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize(
    "bets", [{"voisins": 2**63 - 1}, {"red": 2**63 - 1}, {"red": 2**62, "final-7": 2**62, "black": 2**62}]
)
def test_g11_bets_beyond_any_message_are_refused_like_any_that_are_too_high(bets: dict[str, int]) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        assert refusal_reason(await ana.bet(round_id, bets)) == "ABOVE_MAXIMUM"
        placed_stake(await ana.bet(round_id, {"red": 100}))
        assert refusal_reason(await ana.cancel_bets(round_id, bets)) == "NOT_ON_FELT"
        assert scenario.stakes(round_id) == [(100, StakeState.OPEN)]

    Scenario(call_bets=True, minimum_cents=1).run(script)
