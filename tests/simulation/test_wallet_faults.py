"""Answers of the wallet that are none: a fault that passes is no matter, and one that stays costs no player a cent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import grpc
import pytest

from services.kit.refusal import Refused
from services.kit.table.bank import FAULTS_LIMIT
from services.kit.table.journal import Ending
from services.kit.table.live_table import FAULT
from services.wallet.state import StakeState
from tests.simulation import verdict
from tests.simulation.stage import MONEY_CENTS, Stage, placed, refused


def failing(stage: Stage, method: str, times: int) -> Callable[[], int]:
    """The wallet does what it is told and answers so many times that it has failed; how often it was told."""
    ledger = stage.world.ledger
    answer, told = ledger.answer, 0

    def fail(asked: str, payload: bytes) -> bytes:
        nonlocal told
        done = answer(asked, payload)
        if asked == method:
            told += 1
            if told <= times:
                raise Refused("", grpc.StatusCode.INTERNAL, "It is not known whether anything was done.")
        return done

    setattr(ledger, "answer", fail)  # noqa: B010 - the method of this one ledger
    return lambda: told


@pytest.mark.guarantee("G3")
@pytest.mark.parametrize("method", ["PlaceStakes", "CancelStake", "SettleRound"])
def test_g3_a_fault_that_passes_is_asked_again(method: str) -> None:
    async def story(stage: Stage) -> None:
        (ana,) = await stage.open("ana")
        told = failing(stage, method, FAULTS_LIMIT - 1)
        round_id = await ana.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        placed(await ana.bet(round_id, {"17": 100}))
        assert not refused(await ana.take_back(round_id, {"17": 100}))
        assert not refused(await ana.spin(round_id))
        assert told() >= FAULTS_LIMIT
        ended = stage.written(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED

    Stage(individual=True).tell(story)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G9")
def test_g4_a_stake_of_which_nobody_knows_whether_it_lies_is_not_drawn_for() -> None:
    async def story(stage: Stage) -> None:
        ana, rui = await stage.open("ana", "rui")
        round_id, other = await ana.open_round(), await rui.open_round()
        placed(await ana.bet(round_id, {"red": 500}))
        placed(await ana.bet(round_id, {"17": 100}))
        placed(await rui.bet(other, {"black": 300}))
        failing(stage, "CancelStake", 1_000)
        await ana.take_back(round_id, {"17": 100})
        await asyncio.sleep(10.0)
        written = stage.written(round_id)
        assert written.drawn is None
        assert written.ended is not None
        assert (written.ended.ending, written.ended.void_reason) == (Ending.VOID, FAULT)
        assert stage.stakes(round_id) == [(500, StakeState.RETURNED), (100, StakeState.CANCELLED)]
        assert stage.free_cents("ana") == MONEY_CENTS
        assert stage.stakes(other) == [(300, StakeState.OPEN)]
        assert not refused(await rui.spin(other))

    stage = Stage(individual=True)
    stage.world.run(lambda: story(stage))
    found = verdict.breaches(stage.world)
    assert len(found) == 1, found
    assert found[0].endswith(f"is void without a malfunction ({FAULT})")
