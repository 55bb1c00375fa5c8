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
from services.kit.table.owned.demo_credits import DEMO_CREDITS_CENTS
from services.kit.table.refusals import TableRefused
from services.roulette.game import RouletteGame
from tests.simulation.environment.catalogue import WHEELS, configuration
from tests.simulation.environment.players import Player
from tests.simulation.scenario import TABLE_ID, Scenario, placed_stake, refusal_reason

INT32 = st.integers(-(2**31), 2**31 - 1)
INT64 = st.integers(-(2**63), 2**63 - 1)
LIMIT = 30 * 24 * 3600
KINDS = st.sampled_from([kind for kind in roulette_pb2.Kind.values() if kind])

# For each field: values that may be lawful, and any at all.
FIELDS: dict[str, tuple[st.SearchStrategy[Any], st.SearchStrategy[Any]]] = {
    "game": (st.just("roulette"), st.text(max_size=9)),
    "regulation": (st.sampled_from(sorted(WHEELS)), st.text(max_size=9)),
    "wheel": (st.none(), st.integers(0, 5)),
    "minimum_cents": (st.sampled_from([1, 99, 100, 10**8]), INT64),
    "maxima": (
        st.dictionaries(KINDS, st.integers(1, 30)).map(lambda each: list(each.items())),
        st.lists(st.tuples(st.integers(0, 20), INT32), max_size=5),
    ),
    "total_maximum_cents": (st.sampled_from([0, 2 * 10**8, 2**63 - 1]), INT64),
    "mode": (st.sampled_from([wallet_types.MODE_REAL, wallet_types.MODE_DEMO]), st.integers(0, 9)),
    "play": (st.sampled_from([wallet_types.PLAY_INDIVIDUAL, wallet_types.PLAY_MULTI_PLAYER]), st.integers(0, 5)),
    "name": (st.sampled_from(["Mesa", "x" * 80, "\0", "🎲"]), st.text(max_size=90)),
    "betting_window_ms": (st.sampled_from([3_000, 600_000]), INT32),
    "result_shown_ms": (st.sampled_from([0, 500, 60_000]), INT32),
    "seats": (st.sampled_from([1, 1_000]), INT32),
    "idle_seconds": (st.sampled_from([0, 180, LIMIT]), st.sampled_from([-1, 179, LIMIT + 1, 2**31 - 1])),
    "missed_rounds": (st.sampled_from([0, 5, 10**6]), st.sampled_from([-1, 4, 10**6 + 1, 2**31 - 1])),
    "warn_after_seconds": (st.sampled_from([0, 1, LIMIT]), st.sampled_from([-1, LIMIT + 1, 2**31 - 1])),
    "end_after_seconds": (st.sampled_from([0, 60, LIMIT]), st.sampled_from([-1, 59, LIMIT + 1, 2**31 - 1])),
    "rebuy_grace_seconds": (st.sampled_from([0, 15, 300]), st.sampled_from([-1, 1, 14, 301, 2**31 - 1])),
    "unknown": (st.just(b""), st.binary(max_size=40) | st.binary(min_size=20_000, max_size=20_000)),
}


@st.composite
def configurations(draw: st.DrawFn) -> types_pb2.TableConfiguration:
    """Draws a configuration message of which a field or two may be anything."""
    odd = draw(st.sets(st.sampled_from(sorted(FIELDS)), max_size=2))
    value = {name: draw(strategies[name in odd]) for name, strategies in FIELDS.items()}
    rules = roulette_pb2.SpecificRules(
        wheel=WHEELS.get(value["regulation"], roulette_pb2.WHEEL_UNSPECIFIED)
        if value["wheel"] is None
        else value["wheel"],
        minimum_cents=value["minimum_cents"],
        maxima=[roulette_pb2.KindMaximum(kind=kind, times_minimum=times) for kind, times in value["maxima"]],
        without_doubles=draw(st.booleans()),
        total_maximum_cents=value["total_maximum_cents"],
        call_bets=value["regulation"] == "807/2015" and draw(st.booleans()),
    )
    made = types_pb2.TableConfiguration(
        name=types_pb2.LocalizedText(pt=value["name"], en=value["name"]),
        cancel_forbidden=draw(st.booleans()),
        **{
            name: value[name]
            for name in ("game", "regulation", "mode", "play", "betting_window_ms", "result_shown_ms", "seats")
        },
    )
    made.inactivity.CopyFrom(
        session_pb2.InactivityPolicy(
            invite=draw(st.booleans()),
            **{
                field.name: value[field.name]
                for field in session_pb2.InactivityPolicy.DESCRIPTOR.fields
                if field.name in value
            },
        )
    )
    made.rules.Pack(rules)
    made.rules.value += value["unknown"]
    return made


def accepted(drawn: types_pb2.TableConfiguration) -> bool:
    """Checks a configuration as it is checked when it is entered."""
    try:
        specific_rules.verify(TABLE_ID, drawn, RouletteGame(), approval_reference="SRIJ 2026/17")
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
@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
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
    specific_rules.verify(TABLE_ID, changed, RouletteGame(), approval_reference="SRIJ 2026/18", existing=existing)
    return True


@pytest.mark.guarantee("G12")
def test_g12_roulette_is_not_played_like_poker() -> None:
    made = configuration()
    made.name.CopyFrom(types_pb2.LocalizedText(pt="Mesa", en="Table"))
    assert accepted(made)
    made.play = wallet_types.PLAY_POKER
    with pytest.raises(TableRefused) as refused:
        verify_by_game(RouletteGame(), made)
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "configuration.play"})
