"""Writes the rules that players read from `pt.md` and `en.md`, with a table's own limits and prizes (812/2015:32)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from feltro.baccarat.v1 import baccarat_pb2
from feltro.table.v1 import types_pb2
from services.baccarat import odds, specific_rules
from services.baccarat.engine import TERMS, Chance, Commission, SpecificRules, Table
from services.kit.cards.shoe import PACK
from services.kit.table.configuration import rules_template
from services.kit.table.configuration.rules_template import Language

_TEXTS = Path(__file__).parent
_ONE_EURO_CENTS = 100
# A bet on banca whose commission is whole euros in both forms.
_EXAMPLE_CENTS = 100_00


def render(configuration: types_pb2.TableConfiguration, rules: baccarat_pb2.SpecificRules, language: str) -> str:
    """Returns the complete rules of a table, in Markdown; refuses rules that the regulation does not allow."""
    complete = types_pb2.TableConfiguration()
    complete.CopyFrom(configuration)
    complete.rules.Pack(rules)
    table = Table(specific_rules.read(complete))
    chosen = rules_template.language_of(language)
    return rules_template.fill(
        template(chosen.code),
        rules_template.table_conditions(configuration) | _conditions(table.specific_rules),
        rules_template.table_values(configuration, chosen) | _values(table, rules.places, chosen),
    )


@cache
def template(code: str) -> str:
    """Returns the text of one language as it is written, with its conditions and placeholders."""
    return (_TEXTS / f"{code}.md").read_text(encoding="utf-8")


def _conditions(rules: SpecificRules) -> dict[str, bool]:
    return {
        "macau": rules.macau,
        "cap": rules.prize_cap_cents > 0,
        "pairs": rules.pairs,
        "five_percent": rules.commission is Commission.FIVE_PERCENT,
        "one_score": len(rules.half_scores) == 1,
        "two_scores": len(rules.half_scores) > 1,
        "cut_card": rules.cut_card is not None,
    }


def _values(table: Table, places: int, language: Language) -> dict[str, object]:
    rules = table.specific_rules
    cap, example = rules.prize_cap_cents, _EXAMPLE_CENTS
    rate = 5 if rules.commission is Commission.FIVE_PERCENT else 50
    largest_prize = max(TERMS[chance].prize for chance in table.offered_chances)
    return {
        "regulation": specific_rules.REGULATION,
        "packs": rules.packs,
        "cards": len(PACK) * rules.packs,
        "places": places,
        "cut_card": rules.cut_card,
        "minimum": language.euros(rules.minimum_cents),
        "banca_step": language.euros(table.step_cents(Chance.BANCA)),
        "half_scores": ", ".join(map(str, sorted(rules.half_scores))),
        "example": language.euros(example),
        "example_commission": language.euros(example * rate // 100),
        "example_prize": language.euros(example - example * rate // 100),
        "example_return": language.euros(2 * example - example * rate // 100),
        "player_maximum": language.euros(rules.player_maximum_cents),
        "cap": language.euros(cap),
        "cap_tie": language.euros(cap // 10),
        "cap_pairs": language.euros(8 * cap // 100),
        "tie_example": language.euros(rules.minimum_cents * TERMS[Chance.TIE].prize),
        "tie_example_return": language.euros(rules.minimum_cents * (1 + TERMS[Chance.TIE].prize)),
        "largest_prize": largest_prize,
        "largest_prize_for_one": language.euros(largest_prize * _ONE_EURO_CENTS),
        "one": language.euros(_ONE_EURO_CENTS),
        **_of_chances(table, language),
    }


def _of_chances(table: Table, language: Language) -> dict[str, object]:
    """Returns limits, prize and average return of each chance that is offered."""
    values: dict[str, object] = {}
    for chance in table.offered_chances:
        name, maximum = chance.value.replace("-", "_"), table.maximum_cents(chance)
        returned = odds.expected_payout(table.specific_rules, chance)
        values[f"{name}_minimum"] = language.euros(table.smallest_bet_cents(chance))
        values[f"{name}_maximum"] = "—" if maximum is None else language.euros(maximum)
        values[f"{name}_prize"] = TERMS[chance].prize
        values[f"{name}_return"] = language.percentage(returned.numerator, returned.denominator)
    return values
