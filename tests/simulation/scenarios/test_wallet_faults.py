"""Faults of the wallet: one that passes changes nothing, and one that stays costs no player a cent."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

import grpc
import pytest

from services.kit.rpc.status import StatusRefused
from services.kit.table.journal.entries import Ending
from services.kit.table.live.table import PLATFORM_FAULT
from services.kit.table.wallet.table_wallet import FAULTS_TOLERATED_S
from services.wallet.model.state import StakeState
from tests.simulation import guarantees
from tests.simulation.environment.players import Player
from tests.simulation.scenario import STARTING_CENTS, TABLE_ID, Scenario, placed_stake, refusal_reason


def failing(scenario: Scenario, method: str, for_s: float, about: str = "") -> Callable[[], int]:
    """Has the wallet carry out a method about something and answer with a fault, from the first such call for so long.

    Returns the counter of faults.
    """
    wallet = scenario.world.wallet
    answer, faults = wallet.handle, 0
    until_s = math.inf

    def fail(called: str, payload: bytes) -> bytes:
        nonlocal faults, until_s
        done = answer(called, payload)
        if called == method and about.encode() in payload:
            until_s = min(until_s, scenario.world.loop.time() + for_s)
            if scenario.world.loop.time() < until_s:
                faults += 1
                raise StatusRefused("", grpc.StatusCode.INTERNAL, "It is not known whether anything was done.")
        return done

    setattr(wallet, "handle", fail)  # noqa: B010 - the method of this one wallet
    return lambda: faults


@pytest.mark.guarantee("G3", "G4", "G9")
@pytest.mark.parametrize("individual", [False, True])
@pytest.mark.parametrize("method", ["PlaceStakes", "CancelStakes", "SettleRound"])
def test_g9_faults_that_pass_in_time_end_no_round(method: str, *, individual: bool) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        ana.timeout_s = 2 * FAULTS_TOLERATED_S
        count = failing(scenario, method, FAULTS_TOLERATED_S - 2.0)
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        if method != "PlaceStakes":
            placed_stake(await ana.bet(round_id, {"17": 100}))
            assert not refusal_reason(await ana.cancel_bets(round_id, {"17": 100}))
        if individual:
            assert not refusal_reason(await ana.spin(round_id))
        await scenario.wait_for_end(round_id)
        assert count() > 10
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        # Its table is still the one that it was.
        assert scenario.world.current_owners[TABLE_ID].process.name == "mesa#1"
        assert not scenario.published("snapshot_published", ana.table_id)[1:]

    Scenario(individual=individual).run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.parametrize("method", ["PlaceStakes", "SettleRound"])
def test_g4_an_owner_that_dies_among_faults_leaves_a_round_that_ends_once(method: str) -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        failing(scenario, method, FAULTS_TOLERATED_S / 2)
        ana.timeout_s = 1.0
        await ana.bet(round_id, {"red": 500})
        await asyncio.sleep(8.0)
        scenario.world.current_owners[TABLE_ID].process.kill()
        await asyncio.sleep(FAULTS_TOLERATED_S)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is (Ending.VOID if method == "PlaceStakes" else Ending.SETTLED)
        assert await ana.wait_for_open_round() != round_id

    Scenario().run(script)


@pytest.mark.guarantee("G9")
@pytest.mark.parametrize("method", ["OpenTable", "ListTableSessions", "ApplySpecificRules"])
def test_g9_a_table_opens_when_lasting_faults_have_passed(method: str) -> None:
    """Nothing of a round is at stake yet: the owner stays, and tries again."""

    async def script(scenario: Scenario) -> None:
        failing(scenario, method, 2 * FAULTS_TOLERATED_S)
        scenario.world.open_tables(TABLE_ID, scenario.configuration)
        ana = Player(scenario.world, "ana", TABLE_ID)
        scenario.world.deposit("ana", STARTING_CENTS)
        async with asyncio.timeout(4 * FAULTS_TOLERATED_S):
            while not await ana.enter():
                await asyncio.sleep(1.0)
        placed_stake(await ana.bet(await ana.wait_for_open_round(4 * FAULTS_TOLERATED_S), {"red": 500}))
        assert scenario.world.current_owners[TABLE_ID].process.name == "mesa#1"
        assert not scenario.world.durability.violations

    Scenario().run(script)


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G9")
def test_g4_a_round_with_an_uncertain_stake_is_not_drawn() -> None:
    async def script(scenario: Scenario) -> None:
        ana, rui = await scenario.open_table("ana", "rui")
        round_id, other = await ana.wait_for_open_round(), await rui.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        placed_stake(await ana.bet(round_id, {"17": 100}))
        placed_stake(await rui.bet(other, {"black": 300}))
        failing(scenario, "CancelStakes", math.inf)
        await ana.cancel_bets(round_id, {"17": 100})
        await asyncio.sleep(FAULTS_TOLERATED_S + 10.0)
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
