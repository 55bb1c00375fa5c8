"""Random bets, legal and not, on all wheels: compares the engine with the reference, and checks its properties."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.table.refusals import TableRefused
from services.roulette.engine import Bets
from services.roulette.game import RouletteRules
from tests.engine.roulette import reference
from tests.engine.roulette.tables import WHEELS, outcome_on, place, refusal, request, table

CEILINGS = {"STRAIGHT": 30, "SPLIT": 60, "STREET": 90, "CORNER": 120, "SIX_LINE": 180, "DOZEN": 360, "COLUMN": 360}
CEILINGS |= {"DOUBLE_DOZEN": 720, "DOUBLE_COLUMN": 720}
MINIMUM, TOTAL = 100, 60_000


def ceiling(wheel: str, name: str) -> int:
    return CEILINGS.get(reference.legal_places(wheel)[name], 540) * MINIMUM


def invalid_amount(chips: Mapping[str, int]) -> bool:
    """Returns whether an amount is below the minimum or cannot be paid."""
    return any(cents < MINIMUM or (name.startswith("double") and cents % 2) for name, cents in chips.items())


def outside_limits(wheel: str, felt: Mapping[str, int]) -> bool:
    """Returns whether a felt breaks the maxima or the cap, by formulas alone."""
    return sum(felt.values()) > TOTAL or any(cents > ceiling(wheel, name) for name, cents in felt.items())


# -- comparison with the reference ----------------------------------------------------------------------------------


@pytest.mark.rule("804/2015:13")
@pytest.mark.rule("807/2015:14")
@pytest.mark.rule("804/2015:18")
@pytest.mark.rule("807/2015:20")
@pytest.mark.parametrize("wheel", WHEELS)
def test_payouts_equal_those_of_the_reference(wheel: str) -> None:
    chance, rules, names = random.Random(f"payouts {wheel}"), table(wheel), list(reference.legal_places(wheel))
    numbers = reference.numbers_of(wheel)
    for _ in range(2000):
        chips = {name: 2 * chance.randint(50, 1500) for name in chance.sample(names, chance.randint(1, 20))}
        number = chance.choice(numbers)
        assert rules.payout_cents(outcome_on(rules, number), place(rules, chips)) == reference.payout(chips, number)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("wheel", WHEELS)
def test_g12_the_largest_payout_is_what_the_best_number_pays(wheel: str) -> None:
    """Neither less, or the wallet would refuse to pay a win, nor more, or it would pay what nobody can win."""
    chance, rules, names = random.Random(f"largest {wheel}"), table(wheel), list(reference.legal_places(wheel))
    for count in (1, 2, 5, 20, len(names)):
        for _ in range(20):
            chips = {name: 2 * chance.randint(50, 1500) for name in chance.sample(names, count)}
            best = max(reference.payout(chips, number) for number in reference.numbers_of(wheel))
            assert rules.largest_payout_cents(chips) == best


def random_name(chance: random.Random, wheel: str) -> str:
    """Returns a name that is legal or close to a legal one."""
    numbers, legal = reference.numbers_of(wheel), list(reference.legal_places(wheel))
    match chance.randrange(6):
        case 0:
            return chance.choice(legal)
        case 1:
            words = chance.choice(legal).split("-")
            words[chance.randrange(len(words))] = chance.choice(numbers)
            return "-".join(words)
        case 2:
            words = chance.choice(legal).split("-")
            chance.shuffle(words)
            return "-".join(words)
        case 3:
            start = chance.randrange(len(numbers))
            return "-".join(numbers[start : start + chance.randint(1, 7)])
        case 4:
            start = chance.randrange(len(numbers))
            near = numbers[start : start + 7]
            chosen = sorted(chance.sample(range(len(near)), min(len(near), chance.randint(1, 6))))
            return "-".join(near[at] for at in chosen)
        case _:
            words = ["double", "dozen", "column", "red", "even", "0", "00", "1", "2", "3", "36", "37", "", "-", "-1"]
            return "-".join(chance.choices(words, k=chance.randint(1, 4)))


@pytest.mark.rule("804/2015:7")
@pytest.mark.rule("807/2015:7")
@pytest.mark.rule("804/2015:9")
@pytest.mark.rule("807/2015:10")
@pytest.mark.parametrize("wheel", WHEELS)
def test_a_name_is_accepted_exactly_when_it_is_legal(wheel: str) -> None:
    chance, rules, legal = random.Random(f"names {wheel}"), table(wheel), reference.legal_places(wheel)
    names = {random_name(chance, wheel) for _ in range(6000)}
    assert len(names & legal.keys()) > 150
    assert len(names - legal.keys()) > 1500

    for name in names:
        if name in legal:
            assert place(rules, {name: 100}) == {name: 100}
        else:
            refused = refusal(rules, {name: 100})
            assert (refused.reason, refused.facts["place"]) == ("BET_ILLEGAL", name)


@pytest.mark.rule("804/2015:11")
@pytest.mark.rule("807/2015:12")
@pytest.mark.parametrize("wheel", WHEELS)
def test_bets_are_accepted_exactly_when_they_keep_the_limits(wheel: str) -> None:
    chance, names = random.Random(f"limits {wheel}"), list(reference.legal_places(wheel))
    rules = table(wheel, total_maximum_cents=TOTAL)
    accepted = refused = 0
    for _ in range(300):
        felt: Bets = {}
        for _ in range(15):
            chips = {
                name: chance.choice([1, 99, 100, 101, 250, 1000, 2950, 3000, 6000, ceiling(wheel, name)])
                for name in chance.sample(names[-24:] + names[:8], chance.randint(1, 3))
            }
            expected = {name: felt.get(name, 0) + chips.get(name, 0) for name in {*felt, *chips}}
            if invalid_amount(chips) or outside_limits(wheel, expected):
                refused += 1
                with pytest.raises(TableRefused):
                    place(rules, chips, felt)
            else:
                accepted += 1
                felt = place(rules, chips, felt)
                assert felt == expected
    assert min(accepted, refused) > 500


# -- properties -----------------------------------------------------------------------------------------------------

TABLES = {wheel: table(wheel) for wheel in WHEELS}


@st.composite
def felts(draw: st.DrawFn, wheel: str, max_places: int = 12) -> dict[str, int]:
    """Draws bets that any table with a minimum of 100 accepts, even twice."""
    chosen = draw(
        st.lists(st.sampled_from(list(TABLES[wheel].offered_places)), unique=True, min_size=1, max_size=max_places)
    )
    return {name: 2 * draw(st.integers(MINIMUM // 2, ceiling(wheel, name) // 4)) for name in chosen}


def table_and_felts(*, count: int) -> st.SearchStrategy[tuple[RouletteRules, list[dict[str, int]]]]:
    return st.sampled_from(WHEELS).flatmap(
        lambda wheel: st.tuples(st.just(TABLES[wheel]), st.lists(felts(wheel), min_size=count, max_size=count))
    )


@given(table_and_felts(count=2))
def test_removing_added_bets_restores_the_felt(drawn: tuple[RouletteRules, list[dict[str, int]]]) -> None:
    rules, (on_felt, added) = drawn
    before = dict(on_felt)

    both = rules.add(on_felt, added)
    assert rules.take(both, added) == on_felt == before
    assert rules.take(both, both) is None
    assert rules.total_cents(both) == rules.total_cents(on_felt) + rules.total_cents(added) == sum(both.values())


@pytest.mark.rule("804/2015:13")
@pytest.mark.rule("807/2015:14")
@given(table_and_felts(count=2), st.data())
def test_the_payout_is_linear(drawn: tuple[RouletteRules, list[dict[str, int]]], data: st.DataObject) -> None:
    rules, (one, other) = drawn
    outcome = data.draw(st.sampled_from(rules.outcomes))

    apart = rules.payout_cents(outcome, one) + rules.payout_cents(outcome, other)
    assert rules.payout_cents(outcome, rules.add(one, other)) == apart
    assert rules.payout_cents(outcome, rules.add(one, one)) == 2 * rules.payout_cents(outcome, one)


@given(table_and_felts(count=2), st.randoms())
def test_the_order_of_placing_changes_nothing(
    drawn: tuple[RouletteRules, list[dict[str, int]]], chance: random.Random
) -> None:
    rules, (one, other) = drawn
    shuffled = list(one.items())
    chance.shuffle(shuffled)

    assert rules.add(rules.add(None, one), other) == rules.add(rules.add(None, other), dict(shuffled))
    for outcome in rules.outcomes:
        assert rules.payout_cents(outcome, dict(shuffled)) == rules.payout_cents(outcome, one)


@given(table_and_felts(count=1))
def test_bets_survive_a_round_trip_in_order(drawn: tuple[RouletteRules, list[dict[str, int]]]) -> None:
    rules, (felt,) = drawn

    read = rules.read_bets(rules.bets_message(felt).SerializeToString())
    assert list(read.items()) == list(felt.items())
    assert rules.read_place_request(request(felt)) == felt


@pytest.mark.guarantee("G1")
@given(table_and_felts(count=1), st.data())
def test_g1_the_results_sum_to_the_payout_of_the_round(
    drawn: tuple[RouletteRules, list[dict[str, int]]], data: st.DataObject
) -> None:
    rules, (felt,) = drawn
    outcome = data.draw(st.sampled_from(rules.outcomes))

    results = rules.results_message(outcome, felt).results
    assert sum(each.payout_cents for each in results) == rules.payout_cents(outcome, felt)
    assert sum(each.amount_cents for each in results) == rules.total_cents(felt)
    for each in results:
        assert each.prize_cents == (each.payout_cents - each.amount_cents if each.payout_cents else 0)


steps = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "remove"]),
        st.dictionaries(
            st.sampled_from(["17", "0", "17-20", "double-dozen-1-2", "red", "voisins", "final-7", "neighbours-17-6"]),
            st.sampled_from([1, 50, 99, 100, 101, 102, 500, 1500, 3000, 20_000, 54_000]),
            min_size=1,
            max_size=3,
        ),
    ),
    max_size=25,
)


@pytest.mark.rule("804/2015:11")
@pytest.mark.rule("807/2015:12")
@pytest.mark.rule("807/2015:13")
@given(steps)
def test_no_sequence_of_bets_and_cancellations_breaks_the_limits(actions: list[tuple[str, dict[str, int]]]) -> None:
    rules = table("FRENCH", total_maximum_cents=TOTAL, call_bets=True)
    felt: Bets | None = None
    for action, chips in actions:
        before = dict(felt or {})
        try:
            if action == "add":
                felt = rules.add(felt, rules.read_place_request(request(chips)))
            else:
                felt = rules.take(felt or {}, rules.read_cancel_request(request(chips)))
        except TableRefused:
            assert (felt or {}) == before
            continue
        assert felt is None or not (invalid_amount(felt) or outside_limits("FRENCH", felt))
        amount = rules.total_cents(rules.read_cancel_request(request(chips)))
        assert rules.total_cents(felt or {}) - sum(before.values()) == (amount if action == "add" else -amount)
