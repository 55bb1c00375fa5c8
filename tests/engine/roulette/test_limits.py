"""Tests of the limits of bets: minimum, maximum, the cap on all bets, cancelling, and the size of a request."""

from __future__ import annotations

import pytest

from feltro.roulette.v1 import roulette_pb2
from services.kit.round_limits import STAKE_LIMIT_CENTS
from services.kit.table.refusals import TableRefused
from services.roulette.engine import Bets
from services.roulette.game import RouletteRules
from services.roulette.specific_rules import MINIMUM_LIMIT_CENTS
from services.wallet.server.wallet_service import PAYOUT_LIMIT_CENTS, STAKE_DETAIL_BYTES_LIMIT
from tests.engine.roulette.tables import WHEELS, place, refusal, request, rule_marks, table

AT_THE_CEILINGS = {
    "17": 3000,
    "17-20": 6000,
    "16-17-18": 9000,
    "16-17-19-20": 12000,
    "13-14-15-16-17-18": 18000,
    "dozen-2": 36000,
    "column-2": 36000,
    "red": 54000,
    "double-dozen-1-2": 72000,
}


@pytest.mark.rule("804/2015:11")
@pytest.mark.rule("807/2015:12")
@pytest.mark.parametrize("wheel", WHEELS)
def test_a1_all_ceilings_can_be_bet_together(wheel: str) -> None:
    assert place(table(wheel), AT_THE_CEILINGS) == AT_THE_CEILINGS


@pytest.mark.rule("804/2015:11")
@pytest.mark.rule("807/2015:12")
@pytest.mark.parametrize("wheel", WHEELS)
@pytest.mark.parametrize("name", list(AT_THE_CEILINGS))
@pytest.mark.parametrize("more", [2, 100])
def test_a2_nothing_fits_above_the_ceilings(wheel: str, name: str, more: int) -> None:
    rules = table(wheel)

    assert refusal(rules, {name: AT_THE_CEILINGS[name] + more}).reason == "ABOVE_MAXIMUM"
    assert refusal(rules, {name: more + 100}, place(rules, AT_THE_CEILINGS)).reason == "ABOVE_MAXIMUM"


@pytest.mark.rule("804/2015:11")
@pytest.mark.rule("807/2015:12")
def test_t9_the_maximum_is_per_place_and_not_per_kind() -> None:
    every_straight = {str(number): 3000 for number in range(37)}

    assert place(table(), every_straight) == every_straight


@pytest.mark.rule("804/2015:3.c")
@pytest.mark.rule("807/2015:3.c")
@pytest.mark.parametrize(
    ("wheel", "rule"),
    [
        pytest.param("AMERICAN_37", "804/2015:10", marks=rule_marks("804/2015:10")),
        pytest.param("AMERICAN_38", "804/2015:10", marks=rule_marks("804/2015:10")),
        pytest.param("FRENCH", "807/2015:11", marks=rule_marks("807/2015:11")),
    ],
)
def test_a4_a_cent_below_the_minimum_is_refused_on_every_place(wheel: str, rule: str) -> None:
    rules = table(wheel)
    for each in rules.layout().places:
        refused = refusal(rules, {each.place: 99})
        assert refused.reason == "BELOW_MINIMUM"
        assert refused.facts == {"place": each.place, "amount_cents": "99", "minimum_cents": "100", "rule": rule}


@pytest.mark.rule("804/2015:10")
@pytest.mark.rule("807/2015:11")
@pytest.mark.parametrize("wheel", WHEELS)
@pytest.mark.parametrize("minimum_cents", [1, 50, 500, 100_000_000])
def test_the_operator_sets_the_minimum_and_the_maxima_follow(wheel: str, minimum_cents: int) -> None:
    rules = table(wheel, minimum_cents=minimum_cents)

    assert rules.minimum_cents == minimum_cents
    assert place(rules, {"17": minimum_cents * 30, "red": minimum_cents}) == {
        "17": minimum_cents * 30,
        "red": minimum_cents,
    }
    assert refusal(rules, {"17": minimum_cents * 30 + 1}).reason == "ABOVE_MAXIMUM"
    if minimum_cents > 1:
        assert refusal(rules, {"red": minimum_cents - 1}).reason == "BELOW_MINIMUM"


@pytest.mark.rule("804/2015:10")
@pytest.mark.rule("807/2015:11")
def test_a4_every_stake_must_reach_the_minimum_by_itself() -> None:
    rules = table()
    on_felt = place(rules, {"17": 100})

    refused = refusal(rules, {"17": 99}, on_felt)
    assert (refused.reason, refused.facts["amount_cents"]) == ("BELOW_MINIMUM", "99")
    assert place(rules, {"17": 101}, on_felt) == {"17": 201}
    # Bets of one command are one stake.
    assert rules.add(None, rules.read_place_request(request({"17": 50}) * 2)) == {"17": 100}


@pytest.mark.guarantee("G9")
def test_g9_the_others_remain_valid_when_a_stake_is_removed() -> None:
    """A stake that the wallet refuses or a player cancels must be removable from the others."""
    rules = table(total_maximum_cents=1000)
    stakes = [
        rules.read_place_request(request(chips)) for chips in ({"17": 100, "red": 101}, {"17": 199}, {"red": 600})
    ]
    felt: Bets | None = None
    for stake in stakes:
        felt = rules.add(felt, stake)

    for removed in stakes:
        others = [stake for stake in stakes if stake is not removed]
        remaining = rules.take(felt or {}, removed)
        assert remaining == rules.add(rules.add(None, others[1]), others[0])


@pytest.mark.parametrize(
    ("wheel", "rule"),
    [
        pytest.param("AMERICAN_37", "804/2015:13.a.viii", marks=rule_marks("804/2015:13.a.viii", "804/2015:13.a.ix")),
        pytest.param("FRENCH", "807/2015:14.a.viii", marks=rule_marks("807/2015:14.a.viii", "807/2015:14.a.ix")),
    ],
)
def test_a4_t7_a_bet_whose_prize_has_half_a_cent_is_refused(wheel: str, rule: str) -> None:
    rules = table(wheel)

    refused = refusal(rules, {"double-dozen-1-2": 101})
    assert refused.reason == "ODD_CENTS"
    assert refused.facts == {"place": "double-dozen-1-2", "amount_cents": "101", "rule": rule}
    assert refusal(rules, {"double-column-2-3": 201}).facts["rule"] == rule.replace("viii", "ix")
    assert refusal(rules, {"double-dozen-1-2": 101}, place(rules, {"double-dozen-1-2": 102})).reason == "ODD_CENTS"
    assert place(rules, {"double-dozen-1-2": 102, "dozen-1": 101, "red": 101})["double-dozen-1-2"] == 102


def test_t7_on_doubles_an_odd_minimum_becomes_the_next_even_number() -> None:
    rules = table(minimum_cents=101)
    limits = {each.place: (each.minimum_cents, each.even_cents_only) for each in rules.layout().places}

    assert (limits["double-dozen-1-2"], limits["dozen-1"]) == ((102, True), (101, False))
    assert place(rules, {"double-dozen-1-2": 102}) == {"double-dozen-1-2": 102}
    assert refusal(rules, {"double-dozen-1-2": 101}).reason == "ODD_CENTS"
    assert refusal(rules, {"double-dozen-1-2": 100}).reason == "BELOW_MINIMUM"


@pytest.mark.parametrize(
    ("wheel", "rule"),
    [
        pytest.param("AMERICAN_37", "804/2015:12", marks=rule_marks("804/2015:12")),
        pytest.param("AMERICAN_38", "804/2015:12", marks=rule_marks("804/2015:12")),
        pytest.param("FRENCH", "807/2015:13", marks=rule_marks("807/2015:13")),
    ],
)
def test_the_cap_counts_all_bets_of_a_player(wheel: str, rule: str) -> None:
    rules = table(wheel, total_maximum_cents=1000)
    on_felt = place(rules, {"17": 600, "red": 300})

    assert place(rules, {"black": 100}, on_felt) == {"17": 600, "red": 300, "black": 100}
    refused = refusal(rules, {"black": 101}, on_felt)
    assert refused.reason == "ABOVE_TOTAL"
    assert refused.facts == {"amount_cents": "1001", "maximum_cents": "1000", "rule": rule}
    # The bets of other players do not count (T25).
    assert place(rules, {"17": 1000}) == {"17": 1000}
    assert rules.layout().total_maximum_cents == 1000


@pytest.mark.parametrize(
    ("wheel", "rule"),
    [
        pytest.param("AMERICAN_37", "804/2015:12", marks=rule_marks("804/2015:12")),
        pytest.param("AMERICAN_38", "804/2015:12", marks=rule_marks("804/2015:12")),
        pytest.param("FRENCH", "807/2015:13", marks=rule_marks("807/2015:13")),
    ],
)
@pytest.mark.parametrize("double", ["double-dozen-1-2", "double-dozen-2-3", "double-column-1-2", "double-column-2-3"])
def test_an_operator_may_exclude_doubles(wheel: str, rule: str, double: str) -> None:
    rules = table(wheel, without_doubles=True)

    refused = refusal(rules, {double: 100})
    assert (refused.reason, refused.facts) == ("BET_NOT_OFFERED", {"place": double, "rule": rule})
    assert {each.place for each in table(wheel).layout().places} - {each.place for each in rules.layout().places} == {
        "double-dozen-1-2",
        "double-dozen-2-3",
        "double-column-1-2",
        "double-column-2-3",
    }


def test_repeated_bets_are_checked_by_the_current_rules() -> None:
    earlier = table(minimum_cents=100)
    bets = place(earlier, {"double-dozen-1-2": 100, "17": 100})

    with pytest.raises(TableRefused) as refused:
        table(without_doubles=True).add(None, bets)
    assert refused.value.reason == "BET_NOT_OFFERED"
    with pytest.raises(TableRefused) as refused:
        table(minimum_cents=200).add(None, bets)
    assert refused.value.reason == "BELOW_MINIMUM"


@pytest.mark.guarantee("G12")
def test_g12_a_request_is_accepted_as_a_whole_or_not_at_all() -> None:
    rules = table()
    on_felt = place(rules, {"red": 100})

    assert refusal(rules, {"red": 100, "17": 3001}, on_felt).facts["place"] == "17"
    assert refusal(rules, {"17": 100, "3-4": 100}, on_felt).facts["place"] == "3-4"
    assert refusal(rules, {"17": 100, "18": 99}, on_felt).facts["place"] == "18"
    assert on_felt == {"red": 100}


# -- cancelling -----------------------------------------------------------------------------------------------------


def cancel(rules: RouletteRules, on_felt: Bets, chips: dict[str, int]) -> Bets | None:
    return rules.take(on_felt, rules.read_cancel_request(request(chips)))


def test_bets_can_be_cancelled_in_parts() -> None:
    rules = table(call_bets=True)
    on_felt = place(rules, {"17": 300, "tiers": 100})

    assert cancel(rules, on_felt, {"tiers": 100}) == {"17": 300}
    assert cancel(rules, {"17": 300}, {"17": 200}) == {"17": 100}
    assert cancel(rules, {"17": 100}, {"17": 100}) is None


@pytest.mark.parametrize(
    ("chips", "reason", "facts"),
    [
        ({"17": 301}, "NOT_ON_FELT", {"place": "17", "amount_cents": "301"}),
        ({"18": 100}, "NOT_ON_FELT", {"place": "18", "amount_cents": "100"}),
        (
            {"17": 201},
            "BELOW_MINIMUM",
            {"place": "17", "amount_cents": "99", "minimum_cents": "100", "rule": "807/2015:11"},
        ),
        (
            {"double-dozen-1-2": 101},
            "ODD_CENTS",
            {"place": "double-dozen-1-2", "amount_cents": "199", "rule": "807/2015:14.a.viii"},
        ),
        ({"3-4": 100}, "BET_ILLEGAL", {"place": "3-4", "rule": "807/2015:10"}),
        ({"17": 0}, "INVALID", {"field": "bets[0].amount_cents"}),
        ({"17": -100}, "INVALID", {"field": "bets[0].amount_cents"}),
    ],
)
def test_a_cancellation_must_leave_valid_bets(chips: dict[str, int], reason: str, facts: dict[str, str]) -> None:
    rules = table()
    on_felt = place(rules, {"17": 300, "double-dozen-1-2": 300})

    with pytest.raises(TableRefused) as refused:
        cancel(rules, on_felt, chips)
    assert (refused.value.reason, refused.value.facts) == (reason, facts)
    assert on_felt == {"17": 300, "double-dozen-1-2": 300}


@pytest.mark.parametrize("cents", [0, -100])
def test_the_engine_refuses_amounts_that_are_not_positive(cents: int) -> None:
    rules = table()
    on_felt = place(rules, {"17": 300})

    for step, reason in ((rules.add, "BELOW_MINIMUM"), (rules.take, "INVALID")):
        with pytest.raises(TableRefused) as refused:
            step(on_felt, {"17": cents})
        assert refused.value.reason == reason


# -- requests -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chips", "field"),
    [
        ({}, "bets"),
        ({"17": 0}, "bets[0].amount_cents"),
        ({"17": 100, "red": -1}, "bets[1].amount_cents"),
        ({"17": -(2**63)}, "bets[0].amount_cents"),
    ],
)
def test_a_request_without_positive_amounts_is_invalid(chips: dict[str, int], field: str) -> None:
    refused = refusal(table(), chips)

    assert (refused.reason, refused.facts) == ("INVALID", {"field": field})


@pytest.mark.guarantee("G11")
def test_g11_a_request_has_at_most_200_bets() -> None:
    rules = table(maxima={"RED": 540}, minimum_cents=1)
    one = request({"red": 1})

    assert rules.add(None, rules.read_place_request(one * 200)) == {"red": 200}
    with pytest.raises(TableRefused) as refused:
        rules.read_place_request(one * 201)
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "bets"})


@pytest.mark.rule("804/2015:11")
@pytest.mark.rule("807/2015:12")
def test_t11_a_place_that_is_named_twice_is_summed() -> None:
    rules = table()

    assert rules.read_place_request(request({"17": 1500}) * 2) == {"17": 3000}
    with pytest.raises(TableRefused) as refused:
        rules.add(None, rules.read_place_request(request({"17": 1500}) * 2 + request({"17": 1})))
    assert refused.value.facts["amount_cents"] == "3001"


def test_sums_beyond_an_int64_are_refused_and_do_not_wrap() -> None:
    rules = table()

    with pytest.raises(TableRefused) as refused:
        rules.add(None, rules.read_place_request(request({"17": 2**63 - 1}) * 200))
    assert refused.value.facts["amount_cents"] == str((2**63 - 1) * 200)


# -- what the ledger takes ------------------------------------------------------------------------------------------


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("wheel", WHEELS)
@pytest.mark.parametrize("minimum_cents", [1, 99, 100, MINIMUM_LIMIT_CENTS - 1, MINIMUM_LIMIT_CENTS])
def test_g11_the_ledger_takes_whatever_the_published_limits_allow(wheel: str, minimum_cents: int) -> None:
    """Every place's maximum can be bet alone and with all others, in one stake, and whatever it wins can be paid."""
    rules = table(wheel, minimum_cents=minimum_cents)
    maxima = {place.place: place.maximum_cents for place in rules.layout().places}
    for name, cents in maxima.items():
        assert place(rules, {name: cents}) == {name: cents}
    bets = place(rules, maxima)
    assert rules.total_cents(bets) == rules.largest_stake_cents <= STAKE_LIMIT_CENTS
    assert len(rules.bets_message(bets).SerializeToString()) <= STAKE_DETAIL_BYTES_LIMIT
    largest = max(rules.payout_cents(outcome, bets) for outcome in rules.outcomes)
    assert largest == rules.largest_payout_cents(bets) == rules.largest_payout_limit_cents <= PAYOUT_LIMIT_CENTS


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("wheel", WHEELS)
@pytest.mark.parametrize("cap", [100, 3_000, 50_000, 10_000_000])
def test_g12_a_cap_on_all_bets_bounds_what_they_can_pay(wheel: str, cap: int) -> None:
    rules = table(wheel, total_maximum_cents=cap)
    assert rules.largest_payout_limit_cents <= table(wheel).largest_payout_limit_cents
    straight = {"17": min(cap, 3_000)}
    assert rules.largest_payout_cents(place(rules, straight)) <= rules.largest_payout_limit_cents <= 36 * cap


@pytest.mark.rule("804/2015:11.a.viii")
@pytest.mark.parametrize(("minimum_cents", "times"), [(101, 3), (99, 7), (101, 720)])
def test_t7_the_published_maximum_of_doubles_can_be_reached(minimum_cents: int, times: int) -> None:
    rules = table("AMERICAN_37", minimum_cents=minimum_cents, maxima={"DOUBLE_DOZEN": times})
    (published,) = [place for place in rules.layout().places if place.place == "double-dozen-1-2"]
    assert published.maximum_cents == minimum_cents * times // 2 * 2
    assert place(rules, {"double-dozen-1-2": published.maximum_cents})
    above = refusal(rules, {"double-dozen-1-2": published.maximum_cents + 2})
    assert above.reason == "ABOVE_MAXIMUM"
    # Step by step as well.
    one_by_one = place(rules, {"double-dozen-1-2": published.maximum_cents - published.minimum_cents})
    assert place(rules, {"double-dozen-1-2": published.minimum_cents}, one_by_one) == {
        "double-dozen-1-2": published.maximum_cents
    }


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize(
    "chips",
    [
        [("red", 2**63 - 1)],
        [("voisins", 2**63 - 1)],
        [("final-7", 2**62), ("final-7", 2**62)],
        [("red", 2**63 - 1), ("red", 2**63 - 1)],
        [("double-dozen-1-2", 2**63 - 2), ("double-column-1-2", 2**63 - 2)],
        [("red", 2**63 - 1), ("black", 2**63 - 1), ("voisins", 2**63 - 1)],
    ],
)
def test_g11_amounts_that_no_message_holds_together_are_refused(chips: list[tuple[str, int]]) -> None:
    bets = [roulette_pb2.Bet(place=name, amount_cents=cents) for name, cents in chips]
    rules = table(call_bets=True, minimum_cents=MINIMUM_LIMIT_CENTS)
    with pytest.raises(TableRefused) as placed:
        rules.add(None, rules.read_place_request(bets))
    assert placed.value.reason == "ABOVE_MAXIMUM"
    with pytest.raises(TableRefused) as cancelled:
        rules.take({"red": 100}, rules.read_cancel_request(bets))
    assert cancelled.value.reason == "NOT_ON_FELT"
