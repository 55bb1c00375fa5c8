"""Tests of every kind of bet: its combinations (7), its ceiling (804: 11, 807: 12), its prize (804: 13, 807: 14)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from feltro.roulette.v1 import roulette_pb2
from tests.engine.roulette import reference
from tests.engine.roulette.tables import WHEELS, outcome_on, payouts, place, refusal, request, rule_marks, table


def places_of(wheel: str, kind: str) -> list[roulette_pb2.Place]:
    number = roulette_pb2.Kind.Value(f"KIND_{kind}")
    return [each for each in table(wheel).layout().places if each.kind == number]


# -- combinations ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:7")
@pytest.mark.rule("807/2015:7")
@pytest.mark.rule("804/2015:9")
@pytest.mark.rule("807/2015:10")
@pytest.mark.parametrize(
    ("kind", "one_zero", "two_zeros"),
    [
        pytest.param("STRAIGHT", 37, 38, marks=rule_marks("804/2015:7.a.i", "807/2015:7.a.i")),
        pytest.param("SPLIT", 60, 62, marks=rule_marks("804/2015:7.a.ii", "807/2015:7.a.ii")),
        pytest.param("STREET", 14, 15, marks=rule_marks("804/2015:7.a.iii", "807/2015:7.a.iii")),
        pytest.param("CORNER", 23, 22, marks=rule_marks("804/2015:7.a.iv", "807/2015:7.a.iv")),
        pytest.param("SIX_LINE", 11, 11, marks=rule_marks("804/2015:7.a.v", "807/2015:7.a.v")),
        pytest.param("DOZEN", 3, 3, marks=rule_marks("804/2015:7.a.vi", "807/2015:7.a.vi")),
        pytest.param("COLUMN", 3, 3, marks=rule_marks("804/2015:7.a.vii", "807/2015:7.a.vii")),
        pytest.param("DOUBLE_DOZEN", 2, 2, marks=rule_marks("804/2015:7.a.viii", "807/2015:7.a.viii")),
        pytest.param("DOUBLE_COLUMN", 2, 2, marks=rule_marks("804/2015:7.a.ix", "807/2015:7.a.ix")),
        pytest.param("EVEN", 1, 1, marks=rule_marks("804/2015:7.b.i", "807/2015:7.b.i")),
        pytest.param("ODD", 1, 1, marks=rule_marks("804/2015:7.b.ii", "807/2015:7.b.ii")),
        pytest.param("LOW", 1, 1, marks=rule_marks("804/2015:7.b.iii", "807/2015:7.b.iii")),
        pytest.param("HIGH", 1, 1, marks=rule_marks("804/2015:7.b.iv", "807/2015:7.b.iv")),
        pytest.param("RED", 1, 1, marks=rule_marks("804/2015:7.b.v", "807/2015:7.b.v")),
        pytest.param("BLACK", 1, 1, marks=rule_marks("804/2015:7.b.vi", "807/2015:7.b.vi")),
    ],
)
def test_every_combination_of_a_kind_can_be_bet(kind: str, one_zero: int, two_zeros: int) -> None:
    for wheel in WHEELS:
        found = places_of(wheel, kind)
        assert len(found) == (two_zeros if wheel == "AMERICAN_38" else one_zero)
        names = {each.place for each in found}
        assert names == {name for name, of in reference.legal_places(wheel).items() if of == kind}
        for each in found:
            covered = [number for number in reference.numbers_of(wheel) if reference.wins(each.place, number)]
            assert list(each.numbers) == covered
            assert place(table(wheel), {each.place: 100}) == {each.place: 100}


@pytest.mark.rule("804/2015:9")
@pytest.mark.rule("807/2015:10")
@pytest.mark.parametrize(("wheel", "places"), [("AMERICAN_37", 161), ("AMERICAN_38", 164), ("FRENCH", 161)])
def test_all_places_can_be_bet_on_together(wheel: str, places: int) -> None:
    rules = table(wheel)
    everything = {each.place: 100 for each in rules.layout().places}

    assert len(everything) == places
    assert place(rules, everything) == everything


# -- maxima ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:3.b")
@pytest.mark.rule("807/2015:3.b")
@pytest.mark.rule("804/2015:11")
@pytest.mark.rule("807/2015:12")
@pytest.mark.parametrize(
    ("kind", "times", "paragraph"),
    [
        pytest.param("STRAIGHT", 30, "a.i", marks=rule_marks("804/2015:11.a.i", "807/2015:12.a.i")),
        pytest.param("SPLIT", 60, "a.ii", marks=rule_marks("804/2015:11.a.ii", "807/2015:12.a.ii")),
        pytest.param("STREET", 90, "a.iii", marks=rule_marks("804/2015:11.a.iii", "807/2015:12.a.iii")),
        pytest.param("CORNER", 120, "a.iv", marks=rule_marks("804/2015:11.a.iv", "807/2015:12.a.iv")),
        pytest.param("SIX_LINE", 180, "a.v", marks=rule_marks("804/2015:11.a.v", "807/2015:12.a.v")),
        pytest.param("DOZEN", 360, "a.vi", marks=rule_marks("804/2015:11.a.vi", "807/2015:12.a.vi")),
        pytest.param("COLUMN", 360, "a.vii", marks=rule_marks("804/2015:11.a.vii", "807/2015:12.a.vii")),
        pytest.param("DOUBLE_DOZEN", 720, "a.viii", marks=rule_marks("804/2015:11.a.viii", "807/2015:12.a.viii")),
        pytest.param("DOUBLE_COLUMN", 720, "a.ix", marks=rule_marks("804/2015:11.a.ix", "807/2015:12.a.ix")),
        pytest.param("EVEN", 540, "b", marks=rule_marks("804/2015:11.b", "807/2015:12.b")),
        pytest.param("ODD", 540, "b", marks=rule_marks("804/2015:11.b", "807/2015:12.b")),
        pytest.param("LOW", 540, "b", marks=rule_marks("804/2015:11.b", "807/2015:12.b")),
        pytest.param("HIGH", 540, "b", marks=rule_marks("804/2015:11.b", "807/2015:12.b")),
        pytest.param("RED", 540, "b", marks=rule_marks("804/2015:11.b", "807/2015:12.b")),
        pytest.param("BLACK", 540, "b", marks=rule_marks("804/2015:11.b", "807/2015:12.b")),
    ],
)
def test_a1_a2_the_maximum_of_a_place_is_a_multiple_of_the_minimum(kind: str, times: int, paragraph: str) -> None:
    for wheel in WHEELS:
        rules, highest = table(wheel), times * 100
        cited = f"{'807/2015:12' if wheel == 'FRENCH' else '804/2015:11'}.{paragraph}"
        for each in places_of(wheel, kind):
            name = each.place
            on_felt = place(rules, {name: highest})
            assert (on_felt, each.maximum_cents) == ({name: highest}, highest)
            for refused, amount in (
                (refusal(rules, {name: highest + 2}), highest + 2),
                (refusal(rules, {name: highest + 100}), highest + 100),
                (refusal(rules, {name: 100}, on_felt), highest + 100),
                (refusal(rules, {name: 102}, on_felt), highest + 102),
            ):
                assert refused.reason == "ABOVE_MAXIMUM"
                assert refused.facts == {
                    "place": name,
                    "amount_cents": str(amount),
                    "maximum_cents": str(highest),
                    "rule": cited,
                }


# -- prizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:13")
@pytest.mark.rule("807/2015:14")
@pytest.mark.rule("804/2015:18")
@pytest.mark.rule("807/2015:20")
@pytest.mark.parametrize(
    ("kind", "prize"),
    [
        pytest.param("STRAIGHT", 35, marks=rule_marks("804/2015:13.a.i", "807/2015:14.a.i")),
        pytest.param("SPLIT", 17, marks=rule_marks("804/2015:13.a.ii", "807/2015:14.a.ii")),
        pytest.param("STREET", 11, marks=rule_marks("804/2015:13.a.iii", "807/2015:14.a.iii")),
        pytest.param("CORNER", 8, marks=rule_marks("804/2015:13.a.iv", "807/2015:14.a.iv")),
        pytest.param("SIX_LINE", 5, marks=rule_marks("804/2015:13.a.v", "807/2015:14.a.v")),
        pytest.param("DOZEN", 2, marks=rule_marks("804/2015:13.a.vi", "807/2015:14.a.vi")),
        pytest.param("COLUMN", 2, marks=rule_marks("804/2015:13.a.vii", "807/2015:14.a.vii")),
        pytest.param("DOUBLE_DOZEN", 0.5, marks=rule_marks("804/2015:13.a.viii", "807/2015:14.a.viii")),
        pytest.param("DOUBLE_COLUMN", 0.5, marks=rule_marks("804/2015:13.a.ix", "807/2015:14.a.ix")),
        pytest.param("EVEN", 1, marks=rule_marks("804/2015:13.b", "807/2015:14.b")),
        pytest.param("ODD", 1, marks=rule_marks("804/2015:13.b", "807/2015:14.b")),
        pytest.param("LOW", 1, marks=rule_marks("804/2015:13.b", "807/2015:14.b")),
        pytest.param("HIGH", 1, marks=rule_marks("804/2015:13.b", "807/2015:14.b")),
        pytest.param("RED", 1, marks=rule_marks("804/2015:13.b", "807/2015:14.b")),
        pytest.param("BLACK", 1, marks=rule_marks("804/2015:13.b", "807/2015:14.b")),
    ],
)
def test_a_bet_that_contains_the_number_pays_stake_and_prize(kind: str, prize: float) -> None:
    for wheel in WHEELS:
        rules = table(wheel)
        for each in places_of(wheel, kind):
            assert Fraction(each.prize_halves, 2) == Fraction(prize)
            bets = place(rules, {each.place: 146})
            for number in reference.numbers_of(wheel):
                (result,) = rules.results_message(outcome_on(rules, number), bets).results
                won = reference.wins(each.place, number)
                assert result.amount_cents == 146
                assert result.prize_cents == (146 * prize if won else 0)
                assert result.payout_cents == (146 + 146 * prize if won else 0)
                assert rules.payout_cents(outcome_on(rules, number), bets) == result.payout_cents


@pytest.mark.rule("804/2015:19")
@pytest.mark.rule("807/2015:21")
@pytest.mark.parametrize(
    ("wheel", "zero"), [("AMERICAN_37", "0"), ("AMERICAN_38", "0"), ("AMERICAN_38", "00"), ("FRENCH", "0")]
)
def test_t1_t24_on_zero_only_bets_that_contain_it_win_and_all_others_lose_in_full(wheel: str, zero: str) -> None:
    rules = table(wheel)
    won, lost = set[str](), set[str]()
    for each in rules.layout().places:
        payout = rules.payout_cents(outcome_on(rules, zero), place(rules, {each.place: 100}))
        (won if payout else lost).add(each.place)

    assert won == {name for name in reference.legal_places(wheel) if zero in name.split("-") and "column" not in name}
    assert lost >= {"even", "odd", "low", "high", "red", "black", "dozen-1", "column-2", "double-column-1-2"}


@pytest.mark.parametrize(
    ("wheel", "returned"), [("AMERICAN_37", "36/37"), ("AMERICAN_38", "36/38"), ("FRENCH", "36/37")]
)
def test_every_place_has_the_same_theoretical_return(wheel: str, returned: str) -> None:
    rules = table(wheel)
    for each in rules.layout().places:
        bets = place(rules, {each.place: 100})
        paid = sum(rules.payout_cents(outcome, bets) for outcome in rules.outcomes)
        assert Fraction(paid, 100 * len(rules.outcomes)) == Fraction(returned)


@pytest.mark.parametrize(
    ("wheel", "times_minimum", "numbers"),
    [
        ("FRENCH", 16_260, {"14", "17", "20", "23"}),
        ("AMERICAN_37", 16_260, {"14", "17", "20", "23"}),
        ("AMERICAN_38", 17_070, {"2"}),
    ],
)
def test_the_largest_total_prize_follows_from_the_ceilings(wheel: str, times_minimum: int, numbers: set[str]) -> None:
    rules = table(wheel)
    felt = place(rules, {each.place: each.maximum_cents for each in rules.layout().places})

    prizes = {
        outcome.number: sum(result.prize_cents for result in rules.results_message(outcome, felt).results)
        for outcome in rules.outcomes
    }

    assert max(prizes.values()) == times_minimum * 100
    assert {number for number, prize in prizes.items() if prize == times_minimum * 100} == numbers


# -- the rulebook's worked examples ---------------------------------------------------------------------------------

V5 = {"0": 100, "0-2": 100, "0-1-2": 100, "0-2-3": 100, "0-1-2-3": 100}
V8 = {"00": 100, "0-00": 100, "00-3": 100, "0-00-2": 100, "00-2-3": 100, "even": 500}


@pytest.mark.rule("804/2015:13")
@pytest.mark.rule("807/2015:14")
@pytest.mark.parametrize(
    ("wheel", "bets", "number", "credit", "net"),
    [
        pytest.param("FRENCH", {"17": 100}, "17", [3600], 3500, id="V1"),
        pytest.param(
            "FRENCH",
            {"17-20": 200, "16-17-18": 300, "16-17-19-20": 400, "13-14-15-16-17-18": 600},
            "17",
            [3600, 3600, 3600, 3600],
            12900,
            id="V2",
        ),
        pytest.param(
            "AMERICAN_37",
            {"dozen-2": 1000, "column-1": 1000, "red": 1000, "odd": 1000, "low": 1000},
            "19",
            [3000, 3000, 2000, 2000, 0],
            5000,
            id="V3",
        ),
        pytest.param(
            "FRENCH",
            {"red": 1000, "even": 1000, "low": 1000, "dozen-1": 1000, "column-3": 500},
            "0",
            [0, 0, 0, 0, 0],
            -4500,
            id="V4",
            marks=rule_marks("807/2015:21"),
        ),
        pytest.param(
            "AMERICAN_37", V5, "0", [3600, 1800, 1200, 1200, 900], 8200, id="V5", marks=rule_marks("804/2015:19")
        ),
        pytest.param("AMERICAN_37", V5, "2", [0, 1800, 1200, 1200, 900], 4600, id="V6"),
        pytest.param("AMERICAN_37", V5, "3", [0, 0, 0, 1200, 900], 1600, id="V7"),
        pytest.param(
            "AMERICAN_38", V8, "00", [3600, 1800, 1800, 1200, 1200, 0], 8600, id="V8", marks=rule_marks("804/2015:19")
        ),
        pytest.param("AMERICAN_38", V8, "2", [0, 0, 0, 1200, 1200, 1000], 2400, id="V9"),
        pytest.param("FRENCH", {"double-dozen-1-2": 1000}, "24", [1500], 500, id="V10-24"),
        pytest.param("FRENCH", {"double-dozen-1-2": 1000}, "25", [0], -1000, id="V10-25"),
        pytest.param("FRENCH", {"double-dozen-1-2": 1000}, "0", [0], -1000, id="V10-0"),
        pytest.param("FRENCH", {"double-column-2-3": 1000}, "36", [1500], 500, id="V11-36"),
        pytest.param("FRENCH", {"double-column-2-3": 1000}, "34", [0], -1000, id="V11-34"),
        pytest.param(
            "AMERICAN_37",
            {"red": 500, "odd": 500, "high": 500, "dozen-3": 300, "column-3": 300},
            "27",
            [1000, 1000, 1000, 900, 900],
            2700,
            id="V12",
        ),
    ],
)
def test_the_worked_examples_of_the_rulebook(
    wheel: str, bets: dict[str, int], number: str, credit: list[int], net: int
) -> None:
    rules = table(wheel)

    assert payouts(rules, bets, number) == credit
    assert sum(credit) - rules.total_cents(place(rules, bets)) == net


@pytest.mark.rule("804/2015:1")
@pytest.mark.rule("807/2015:1")
@pytest.mark.rule("804/2015:5")
@pytest.mark.rule("807/2015:5")
@pytest.mark.parametrize("wheel", WHEELS)
def test_one_result_binds_all_players_and_limits_are_per_player(wheel: str) -> None:
    rules = table(wheel)
    ana, bruno, carla = (place(rules, chips) for chips in ({"17": 3000}, {"17": 3000, "red": 500}, {"red": 500}))
    seventeen, nineteen = outcome_on(rules, "17"), outcome_on(rules, "19")

    # Ana's bet counts against her own maximum only, and no payout depends on other players' bets (T9, T25).
    assert [rules.payout_cents(seventeen, bets) for bets in (ana, bruno, carla)] == [108_000, 108_000, 0]
    assert [rules.payout_cents(nineteen, bets) for bets in (ana, bruno, carla)] == [0, 1000, 1000]


def test_bets_keep_the_order_of_placing() -> None:
    rules = table()
    felt = place(rules, {"red": 100, "17": 100})
    felt = rules.add(felt, rules.read_place_request(request({"0-1": 100, "red": 100})))

    assert list(felt.items()) == [("red", 200), ("17", 100), ("0-1", 100)]
