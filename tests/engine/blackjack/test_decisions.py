"""Which decisions a hand has (15, 16, 20 to 24): the rulebook's table of legal actions, and L1 to L7."""

from __future__ import annotations

import dataclasses
import itertools
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.blackjack.engine import Decision, HandState, Move, Offer, Round, SpecificRules, Table, Turn
from services.blackjack.scores import is_blackjack, low_total, score, value
from services.kit.cards.card import Card, Rank, cards_named
from services.kit.cards.shoe import PACK, shuffled_shoe
from services.kit.randomness.tape import Tape
from tests.engine.blackjack.tables import DEFAULT, TABLE, dealt, insure, options, paid, play, refusal_of, staked

ANY_SCORE = Table(dataclasses.replace(DEFAULT, double_any_score=True))
PAIRS_ONLY = Table(dataclasses.replace(DEFAULT, split_pairs_only=True))
NO_INSURANCE = Table(dataclasses.replace(DEFAULT, insurance=False))
NO_SPECIALS = Table(dataclasses.replace(DEFAULT, special_prizes=False))
ONE_SPLIT = Table(dataclasses.replace(DEFAULT, splits_limit=1))


def of_table(cards: tuple[Card, Card], up: Card) -> set[str]:
    """Returns what the rulebook's table allows a dealt hand by its default rules, row by row."""
    first, second = cards
    best, low = score(cards), low_total(cards)
    allowed = {"draw"}
    if up.rank is not Rank.ACE:
        allowed.add("give-up")
    if value(first) == value(second):
        allowed.add("split")
    if best > 11:
        allowed.add("stand")
    if 9 <= best <= 11 or (best in {19, 20} and best != low):
        allowed.add("double")
    return allowed


@pytest.mark.rule("805/2015:15", "805/2015:15.a", "805/2015:15.b", "805/2015:15.c", "805/2015:15.e", "805/2015:21")
@pytest.mark.rule("805/2015:8.a.ii", "805/2015:24")
@pytest.mark.parametrize("up", ["2h", "9h", "Th", "Kh", "Ah"])
def test_every_dealt_hand_has_the_decisions_of_the_rulebooks_table(up: str) -> None:
    for first, second in itertools.combinations_with_replacement(PACK, 2):
        if is_blackjack((first, second)):
            continue
        round_ = dealt(f"{first.name} {second.name}", f"{up} 5c")
        if up == "Ah":
            assert options(TABLE, round_) == {"insure": 500, "decline": 0}
            round_ = play(TABLE, round_, ("decline",))
        possible = options(TABLE, round_)
        assert set(possible) == of_table((first, second), Card.named(up))
        # What a decision costs is its bet again, or nothing.
        assert all(cost == (1000 if name in {"double", "split"} else 0) for name, cost in possible.items())


@pytest.mark.rule("805/2015:15.a", "805/2015:15.e")
def test_l1_with_8_a_hand_cannot_stand() -> None:
    round_ = dealt("4s 4d", "9h 5c")
    assert set(options(TABLE, round_)) == {"draw", "split", "give-up"}
    refused = refusal_of(lambda: TABLE.judge(round_, Move(1, Decision.STAND)))
    assert refused.reason == "DECISION_ILLEGAL"
    assert refused.facts["rule"] == "805/2015:15.a"
    assert refused.facts["legal"] == "DECISION_DRAW, DECISION_SPLIT, DECISION_GIVE_UP"
    assert refused.facts["decision"] == "DECISION_STAND"


@pytest.mark.rule("805/2015:15.e")
def test_l2_nobody_gives_up_against_an_ace_nor_later_than_with_the_first_decision() -> None:
    against_ace = play(TABLE, dealt("Ts 6d", "Ah 5c"), ("decline",))
    assert refusal_of(lambda: TABLE.judge(against_ace, Move(1, Decision.GIVE_UP))).facts["rule"] == "805/2015:15.e"
    drawn = play(TABLE, dealt("Ts 2d", "9h 5c", "2c"), ("draw",))
    assert "give-up" not in options(TABLE, drawn)
    split = play(TABLE, dealt("8s 8d", "9h 5c", "2c"), ("split",))
    assert "give-up" not in options(TABLE, split)


@pytest.mark.rule("805/2015:2.e", "805/2015:16.b", "805/2015:21")
def test_l3_cards_of_one_value_are_split_unless_the_operator_asks_for_real_pairs() -> None:
    for table, possible in ((TABLE, True), (PAIRS_ONLY, False)):
        assert ("split" in options(table, dealt("Ks Qh", "9h 5c", table=table))) is possible
        assert "split" in options(table, dealt("Ks Kh", "9h 5c", table=table))


@pytest.mark.rule("805/2015:15.b")
def test_l4_three_cards_are_not_doubled() -> None:
    round_ = play(TABLE, dealt("5s 4d", "9h 5c", "2c"), ("draw",))
    assert options(TABLE, round_) == {"draw": 0}
    assert refusal_of(lambda: TABLE.judge(round_, Move(1, Decision.DOUBLE))).facts["rule"] == "805/2015:15.b"


@pytest.mark.rule("805/2015:15.f")
@pytest.mark.parametrize(
    ("cents", "accepted"), [(502, False), (500, True), (2, True), (0, False), (-2, False), (3, False)]
)
def test_l5_an_insurance_is_at_most_half_of_the_bet(cents: int, accepted: bool) -> None:  # noqa: FBT001
    round_ = dealt("Ts 6d", "Ah 5c")
    if accepted:
        wanted = TABLE.judge(round_, insure(cents))
        assert wanted is not None
        assert (wanted.stake, wanted.cents) == ("1.insurance", cents)
    else:
        refused = refusal_of(lambda: TABLE.judge(round_, insure(cents)))
        assert refused.reason == "INSURANCE_REFUSED"
        assert refused.facts["limit_cents"] == "500"


@pytest.mark.rule("805/2015:15.f", "805/2015:20.b")
def test_l6_a_blackjack_is_offered_even_money_and_no_insurance() -> None:
    round_ = dealt("As Kd", "Ah 5c")
    assert options(TABLE, round_) == {"even-money": 0, "decline": 0}
    assert refusal_of(lambda: TABLE.judge(round_, insure(500))).reason == "DECISION_ILLEGAL"


@pytest.mark.rule("805/2015:2.b", "805/2015:2.c", "805/2015:9", "805/2015:10")
@pytest.mark.parametrize(
    ("cents", "reason"), [(498, "BELOW_MINIMUM"), (500, ""), (50_000, ""), (50_002, "ABOVE_MAXIMUM")]
)
def test_l7_bets_keep_the_minimum_and_the_maximum(cents: int, reason: str) -> None:
    if reason:
        assert refusal_of(lambda: TABLE.add(None, {3: cents})).reason == reason
    else:
        assert TABLE.add(None, {3: cents}) == {3: cents}


@pytest.mark.rule("805/2015:4.a", "805/2015:7")
def test_a_player_bets_on_one_place_unless_the_specific_rules_say_more() -> None:
    assert refusal_of(lambda: TABLE.add({1: 1000}, {2: 1000})).facts["rule"] == "805/2015:7"
    three = Table(dataclasses.replace(DEFAULT, places_per_player=3))
    assert three.add({1: 1000}, {2: 1000, 7: 500}) == {1: 1000, 2: 1000, 7: 500}
    for place in (0, 8, -1):
        assert refusal_of(lambda place=place: three.add(None, {place: 1000})).reason == "PLACE_UNKNOWN"  # type: ignore[misc]


@pytest.mark.rule("805/2015:25.a")
def test_an_odd_bet_whose_half_could_not_be_paid_is_refused() -> None:
    assert refusal_of(lambda: TABLE.add(None, {1: 1001})).reason == "OFF_STEP"
    assert refusal_of(lambda: TABLE.take({1: 2000}, {1: 1001})).reason == "OFF_STEP"
    assert TABLE.take({1: 2000}, {1: 1000}) == {1: 1000}
    assert TABLE.take({1: 2000}, {1: 2000}) is None
    assert refusal_of(lambda: TABLE.take({1: 2000}, {1: 3000})).reason == "NOT_ON_FELT"
    assert refusal_of(lambda: TABLE.take({1: 2000}, {1: 0})).reason == "INVALID"
    assert refusal_of(lambda: TABLE.take({1: 800}, {1: 400})).reason == "BELOW_MINIMUM"


# -- options of the operator (16) --------------------------------------------------------------------------------------


@pytest.mark.rule("805/2015:16", "805/2015:16.a", "805/2015:8.a.ii")
def test_where_any_score_may_be_doubled_no_ace_is_locked() -> None:
    round_ = dealt("As 8d", "5h Tc", "2c", table=ANY_SCORE)
    assert "double" in options(ANY_SCORE, round_)
    round_ = play(ANY_SCORE, round_, ("double",))
    assert round_.hands[0].score == 21
    assert "double" in options(ANY_SCORE, dealt("Ts 6d", "5h Tc", table=ANY_SCORE))
    assert "double" not in options(TABLE, dealt("Ts 6d", "5h Tc"))


@pytest.mark.rule("805/2015:16.c", "805/2015:22")
def test_splits_are_limited_by_place_where_the_operator_says_so() -> None:
    round_ = play(ONE_SPLIT, dealt("8s 8d", "5h Tc", "8h", table=ONE_SPLIT), ("split",))
    assert "split" not in options(ONE_SPLIT, round_)
    assert refusal_of(lambda: ONE_SPLIT.judge(round_, Move(1, Decision.SPLIT))).facts["rule"] == "805/2015:16.c"
    thrice = dealt("8s 8d", "5h Tc", "8h 8c 8s 8d")
    for _ in range(3):
        assert "split" in options(TABLE, thrice)
        thrice = play(TABLE, thrice, ("split",))
    assert len(thrice.hands) == 4
    assert "split" not in options(TABLE, thrice)


@pytest.mark.guarantee("G11")
@pytest.mark.rule("805/2015:22")
def test_g11_without_a_limit_of_splits_no_round_has_more_hands_than_the_shoe_has_cards_for() -> None:
    unlimited = Table(dataclasses.replace(DEFAULT, packs=4, splits_limit=None))
    # More eights than four packs have: no real round comes so far.
    round_ = dealt("8s 8d", "5h Tc", "8h " * 50, table=unlimited)
    while "split" in options(unlimited, round_):
        round_ = play(unlimited, round_, ("split",))
    assert len(round_.hands) == 42
    refused = refusal_of(lambda: unlimited.judge(round_, Move(1, Decision.SPLIT)))
    assert (refused.reason, refused.facts["rule"]) == ("DECISION_ILLEGAL", "805/2015:16.c")


@pytest.mark.rule("805/2015:16.d", "805/2015:20.b")
def test_without_insurance_even_money_stays() -> None:
    assert set(options(NO_INSURANCE, dealt("Ts 6d", "Ah 5c", table=NO_INSURANCE))) == {"draw", "stand"}
    assert set(options(NO_INSURANCE, dealt("As Kd", "Ah 5c", table=NO_INSURANCE))) == {"even-money", "decline"}


@pytest.mark.rule("805/2015:16.e", "805/2015:25.i")
def test_without_special_prizes_three_sevens_are_21_and_no_more() -> None:
    round_ = play(NO_SPECIALS, dealt("7h 7s", "Th 9c", "7d", table=NO_SPECIALS), ("draw",))
    assert paid(NO_SPECIALS, round_) == 2000


@pytest.mark.rule("805/2015:25.i")
@pytest.mark.parametrize("cards", list(itertools.permutations(["6h", "7h", "8h"])))
def test_the_order_of_6_7_and_8_does_not_matter(cards: tuple[str, str, str]) -> None:
    first, second, third = cards
    round_ = play(TABLE, dealt(f"{first} {second}", "Th Kc", third), ("draw",))
    assert TABLE.payouts(round_) == {"1": 5000}


@pytest.mark.rule("805/2015:25.i")
def test_four_cards_with_6_7_and_8_earn_nothing_special() -> None:
    assert paid(TABLE, play(TABLE, dealt("2h 6h", "Th Kc", "7h 8h"), ("draw", "draw"))) == 0


# -- offers, split aces, several places --------------------------------------------------------------------------------


@pytest.mark.rule("805/2015:15.f", "805/2015:20.b")
def test_offers_are_answered_by_all_places_at_once_before_any_hand_is_played() -> None:
    three = Table(dataclasses.replace(DEFAULT, places_per_player=3))
    cards = cards_named("Ts As 9s Ah 6c Kd 5d 9c")
    round_ = three.deal({1: 1000, 4: 1000, 6: 1000}, (*cards, *PACK))
    assert three.turn(round_) == Turn((1, 4, 6), None)
    assert refusal_of(lambda: three.judge(round_, Move(1, Decision.DRAW))).reason == "DECISION_ILLEGAL"

    # In any order.
    answered = play(three, round_, (Move(6, Decision.DECLINE), Move(4, Decision.EVEN_MONEY), insure(400)))
    assert [place.offer for place in answered.places] == [Offer.TAKEN, Offer.TAKEN, Offer.DECLINED]
    assert three.turn(answered) == Turn((1,), 1)
    # Even money is paid at once.
    assert three.due(answered) == {"4": 2000}
    assert refusal_of(lambda: three.judge(answered, Move(6, Decision.DRAW))).reason == "NOT_YOUR_TURN"
    assert refusal_of(lambda: three.judge(answered, Move(3, Decision.DRAW))).facts["turn_of"] == "1"


@pytest.mark.rule("805/2015:21", "805/2015:22")
def test_b11_split_aces_receive_one_card_and_are_split_again_on_another_ace() -> None:
    round_ = play(TABLE, dealt("As Ad", "5h Tc", "Ah 9c"), ("split",))
    assert options(TABLE, round_) == {"stand": 0, "split": 1000}
    assert refusal_of(lambda: TABLE.judge(round_, Move(1, Decision.DRAW))).facts["rule"] == "805/2015:21"
    assert TABLE.default(round_, 1) == Move(1, Decision.STAND)
    stood = play(TABLE, round_, ("stand",))
    # The second ace got its card, 9, and nothing is left to decide.
    assert stood.over
    assert [hand.score for hand in stood.hands] == [12, 20]


@pytest.mark.rule("805/2015:20.a")
@pytest.mark.parametrize(("up", "at_once"), [("2h", True), ("9h", True), ("Th", False), ("Jh", False), ("Ah", False)])
def test_a_blackjack_is_paid_at_once_against_2_to_9(up: str, at_once: bool) -> None:  # noqa: FBT001
    two = Table(dataclasses.replace(DEFAULT, places_per_player=2))
    cards = cards_named(f"As Ts {up} Kd 6d 9c")
    round_ = two.deal({1: 1000, 2: 1000}, (*cards, *PACK))
    assert (two.due(round_) == {"1": 2500}) is at_once
    assert (round_.hands[0].state is HandState.PAID) is at_once


# -- properties --------------------------------------------------------------------------------------------------------

RULES = st.builds(
    SpecificRules,
    packs=st.sampled_from([4, 6, 8]),
    places=st.just(7),
    places_per_player=st.just(7),
    minimum_cents=st.just(2),
    maximum_cents=st.just(200),
    step_cents=st.just(2),
    double_any_score=st.booleans(),
    split_pairs_only=st.booleans(),
    splits_limit=st.sampled_from([None, 1, 2, 3]),
    insurance=st.booleans(),
    special_prizes=st.booleans(),
)
BETS = st.dictionaries(st.integers(1, 7), st.integers(1, 100).map(lambda n: 2 * n), min_size=1)


def random_round(table: Table, placed: dict[int, int], seed: int) -> list[Round]:
    """Plays a round with random legal decisions; returns its states, and has every illegal decision refused."""
    chance = Random(seed)
    states = [table.deal(placed, shuffled_shoe(table.specific_rules.packs, Tape(chance.randbytes(4096))))]
    while (turn := table.turn(states[-1])) is not None:
        now = states[-1]
        place = chance.choice(turn.places)
        possible = {option.decision: option for option in table.options(now, place)}
        for decision in set(Decision) - set(possible):
            assert refusal_of(lambda: table.judge(now, Move(place, decision))).reason == "DECISION_ILLEGAL"  # noqa: B023
        option = possible[chance.choice(sorted(possible))]
        cents = 0
        if option.decision is Decision.INSURE:
            if not option.cost_cents:
                option = possible[Decision.DECLINE]
            else:
                cents = chance.randrange(2, option.cost_cents + 1, 2)
        move = Move(place, option.decision, cents)
        wanted = table.judge(now, move)
        assert (wanted is None) == (option.decision not in {Decision.INSURE, Decision.DOUBLE, Decision.SPLIT})
        states.append(table.after(now, move))
        assert staked(states[-1]) - staked(now) == (0 if wanted is None else wanted.cents)
    return states


@pytest.mark.rule("805/2015:2.f", "805/2015:15.d", "805/2015:17", "805/2015:24")
@given(RULES, BETS, st.integers(0, 2**32))
def test_a_round_of_random_decisions_keeps_every_rule(rules: SpecificRules, placed: dict[int, int], seed: int) -> None:
    table = Table(rules)
    states = random_round(table, placed, seed)
    last = states[-1]
    payouts = table.payouts(last)

    assert last.over
    assert staked(last) >= sum(placed.values())
    for before, after in itertools.pairwise(states):
        # What was paid once stays paid (20.a), and nothing shows the hole card before the end (17, B4).
        assert table.due(before).items() <= table.due(after).items() <= payouts.items()
        assert not before.hole_shown
        assert before.shoe == after.shoe
        assert before.dealt <= after.dealt
    names = [name for hand in last.hands for name in hand.stakes]
    assert len(names) == len(set(names))
    assert set(payouts) == {*names, *(f"{p.number}.insurance" for p in last.places if p.insurance_cents)}
    assert all(cents >= 0 for cents in payouts.values())
    for hand in last.hands:
        assert hand.state is not HandState.IN_PLAY
        assert (hand.state is HandState.BUST) == (hand.score > 21)
    dealt_cards = sum(len(hand.cards) for hand in last.hands) + len(last.bank)
    assert dealt_cards == last.dealt


@given(RULES, BETS, st.integers(0, 2**32))
def test_g7_cards_that_are_not_shown_change_nothing_that_a_player_is_offered(
    rules: SpecificRules, placed: dict[int, int], seed: int
) -> None:
    """Two rounds that differ only in the hole card and in the cards to come offer the same (B4)."""
    table = Table(rules)
    first = random_round(table, placed, seed)[0]
    hole_at = 2 * len(placed) + 1
    other_cards = list(first.shoe)
    other_cards[hole_at:] = reversed(other_cards[hole_at:])
    second = table.deal(placed, other_cards)
    if table.turn(first) is None or table.turn(second) is None:
        return
    assert first.shown_bank == second.shown_bank
    assert table.turn(first) == table.turn(second)
    assert [table.options(first, place) for place in placed] == [table.options(second, place) for place in placed]
    assert table.due(first) == table.due(second)
