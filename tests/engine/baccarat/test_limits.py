"""Tests of the limits of bets (rules 9 to 15, 39 to 43): the vectors Q1 to Q7, and properties."""

from __future__ import annotations

import dataclasses
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feltro.baccarat.v1 import baccarat_pb2
from services.baccarat.engine import Bets, Chance, Commission, Outcome, SpecificRules, Table, chance_named, deal
from services.kit.cards.shoe import PACK
from services.kit.table.game import Totals
from services.kit.table.refusals import TableRefused
from tests.engine.baccarat.tables import (
    CHAPTER_ONE,
    HALF_ON_FIVE_AND_SIX,
    HALF_ON_SIX,
    MACAU,
    bets,
    refusal,
    refusal_of,
    round_of,
)

TABLE = Table(CHAPTER_ONE)
MACAU_TABLE = Table(MACAU)
STEP_OF_2 = Table(HALF_ON_SIX)


def verify_all(table: Table, placed: Bets) -> None:
    """Has the table judge these bets of all players together, as if they came at once."""
    table.fits({}, {}, {}, table.totals(placed))


def verify_added(table: Table, counted: Bets, added: Bets) -> None:
    """Has the table judge bets that are added to those of all players."""
    table.fits(table.totals(counted), {}, {}, table.totals(added))


def negative(totals: Totals) -> Totals:
    """Returns the change that taking bets back makes."""
    return {name: -cents for name, cents in totals.items()}


def difference(bets: Bets) -> int:
    return bets.get(Chance.PONTO, 0) - bets.get(Chance.BANCA, 0)


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


@pytest.mark.rule("812/2015:6.a", "812/2015:13")
def test_q2_the_difference_is_the_players_for_a_player_has_one_place_alone() -> None:
    """A bet names its chance and no place: all that a player bets, in however many requests, is judged together."""
    assert [field.name for field in baccarat_pb2.Bet.DESCRIPTOR.fields] == ["place", "amount_cents"]
    assert all(chance_named(chance) is chance for chance in Chance)
    felt = TABLE.add(None, bets(ponto=1000))
    assert refusal(TABLE, bets(banca=1000), felt).reason == "BETS_TOO_CLOSE"


@pytest.mark.rule("812/2015:13")
def test_taking_back_keeps_the_difference_too() -> None:
    felt = bets(ponto=2000, banca=1000)
    assert refusal_of(lambda: TABLE.take(felt, bets(ponto=1000))).reason == "BETS_TOO_CLOSE"
    assert TABLE.take(felt, bets(ponto=800)) == bets(ponto=1200, banca=1000)
    assert TABLE.take(felt, bets(banca=1000)) == bets(ponto=2000)


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


@pytest.mark.rule("812/2015:39", "812/2015:40")
def test_in_macau_the_platform_limits_what_one_player_bets_in_all() -> None:
    table = Table(dataclasses.replace(MACAU, player_maximum_cents=5_000))
    assert table.add(bets(ponto=4_000), bets(tie=1_000)) == bets(ponto=4_000, tie=1_000)
    refused = refusal(table, bets(tie=1_001), bets(ponto=4_000))
    assert (refused.reason, refused.facts) == (
        "ABOVE_TOTAL",
        {"amount_cents": "5001", "maximum_cents": "5000", "rule": "812/2015:40"},
    )


@pytest.mark.rule("812/2015:41", "812/2015:42", "812/2015:43", "812/2015:43.a")
def test_q4_the_balance_of_the_table_stays_within_the_cap() -> None:
    at_the_limit = bets(ponto=1_500_000, banca=500_000)
    verify_all(MACAU_TABLE, at_the_limit)
    refused = refusal_of(lambda: verify_added(MACAU_TABLE, at_the_limit, bets(ponto=100)))
    assert refused.reason == "ABOVE_TABLE_LIMIT"
    assert refused.facts == {"limit_cents": "1000000", "rule": "812/2015:43.a"}
    verify_added(MACAU_TABLE, at_the_limit, bets(banca=100))
    verify_added(MACAU_TABLE, bets(ponto=1_500_000, banca=500_100), bets(ponto=100))
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
    now = MACAU_TABLE.totals(bets(ponto=1_500_000, banca=600_000))

    def take_back(cents: int) -> None:
        MACAU_TABLE.fits(now, {}, {}, negative(MACAU_TABLE.totals(bets(banca=cents))))

    assert refusal_of(lambda: take_back(200_000)).reason == "ABOVE_TABLE_LIMIT"
    take_back(100_000)
    # The heavier side may always be taken back.
    MACAU_TABLE.fits(now, {}, {}, negative(MACAU_TABLE.totals(bets(ponto=1_000_000))))


@pytest.mark.rule("812/2015:41")
def test_without_a_cap_nothing_is_counted_and_nothing_refused() -> None:
    for rules in (CHAPTER_ONE, dataclasses.replace(MACAU, prize_cap_cents=0)):
        table = Table(rules)
        assert table.totals(bets(ponto=10**12)) == {}
        table.fits({}, {}, {}, {})


@pytest.mark.rule("812/2015:43.a")
def test_both_sides_of_one_stake_count_as_one() -> None:
    """They are accepted or refused together, so that a player may bet far more on both sides than the cap."""
    both = MACAU_TABLE.totals(bets(ponto=5_000_000, banca=4_000_000))
    MACAU_TABLE.fits({}, {}, {}, both)
    # While they are under way, the other side may be bet on to the full.
    MACAU_TABLE.fits({}, both, {}, MACAU_TABLE.totals(bets(banca=1_000_000)))
    assert refusal_of(lambda: MACAU_TABLE.fits({}, both, {}, MACAU_TABLE.totals(bets(ponto=100)))).facts["rule"] == (
        "812/2015:43.a"
    )


BETS = st.dictionaries(st.sampled_from(list(Chance)), st.integers(100, 900_000), min_size=1, max_size=3)


@pytest.mark.rule("812/2015:43", "812/2015:43.a", "812/2015:43.b", "812/2015:43.c")
@given(st.lists(BETS, max_size=3), st.lists(BETS, max_size=4), st.data())
def test_what_fits_holds_whichever_changes_the_wallet_carries_out(
    first: list[dict[Chance, int]], then: list[dict[Chance, int]], data: st.DataObject
) -> None:
    """Judges each change as if all before it were still under way; then has every part of them carried out (C20)."""
    counted: list[Bets] = []
    for bets_ in first:
        if fits(MACAU_TABLE, counted, [], [], MACAU_TABLE.totals(bets_)):
            counted.append(bets_)
    going: list[Bets] = []
    for taken in counted:
        asked = data.draw(st.booleans())
        if asked and fits(MACAU_TABLE, counted, [], going, negative(MACAU_TABLE.totals(taken))):
            going.append(taken)
    coming: list[Bets] = []
    for bets_ in then:
        if fits(MACAU_TABLE, counted, coming, going, MACAU_TABLE.totals(bets_)):
            coming.append(bets_)
    for accepted, gone in itertools.product(subsets(coming), subsets(going)):
        remaining = [*counted, *accepted]
        for each in gone:
            remaining.remove(each)
        verify_within_cap(MACAU_TABLE.together(remaining) or {}, cap=1_000_000)


def subsets(of: list[Bets]) -> list[tuple[Bets, ...]]:
    return [taken for count in range(len(of) + 1) for taken in itertools.combinations(of, count)]


def verify_within_cap(placed: Bets, cap: int) -> None:
    """The regulation's own words (rule 43), not the engine's."""
    assert abs(difference(placed)) <= cap
    assert placed.get(Chance.TIE, 0) <= cap / 10
    assert placed.get(Chance.PONTO_PAIR, 0) + placed.get(Chance.BANCA_PAIR, 0) <= cap * 8 / 100


def fits(table: Table, counted: list[Bets], coming: list[Bets], going: list[Bets], change: Totals) -> bool:
    """Whether the table allows a change, as the felt asks it: with the sums of what each stake adds."""

    def sums(stakes: list[Bets]) -> Totals:
        total: dict[str, int] = {}
        for stake in stakes:
            for name, cents in table.totals(stake).items():
                total[name] = total.get(name, 0) + cents
        return total

    try:
        table.fits(sums(counted), sums(coming), sums(going), change)
    except TableRefused:
        return False
    return True


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
    assert TABLE.take(after, second) == before
    assert TABLE.take(before, first) is None
    assert TABLE.together([first, second]) == after


@pytest.mark.rule("812/2015:26", "812/2015:26.a", "812/2015:26.b")
@given(st.sampled_from(list(Commission)), st.integers(1, 10**9))
def test_a_commission_is_never_a_part_of_a_cent(commission: Commission, steps: int) -> None:
    rules = dataclasses.replace(CHAPTER_ONE, commission=commission, half_scores=frozenset({5, 6}))
    table = Table(rules)
    cents = steps * table.step_cents(Chance.BANCA)
    assert cents * (5 if commission is Commission.FIVE_PERCENT else 50) % 100 == 0


def test_nobody_takes_back_more_than_lies_there() -> None:
    assert refusal_of(lambda: TABLE.take(bets(ponto=500), bets(ponto=600))).reason == "NOT_ON_FELT"
    assert refusal_of(lambda: TABLE.take(bets(ponto=500), bets(tie=100))).reason == "NOT_ON_FELT"
    assert refusal_of(lambda: TABLE.take(bets(ponto=500), bets(ponto=0))).reason == "INVALID"
    assert refusal_of(lambda: TABLE.take(bets(ponto=500), bets(ponto=450))).reason == "BELOW_MINIMUM"


# -- what the wallet has to know ---------------------------------------------------------------------------------------

ROUNDS = st.permutations(list(PACK)).map(lambda cards: deal(cards[:6]))


@pytest.mark.parametrize("rules", [CHAPTER_ONE, HALF_ON_SIX, HALF_ON_FIVE_AND_SIX], ids=["26.a", "6", "5 and 6"])
@given(FELTS, ROUNDS)
def test_nothing_pays_more_than_the_largest_payout(
    rules: SpecificRules, felt: dict[Chance, int], outcome: Outcome
) -> None:
    table = Table(rules)
    assert table.payout_cents(outcome, felt) <= table.largest_payout_cents(felt)


# P16 is a tie with both pairs; the others have both pairs too, and ponto or banca wins.
BOTH_PAIRS = ["9c 9h 9d 9s", "4c 3h 4d 3s", "3c 4h 3d 4s"]


@pytest.mark.parametrize("rules", [CHAPTER_ONE, HALF_ON_SIX, HALF_ON_FIVE_AND_SIX], ids=["26.a", "6", "5 and 6"])
@given(FELTS)
def test_the_largest_payout_is_reached(rules: SpecificRules, felt: dict[Chance, int]) -> None:
    table = Table(rules)
    paid = max(table.payout_cents(round_of(cards), felt) for cards in BOTH_PAIRS)
    assert paid == table.largest_payout_cents(felt)


@given(FELTS)
def test_no_stake_within_the_limits_is_above_those_of_the_table(felt: dict[Chance, int]) -> None:
    macau = Table(dataclasses.replace(MACAU, player_maximum_cents=5_000))
    for table in (TABLE, macau):
        try:
            accepted = table.add(None, felt)
            table.fits({}, {}, {}, table.totals(accepted))
        except TableRefused:
            continue
        assert table.total_cents(accepted) <= table.largest_stake_cents
        assert table.largest_payout_cents(accepted) <= table.largest_payout_limit_cents


def test_the_largest_stake_and_payout_of_a_table() -> None:
    """70 + 70 + 15 + 8 + 8 times the minimum; with a tie and two pairs it pays 70 + 70 + 9 x 15 + 12 x 16 times it."""
    assert (TABLE.largest_stake_cents, TABLE.largest_payout_limit_cents) == (17_100, 46_700)
    small = Table(dataclasses.replace(MACAU, player_maximum_cents=1_000))
    assert (small.largest_stake_cents, small.largest_payout_limit_cents) == (1_000, 12_000)
    # With no more than 80 000 on pairs, by the cap, and 100 000 on a tie.
    large = Table(dataclasses.replace(MACAU, player_maximum_cents=1_000_000))
    assert large.largest_payout_limit_cents == 80_000 * 12 + 920_000 * 2


@pytest.mark.rule("812/2015:14", "812/2015:15.a")
def test_what_is_published_for_banca_can_be_bet() -> None:
    """Limits that are no multiples of the step move to the next one inside."""
    odd = Table(dataclasses.replace(CHAPTER_ONE, minimum_cents=50, times_minimum={Chance.BANCA: 3}))
    assert (odd.smallest_bet_cents(Chance.BANCA), odd.maximum_cents(Chance.BANCA)) == (60, 140)
    assert odd.smallest_bet_cents(Chance.PONTO) == 50
    assert odd.add(None, bets(banca=140)) == bets(banca=140)
    assert refusal(odd, bets(banca=40)).facts["minimum_cents"] == "60"


@given(FELTS, FELTS)
def test_dividing_bets_loses_nothing(felt: dict[Chance, int], wanted: dict[Chance, int]) -> None:
    held, rest = TABLE.divide(felt, wanted)
    assert TABLE.together(part for part in (held, rest) if part is not None) == felt
    assert all(cents <= wanted.get(chance, 0) for chance, cents in (held or {}).items())
