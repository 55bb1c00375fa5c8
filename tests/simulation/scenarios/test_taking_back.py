"""Taking bets back: just what was named, or nothing, whatever happens to account, session and owner meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from feltro.roulette.v1 import roulette_pb2
from services.kit.table.banked.settlement import OWNER_LOST
from services.kit.table.journal.entries import Ending
from services.wallet.model import refusals
from services.wallet.model.state import StakeState
from tests.simulation.environment.network import Delivery
from tests.simulation.environment.players import Player
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario, placed_stake, refusal_reason


def on_felt(answer: object) -> dict[str, int]:
    assert isinstance(answer, roulette_pb2.CancelBetsResponse), answer
    return {bet.place: bet.amount_cents for bet in answer.on_felt.bets}


def block(scenario: Scenario, player: Player) -> None:
    (account,) = (a for a in scenario.world.wallet.accounts.values() if a.player_id == player.player_id)
    account.blocked = True


def leave(_: Scenario, player: Player) -> None:
    player.leave()


def lose_the_money(scenario: Scenario, player: Player) -> None:
    """What was free is gone, as if it were on its way to another table."""
    (account,) = (a for a in scenario.world.wallet.accounts.values() if a.player_id == player.player_id)
    (operator,) = (
        a for a in scenario.world.wallet.book.accounts.values() if a.account_id.endswith("ana-real-operator")
    )
    operator.free_cents += account.free_cents
    account.free_cents = 0


def nothing(_: Scenario, __: Player) -> None:
    """Nothing happens meanwhile."""


@pytest.mark.guarantee("G1")
@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("meanwhile", [nothing, block, leave, lose_the_money])
def test_g12_just_the_named_bets_are_taken_back(meanwhile: Callable[[Scenario, Player], None]) -> None:
    """The rest stays on the felt although the account could not stake it anew, and plays."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 1_000, "17": 200}))
        scenario.set_deliveries(CancelStakes=Delivery(request_delay_s=0.5))
        taking_back = asyncio.create_task(ana.cancel_bets(round_id, {"17": 200}))
        await asyncio.sleep(0.1)
        meanwhile(scenario, ana)
        answer = await taking_back
        assert isinstance(answer, roulette_pb2.CancelBetsResponse)
        assert (answer.cancelled_cents, on_felt(answer)) == (200, {"red": 1_000})
        (stored,) = scenario.world.wallet.stakes_of(round_id)
        assert (stored.stake.open_cents, stored.stake.state) == (1_000, StakeState.OPEN)
        await asyncio.sleep(7.0)
        drawn = scenario.round_entries(round_id).drawn
        assert drawn is not None
        assert [(stake.amount_cents, stake.stake_id) for stake in drawn.stakes] == [(1_000, stored.stake.stake_id)]
        assert [each.stake.amount_cents for each in drawn.cancelled_stakes] == [200]

    Scenario().run(script)


@pytest.mark.guarantee("G12")
def test_g12_a_rest_may_be_larger_than_what_other_commands_may_move() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana", cents=10**10)
        for _ in range(3):
            scenario.world.deposit("ana", 10**10)
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"double-dozen-1-2": 2 * 10**10, "17": 10**8}))
        answer = await ana.cancel_bets(round_id, {"17": 10**8})
        assert on_felt(answer) == {"double-dozen-1-2": 2 * 10**10}
        assert [cents for cents, _ in scenario.stakes(round_id)] == [2 * 10**10 + 10**8]

    Scenario(minimum_cents=10**8).run(script)


@pytest.mark.guarantee("G12")
def test_g12_a_refused_take_back_changes_nothing() -> None:
    """Whatever the reason: here the ledger says that the round holds as much as it may."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 1_000, "17": 200}))
        wallet = scenario.world.wallet
        answer = wallet.handle

        def refuse(method: str, payload: bytes) -> bytes:
            if method == "CancelStakes":
                raise refusals.round_full(round_id, "stakes", 1)
            return answer(method, payload)

        setattr(wallet, "handle", refuse)  # noqa: B010 - the method of this one wallet
        assert refusal_reason(await ana.cancel_bets(round_id, {"17": 200})) == "ROUND_FULL"
        setattr(wallet, "handle", answer)  # noqa: B010
        assert scenario.free_cents("ana") == STARTING_CENTS - 1_200
        snapshot = await ana.get_snapshot()
        assert snapshot is not None
        assert [bets.staked_cents for bets in snapshot.bets] == [1_200]
        assert not scenario.published("bets_cancelled")
        assert on_felt(await ana.cancel_bets(round_id, {"17": 200})) == {"red": 1_000}

    Scenario().run(script)


@pytest.mark.guarantee("G10")
def test_g10_parts_of_several_stakes_go_by_one_transfer_newest_first() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        stake_ids = [
            placed_stake(await ana.bet(round_id, bets)).stake_id
            for bets in ({"red": 300, "odd": 100}, {"black": 200}, {"red": 150, "low": 102})
        ]
        transfers = len(scenario.world.wallet.movements)
        answer = await ana.cancel_bets(round_id, {"red": 250, "black": 200})
        assert isinstance(answer, roulette_pb2.CancelBetsResponse)
        assert len(scenario.world.wallet.movements) == transfers + 1
        assert list(answer.cancelled_stake_ids) == [stake_ids[1]]
        rest = {
            stake.stake_id: {bet.place: bet.amount_cents for bet in stake.bets.bets} for stake in answer.reduced_stakes
        }
        assert rest == {stake_ids[0]: {"red": 200, "odd": 100}, stake_ids[2]: {"low": 102}}
        # A part of a stake may be less than the minimum, if all that stays on the place is a bet.
        assert on_felt(await ana.cancel_bets(round_id, {"red": 50, "low": 2})) == {"red": 150, "odd": 100, "low": 100}
        assert refusal_reason(await ana.cancel_bets(round_id, {"red": 51})) == "BELOW_MINIMUM"

    Scenario().run(script)


@pytest.mark.guarantee("G3")
def test_g3_commands_of_one_player_act_in_the_order_in_which_they_came() -> None:
    """What was clicked before a take-back is taken back, and what was clicked after it stays."""

    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id = await ana.wait_for_open_round()
        scenario.set_deliveries(PlaceStakes=Delivery(request_delay_s=0.3), CancelStakes=Delivery(request_delay_s=0.3))
        placing = asyncio.create_task(ana.bet(round_id, {"red": 500}))
        await asyncio.sleep(0.01)
        taking_back = asyncio.create_task(ana.cancel_bets(round_id))
        await asyncio.sleep(0.01)
        placing_more = asyncio.create_task(ana.bet(round_id, {"black": 300}))
        other = asyncio.create_task(rui.bet(round_id, {"odd": 100}))
        placed_stake(await placing)
        taken = await taking_back
        assert isinstance(taken, roulette_pb2.CancelBetsResponse)
        assert (taken.cancelled_cents, on_felt(taken)) == (500, {})
        placed_stake(await placing_more)
        placed_stake(await other)
        assert sorted(scenario.stakes(round_id)) == [
            (100, StakeState.OPEN),
            (300, StakeState.OPEN),
            (500, StakeState.CANCELLED),
        ]

    Scenario().run(script)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G10")
@pytest.mark.parametrize("arrives", [True, False], ids=["the wallet has it", "the wallet never gets it"])
def test_g4_the_owner_dies_in_the_middle_of_a_take_back(*, arrives: bool) -> None:
    """The next owner finds in the ledger what was taken back, returns the rest, and gives the first answer again."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 1_000, "17": 200}))
        scenario.set_deliveries(CancelStakes=Delivery(answer_delay_s=5.0, request_lost=not arrives))
        ana.timeout_s = 0.5
        _, send = ana.prepare_cancel(round_id, {"17": 200})
        assert await send() is None
        scenario.world.current_owners[TABLE_ID].process.kill()
        scenario.restore_network()
        await asyncio.sleep(10.0)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, OWNER_LOST)
        assert scenario.free_cents("ana") == STARTING_CENTS
        assert [stake.amount_cents for stake in ended.returned_stakes] == [1_000 if arrives else 1_200]
        assert [each.stake.amount_cents for each in ended.cancelled_stakes] == ([200] if arrives else [])
        ana.timeout_s = 8.0
        again = await send()
        if arrives:
            assert on_felt(again) == {"red": 1_000}
        else:
            assert refusal_reason(again) == "BETTING_CLOSED"

    Scenario().run(script)
