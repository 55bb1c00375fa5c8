"""The message of specific rules names every option of a table, and reads back as it was written."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.caves.period import Period
from services.kit.table.refusals import TableRefused
from services.poker import specific_rules_message
from services.poker.specific_rules import (
    Approval,
    CommissionMode,
    EntryMode,
    HeadsUpBlinds,
    Limit,
    NoFlopNoDrop,
    Showdown,
    SpecificRules,
)
from services.poker.variant import Variant
from tests.engine.poker.tables import HOLDEM, OMAHA, both, refusal_of, rules

# Tables on which together every option is another one than the default.
OTHERWISE = [
    rules(
        HOLDEM,
        200,
        small_blind_cents=150,
        cave_min_cents=4_000,
        cave_max_cents=30_000,
        top_up_to_min_cents=1_000,
        top_up_to_max_cents=20_000,
        limit=Limit.FIXED_RAISES,
        max_raises_per_turn=4,
        bet_units=(1, 2, 3, 4),
        commission_bps=150,
        commission_cap_cents=300,
        commission_cap_per_hand=True,
        no_flop_no_drop=NoFlopNoDrop.WALK_ONLY,
        heads_up_blinds=HeadsUpBlinds.BUTTON_SMALL_BLIND,
        showdown=Showdown.MUCK_LOSERS,
        entry_mode=EntryMode.WAIT_OR_VOLUNTARY_POST,
        approvals=frozenset(Approval),
        seats=9,
        min_players=3,
        decision_time_s=15,
        allowed_aids=("a chart of odds", "a clock"),
        refuses_shared_devices=True,
        period=Period(
            datetime(2026, 11, 20, 20, tzinfo=UTC), datetime(2026, 11, 20, 21, 30, tzinfo=UTC), completes_lap=False
        ),
    ),
    rules(
        OMAHA,
        commission_mode=CommissionMode.CAVE,
        commission_on_top=False,
        commission_bps=700,
        entry_mode=EntryMode.IMMEDIATE,
        no_flop_no_drop=NoFlopNoDrop.LITERAL,
        limit=Limit.HALF_POT,
        time_bank_s=0,
        time_bank_refill_s=0,
        time_bank_refill_hands=7,
        time_bank_cap_s=0,
        disconnect_extra_s=0,
        auto_sitout_after=1,
        rest_period_s=0,
        rest_per_hour=0,
        inactive_hands=3,
        inactive_requires_absence=False,
        rebuy_grace_s=90,
        rathole_window_min=0,
        recovery_limit_s=60,
        gateway_pause_s=45,
    ),
]


def configured(made: SpecificRules, message: poker_pb2.SpecificRules | None = None) -> types_pb2.TableConfiguration:
    """Builds the configuration of a table with these rules."""
    configuration = types_pb2.TableConfiguration(
        game="poker",
        regulation=made.variant.regulation,
        play=wallet_types.PLAY_POKER,
        seats=made.seats,
        decision_ms=made.decision_time_s * 1000,
    )
    configuration.rules.Pack(specific_rules_message.message_of(made) if message is None else message)
    return configuration


@both("R2", "R3")
@pytest.mark.parametrize("made", [*OTHERWISE, rules(HOLDEM), rules(OMAHA)])
def test_specific_rules_read_back_as_they_were_written(made: SpecificRules) -> None:
    assert specific_rules_message.read(configured(made)) == made


def test_every_option_is_in_the_message() -> None:
    for field in dataclasses.fields(SpecificRules):
        if field.name != "variant":
            defaults = [getattr(rules(made.variant), field.name) for made in OTHERWISE]
            assert [getattr(made, field.name) for made in OTHERWISE] != defaults, field.name


def test_a_number_that_is_left_out_means_the_default() -> None:
    message = poker_pb2.SpecificRules(big_blind_cents=100)
    assert specific_rules_message.read(configured(rules(HOLDEM), message)) == rules(HOLDEM)
    message.time_bank_s = 100
    assert specific_rules_message.read(configured(rules(HOLDEM), message)).time_bank_cap_s == 100


@pytest.mark.parametrize(
    ("chosen", "reason", "field", "paragraph"),
    [
        ({"time_bank_s": 301}, "INVALID", "time_bank_s", "44"),
        ({"time_bank_cap_s": 29}, "INVALID", "time_bank_cap_s", "44"),
        ({"disconnect_extra_s": 121}, "INVALID", "disconnect_extra_s", "44"),
        ({"rest_period_s": 1801}, "INVALID", "rest_period_s", "68"),
        ({"rest_per_hour": 5}, "INVALID", "rest_per_hour", "68"),
        ({"rebuy_grace_s": 14}, "INVALID", "rebuy_grace_s", "71"),
        ({"rathole_window_min": 1441}, "INVALID", "rathole_window_min", "8"),
        ({"gateway_pause_s": 29}, "INVALID", "gateway_pause_s", "72"),
        ({"recovery_limit_s": 901}, "INVALID", "recovery_limit_s", "72"),
        ({"inactive_hands": 6}, "RULE_VIOLATED", "inactive_hands", "70.b"),
        ({"min_players": 7}, "RULE_VIOLATED", "min_players", "7"),
        ({"commission_cap_cents": 100}, "RULE_VIOLATED", "commission_cap_cents", "17.a"),
        ({"commission_bps": 199}, "RULE_VIOLATED", "commission_bps", "17.a"),
        ({"heads_up_blinds": 2}, "RULE_VIOLATED", "heads_up_blinds", "48"),
        ({"bet_units": [2, 2, 2, 2]}, "RULE_VIOLATED", "bet_units", "38"),
        ({"allowed_aids": [""]}, "RULE_VIOLATED", "allowed_aids", "11.f"),
    ],
)
@pytest.mark.parametrize("variant", [HOLDEM, OMAHA])
def test_an_option_out_of_bounds_is_refused_with_its_rule(
    variant: Variant, chosen: dict[str, int], reason: str, field: str, paragraph: str
) -> None:
    message = poker_pb2.SpecificRules(big_blind_cents=100, **chosen)  # type: ignore[arg-type]
    refused = refusal_of(lambda: specific_rules_message.read(configured(rules(variant), message)))
    assert refused.reason == reason
    assert refused.facts["field"] == f"configuration.rules.{field}"
    assert variant.rule(paragraph) in refused.sentence


@both("6.b")
@pytest.mark.parametrize("missing", ["begins_at", "ends_at"])
def test_a_period_without_a_beginning_or_an_end_is_refused(missing: str) -> None:
    message = specific_rules_message.message_of(OTHERWISE[0])
    message.period.ClearField(missing)  # type: ignore[arg-type]
    refused = refusal_of(lambda: specific_rules_message.read(configured(OTHERWISE[0], message)))
    assert (refused.reason, refused.facts["field"]) == ("INVALID", f"configuration.rules.period.{missing}")


@both("6.b")
@pytest.mark.parametrize("field", ["begins_at", "ends_at"])
def test_a_period_beyond_the_calendar_is_refused(field: str) -> None:
    message = specific_rules_message.message_of(OTHERWISE[0])
    getattr(message.period, field).seconds = 10**12
    refused = refusal_of(lambda: specific_rules_message.read(configured(OTHERWISE[0], message)))
    assert (refused.reason, refused.facts) == ("INVALID", {"field": f"configuration.rules.period.{field}"})


def test_rules_that_cannot_be_read_are_invalid() -> None:
    configuration = configured(rules(HOLDEM))
    configuration.rules.value = b"\xff"
    refused = refusal_of(lambda: specific_rules_message.read(configuration))
    assert (refused.reason, refused.facts) == ("INVALID", {"field": "configuration.rules"})


@pytest.mark.parametrize("field", ["showdown", "heads_up_blinds", "entry_mode", "limit", "approvals"])
def test_a_value_that_the_contract_does_not_name_is_refused(field: str) -> None:
    message = poker_pb2.SpecificRules(big_blind_cents=100)
    if field == "approvals":
        message.approvals.append(99)  # type: ignore[arg-type]
    else:
        setattr(message, field, 99)
    with pytest.raises(TableRefused, match="contract names"):
        specific_rules_message.read(configured(rules(HOLDEM), message))
