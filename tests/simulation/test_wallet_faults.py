"""Answers of the wallet that are none: a fault that passes is no matter, and one that stays costs no player a cent."""

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


def failing(stage: Scenario, method: str, times: int) -> Callable[[], int]:
    """The wallet does what it is told and answers so many times that it has failed; how often it was told."""
    ledger = stage.world.wallet
    answer, told = ledger.handle, 0

    def fail(asked: str, payload: bytes) -> bytes:
        nonlocal told
        done = answer(asked, payload)
        if asked == method:
            told += 1
            if told <= times:
                raise StatusRefused("", grpc.StatusCode.INTERNAL, "It is not known whether anything was done.")
        return done

    setattr(ledger, "handle", fail)  # noqa: B010 - the method of this one ledger
    return lambda: told


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("method", ["PlaceStakes", "CancelStake", "SettleRound"])
def test_g3_a_passing_fault_is_retried(method: str) -> None:
    async def story(stage: Scenario) -> None:
        (ana,) = await stage.open_table("ana")
        told = failing(stage, method, FAULTS_LIMIT - 1)
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        placed_stake(await ana.bet(round_id, {"17": 100}))
        assert not refusal_reason(await ana.cancel_bets(round_id, {"17": 100}))
        assert not refusal_reason(await ana.spin(round_id))
        assert told() >= FAULTS_LIMIT
        ended = stage.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Scenario(individual=True).run(story)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G9")
def test_g4_a_round_with_an_uncertain_stake_is_not_drawn() -> None:
    async def story(stage: Scenario) -> None:
        ana, rui = await stage.open_table("ana", "rui")
        round_id, other = await ana.wait_for_open_round(), await rui.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        placed_stake(await ana.bet(round_id, {"17": 100}))
        placed_stake(await rui.bet(other, {"black": 300}))
        failing(stage, "CancelStake", 1_000)
        await ana.cancel_bets(round_id, {"17": 100})
        await asyncio.sleep(10.0)
        written = stage.round_entries(round_id)
        assert written.drawn is None
        assert written.ended is not None
        assert (written.ended.ending, written.ended.void_reason) == (Ending.VOID, PLATFORM_FAULT)
        assert stage.stakes(round_id) == [(500, StakeState.RETURNED), (100, StakeState.CANCELLED)]
        assert stage.free_cents("ana") == STARTING_CENTS
        assert stage.stakes(other) == [(300, StakeState.OPEN)]
        assert not refusal_reason(await rui.spin(other))

    stage = Scenario(individual=True)
    stage.world.run(lambda: story(stage))
    found = guarantees.violations(stage.world)
    assert len(found) == 1, found
    assert found[0].endswith(f"is void without a malfunction ({PLATFORM_FAULT})")
