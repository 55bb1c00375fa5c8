"""Writes the rules that players read from `pt.md` and `en.md`, with a table's own limits and options (805/2015:32)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from feltro.table.v1 import types_pb2
from services.blackjack.engine import MAXIMUM_TIMES_MINIMUM, SPECIAL_PRIZE, SpecificRules, Table, bet_name
from services.kit.table.configuration import rules_template
from services.kit.table.configuration.rules_template import Language

_TEXTS = Path(__file__).parent
_ONE_EURO_CENTS = 100
# With this many splits or more, the return does not depend on their limit in the digits that are stated.
_SPLITS_OF_STATED_RETURN = 3


def render(configuration: types_pb2.TableConfiguration, rules: SpecificRules, language: str) -> str:
    """Returns the complete rules of a table, in Markdown."""
    chosen = rules_template.language_of(language)
    return rules_template.fill(
        template(chosen.code),
        rules_template.table_conditions(configuration) | _conditions(configuration, rules),
        rules_template.table_values(configuration, chosen) | _values(configuration, rules, chosen),
    )


@cache
def template(code: str) -> str:
    """Returns the text of one language as it is written, with its conditions and placeholders."""
    return (_TEXTS / f"{code}.md").read_text(encoding="utf-8")


def _conditions(configuration: types_pb2.TableConfiguration, rules: SpecificRules) -> dict[str, bool]:
    return {
        "one_place": rules.places_per_player == 1,
        "several_places": rules.places_per_player > 1,
        "any_score": rules.double_any_score,
        "pairs_only": rules.split_pairs_only,
        "splits_limit": rules.splits_limit is not None,
        "insurance": rules.insurance,
        "specials": rules.special_prizes,
        "return_stated": _return_permille(rules) > 0,
        "open_hand": configuration.open_hand_hours > 0,
        "cut_card": rules.cut_card is not None,
    }


def _values(configuration: types_pb2.TableConfiguration, rules: SpecificRules, language: Language) -> dict[str, object]:
    table = Table(rules)
    one_pays_cents = table.largest_payout_cents(bet_name(1), _ONE_EURO_CENTS)
    return {
        "regulation": configuration.regulation,
        "packs": rules.packs,
        "cards": rules.packs * 52,
        "places": rules.places,
        "places_per_player": rules.places_per_player,
        "minimum": language.euros(rules.minimum_cents),
        "maximum": language.euros(rules.maximum_cents),
        "times_minimum": MAXIMUM_TIMES_MINIMUM,
        "step": language.euros(rules.step_cents),
        "splits": rules.splits_limit or 0,
        "hands": (rules.splits_limit or 0) + 1,
        "special": SPECIAL_PRIZE,
        "blackjack_prize": language.euros(rules.minimum_cents * 3 // 2),
        "blackjack_return": language.euros(rules.minimum_cents * 5 // 2),
        "largest_prize": language.euros(one_pays_cents - _ONE_EURO_CENTS),
        "one": language.euros(_ONE_EURO_CENTS),
        "return_rate": _share(_return_permille(rules), language),
        "decision_time": language.duration(configuration.decision_ms),
        "open_hand_hours": configuration.open_hand_hours,
        "cut_card": rules.cut_card,
    }


def _return_permille(rules: SpecificRules) -> int:
    """Returns what of the initial bets comes back in the long run with the best play; 0 where none is stated.

    The tests compute it exactly, for a shuffle before each round: in this many digits it is the same for 4, 6 and 8
    packs. Neither insurance nor splitting tens of two ranks is ever part of the best play.
    """
    if rules.cut_card is not None:
        return 0
    if rules.splits_limit is not None and rules.splits_limit < _SPLITS_OF_STATED_RETURN:
        return 0
    if rules.double_any_score:
        return 999 if rules.special_prizes else 0
    return 998 if rules.special_prizes else 997


def _share(permille: int, language: Language) -> str:
    return language.percent_format.format(f"{permille / 10:.1f}".replace(".", language.decimal_mark))
