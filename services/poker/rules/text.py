"""Writes the rules that players read from `pt.md` and `en.md`, with a table's own numbers (806/2015:66)."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from pathlib import Path

from feltro.table.v1 import types_pb2
from services.kit.table.caves.waiting import SEAT_KEPT_FOR
from services.kit.table.configuration import rules_template
from services.kit.table.configuration.rules_template import Language
from services.poker import commission
from services.poker.specific_rules import (
    UNROUNDED_COMMISSION_BPS,
    CommissionMode,
    EntryMode,
    HeadsUpBlinds,
    Limit,
    NoFlopNoDrop,
    Showdown,
    SpecificRules,
)
from services.poker.variant import Variant

_TEXTS = Path(__file__).parent
# A pot whose commission is a whole number of cents at every lawful rate.
_EXAMPLE_CENTS = 100_00
_SECOND_MS, _MINUTE_MS = 1_000, 60_000


def render(configuration: types_pb2.TableConfiguration, rules: SpecificRules, language: str) -> str:
    """Returns the complete rules of a table, in Markdown."""
    chosen = rules_template.language_of(language)
    return rules_template.fill(
        template(chosen.code),
        rules_template.table_conditions(configuration) | _conditions(rules),
        rules_template.table_values(configuration, chosen) | _values(configuration, rules, chosen),
    )


@cache
def template(code: str) -> str:
    """Returns the text of one language as it is written, with its conditions and placeholders."""
    return (_TEXTS / f"{code}.md").read_text(encoding="utf-8")


def _conditions(rules: SpecificRules) -> dict[str, bool]:
    in_pots = rules.commission_mode is CommissionMode.POT
    return {
        "holdem": rules.variant is Variant.HOLDEM,
        "omaha": rules.variant is Variant.OMAHA,
        "always_open": rules.period is None,
        "completes_lap": rules.period is not None and rules.period.completes_lap,
        "ends_with_hand": rules.period is not None and not rules.period.completes_lap,
        "shared_refused": rules.refuses_shared_devices,
        "one_cave": rules.cave_min_cents == rules.cave_max_cents,
        "one_top_up": rules.top_up_to_min_cents == rules.top_up_to_max_cents,
        "return_window": rules.rathole_window_min > 0,
        "literal_blinds": rules.heads_up_blinds is HeadsUpBlinds.LITERAL,
        "waits": rules.entry_mode is EntryMode.WAIT_FOR_BIG_BLIND,
        "posts": rules.entry_mode is EntryMode.WAIT_OR_VOLUNTARY_POST,
        "at_once": rules.entry_mode is EntryMode.IMMEDIATE,
        "no_limit": rules.limit is Limit.NO_LIMIT,
        "pot_limit": rules.limit is Limit.POT_LIMIT,
        "half_pot": rules.limit is Limit.HALF_POT,
        "fixed_raises": rules.limit is Limit.FIXED_RAISES,
        "reveal_all": rules.showdown is Showdown.REVEAL_ALL,
        "of_pots": in_pots,
        "of_caves": not in_pots,
        "on_top": rules.commission_on_top,
        "under_2": rules.commission_bps < UNROUNDED_COMMISSION_BPS,
        "capped": rules.commission_cap_cents is not None,
        "cap_per_hand": rules.commission_cap_per_hand,
        "free_before_flop": rules.no_flop_no_drop is NoFlopNoDrop.ANY_PREFLOP_END,
        "free_walks": rules.no_flop_no_drop is NoFlopNoDrop.WALK_ONLY,
        "free_literal": rules.no_flop_no_drop is NoFlopNoDrop.LITERAL,
        "needs_absence": rules.inactive_requires_absence,
        "aids": bool(rules.allowed_aids),
    } | _time_conditions(rules)


def _time_conditions(rules: SpecificRules) -> dict[str, bool]:
    return {
        "bank": rules.time_bank_s > 0,
        "refilled": rules.time_bank_refill_s > 0 and rules.time_bank_cap_s > 0,
        "each_hand": rules.time_bank_refill_hands == 1,
        "disconnect": rules.disconnect_extra_s > 0,
        "one_timeout": rules.auto_sitout_after == 1,
        "rests": rules.rest_period_s > 0 and rules.rest_per_hour > 0,
        "one_rest": rules.rest_per_hour == 1,
    }


def _values(configuration: types_pb2.TableConfiguration, rules: SpecificRules, language: Language) -> dict[str, object]:
    return {
        "regulation": rules.variant.regulation,
        "seats": rules.seats,
        "min_players": rules.min_players,
        "seat_kept": language.duration(SEAT_KEPT_FOR // timedelta(milliseconds=1)),
        "hole_cards": rules.variant.hole_cards,
        "small_blind": language.euros(rules.small_blind_cents),
        "big_blind": language.euros(rules.big_blind_cents),
        "cave_min": language.euros(rules.cave_min_cents),
        "cave_max": language.euros(rules.cave_max_cents),
        "top_up_min": language.euros(rules.top_up_to_min_cents),
        "top_up_max": language.euros(rules.top_up_to_max_cents),
        "return_window": language.duration(_MINUTE_MS * rules.rathole_window_min),
        "max_raises": rules.max_raises_per_turn,
        "bet_sizes": "; ".join(language.euros(unit * rules.big_blind_cents) for unit in rules.bet_units),
        "missed_hands": rules.inactive_hands,
        "rebuy_grace": language.duration(_SECOND_MS * rules.rebuy_grace_s),
        "aids": "; ".join(rules.allowed_aids),
        **_period_values(rules),
        **_commission_values(rules, language),
        **_time_values(configuration, rules, language),
    }


def _period_values(rules: SpecificRules) -> dict[str, object]:
    """Writes when a table is open so that both languages read it alike, and no clock on a wall is meant."""
    if rules.period is None:
        return {"begins_at": "", "ends_at": ""}
    return {name: f"{getattr(rules.period, name):%Y-%m-%d %H:%M} UTC" for name in ("begins_at", "ends_at")}


def _commission_values(rules: SpecificRules, language: Language) -> dict[str, object]:
    if rules.commission_mode is CommissionMode.POT:
        commission_cents = commission.of_payment(rules, _EXAMPLE_CENTS)
    else:
        commission_cents = commission.of_cave(rules, _EXAMPLE_CENTS).commission_cents
    return {
        "commission": language.percentage(rules.commission_bps, commission.WHOLE_BPS),
        "example": language.euros(_EXAMPLE_CENTS),
        "example_commission": language.euros(commission_cents),
        "example_rest": language.euros(_EXAMPLE_CENTS - commission_cents),
        "cap": language.euros(rules.commission_cap_cents or 0),
    }


def _time_values(
    configuration: types_pb2.TableConfiguration, rules: SpecificRules, language: Language
) -> dict[str, object]:
    return {
        "decision": language.duration(configuration.decision_ms),
        "bank": language.duration(_SECOND_MS * rules.time_bank_s),
        "bank_refill": language.duration(_SECOND_MS * rules.time_bank_refill_s),
        "bank_cap": language.duration(_SECOND_MS * rules.time_bank_cap_s),
        "refill_hands": rules.time_bank_refill_hands,
        "disconnect": language.duration(_SECOND_MS * rules.disconnect_extra_s),
        "away_after": rules.auto_sitout_after,
        "rest": language.duration(_SECOND_MS * rules.rest_period_s),
        "rests": rules.rest_per_hour,
        "recovery_limit": language.duration(_SECOND_MS * rules.recovery_limit_s),
        "gateway_pause": language.duration(_SECOND_MS * rules.gateway_pause_s),
    }
