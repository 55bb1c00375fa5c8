"""Tests of the limits of bets (rules 9 to 15, 39 to 43): the vectors Q1 to Q7, and properties."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.baccarat.engine import Bets, Chance, Commission, Table, chance_named
from services.kit.table.refusals import TableRefused
from tests.engine.baccarat.tables import CHAPTER_ONE, HALF_ON_SIX, MACAU, bets, refusal, refusal_of

TABLE = Table(CHAPTER_ONE)
MACAU_TABLE = Table(MACAU)
STEP_OF_2 = Table(HALF_ON_SIX)


def verify_all(table: Table, placed: Bets) -> None:
    """Has the table judge these bets of all players together."""
    totals = table.totals(placed)
    table.verify_totals(totals, totals)


# -- rule 13, for each player ------------------------------------------------------------------------------------------


@pytest.mark.rule("812/2015:13")
@pytest.mark.parametrize(("banca", "accepted"), [(1000, False), (920, False), (900, True), (1080, False), (1100, True)])
def test_q1_ponto_and_banca_differ_by_the_minimum_or_more(banca: int, accepted: bool) -> None:  # noqa: FBT001
    if accepted:
        assert TABLE.add(bets(ponto=1000), bets(banca=banca)) == bets(ponto=1000, banca=banca)
    else:
        refused = refusal(TABLE, bets(banca=banca), bets(ponto=1000))
        assert refused.reason == "BETS_TOO_CLOSE"
        assert refused.facts["rule"] == "812/2015:13"


@pytest.mark.rule("812/2015:13")
def test_taking_back_keeps_the_difference_too() -> None:
    felt = bets(ponto=2000, banca=1000)
    assert refusal_of(lambda: TABLE.remove(felt, bets(ponto=1000))).reason == "BETS_TOO_CLOSE"
    assert TABLE.remove(felt, bets(ponto=800)) == bets(ponto=1200, banca=1000)
    assert TABLE.remove(felt, bets(banca=1000)) == bets(ponto=2000)


@pytest.mark.rule("812/2015:13", "812/2015:39")
def test_q7_the_difference_binds_in_macau_too() -> None:
    refused = refusal(MACAU_TABLE, bets(ponto=5_000_000, banca=4_999_940))
    assert refused.reason == "BETS_TOO_CLOSE"


# -- rules 9, 10, 14, 15 -----------------------------------------------------------------------------------------------


@pytest.mark.rule("812/2015:9", "812/2015:9.a", "812/2015:9.b", "812/2015:9.c", "812/2015:10")
def test_ponto_banca_and_tie_are_always_offered_and_pairs_where_the_operator_does() -> None:
    without = Table(dataclasses.replace(CHAPTER_ONE, pairs=False))
    assert TABLE.offered_chances == tuple(Chance)
    assert without.offered_chances == (Chance.PONTO, Chance.BANCA, Chance.TIE)
    assert refusal(without, bets(ponto_pair=100)).reason == "BET_NOT_OFFERED"
    # Alone, without a bet on a side (C10).
    assert TABLE.add(None, bets(banca_pair=100)) == bets(banca_pair=100)


@pytest.mark.rule("812/2015:2.a", "812/2015:15.a", "812/2015:15.b", "812/2015:15.c")
@pytest.mark.parametrize(
    ("chance", "most", "rule"),
    [
        (Chance.PONTO, 7000, "15.a"),
        (Chance.BANCA, 7000, "15.a"),
        (Chance.TIE, 1500, "15.b"),
        (Chance.PONTO_PAIR, 800, "15.c"),
        (Chance.BANCA_PAIR, 800, "15.c"),
    ],
)
def test_q3_each_chance_has_its_maximum(chance: Chance, most: int, rule: str) -> None:
    assert TABLE.add(None, {chance: most}) == {chance: most}
    for refused in (refusal(TABLE, {chance: most + 100}), refusal(TABLE, {chance: 100}, {chance: most})):
        assert refused.reason == "ABOVE_MAXIMUM"
        assert refused.facts["rule"] == f"812/2015:{rule}"
        assert refused.facts["maximum_cents"] == str(most)


@pytest.mark.rule("812/2015:15")
def test_an_operator_may_set_lower_maxima() -> None:
    lower = Table(dataclasses.replace(CHAPTER_ONE, times_minimum={Chance.TIE: 5}))
    assert refusal(lower, bets(tie=600)).facts["maximum_cents"] == "500"


@pytest.mark.rule("812/2015:2.b", "812/2015:14")
@pytest.mark.parametrize("chance", Chance)
@pytest.mark.parametrize("cents", [-100, 0, 1, 80, 99])
def test_every_bet_reaches_the_minimum(chance: Chance, cents: int) -> None:
    assert refusal(TABLE, {chance: cents}).reason == "BELOW_MINIMUM"
    # Also beside others on the same chance, for those may be taken back.
    assert refusal(TABLE, {chance: cents}, {chance: 200}).reason == "BELOW_MINIMUM"


@pytest.mark.rule("812/2015:26.a", "812/2015:26.b")
def test_bets_on_banca_keep_the_commission_whole() -> None:
    assert refusal(TABLE, bets(banca=1010)).facts == {
        "place": "banca",
        "amount_cents": "1010",
        "step_cents": "20",
        "rule": "812/2015:26.a",
    }
    assert TABLE.add(None, bets(ponto=1010)) == bets(ponto=1010)
    assert refusal(STEP_OF_2, bets(banca=1001)).reason == "OFF_STEP"
    assert STEP_OF_2.add(None, bets(banca=1002)) == bets(banca=1002)


@pytest.mark.parametrize("name", ["player", "", "PONTO", "ponto ", "x" * 10_000])
def test_an_unknown_chance_is_refused_with_those_that_there_are(name: str) -> None:
    refused = refusal_of(lambda: chance_named(name))
    assert refused.reason == "BET_ILLEGAL"
    assert "`ponto-pair`" in refused.sentence
    assert len(refused.sentence) < 400


# -- Macau -------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("812/2015:39", "812/2015:40")
@pytest.mark.parametrize("chance", Chance)
def test_in_macau_a_player_has_no_maximum(chance: Chance) -> None:
    assert MACAU_TABLE.maximum_cents(chance) is None
    assert MACAU_TABLE.add(None, {chance: 10**12}) == {chance: 10**12}


@pytest.mark.rule("812/2015:41", "812/2015:42", "812/2015:43", "812/2015:43.a")
def test_q4_the_balance_of_the_table_stays_within_the_cap() -> None:
    verify_all(MACAU_TABLE, bets(ponto=1_500_000, banca=500_000))
    refused = refusal_of(lambda: verify_all(MACAU_TABLE, bets(ponto=1_500_100, banca=500_000)))
    assert refused.reason == "ABOVE_TABLE_LIMIT"
    assert refused.facts == {"limit_cents": "1000000", "rule": "812/2015:43.a"}
    verify_all(MACAU_TABLE, bets(ponto=1_500_000, banca=500_100))
    verify_all(MACAU_TABLE, bets(ponto=1_500_100, banca=500_100))
    # The same the other way round.
    verify_all(MACAU_TABLE, bets(ponto=500_000, banca=1_500_000))
    assert refusal_of(lambda: verify_all(MACAU_TABLE, bets(ponto=500_000, banca=1_500_100))).reason == (
        "ABOVE_TABLE_LIMIT"
    )


@pytest.mark.rule("812/2015:43.b", "812/2015:43.c")
def test_q5_ties_and_pairs_of_the_table_stay_within_their_shares_of_the_cap() -> None:
    verify_all(MACAU_TABLE, bets(tie=100_000))
    assert refusal_of(lambda: verify_all(MACAU_TABLE, bets(tie=100_100))).facts["rule"] == "812/2015:43.b"
    verify_all(MACAU_TABLE, bets(ponto_pair=40_000, banca_pair=40_000))
    assert refusal_of(lambda: verify_all(MACAU_TABLE, bets(ponto_pair=40_100, banca_pair=40_000))).facts == {
        "limit_cents": "80000",
        "rule": "812/2015:43.c",
    }


@pytest.mark.rule("812/2015:43.a")
def test_q6_taking_back_what_others_lean_on_is_refused() -> None:
    after = MACAU_TABLE.totals(bets(ponto=1_500_000, banca=400_000))
    now = MACAU_TABLE.totals(bets(ponto=1_500_000, banca=600_000))
    assert refusal_of(lambda: MACAU_TABLE.verify_totals(now, after)).reason == "ABOVE_TABLE_LIMIT"


@pytest.mark.rule("812/2015:41")
def test_without_a_cap_nothing_is_counted_and_nothing_refused() -> None:
    for rules in (CHAPTER_ONE, dataclasses.replace(MACAU, prize_cap_cents=0)):
        table = Table(rules)
        assert table.totals(bets(ponto=10**12)) == {}
        table.verify_totals({}, {})


CHANGES = st.lists(
    st.dictionaries(st.sampled_from(list(Chance)), st.integers(100, 900_000), min_size=1, max_size=3), max_size=6
)


@pytest.mark.rule("812/2015:43", "812/2015:43.a", "812/2015:43.b", "812/2015:43.c")
@given(CHANGES)
def test_bounds_that_are_accepted_hold_whichever_bets_the_wallet_takes(under_way: list[dict[Chance, int]]) -> None:
    """Judges each bet as if all before it were still under way; then has every part of them accepted (C20)."""
    accepted: list[Bets] = []
    lowest = dict.fromkeys(("balance", "tie", "pairs"), 0)
    highest = dict(lowest)
    for change in under_way:
        totals = MACAU_TABLE.totals(change)
        low = {name: lowest[name] + min(0, cents) for name, cents in totals.items()}
        high = {name: highest[name] + max(0, cents) for name, cents in totals.items()}
        try:
            MACAU_TABLE.verify_totals(low, high)
        except TableRefused:
            continue
        lowest, highest = low, high
        accepted.append(change)
    for taken in itertools.chain.from_iterable(itertools.combinations(accepted, n) for n in range(len(accepted) + 1)):
        verify_all(MACAU_TABLE, MACAU_TABLE.together(taken) or {})


# -- properties --------------------------------------------------------------------------------------------------------

AMOUNTS = st.integers(1, 500).map(lambda steps: 20 * steps)
FELTS = st.dictionaries(st.sampled_from(list(Chance)), AMOUNTS, min_size=1)


@pytest.mark.rule("812/2015:13", "812/2015:15")
@given(FELTS, FELTS)
def test_what_lies_on_the_felt_keeps_every_limit(first: dict[Chance, int], second: dict[Chance, int]) -> None:
    felt: Bets | None = None
    for added in (first, second):
        try:
            felt = TABLE.add(felt, added)
        except TableRefused:
            continue
        ponto, banca = felt.get(Chance.PONTO, 0), felt.get(Chance.BANCA, 0)
        assert not (ponto and banca and abs(ponto - banca) < 100)
        assert all(100 <= cents <= (TABLE.maximum_cents(chance) or 0) for chance, cents in felt.items())
        assert TABLE.total_cents(felt) == sum(felt.values())


@given(FELTS, FELTS)
def test_taking_back_what_was_added_restores_the_felt(first: dict[Chance, int], second: dict[Chance, int]) -> None:
    try:
        before = TABLE.add(None, first)
        after = TABLE.add(before, second)
    except TableRefused:
        return
    assert TABLE.remove(after, second) == before
    assert TABLE.remove(before, first) is None
    assert TABLE.together([first, second]) == after


@pytest.mark.rule("812/2015:26", "812/2015:26.a", "812/2015:26.b")
@given(st.sampled_from(list(Commission)), st.integers(1, 10**9))
def test_a_commission_is_never_a_part_of_a_cent(commission: Commission, steps: int) -> None:
    rules = dataclasses.replace(CHAPTER_ONE, commission=commission, half_scores=frozenset({5, 6}))
    table = Table(rules)
    cents = steps * table.step_cents(Chance.BANCA)
    assert cents * (5 if commission is Commission.FIVE_PERCENT else 50) % 100 == 0


def test_nobody_takes_back_more_than_lies_there() -> None:
    assert refusal_of(lambda: TABLE.remove(bets(ponto=500), bets(ponto=600))).reason == "NOT_ON_FELT"
    assert refusal_of(lambda: TABLE.remove(bets(ponto=500), bets(tie=100))).reason == "NOT_ON_FELT"
    assert refusal_of(lambda: TABLE.remove(bets(ponto=500), bets(ponto=0))).reason == "INVALID"
    assert refusal_of(lambda: TABLE.remove(bets(ponto=500), bets(ponto=450))).reason == "BELOW_MINIMUM"
