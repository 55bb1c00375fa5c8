"""No configuration that was accepted closes a table for good: it plays, and a later version plays as well."""

from __future__ import annotations

import asyncio
from typing import Any
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import session_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.configuration import specific_rules
from services.kit.table.configuration.versions import verify_by_game
from services.kit.table.live.demo_credits import DEMO_CREDITS_CENTS
from services.kit.table.refusals import TableRefused
from services.roulette.game import RouletteGame
from tests.simulation.environment.catalogue import WHEELS, configuration
from tests.simulation.environment.players import Player
from tests.simulation.scenario import TABLE_ID, Scenario, placed_stake, refusal_reason

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)


def often(usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draws something usual most of the time, so that much is accepted."""
    return st.integers(0, 9).flatmap(lambda n: odd if n == 0 else usual)


@st.composite
def inactivity_policies(draw: st.DrawFn) -> session_pb2.InactivityPolicy:
    return session_pb2.InactivityPolicy(
        invite=draw(st.booleans()),
        idle_seconds=draw(often(st.sampled_from([0, 180, 2_592_000]), INT32)),
        missed_rounds=draw(often(st.sampled_from([0, 5, 1_000_000]), INT32)),
        warn_after_seconds=draw(often(st.sampled_from([0, 1, 2_592_000]), INT32)),
        end_after_seconds=draw(often(st.sampled_from([0, 60, 2_592_000]), INT32)),
        rebuy_grace_seconds=draw(often(st.sampled_from([0, 15, 300]), st.integers(-5, 400))),
    )


@st.composite
def configurations(draw: st.DrawFn) -> types_pb2.TableConfiguration:
    """Draws any configuration message, lawful or not."""
    regulation = draw(often(st.sampled_from(sorted(WHEELS)), st.text(max_size=9)))
    rules = roulette_pb2.SpecificRules(
        wheel=draw(often(st.just(WHEELS.get(regulation, 0)), st.integers(0, 5))),
        minimum_cents=draw(often(st.sampled_from([1, 99, 100, 10**8]), INT64)),
        maxima=[
            roulette_pb2.KindMaximum(kind=kind, times_minimum=times)
            for kind, times in draw(
                often(
                    st.dictionaries(st.integers(1, 15), st.integers(1, 30)).map(lambda each: list(each.items())),
                    st.lists(st.tuples(st.integers(0, 20), INT32), max_size=5),
                )
            )
        ],
        without_doubles=draw(st.booleans()),
        total_maximum_cents=draw(often(st.sampled_from([0, 101, 10**4, 2**63 - 1]), INT64)),
        call_bets=draw(st.booleans()),
    )
    made = types_pb2.TableConfiguration(
        game=draw(often(st.just("roulette"), st.text(max_size=9))),
        regulation=regulation,
        mode=draw(often(st.sampled_from([wallet_types.MODE_REAL, wallet_types.MODE_DEMO]), st.integers(0, 9))),
        play=wallet_types.Play.ValueType(draw(st.integers(0, 5))),
        name=types_pb2.LocalizedText(pt=draw(st.text(max_size=85)), en=draw(st.text(min_size=1, max_size=80))),
        betting_window_ms=draw(often(st.sampled_from([3_000, 600_000]), INT32)),
        result_shown_ms=draw(often(st.sampled_from([0, 500, 60_000]), INT32)),
        cancel_forbidden=draw(st.booleans()),
        seats=draw(often(st.sampled_from([0, 1, 1_000]), INT32)),
    )
    if draw(st.booleans()):
        made.inactivity.CopyFrom(draw(inactivity_policies()))
    made.rules.Pack(rules)
    if draw(st.integers(0, 9)) == 0:
        made.rules.value += draw(st.binary(max_size=40_000))
    return made


def accepted(drawn: types_pb2.TableConfiguration) -> bool:
    """Checks a configuration as it is checked when it is entered."""
    try:
        specific_rules.verify(TABLE_ID, drawn, approval_reference="SRIJ 2026/17")
        verify_by_game(RouletteGame(), drawn)
    except TableRefused:
        return False
    return True


async def play_a_round(scenario: Scenario, player: Player) -> None:
    """Bets the minimum of some place, and waits until the round is paid."""
    round_id = await player.wait_for_open_round(timeout_s=900.0)
    rules = player.rules
    place = min(rules.offered_places.values(), key=lambda offer: offer.minimum_cents)
    answer = await player.bet(round_id, {place.place.name: place.minimum_cents})
    in_force = scenario.world.catalogue.rules_in_force(TABLE_ID).configuration
    if in_force.mode == wallet_types.MODE_DEMO and place.minimum_cents > DEMO_CREDITS_CENTS:
        # Nobody has so many credits; the table is as open as any other.
        assert refusal_reason(answer) == "INSUFFICIENT_FUNDS"
        return
    placed_stake(answer)
    if in_force.play == wallet_types.PLAY_INDIVIDUAL:
        assert not refusal_reason(await player.spin(round_id))
    while scenario.round_entries(round_id).ended is None:
        await asyncio.sleep(5.0)
    assert scenario.round_entries(round_id).drawn is not None


@pytest.mark.guarantee("G4")
@pytest.mark.guarantee("G12")
@settings(max_examples=300, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(drawn=configurations())
def test_g12_an_accepted_configuration_plays_and_can_be_replaced(drawn: types_pb2.TableConfiguration) -> None:
    if not accepted(drawn):
        return

    async def script(scenario: Scenario) -> None:
        for language in ("pt", "en"):
            assert RouletteGame().rules_text(drawn, language)
        (ana,) = await scenario.open_table("ana", cents=10**10)
        await play_a_round(scenario, ana)
        # Off and on again, and by other rules of the same kind of table.
        scenario.world.catalogue.set_switch(TABLE_ID, "maintenance")
        await asyncio.sleep(700.0)
        scenario.world.catalogue.set_switch(TABLE_ID, None)
        changed = configuration(
            regulation=drawn.regulation, individual=drawn.play == wallet_types.PLAY_INDIVIDUAL, demo=drawn.mode == 2
        )
        assert accepted_as_next(changed, drawn)
        scenario.world.catalogue.configure(TABLE_ID, changed)
        assert await ana.enter()
        await asyncio.sleep(700.0)
        assert await ana.enter()
        await play_a_round(scenario, ana)

    with mock.patch("tests.simulation.scenario.configuration", return_value=drawn):
        scenario = Scenario()
    scenario.run(script)


def accepted_as_next(changed: types_pb2.TableConfiguration, existing: types_pb2.TableConfiguration) -> bool:
    changed.name.CopyFrom(types_pb2.LocalizedText(pt="Mesa", en="Table"))
    specific_rules.verify(TABLE_ID, changed, approval_reference="SRIJ 2026/18", existing=existing)
    return True


@pytest.mark.guarantee("G12")
def test_g12_roulette_is_not_played_like_poker() -> None:
    made = configuration()
    made.name.CopyFrom(types_pb2.LocalizedText(pt="Mesa", en="Table"))
    assert accepted(made)
    made.play = wallet_types.PLAY_POKER
    with pytest.raises(TableRefused) as refused:
        verify_by_game(RouletteGame(), made)
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "play"})
