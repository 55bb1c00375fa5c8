"""Makes roulette tables for tests and places bets at them."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from services.kit.table.refusals import TableRefused
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame, RouletteRules

REGULATIONS = {"AMERICAN_37": "804/2015", "AMERICAN_38": "804/2015", "FRENCH": "807/2015"}
WHEELS = tuple(REGULATIONS)


def configuration(
    wheel: str = "FRENCH",
    *,
    regulation: str = "",
    minimum_cents: int = 100,
    maxima: Mapping[str, int] | None = None,
    without_doubles: bool = False,
    total_maximum_cents: int = 0,
    call_bets: bool = False,
) -> types_pb2.TableConfiguration:
    rules = roulette_pb2.SpecificRules(
        wheel=roulette_pb2.Wheel.Value(f"WHEEL_{wheel}"),
        minimum_cents=minimum_cents,
        maxima=[
            roulette_pb2.KindMaximum(kind=roulette_pb2.Kind.Value(f"KIND_{kind}"), times_minimum=times)
            for kind, times in (maxima or {}).items()
        ],
        without_doubles=without_doubles,
        total_maximum_cents=total_maximum_cents,
        call_bets=call_bets,
    )
    made = types_pb2.TableConfiguration(game="roulette", regulation=regulation or REGULATIONS.get(wheel, ""))
    made.rules.Pack(rules)
    return made


def table(
    wheel: str = "FRENCH",
    *,
    minimum_cents: int = 100,
    maxima: Mapping[str, int] | None = None,
    without_doubles: bool = False,
    total_maximum_cents: int = 0,
    call_bets: bool = False,
) -> RouletteRules:
    return RouletteGame().rules(
        configuration(
            wheel,
            minimum_cents=minimum_cents,
            maxima=maxima,
            without_doubles=without_doubles,
            total_maximum_cents=total_maximum_cents,
            call_bets=call_bets,
        )
    )


def request(chips: Mapping[str, int]) -> list[roulette_pb2.Bet]:
    return [roulette_pb2.Bet(place=place, amount_cents=cents) for place, cents in chips.items()]


def place(rules: RouletteRules, chips: Mapping[str, int], on_felt: Bets | None = None) -> Bets:
    """Places bets as a player does: reads names and amounts and adds them to the bets on the felt."""
    return rules.add(on_felt, rules.read_place_request(request(chips)))


def outcome_on(rules: RouletteRules, number: str) -> Outcome:
    """Returns the outcome in which the ball rests on a number."""
    return rules.outcomes[rules.wheel.order.index(number)]


def payouts(rules: RouletteRules, chips: Mapping[str, int], number: str) -> list[int]:
    """Returns what each bet pays on a number, and checks that the sum is what the round pays."""
    bets, outcome = place(rules, chips), outcome_on(rules, number)
    results = rules.results_message(outcome, bets).results
    assert [result.place for result in results] == list(bets)
    assert sum(result.payout_cents for result in results) == rules.payout_cents(outcome, bets)
    return [result.payout_cents for result in results]


def refusal(rules: RouletteRules, chips: Mapping[str, int], on_felt: Bets | None = None) -> TableRefused:
    """Returns the refusal of these bets; fails if the table accepts them."""
    before = None if on_felt is None else dict(on_felt)
    with pytest.raises(TableRefused) as refused:
        place(rules, chips, on_felt)
    assert on_felt == before
    return refused.value


def rule_marks(*ids: str) -> list[pytest.MarkDecorator]:
    """Returns the marks of a parameter set that proves these paragraphs."""
    return [pytest.mark.rule(each) for each in ids]
