"""Tests of call bets: what they cover on the wheel, what they consist of, and how their components are paid."""

from __future__ import annotations

from fractions import Fraction

import pytest

from services.roulette.game import RouletteRules
from tests.engine.roulette.tables import outcome_on, payouts, place, refusal, table

# Clockwise stretches of the wheel, as 807/2015:8 describes them.
VOISINS = "22 18 29 7 28 12 35 3 26 0 32 15 19 4 21 2 25".split()  # noqa: SIM905
TIERS = "27 13 36 11 30 8 23 10 5 24 16 33".split()  # noqa: SIM905
ORPHELINS = "17 34 6 1 20 14 31 9".split()  # noqa: SIM905


def french() -> RouletteRules:
    return table("FRENCH", call_bets=True)


def covered(rules: RouletteRules, call_bet: str) -> set[str]:
    """Returns the numbers on which the bet pays anything."""
    bets = place(rules, {call_bet: 100})
    return {outcome.number for outcome in rules.outcomes if rules.payout_cents(outcome, bets)}


def stretch(rules: RouletteRules, first: str, last: str) -> list[str]:
    """Returns the wheel clockwise from one number to another."""
    order = list(rules.wheel.order) * 2
    start = order.index(first)
    return order[start : order.index(last, start) + 1]


@pytest.mark.rule("807/2015:8")
@pytest.mark.parametrize(
    ("call_bet", "chips"),
    [
        pytest.param(
            "voisins",
            {"0-2-3": 200, "4-7": 100, "12-15": 100, "18-21": 100, "19-22": 100, "25-26-28-29": 200, "32-35": 100},
            marks=pytest.mark.rule("807/2015:8.a"),
        ),
        pytest.param(
            "tiers",
            {"5-8": 100, "10-11": 100, "13-16": 100, "23-24": 100, "27-30": 100, "33-36": 100},
            marks=pytest.mark.rule("807/2015:8.b"),
        ),
        pytest.param(
            "orphelins",
            {"1": 100, "6-9": 100, "14-17": 100, "17-20": 100, "31-34": 100},
            marks=pytest.mark.rule("807/2015:8.c"),
        ),
        pytest.param("neighbours-17-2", {"25": 100, "17": 100, "34": 100}, marks=pytest.mark.rule("807/2015:8.d.i")),
        pytest.param("neighbours-26-2", {"3": 100, "26": 100, "0": 100}, marks=pytest.mark.rule("807/2015:8.d.i")),
        pytest.param(
            "neighbours-17-4",
            dict.fromkeys(["2", "25", "17", "34", "6"], 100),
            marks=pytest.mark.rule("807/2015:8.d.ii"),
        ),
        pytest.param(
            "neighbours-0-6",
            dict.fromkeys(["35", "3", "26", "0", "32", "15", "19"], 100),
            marks=pytest.mark.rule("807/2015:8.d.iii"),
        ),
        pytest.param("final-0", dict.fromkeys(["0", "10", "20", "30"], 100), marks=pytest.mark.rule("807/2015:8.e")),
        pytest.param("final-7", dict.fromkeys(["7", "17", "27"], 100), marks=pytest.mark.rule("807/2015:8.e")),
    ],
)
def test_a_call_bet_is_shown_and_placed_as_its_components(call_bet: str, chips: dict[str, int]) -> None:
    rules = french()
    (call_bet_shown,) = (each for each in rules.layout().call_bets if each.place == call_bet)

    assert place(rules, {call_bet: 100}) == chips
    assert {each.place: each.amount_cents * 100 for each in call_bet_shown.components} == chips
    assert call_bet_shown.units * 100 == sum(chips.values())


@pytest.mark.rule("807/2015:8.a")
@pytest.mark.rule("807/2015:8.b")
@pytest.mark.rule("807/2015:8.c")
def test_the_series_are_stretches_of_the_wheel_and_cover_it_once() -> None:
    rules = french()
    voisins, tiers, orphelins = (covered(rules, series) for series in ("voisins", "tiers", "orphelins"))

    assert voisins == set(VOISINS)
    assert stretch(rules, "22", "25") == VOISINS
    assert tiers == set(TIERS)
    assert stretch(rules, "27", "33") == TIERS
    assert orphelins == set(ORPHELINS)
    assert stretch(rules, "17", "6") + stretch(rules, "1", "9") == ORPHELINS
    assert (len(voisins), len(tiers), len(orphelins)) == (17, 12, 8)
    assert voisins | tiers | orphelins == set(rules.wheel.order)


@pytest.mark.rule("807/2015:8.d")
@pytest.mark.parametrize(
    "neighbours",
    [
        pytest.param(2, marks=pytest.mark.rule("807/2015:8.d.i")),
        pytest.param(4, marks=pytest.mark.rule("807/2015:8.d.ii")),
        pytest.param(6, marks=pytest.mark.rule("807/2015:8.d.iii")),
    ],
)
def test_t20_neighbours_are_counted_in_total_half_of_them_on_each_side(neighbours: int) -> None:
    rules = french()
    for pocket, number in enumerate(rules.wheel.order):
        side = neighbours // 2
        expected = {rules.wheel.order[(pocket + step) % 37] for step in range(-side, side + 1)}
        assert len(expected) == neighbours + 1
        assert covered(rules, f"neighbours-{number}-{neighbours}") == expected


@pytest.mark.rule("807/2015:8.e")
@pytest.mark.parametrize("digit", range(10))
def test_t21_finals_are_the_numbers_that_end_in_a_digit(digit: int) -> None:
    assert covered(french(), f"final-{digit}") == {str(n) for n in range(37) if n % 10 == digit}


@pytest.mark.rule("807/2015:8")
@pytest.mark.parametrize("call_bet", ["voisins", "tiers", "orphelins", "neighbours-17-2", "final-7"])
def test_call_bets_need_specific_rules_that_offer_them(call_bet: str) -> None:
    rules = table("FRENCH")

    for unit in (1, 100):
        refused = refusal(rules, {call_bet: unit})
        assert (refused.reason, refused.facts) == ("BET_NOT_OFFERED", {"place": call_bet, "rule": "807/2015:8"})
    assert not rules.layout().call_bets


@pytest.mark.rule("807/2015:8")
def test_every_call_bet_of_the_layout_can_be_placed() -> None:
    rules = french()
    call_bets = rules.layout().call_bets

    assert len(call_bets) == 3 + 37 * 3 + 10
    for each in call_bets:
        assert rules.total_cents(place(rules, {each.place: 100})) == each.units * 100


# Call bet, unit, number, the payout of each component that wins, and the net.
WORKED = [
    pytest.param("voisins", 100, "26", {"25-26-28-29": 1800}, 900, id="V13-26"),
    pytest.param("voisins", 100, "0", {"0-2-3": 2400}, 1500, id="V13-0"),
    pytest.param("voisins", 100, "7", {"4-7": 1800}, 900, id="V13-7"),
    pytest.param("voisins", 100, "1", {}, -900, id="V13-1"),
    pytest.param("tiers", 100, "5", {"5-8": 1800}, 1200, id="V14-5"),
    pytest.param("tiers", 100, "0", {}, -600, id="V14-0"),
    pytest.param("orphelins", 100, "17", {"14-17": 1800, "17-20": 1800}, 3100, id="V15-17"),
    pytest.param("orphelins", 100, "1", {"1": 3600}, 3100, id="V15-1"),
    pytest.param("orphelins", 100, "6", {"6-9": 1800}, 1300, id="V15-6"),
    pytest.param("orphelins", 100, "0", {}, -500, id="V15-0"),
    pytest.param("neighbours-17-4", 100, "34", {"34": 3600}, 3100, id="V16"),
    pytest.param("neighbours-0-6", 100, "19", {"19": 3600}, 2900, id="V17"),
    pytest.param("neighbours-0-2", 100, "15", {}, -300, id="V18"),
    pytest.param("final-7", 100, "27", {"27": 3600}, 3300, id="V19-27"),
    pytest.param("final-0", 100, "0", {"0": 3600}, 3200, id="V19-0"),
]


@pytest.mark.rule("807/2015:15")
@pytest.mark.parametrize(("call_bet", "unit", "number", "winners", "net"), WORKED)
def test_components_with_the_number_win_and_are_paid_by_their_kind(
    call_bet: str, unit: int, number: str, winners: dict[str, int], net: int
) -> None:
    rules = french()
    bets = place(rules, {call_bet: unit})

    results = rules.results_message(outcome_on(rules, number), bets).results
    assert {result.place: result.payout_cents for result in results if result.payout_cents} == winners
    assert rules.payout_cents(outcome_on(rules, number), bets) - rules.total_cents(bets) == net


@pytest.mark.rule("807/2015:15")
@pytest.mark.parametrize(
    ("call_bet", "better_paid"), [("voisins", {"0", "2", "3"}), ("tiers", set()), ("orphelins", {"1", "17"})]
)
def test_every_number_of_a_series_pays_18_units_and_some_pay_more(call_bet: str, better_paid: set[str]) -> None:
    rules = french()
    higher = 2400 if call_bet == "voisins" else 3600
    for number in covered(rules, call_bet):
        assert sum(payouts(rules, {call_bet: 100}, number)) == (higher if number in better_paid else 1800)


@pytest.mark.rule("807/2015:15")
def test_every_call_bet_has_the_theoretical_return_of_the_wheel() -> None:
    rules = french()
    for each in rules.layout().call_bets:
        bets = place(rules, {each.place: 100})
        paid = sum(rules.payout_cents(outcome, bets) for outcome in rules.outcomes)
        assert Fraction(paid, 37 * each.units * 100) == Fraction(36, 37)


@pytest.mark.rule("807/2015:12")
@pytest.mark.rule("807/2015:12.a.i")
def test_a3_a_component_above_the_maximum_refuses_the_whole_call_bet() -> None:
    rules = french()
    on_felt = place(rules, {"17": 2950})

    refused = refusal(rules, {"neighbours-17-4": 100}, on_felt)
    assert refused.reason == "ABOVE_MAXIMUM"
    assert refused.facts == {
        "place": "17",
        "amount_cents": "3050",
        "maximum_cents": "3000",
        "rule": "807/2015:12.a.i",
    }
    assert place(rules, {"neighbours-17-4": 100}, place(rules, {"17": 2900}))["17"] == 3000


@pytest.mark.rule("807/2015:12")
def test_t11_call_bets_and_chips_on_one_place_are_summed() -> None:
    rules = french()

    felt = place(rules, {"orphelins": 2000, "neighbours-1-2": 500, "final-1": 500})
    assert felt["1"] == 3000
    assert refusal(rules, {"1": 100}, felt).facts["place"] == "1"


@pytest.mark.rule("807/2015:11")
def test_t11_every_component_reaches_the_minimum_by_itself() -> None:
    rules = french()
    on_felt = place(rules, {"final-7": 100})

    for felt in (None, on_felt):
        refused = refusal(rules, {"final-7": 99}, felt)
        assert refused.reason == "BELOW_MINIMUM"
        assert refused.facts == {
            "place": "final-7",
            "amount_cents": "99",
            "minimum_cents": "100",
            "rule": "807/2015:11",
        }
