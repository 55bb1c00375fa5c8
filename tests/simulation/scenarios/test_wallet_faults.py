"""Faults of the wallet: one that passes changes nothing, and one that stays costs no player a cent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import grpc
import pytest

from services.kit.rpc.status import StatusRefused
from services.kit.table.journal.entries import Ending
from services.kit.table.live.table import PLATFORM_FAULT
from services.kit.table.wallet.table_wallet import FAULTS_LIMIT
from services.wallet.model.state import StakeState
from tests.simulation import guarantees
from tests.simulation.scenario import STARTING_CENTS, Scenario, placed_stake, refusal_reason


def failing(scenario: Scenario, method: str, times: int) -> Callable[[], int]:
    """Has the wallet carry out a method and answer with a fault this often; returns the counter of its calls."""
    wallet = scenario.world.wallet
    answer, calls = wallet.handle, 0

    def fail(called: str, payload: bytes) -> bytes:
        nonlocal calls
        done = answer(called, payload)
        if called == method:
            calls += 1
            if calls <= times:
                raise StatusRefused("", grpc.StatusCode.INTERNAL, "It is not known whether anything was done.")
        return done

    setattr(wallet, "handle", fail)  # noqa: B010 - the method of this one wallet
    return lambda: calls


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("method", ["PlaceStakes", "CancelStakes", "SettleRound"])
def test_g3_a_passing_fault_is_retried(method: str) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        count = failing(scenario, method, FAULTS_LIMIT - 1)
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        placed_stake(await ana.bet(round_id, {"17": 100}))
        assert not refusal_reason(await ana.cancel_bets(round_id, {"17": 100}))
        assert not refusal_reason(await ana.spin(round_id))
        assert count() >= FAULTS_LIMIT
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Scenario(individual=True).run(script)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G9")
def test_g4_a_round_with_an_uncertain_stake_is_not_drawn() -> None:
    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id, other = await ana.wait_for_open_round(), await rui.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        placed_stake(await ana.bet(round_id, {"17": 100}))
        placed_stake(await rui.bet(other, {"black": 300}))
        failing(scenario, "CancelStakes", 1_000)
        await ana.cancel_bets(round_id, {"17": 100})
        await asyncio.sleep(10.0)
        entries = scenario.round_entries(round_id)
        assert entries.drawn is None
        assert entries.ended is not None
        assert (entries.ended.ending, entries.ended.void_reason) == (Ending.VOID, PLATFORM_FAULT)
        assert scenario.stakes(round_id) == [(500, StakeState.RETURNED), (100, StakeState.CANCELLED)]
        assert scenario.free_cents("ana") == STARTING_CENTS
        assert scenario.stakes(other) == [(300, StakeState.OPEN)]
        assert not refusal_reason(await rui.spin(other))

    scenario = Scenario(individual=True)
    scenario.world.run(lambda: script(scenario))
    violations = guarantees.violations(scenario.world)
    assert len(violations) == 1, violations
    assert violations[0].endswith(f"is void without a malfunction ({PLATFORM_FAULT})")
