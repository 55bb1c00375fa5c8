"""Bets by their names: how they are placed, taken back and told, and which names a player cannot bet on."""

from __future__ import annotations

import pytest

from feltro.blackjack.v1 import blackjack_pb2
from tests.engine.blackjack.tables import deal_cards, game_rules, refusal_of, stake

RULES = game_rules(places=5, places_per_player=2)


def bets(**places: int) -> list[blackjack_pb2.Bet]:
    return [blackjack_pb2.Bet(place=name.removeprefix("p"), amount_cents=cents) for name, cents in places.items()]


def test_a_bet_is_placed_by_itself_and_several_are_taken_back_together() -> None:
    assert RULES.read_place_request(bets(p3=1000)) == {"3": 1000}
    for wrong in ([], bets(p3=1000, p4=1000)):
        assert refusal_of(lambda wrong=wrong: RULES.read_place_request(wrong)).facts["field"] == "bets"  # type: ignore[misc]
    assert RULES.read_cancel_request([*bets(p3=1000, p4=500), *bets(p3=200)]) == {"3": 1200, "4": 500}
    assert refusal_of(lambda: RULES.read_cancel_request([])).facts["field"] == "bets"
    assert refusal_of(lambda: RULES.read_cancel_request(bets(p1=2) * 6)).facts["field"] == "bets"
    refused = refusal_of(lambda: RULES.read_cancel_request(bets(p3=1000, p4=0)))
    assert (refused.reason, refused.facts["field"]) == ("INVALID", "bets[1].amount_cents")


@pytest.mark.rule("805/2015:4.a")
@pytest.mark.parametrize("name", ["0", "6", "03", "3.2", "3.1.double", "3.insurance", "", "x" * 1000])
def test_a_name_that_is_no_place_cannot_be_bet_on(name: str) -> None:
    refused = refusal_of(lambda: RULES.read_place_request([blackjack_pb2.Bet(place=name, amount_cents=1000)]))
    assert refused.reason == "PLACE_UNKNOWN"
    assert refused.facts == {"place": name[:40], "places": "5", "rule": "805/2015:4.a"}
    assert len(refused.sentence) < 200


@pytest.mark.rule("805/2015:7", "805/2015:9")
def test_limits_hold_for_what_lies_on_each_place() -> None:
    felt = RULES.add(RULES.add(None, {"3": 1000}), {"3": 600})
    assert felt == {"3": 1600}
    assert RULES.add(felt, {"1": 500}) == {"3": 1600, "1": 500}
    refused = refusal_of(lambda: RULES.add(felt, {"3": 48_402}))
    assert (refused.reason, refused.facts) == (
        "ABOVE_MAXIMUM",
        {"place": "3", "amount_cents": "50002", "maximum_cents": "50000", "rule": "805/2015:9"},
    )
    refused = refusal_of(lambda: RULES.add({"1": 500, "2": 500}, {"3": 500}))
    assert (refused.reason, refused.facts) == (
        "TOO_MANY_PLACES",
        {"places": "3", "limit": "2", "rule": "805/2015:7"},
    )
    refused = refusal_of(lambda: RULES.add(None, {"2": 501}))
    assert (refused.reason, refused.facts) == (
        "OFF_STEP",
        {"place": "2", "amount_cents": "501", "step_cents": "2", "rule": "805/2015:25.a"},
    )
    refused = refusal_of(lambda: RULES.add(None, {"2": 498}))
    assert (refused.reason, refused.facts) == (
        "BELOW_MINIMUM",
        {"place": "2", "amount_cents": "498", "minimum_cents": "500", "rule": "805/2015:9"},
    )
    # Every part can stay by itself, since the others may be taken back.
    assert refusal_of(lambda: RULES.add(felt, {"3": 2})).reason == "BELOW_MINIMUM"


def test_bets_are_taken_back_in_parts_and_as_a_whole() -> None:
    felt = {"3": 1600, "1": 500}
    assert RULES.take(felt, {"3": 600, "1": 500}) == {"3": 1000}
    assert RULES.take(felt, felt) is None
    assert refusal_of(lambda: RULES.take(felt, {"2": 500})).reason == "NOT_ON_FELT"
    assert refusal_of(lambda: RULES.take(felt, {"3": 1200})).reason == "BELOW_MINIMUM"
    assert RULES.divide({"3": 1000, "1": 500}, {"3": 400}) == ({"3": 400}, {"3": 600, "1": 500})
    assert RULES.divide({"3": 1000}, {"1": 500}) == (None, {"3": 1000})


def test_bets_survive_a_round_trip_those_of_decisions_too() -> None:
    made = {"3": 1000, "3.1.double": 1000, "3.2": 1000, "3.insurance": 500, "4": 600}
    assert RULES.read_bets(RULES.bets_message(made).SerializeToString()) == made
    assert RULES.total_cents(made) == 4100
    assert RULES.together([{"3": 1000}, {"3": 200, "3.2": 1000}]) == {"3": 1200, "3.2": 1000}
    assert RULES.together([]) is None
    assert list(RULES.places(made)) == [3, 4]
    assert RULES.totals(made) == {}


@pytest.mark.rule("805/2015:15.f")
def test_a_bet_too_small_for_an_insurance_in_the_tables_steps_is_offered_none() -> None:
    hundreds = game_rules(minimum_cents=100, maximum_cents=10_000, step_cents=100)
    small = deal_cards(hundreds, [stake("a", 1, p1=100)], "Ts Ah 6d 5c")
    assert small.turn is not None
    assert not small.turn.at_once
    large = deal_cards(hundreds, [stake("a", 1, p1=300)], "Ts Ah 6d 5c")
    view = large.own_view(1, 10_000)
    assert view is not None
    assert [option.cost_cents for option in view.options] == [100, 0]
