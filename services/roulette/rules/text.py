"""Writes the rules that players read from `pt.md` and `en.md`, with a table's own limits and prizes (804/2015:25)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.configuration import rules_template
from services.kit.table.configuration.rules_template import Language
from services.roulette import call_bets, specific_rules
from services.roulette.board import Kind, Place
from services.roulette.engine import STAKE, TERMS, Table
from services.roulette.wheel import FRENCH_37, Colour, colour_of

_TEXTS = Path(__file__).parent
_ONE_EURO_CENTS = 100


def render(configuration: types_pb2.TableConfiguration, rules: roulette_pb2.SpecificRules, language: str) -> str:
    """Returns the complete rules of a table, in Markdown; refuses rules that the regulation does not allow."""
    complete = types_pb2.TableConfiguration()
    complete.CopyFrom(configuration)
    complete.rules.Pack(rules)
    table = Table(specific_rules.read(complete))
    chosen = rules_template.language_of(language)
    return rules_template.fill(
        template(chosen.code),
        rules_template.table_conditions(configuration) | _conditions(table),
        rules_template.table_values(configuration, chosen) | _values(table, chosen),
    )


@cache
def template(code: str) -> str:
    """Returns the text of one language as it is written, with its conditions and placeholders."""
    return (_TEXTS / f"{code}.md").read_text(encoding="utf-8")


def _conditions(table: Table) -> dict[str, bool]:
    return {
        "american": table.wheel is not FRENCH_37,
        "french": table.wheel is FRENCH_37,
        "single_zero": len(table.wheel.zeros) == 1,
        "double_zero": len(table.wheel.zeros) > 1,
        "doubles": not table.specific_rules.without_doubles,
        "total": table.total_maximum_cents > 0,
        "call_bets": table.specific_rules.call_bets,
    }


def _values(table: Table, language: Language) -> dict[str, object]:
    order = table.wheel.order
    straight_prize_cents = table.minimum_cents * TERMS[Kind.STRAIGHT].prize // STAKE
    largest_prize = max(offer.prize_halves for offer in table.offered_places.values()) // STAKE
    straight = TERMS[Kind.STRAIGHT].prize // STAKE
    return {
        "regulation": table.wheel.articles.regulation,
        "pockets": len(order),
        "wheel_order": _listed(order),
        **{colour.name.lower(): _listed(_coloured(table, colour)) for colour in Colour},
        "minimum": language.euros(table.minimum_cents),
        "total_maximum": language.euros(table.total_maximum_cents),
        "zero_places": _listed(place.name for place in _around_zero(table)),
        "straight_example": language.euros(straight_prize_cents),
        "straight_example_return": language.euros(straight_prize_cents + table.minimum_cents),
        "largest_prize": largest_prize,
        "largest_prize_for_one": language.euros(largest_prize * _ONE_EURO_CENTS),
        "one": language.euros(_ONE_EURO_CENTS),
        # Every bet returns the same share: a straight up wins once in `pockets` rounds, and pays stake and prize.
        "returned": straight + 1,
        "return_rate": language.percentage(straight + 1, len(order)),
        **_limits_and_prizes(table, language),
        **_call_bet_values(table),
    }


def _limits_and_prizes(table: Table, language: Language) -> dict[str, object]:
    """Returns those of each kind that is offered; they are the same on all its places."""
    values: dict[str, object] = {}
    for offer in table.offered_places.values():
        kind = offer.place.kind.name.lower()
        values[f"{kind}_minimum"] = language.euros(offer.minimum_cents)
        values[f"{kind}_maximum"] = language.euros(offer.maximum_cents)
        values[f"{kind}_prize"] = _multiple(offer.prize_halves)
    return values


def _multiple(halves: int) -> str:
    return "½" if halves * 2 == STAKE else str(halves // STAKE)


def _around_zero(table: Table) -> list[Place]:
    zeros = frozenset(table.wheel.zeros)
    return [place for place in table.board.values() if zeros & place.numbers and place.kind is not Kind.STRAIGHT]


def _coloured(table: Table, colour: Colour) -> list[str]:
    return [number for number in table.wheel.ascending if colour_of(number) is colour]


def _call_bet_values(table: Table) -> dict[str, object]:
    if not table.specific_rules.call_bets:
        return {}
    offered = call_bets.call_bets(table.wheel)
    values: dict[str, object] = {
        "neighbours": _listed(map(str, call_bets.NEIGHBOUR_COUNTS)),
        "neighbours_units": _listed(
            str(offered[f"neighbours-0-{neighbours}"].units) for neighbours in call_bets.NEIGHBOUR_COUNTS
        ),
        "long_final_units": offered["final-0"].units,
        "short_final_units": offered["final-9"].units,
    }
    for series in (call_bets.VOISINS, call_bets.TIERS, call_bets.ORPHELINS):
        covered = frozenset[str]().union(*(table.board[place].numbers for place, _ in series.components))
        values[f"{series.name}_units"] = series.units
        values[f"{series.name}_numbers"] = _listed(number for number in table.wheel.ascending if number in covered)
        values[f"{series.name}_chips"] = _listed(f"{units} × {place}" for place, units in series.components)
    return values


def _listed(items: Iterable[str]) -> str:
    return ", ".join(items)
