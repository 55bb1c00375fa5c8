"""Rules and switches that change during a round, and a source of randomness or rules that fail."""

from __future__ import annotations

import asyncio

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.journal.entries import Ending
from services.kit.table.live.closing import NO_BETS_LEFT
from services.kit.table.live.table import PLATFORM_FAULT, RANDOMNESS_FAILED
from services.wallet.model.state import StakeState
from tests.simulation import guarantees
from tests.simulation.scenario import (
    STARTING_CENTS,
    TABLE_ID,
    Scenario,
    both_regulations,
    closes_at,
    placed_stake,
    refusal_reason,
)


@pytest.mark.rule("903-B/2015:6.1.5")
def test_rules_never_change_during_a_round() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        changed = types_pb2.TableConfiguration()
        changed.CopyFrom(scenario.configuration)
        changed.rules.Pack(roulette_pb2.SpecificRules(wheel=roulette_pb2.WHEEL_FRENCH, minimum_cents=1_000))
        changed.betting_window_ms = 9_000
        scenario.world.catalogue.configure(TABLE_ID, changed)
        placed_stake(await ana.bet(round_id, {"red": 100}))
        await asyncio.sleep(6.0)
        assert scenario.round_entries(round_id).opened.configuration_version == 1
        assert scenario.round_entries(round_id).drawn is not None
        after = await ana.wait_for_open_round()
        assert scenario.round_entries(after).opened.configuration_version == 2
        assert refusal_reason(await ana.bet(after, {"red": 100})) == "BELOW_MINIMUM"

    Scenario().run(script)


@pytest.mark.rule("903-B/2015:6.3.1")
def test_a_table_that_is_switched_off_finishes_its_round() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))
        scenario.world.catalogue.set_switch(TABLE_ID, "maintenance")
        placed_stake(await ana.bet(round_id, {"black": 502}))
        await asyncio.sleep(30.0)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.ending is Ending.SETTLED
        snapshot = await ana.get_snapshot()
        assert snapshot is not None
        assert (snapshot.phase, snapshot.disabled_reason) == (types_pb2.PHASE_DISABLED, "maintenance")
        assert len(scenario.published("round_opened")) == 1
        scenario.world.catalogue.set_switch(TABLE_ID, None)
        assert await ana.wait_for_open_round() != round_id
        assert [event.enabled for event in scenario.published("table_switched")] == [False, True]

    Scenario().run(script)


@both_regulations
@pytest.mark.rule(
    "804/2015:20", "804/2015:21", "807/2015:22", "807/2015:23", "903-B/2015:6.7.3", "903-B/2015:6.3.3", "GLI-19 A.6.4"
)
@pytest.mark.guarantee("G9")
def test_a_failed_draw_voids_the_round_and_switches_the_game_off(regulation: str) -> None:
    """Vector A7 of the rulebook: stakes of 500, 700 and 300 go back."""

    async def script(scenario: Scenario) -> None:
        players = await scenario.open_table("ana", "rui", "eva")
        round_id = await players[0].wait_for_open_round()
        for player, cents in zip(players, (500, 700, 300), strict=True):
            placed_stake(await player.bet(round_id, {"red": cents}))
        scenario.world.randomness_fails = True
        await asyncio.sleep(8.0)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, RANDOMNESS_FAILED)
        assert [scenario.free_cents(name) for name in ("ana", "rui", "eva")] == [STARTING_CENTS] * 3
        assert scenario.stakes(round_id) == [(cents, StakeState.RETURNED) for cents in (500, 700, 300)]
        (event,) = scenario.published("round_voided")
        assert event.phrase.pt.startswith("Ocorreu um erro")
        assert not scenario.published("outcome_drawn")
        # The whole game is switched off, and no other round opens.
        assert [placement_id for placement_id, _ in scenario.world.catalogue.switches] == [None]
        assert [event.enabled for event in scenario.published("table_switched")] == [False]
        await asyncio.sleep(60.0)
        assert len(scenario.published("round_opened")) == 1

    Scenario(regulation=regulation).run(script)


@pytest.mark.guarantee("G4", "G9")
@pytest.mark.rule("GLI-19 A.6.4")
def test_g9_a_round_whose_draw_is_a_fault_of_ours_is_void_and_closes_its_own_table_alone() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        placed_stake(await ana.bet(round_id, {"red": 500}))

        def fail(*_: object) -> None:
            raise ZeroDivisionError

        rules = scenario.world.catalogue.rules_in_force(TABLE_ID).rules
        setattr(rules, "deal", fail)  # noqa: B010 - the method of this one table's rules
        await scenario.wait_for_end(round_id)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, PLATFORM_FAULT)
        assert scenario.stakes(round_id) == [(500, StakeState.RETURNED)]
        assert scenario.free_cents("ana") == STARTING_CENTS
        assert scenario.round_entries(round_id).drawn is None
        assert scenario.world.catalogue.switches == [(TABLE_ID, PLATFORM_FAULT)]
        await asyncio.sleep(60.0)
        assert len(scenario.published("round_opened")) == 1

    scenario = Scenario()
    scenario.world.run(lambda: script(scenario))
    (violation,) = guarantees.violations(scenario.world)
    assert violation.endswith(f"is void without a malfunction ({PLATFORM_FAULT})")


@pytest.mark.rule("GLI-19 2.8.2")
def test_an_undrawn_round_records_when_it_closed() -> None:
    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        announced = closes_at(await ana.get_snapshot())
        await ana.bet(round_id, {"red": 500})
        scenario.world.randomness_fails = True
        await asyncio.sleep(8.0)
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert ended.closed_at is not None
        assert ended.closed_at.timestamp() == pytest.approx(announced)

    Scenario().run(script)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("taken_back", [True, False], ids=["taken back", "refused"])
def test_g12_a_round_without_bets_does_not_hold_new_rules_up(*, taken_back: bool) -> None:
    """An individual round in which no bet is left ends when the rules change, and the next one follows them."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana", cents=1_000)
        round_id = await ana.wait_for_open_round()
        if taken_back:
            placed_stake(await ana.bet(round_id, {"red": 100}))
            assert not refusal_reason(await ana.cancel_bets(round_id))
        else:
            assert refusal_reason(await ana.bet(round_id, {"red": 2_000})) == "INSUFFICIENT_FUNDS"
        changed = types_pb2.TableConfiguration()
        changed.CopyFrom(scenario.configuration)
        changed.rules.Pack(roulette_pb2.SpecificRules(wheel=roulette_pb2.WHEEL_FRENCH, minimum_cents=200))
        scenario.world.catalogue.configure(TABLE_ID, changed)
        await asyncio.sleep(2.0)
        after = await ana.wait_for_open_round()
        assert after != round_id
        assert refusal_reason(await ana.bet(after, {"red": 100})) == "BELOW_MINIMUM"
        placed_stake(await ana.bet(after, {"red": 200}))
        ended = scenario.round_entries(round_id).ended
        assert ended is not None
        assert (ended.ending, ended.void_reason) == (Ending.VOID, NO_BETS_LEFT)

    Scenario(individual=True).run(script)
