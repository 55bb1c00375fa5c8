"""Writes the rules that players read from `pt.md` and `en.md`, with a table's own numbers (806/2015:66)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from feltro.table.v1 import types_pb2
from services.kit.table.configuration import rules_template
from services.kit.table.configuration.rules_template import Language
from services.kit.table.configuration.specific_rules import MISSED_ROUNDS
from services.poker.commission import WHOLE_BPS
from services.poker.specific_rules import CommissionMode, EntryMode, Limit, NoFlopNoDrop, SpecificRules
from services.poker.variant import Variant

_TEXTS = Path(__file__).parent
# A pot whose commission is a whole number of cents at every lawful rate.
_EXAMPLE_CENTS = 100_00


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
    return {
        "holdem": rules.variant is Variant.HOLDEM,
        "omaha": rules.variant is Variant.OMAHA,
        "no_limit": rules.limit is Limit.NO_LIMIT,
        "pot_limit": rules.limit is Limit.POT_LIMIT,
        "half_pot": rules.limit is Limit.HALF_POT,
        "fixed_raises": rules.limit is Limit.FIXED_RAISES,
        "one_cave": rules.cave_min_cents == rules.cave_max_cents,
        "of_pots": rules.commission_mode is CommissionMode.POT,
        "of_caves": rules.commission_mode is CommissionMode.CAVE,
        "free_before_flop": rules.no_flop_no_drop is NoFlopNoDrop.ANY_PREFLOP_END,
        "free_walks": rules.no_flop_no_drop is NoFlopNoDrop.WALK_ONLY,
        "waits": rules.entry_mode is not EntryMode.IMMEDIATE,
    }


def _values(configuration: types_pb2.TableConfiguration, rules: SpecificRules, language: Language) -> dict[str, object]:
    commission_cents = _EXAMPLE_CENTS * rules.commission_bps // WHOLE_BPS
    policy = configuration.inactivity
    return {
        "regulation": rules.variant.regulation,
        "hole_cards": rules.variant.hole_cards,
        "small_blind": language.euros(rules.small_blind_cents),
        "big_blind": language.euros(rules.big_blind_cents),
        "cave_min": language.euros(rules.cave_min_cents),
        "cave_max": language.euros(rules.cave_max_cents),
        "decision": language.duration(configuration.decision_ms),
        "max_raises": rules.max_raises_per_turn,
        "bet_sizes": ", ".join(language.euros(unit * rules.big_blind_cents) for unit in rules.bet_units),
        "commission": language.percentage(rules.commission_bps, WHOLE_BPS),
        "example": language.euros(_EXAMPLE_CENTS),
        "example_commission": language.euros(commission_cents),
        "example_rest": language.euros(_EXAMPLE_CENTS - commission_cents),
        "away_after": rules.auto_sitout_after,
        "missed_hands": policy.missed_rounds or MISSED_ROUNDS,
        "rebuy_grace": language.duration(1000 * (policy.rebuy_grace_seconds or rules.rebuy_grace_s)),
    }
