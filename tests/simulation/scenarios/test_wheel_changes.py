"""A table whose wheel is changed lawfully: what was drawn before is read by the rules that it was played by."""

from __future__ import annotations

import asyncio

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.live.table import PAST_OUTCOMES_SHOWN
from tests.simulation.environment.catalogue import configuration
from tests.simulation.scenario import TABLE_ID, Scenario, placed_stake, pocket_of

# Rounds with their outcomes.
Outcomes = list[tuple[str, bytes]]

AMERICAN_37, AMERICAN_38 = roulette_pb2.WHEEL_AMERICAN_37, roulette_pb2.WHEEL_AMERICAN_38


def rules_with(wheel: roulette_pb2.Wheel.ValueType, *, individual: bool) -> types_pb2.TableConfiguration:
    return configuration(regulation="804/2015", wheel=wheel, individual=individual, result_shown_ms=0)


def shown_and_journalled(scenario: Scenario, snapshot: types_pb2.TableSnapshot) -> tuple[Outcomes, Outcomes]:
    """Returns the outcomes that a table shows, and those that its journal holds, with their rounds."""
    shown = [(past.round_id, past.outcome.value) for past in snapshot.past_outcomes]
    settled = scenario.world.journal.settled_rounds(snapshot.table_id)
    return shown, [(drawn.round_id, drawn.outcome or b"") for drawn, _ in settled[:PAST_OUTCOMES_SHOWN]]


@pytest.mark.rule("903-B/2015:6.1.5")
@pytest.mark.guarantee("G4", "G9", "G10")
@pytest.mark.parametrize("individual", [False, True])
@pytest.mark.parametrize("change", ["killed", "superseded", "handed over"])
def test_a_table_plays_on_after_its_wheel_and_its_owner_have_changed(*, individual: bool, change: str) -> None:
    """00 is on the wheel of 38 pockets only, and one pocket holds another number on each wheel."""

    async def script(scenario: Scenario) -> None:
        world = scenario.world
        (ana,) = await scenario.open_table("ana")
        for wheel, number in ((AMERICAN_38, "00"), (AMERICAN_37, "2"), (AMERICAN_38, "2"), (AMERICAN_37, "14")) * 2:
            world.catalogue.configure(TABLE_ID, rules_with(wheel, individual=individual))
            version = world.catalogue.rules_in_force(TABLE_ID).version.version
            # The round under way may have been opened by the rules before.
            async with asyncio.timeout(60.0):
                while (snapshot := await ana.get_snapshot()) is None or snapshot.configuration_version != version:
                    await asyncio.sleep(0.5)
            round_id = await ana.wait_for_open_round()
            world.next_pockets = [pocket_of(scenario, number)]
            placed_stake(await ana.bet(round_id, {"red": 500}))
            if individual:
                await ana.spin(round_id)
            await scenario.wait_for_end(round_id)
            former = world.current_owners[TABLE_ID]
            if change == "killed":
                former.process.kill()
            elif change == "superseded":
                world.start_owner(TABLE_ID)
            else:
                former.hand_over.set()
            owner = await scenario.wait_for_next_owner(former)
            async with asyncio.timeout(10.0):
                await owner.owned_tables.ready.wait()
                await ana.wait_for_open_round()
            snapshot = await ana.get_snapshot()
            assert snapshot is not None
            shown, journalled = shown_and_journalled(scenario, snapshot)
            assert shown == journalled
            assert round_id in dict(shown)

    Scenario(regulation="804/2015", wheel=AMERICAN_38, individual=individual, result_shown_ms=0).run(script)


@pytest.mark.rule("903-B/2015:6.1.5")
@pytest.mark.guarantee("G10")
def test_a_spin_is_answered_by_the_rules_of_its_round() -> None:
    """The wheel changes while the player thinks, and the next round is open before the answer is built."""

    async def script(scenario: Scenario) -> None:
        (ana,) = await scenario.open_table("ana")
        round_id = await ana.wait_for_open_round()
        scenario.world.next_pockets = [pocket_of(scenario, "00")]
        placed_stake(await ana.bet(round_id, {"00": 100}))
        scenario.world.catalogue.configure(TABLE_ID, rules_with(AMERICAN_37, individual=True))
        _, send = ana.prepare_spin(round_id)
        for _ in range(2):
            spun = await send()
            assert isinstance(spun, roulette_pb2.SpinResponse)
            assert (spun.outcome.number, spun.payout_cents) == ("00", 3_600)
            assert [(result.place, result.payout_cents) for result in spun.results.results] == [("00", 3_600)]

    Scenario(regulation="804/2015", wheel=AMERICAN_38, individual=True, result_shown_ms=0).run(script)
