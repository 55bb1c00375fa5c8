"""Tests of specific rules: the default and the bounds of every option, and how anything beyond them is refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from services.kit.table.caves.period import Period
from services.poker.specific_rules import (
    AMOUNT_LIMIT_CENTS,
    Approval,
    CommissionMode,
    EntryMode,
    HeadsUpBlinds,
    Limit,
    NoFlopNoDrop,
    Showdown,
    verify,
)
from services.poker.variant import Variant
from tests.engine.poker.tables import HOLDEM, OMAHA, both, both_variants, refusal_of, rules

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)
CAVE, FIXED = CommissionMode.CAVE, Limit.FIXED_RAISES
# Fields that are amounts of a table with a minimum bet of one euro have to fit each other.
RANGE = {"cave_min_cents": 4000, "cave_max_cents": 20_000}


@both_variants
def test_the_recommended_rules_are_possible(variant: Variant) -> None:
    made = verify(rules(variant))

    assert (made.seats, made.period, made.min_players) == (6, None, 2)
    assert (made.big_blind_cents, made.small_blind_cents) == (100, 50)
    assert (made.cave_min_cents, made.cave_max_cents) == (10_000, 10_000)
    assert (made.top_up_to_min_cents, made.top_up_to_max_cents) == (10_000, 10_000)
    assert made.limit is (Limit.POT_LIMIT if variant is OMAHA else Limit.NO_LIMIT)
    assert (made.max_raises_per_turn, made.bet_units) == (3, (1, 1, 2, 2))
    assert (made.commission_mode, made.commission_bps, made.commission_cap_cents) == (CommissionMode.POT, 500, None)
    assert made.commission_on_top
    assert made.no_flop_no_drop is NoFlopNoDrop.ANY_PREFLOP_END
    assert (made.decision_time_s, made.time_bank_s, made.time_bank_cap_s) == (20, 30, 60)
    assert (made.time_bank_refill_s, made.time_bank_refill_hands) == (10, 10)
    assert (made.disconnect_extra_s, made.auto_sitout_after) == (30, 2)
    assert (made.heads_up_blinds, made.showdown) == (HeadsUpBlinds.LITERAL, Showdown.REVEAL_ALL)
    assert made.entry_mode is EntryMode.WAIT_FOR_BIG_BLIND
    assert (made.rest_period_s, made.rest_per_hour) == (600, 1)
    assert (made.inactive_hands, made.inactive_requires_absence, made.rebuy_grace_s) == (5, True, 60)
    assert (made.rathole_window_min, made.recovery_limit_s, made.gateway_pause_s) == (60, 300, 120)
    assert made.allowed_aids == ()
    assert verify(rules(variant, commission_mode=CAVE)).commission_bps == 1000


@both("5", "4.a", "7", "15", "17.a", "17.b", "22", "23", "38", "48", "70.b", "R2")
@both_variants
@pytest.mark.parametrize(
    ("chosen", "field", "bound", "paragraph"),
    [
        ({"seats": 1, "min_players": 1}, "seats", "2", "5"),
        ({"seats": 11}, "seats", "10", "5"),
        ({"min_players": 1}, "min_players", "2", "7"),
        ({"min_players": 7}, "min_players", "6", "7"),
        ({"small_blind_cents": 101}, "small_blind_cents", "100", "22"),
        ({"cave_min_cents": 99}, "cave_min_cents", "100", "15"),
        ({"top_up_to_min_cents": 99}, "top_up_to_min_cents", "100", "15"),
        ({"max_raises_per_turn": 4}, "max_raises_per_turn", "3", "38"),
        ({"bet_units": (1, 1, 1, 1)}, "bet_units", "(1, 1, 2, 2)", "38"),
        ({"limit": FIXED, "bet_units": (1, 1, 2, 0)}, "bet_units", "1", "23"),
        ({"commission_bps": 99}, "commission_bps", "100", "17.a"),
        ({"commission_bps": 501}, "commission_bps", "500", "17.a"),
        ({"commission_bps": 0}, "commission_bps", "100", "17.a"),
        ({"commission_bps": 199}, "commission_bps", "200", "17.a"),
        ({"commission_mode": CAVE, "commission_bps": 499}, "commission_bps", "500", "17.b"),
        ({"commission_mode": CAVE, "commission_bps": 2001}, "commission_bps", "2000", "17.b"),
        ({"commission_mode": CAVE, "big_blind_cents": 2, "cave_min_cents": 4}, "cave_min_cents", "5", "17.b"),
        ({"commission_cap_cents": 300}, "commission_cap_cents", "", "17.a"),
        ({"commission_cap_cents": 300, "commission_mode": CAVE}, "commission_cap_cents", "", "17.b"),
        ({"heads_up_blinds": HeadsUpBlinds.BUTTON_SMALL_BLIND}, "heads_up_blinds", "literal", "48"),
        ({"inactive_hands": 0}, "inactive_hands", "1", "70.b"),
        ({"inactive_hands": 6}, "inactive_hands", "5", "70.b"),
        ({"allowed_aids": ("",)}, "allowed_aids", "", "11.f"),
    ],
)
def test_what_a_regulation_forbids_is_refused_with_its_rule(
    variant: Variant, chosen: dict[str, object], field: str, bound: str, paragraph: str
) -> None:
    refused = refusal_of(lambda: verify(rules(variant, **{"big_blind_cents": 100, **chosen})))  # type: ignore[arg-type]

    assert refused.reason == "RULE_VIOLATED"
    rule = f"{variant.regulation}:{paragraph}"
    assert refused.facts == {"field": f"configuration.rules.{field}", "bound": bound, "rule": rule}
    assert rule in refused.sentence


BOUNDS = [
    ("big_blind_cents", 2, 100_000_000, "22"),
    ("small_blind_cents", 1, None, "22"),
    ("max_raises_per_turn", 1, 10, "38"),
    ("decision_time_s", 5, 120, "43"),
    ("time_bank_s", 0, 300, "44"),
    ("time_bank_refill_s", 0, 300, "44"),
    ("time_bank_refill_hands", 1, 1000, "44"),
    ("time_bank_cap_s", 30, 300, "44"),
    ("disconnect_extra_s", 0, 120, "44"),
    ("auto_sitout_after", 1, 5, "45"),
    ("rest_period_s", 0, 1800, "68"),
    ("rest_per_hour", 0, 4, "68"),
    ("rebuy_grace_s", 15, 300, "71"),
    ("rathole_window_min", 0, 1440, "8"),
    ("recovery_limit_s", 30, 900, "72"),
    ("gateway_pause_s", 30, 300, "72"),
]


@both("14", "43", "44", "68", "22")
@both_variants
@pytest.mark.parametrize(("field", "low", "high", "paragraph"), BOUNDS)
def test_what_a_rule_leaves_open_has_bounds_of_ours(
    variant: Variant, field: str, low: int, high: int | None, paragraph: str
) -> None:
    base: dict[str, object] = {"big_blind_cents": 100, "time_bank_cap_s": 300, "limit": FIXED}
    possible = [low] if high is None else [low, high]
    for value in possible:
        verify(rules(variant, **{**base, field: value}))  # type: ignore[arg-type]
    if field == "time_bank_cap_s":
        base["time_bank_s"] = 30
    for value in [low - 1] if high is None else [low - 1, AMOUNT_LIMIT_CENTS + 1 if high > 10**6 else high + 1]:
        refused = refusal_of(lambda value=value: verify(rules(variant, **{**base, field: value})))  # type: ignore[misc]
        assert (refused.reason, refused.facts["field"]) == ("INVALID", f"configuration.rules.{field}")
        assert f"{variant.regulation}:{paragraph}" in refused.sentence


@both("14")
@pytest.mark.parametrize(
    ("chosen", "field"),
    [
        ({"cave_min_cents": 10_000, "cave_max_cents": 9999}, "cave_max_cents"),
        ({"cave_max_cents": AMOUNT_LIMIT_CENTS + 1}, "cave_max_cents"),
        ({**RANGE, "top_up_to_max_cents": 20_001}, "top_up_to_max_cents"),
        ({**RANGE, "top_up_to_min_cents": 15_000, "top_up_to_max_cents": 14_999}, "top_up_to_min_cents"),
        ({"limit": FIXED, "bet_units": (1, 1, 2)}, "bet_units"),
        ({"limit": FIXED, "bet_units": (1, 1, 2, 101)}, "bet_units"),
    ],
)
def test_amounts_fit_each_other(chosen: dict[str, object], field: str) -> None:
    refused = refusal_of(lambda: verify(rules(**chosen)))  # type: ignore[arg-type]

    assert (refused.reason, refused.facts["field"]) == ("INVALID", f"configuration.rules.{field}")


@both("6.b", "2.m")
@both_variants
@pytest.mark.parametrize("length", [timedelta(minutes=15), timedelta(hours=24)])
def test_a_period_has_bounds_of_ours(variant: Variant, length: timedelta) -> None:
    step = timedelta(microseconds=1 if length > timedelta(hours=1) else -1)
    verify(rules(variant, period=Period(NOON, NOON + length, completes_lap=True)))
    for ends_at in (NOON + length + step, NOON, NOON - length):
        refused = refusal_of(
            lambda ends_at=ends_at: verify(rules(variant, period=Period(NOON, ends_at, completes_lap=True)))  # type: ignore[misc]
        )
        assert (refused.reason, refused.facts["field"]) == ("INVALID", "configuration.rules.period.ends_at")
        assert f"{variant.regulation}:6.b" in refused.sentence


@pytest.mark.parametrize(
    "chosen",
    [
        {"seats": 2},
        {"seats": 10, "min_players": 10},
        {"period": Period(NOON, NOON + timedelta(hours=1), completes_lap=True)},
        {"small_blind_cents": 100},
        {**RANGE, "top_up_to_min_cents": 100, "top_up_to_max_cents": 20_000},
        {"limit": FIXED, "max_raises_per_turn": 10, "bet_units": (1, 2, 3, 100)},
        {"commission_bps": 200},
        {"commission_bps": 100, "approvals": frozenset({Approval.COMMISSION_UNDER_2_PERCENT})},
        {"commission_cap_cents": 1, "approvals": frozenset({Approval.COMMISSION_CAP})},
        {"commission_mode": CAVE, "commission_bps": 500},
        {"commission_mode": CAVE, "commission_bps": 2000, "commission_on_top": False},
        {
            "heads_up_blinds": HeadsUpBlinds.BUTTON_SMALL_BLIND,
            "approvals": frozenset({Approval.BUTTON_SMALL_BLIND}),
        },
        *({"no_flop_no_drop": reading} for reading in NoFlopNoDrop),
        *({"entry_mode": mode} for mode in EntryMode),
        *({"limit": limit} for limit in Limit),
        {"showdown": Showdown.MUCK_LOSERS},
        {"inactive_hands": 1, "inactive_requires_absence": False},
        {"allowed_aids": ("a chart of probabilities",)},
    ],
)
def test_what_an_operator_may_choose(chosen: dict[str, object]) -> None:
    for variant in (HOLDEM, OMAHA):
        made = verify(rules(variant, **chosen))  # type: ignore[arg-type]
        assert all(getattr(made, field) == value for field, value in chosen.items())
