"""Reads a table's specific rules from its configuration and checks them against the regulation."""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf.message import DecodeError

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.refusals import invalid, rule_violated
from services.roulette.board import Kind
from services.roulette.engine import DOUBLES, TERMS, SpecificRules
from services.roulette.wheel import WHEELS, Wheel

REGULATIONS = frozenset(wheel.articles.regulation for wheel in WHEELS)
# Ours, since no rule sets one: keeps every amount that is multiplied from it within an int64 (G11).
MINIMUM_LIMIT_CENTS = 1_000_000_00


def unpack(configuration: types_pb2.TableConfiguration) -> roulette_pb2.SpecificRules:
    """Returns the part of a configuration that only roulette knows."""
    message = roulette_pb2.SpecificRules()
    try:
        is_readable = configuration.rules.Unpack(message)
    except DecodeError:
        is_readable = False
    if not is_readable:
        raise invalid("configuration.rules", f"have to be a `{message.DESCRIPTOR.full_name}`")
    return message


def read(configuration: types_pb2.TableConfiguration) -> SpecificRules:
    """Returns the specific rules; refuses what goes beyond the regulation, with the rule (`804/2015:P.2`)."""
    message = unpack(configuration)
    wheel = _wheel(configuration.regulation, message)
    minimum_cents = _minimum_cents(wheel, message.minimum_cents)
    articles = wheel.articles
    if message.call_bets and articles.call_bets is None:
        sentence = "Call bets belong to the French roulette alone (807/2015:8)."
        raise rule_violated("configuration.rules.call_bets", "false", articles.cite(articles.bets), sentence)
    if message.total_maximum_cents and message.total_maximum_cents < minimum_cents:
        rule = articles.cite(articles.options)
        sentence = f"A cap on all bets together below the minimum of one would leave no bet ({rule})."
        raise rule_violated("configuration.rules.total_maximum_cents", minimum_cents, rule, sentence)
    rules = SpecificRules(
        wheel=wheel,
        minimum_cents=minimum_cents,
        times_minimum=_times_minimum(wheel, message.maxima),
        without_doubles=message.without_doubles,
        total_maximum_cents=message.total_maximum_cents,
        call_bets=message.call_bets,
    )
    _verify_doubles_can_be_bet(rules)
    return rules


def _wheel(regulation: str, message: roulette_pb2.SpecificRules) -> Wheel:
    if regulation not in REGULATIONS:
        raise invalid("configuration.regulation", f"has to be one of {', '.join(sorted(REGULATIONS))} for roulette")
    wheels = {f"WHEEL_{wheel.name}": wheel for wheel in WHEELS if wheel.articles.regulation == regulation}
    number = message.wheel
    name = roulette_pb2.Wheel.Name(number) if number in roulette_pb2.Wheel.values() else str(number)
    if name not in wheels:
        rule = f"{regulation}:6.a"
        bound = ", ".join(wheels)
        raise rule_violated(
            "configuration.rules.wheel",
            bound,
            rule,
            f"{name} is not a wheel of this regulation, but {bound} ({rule}).",
        )
    return wheels[name]


def _minimum_cents(wheel: Wheel, minimum_cents: int) -> int:
    if minimum_cents < 1:
        rule = wheel.articles.cite(wheel.articles.minimum)
        raise rule_violated(
            "configuration.rules.minimum_cents", 1, rule, f"The operator has to set a minimum bet ({rule})."
        )
    if minimum_cents > MINIMUM_LIMIT_CENTS:
        raise invalid("configuration.rules.minimum_cents", f"may be {MINIMUM_LIMIT_CENTS} at most")
    return minimum_cents


def _times_minimum(wheel: Wheel, maxima: Iterable[roulette_pb2.KindMaximum]) -> dict[Kind, int]:
    """Returns the operator's maxima, which may be lower than the ceilings and never higher."""
    articles, maximum_of = wheel.articles, dict[Kind, int]()
    for position, maximum in enumerate(maxima):
        path = f"configuration.rules.maxima[{position}]"
        kind = KIND_OF_NUMBER.get(maximum.kind)
        if kind is None or kind in maximum_of:
            raise invalid(f"{path}.kind", "has to be a kind of bets, each of them once")
        terms = TERMS[kind]
        rule = articles.cite(articles.maximum, terms.paragraph)
        if not 1 <= maximum.times_minimum <= terms.ceiling:
            sentence = f"The maximum of {kind} is 1 to {terms.ceiling} times the minimum ({rule})."
            raise rule_violated(
                f"{path}.times_minimum", 1 if maximum.times_minimum < 1 else terms.ceiling, rule, sentence
            )
        maximum_of[kind] = maximum.times_minimum
    return maximum_of


def _verify_doubles_can_be_bet(rules: SpecificRules) -> None:
    """Refuses an odd minimum that is also a maximum of doubles: they take an even number of cents (T7)."""
    articles = rules.wheel.articles
    rule = articles.cite(articles.combinations)
    for kind in () if rules.without_doubles or rules.minimum_cents % 2 == 0 else sorted(DOUBLES):
        sentence = f"With these limits nobody could bet on {kind}, which takes an even number of cents ({rule})."
        if rules.times_minimum.get(kind) == 1:
            raise rule_violated("configuration.rules.maxima", 2, rule, sentence)
        if rules.total_maximum_cents == rules.minimum_cents:
            field = "configuration.rules.total_maximum_cents"
            raise rule_violated(field, rules.minimum_cents + 1, rule, sentence)


KIND_OF_NUMBER: dict[int, Kind] = {roulette_pb2.Kind.Value(f"KIND_{kind.name}"): kind for kind in Kind}
