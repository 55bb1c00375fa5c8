"""Tests of one hand: dealing order, legal actions and their refusals, all-ins, short blinds, run-outs and posts."""

from __future__ import annotations

import pytest

from services.kit.cards.shoe import PACK
from services.poker.engine import Table
from services.poker.hand.state import CALL, CHECK, FOLD, Kind, Move
from services.poker.lineup.entry import Positions
from services.poker.specific_rules import Approval, HeadsUpBlinds, Limit
from services.poker.variant import Variant
from tests.engine.poker.tables import (
    HOLDEM,
    act,
    begin,
    both,
    both_variants,
    bounds,
    paid,
    play,
    pots,
    refusal_of,
    table,
    to_call,
)

FIXED = Limit.FIXED_RAISES
NO_LIMIT = Limit.NO_LIMIT
# A pair of aces, kings and queens at p0, p1 and p2, and nothing for them on the board.
PAIRS, BOARD = "AsAd KsKd QsQd", "7h 8h 9c 2c 3d"


# -- dealing ----------------------------------------------------------------------------------------------------------


@both("2.h", "2.j", "2.r", "4.b", "25", "49", "50", "53", "55", "57")
@both_variants
def test_cards_are_dealt_one_to_each_from_the_small_blind_on_and_none_is_burnt(variant: Variant) -> None:
    at = table(variant, limit=NO_LIMIT)
    hand = at.deal(Positions((3, 5, 9), (10_000,) * 3), PACK)
    count = variant.hole_cards

    assert hand.deal.holes == tuple(PACK[position : 3 * count : 3] for position in range(3))
    assert hand.board == ()
    assert play(hand, "c c x").board == PACK[3 * count : 3 * count + 3]
    assert play(hand, "c c x | x x x").board == PACK[3 * count : 3 * count + 4]
    assert play(hand, "c c x | x x x | x x x").board == PACK[3 * count : 3 * count + 5]


@both("49")
@both_variants
def test_with_two_players_the_small_blind_gets_the_first_card(variant: Variant) -> None:
    approvals = frozenset({Approval.BUTTON_SMALL_BLIND})
    for blinds, first in ((HeadsUpBlinds.LITERAL, 0), (HeadsUpBlinds.BUTTON_SMALL_BLIND, 1)):
        hand = table(variant, heads_up_blinds=blinds, approvals=approvals).deal(Positions((1, 2), (10_000,) * 2), PACK)
        assert hand.deal.holes[first][0] == PACK[0]
        assert hand.deal.holes[1 - first][0] == PACK[1]


@both("5", "25")
@both_variants
def test_ten_players_have_different_cards(variant: Variant) -> None:
    hand = table(variant).deal(Positions(tuple(range(1, 11)), (10_000,) * 10), PACK)

    dealt = [card for hole in hand.deal.holes for card in hole] + list(hand.deal.board)
    assert len(dealt) == len(set(dealt)) == 10 * variant.hole_cards + 5


def test_the_text_of_a_hand_has_no_cards() -> None:
    hand = begin(table(), (10_000,) * 3, PAIRS, BOARD)

    assert "Card(" not in repr(hand)


# -- what is not possible, and why ------------------------------------------------------------------------------------


@both("34", "34.b", "34.c", "23", "24.c", "37")
@both_variants
def test_what_is_not_possible_is_refused_with_the_bounds(variant: Variant) -> None:
    hand = begin(table(variant, limit=NO_LIMIT), (10_000,) * 3)
    book = variant.regulation

    refused = refusal_of(lambda: act(hand, "x"))
    assert (refused.reason, refused.facts["rule"]) == ("DECISION_ILLEGAL", f"{book}:34.b")
    assert refused.facts["legal"] == "ACTION_FOLD, ACTION_CALL, ACTION_RAISE"
    assert (refused.facts["min_to_cents"], refused.facts["max_to_cents"]) == ("200", "10000")
    refused = refusal_of(lambda: act(hand, "r199"))
    assert (refused.reason, refused.facts["rule"], refused.facts["minimum_cents"]) == (
        "BELOW_MINIMUM",
        f"{book}:23",
        "200",
    )
    refused = refusal_of(lambda: act(hand, "r10001"))
    assert (refused.reason, refused.facts["rule"], refused.facts["maximum_cents"]) == (
        "ABOVE_MAXIMUM",
        f"{book}:37",
        "10000",
    )
    option = play(hand, "c c")
    refused = refusal_of(lambda: act(option, "c"))
    assert (refused.facts["rule"], refused.facts["legal"]) == (
        f"{book}:34.c",
        "ACTION_FOLD, ACTION_CHECK, ACTION_RAISE",
    )


@both("24.a", "24.b")
@both_variants
@pytest.mark.parametrize(
    ("limit", "most", "paragraph"),
    [(Limit.POT_LIMIT, 350, "24.b"), (Limit.HALF_POT, 225, "24.a"), (FIXED, 200, "24.a")],
)
def test_above_the_limit_of_the_table(variant: Variant, limit: Limit, most: int, paragraph: str) -> None:
    hand = begin(table(variant, limit=limit), (10_000,) * 3)

    refused = refusal_of(lambda: act(hand, f"r{most + 1}"))

    assert (refused.reason, refused.facts["maximum_cents"]) == ("ABOVE_MAXIMUM", f"{most}")
    assert refused.facts["rule"] == f"{variant.regulation}:{paragraph}"


def test_nobody_acts_out_of_turn_nor_when_the_hand_is_over() -> None:
    hand = begin(table(), (10_000,) * 3)

    refused = refusal_of(lambda: Table.judge(hand, 1, FOLD))
    assert (refused.reason, refused.facts) == ("NOT_YOUR_TURN", {"seat": "1", "turn_of": "3"})
    over = play(hand, "f f")
    assert refusal_of(lambda: Table.judge(over, 3, FOLD)).facts["turn_of"] == ""


@both("39", "40")
def test_why_a_player_cannot_raise() -> None:
    # The cave does not exceed the bet.
    covered = play(begin(table(), (10_000, 200, 10_000)), "r500 f")
    assert (covered.actor, to_call(covered), bounds(covered)) == (1, 100, None)
    assert refusal_of(lambda: act(covered, "r600")).facts["rule"] == "806/2015:39"
    # All others are all in.
    alone = play(begin(table(), (10_000, 300)), "c r300")
    assert (to_call(alone), bounds(alone)) == (200, None)
    assert refusal_of(lambda: act(alone, "r600")).facts["rule"] == "806/2015:40"
    # The big blind still has chips, and fewer than the bet.
    nobody = play(begin(table(), (10_000, 400, 500)), "r500")
    assert (nobody.actor, to_call(nobody), bounds(nobody)) == (0, 450, None)


@both("24.b", "37")
def test_an_all_in_above_the_limit_is_not_possible_and_below_it_is() -> None:
    hand = begin(table(limit=Limit.POT_LIMIT), (10_000, 10_000, 351))
    assert bounds(hand) == (200, 350)
    assert bounds(begin(table(limit=Limit.POT_LIMIT), (10_000, 10_000, 349))) == (200, 349)
    # Too little for a minimum raise.
    assert bounds(begin(table(limit=Limit.POT_LIMIT), (10_000, 10_000, 150))) == (150, 150)


@both("24.a")
def test_where_half_the_pot_is_below_the_minimum_the_minimum_prevails() -> None:
    """Half the pot falls short of a minimum raise only where a big blind is short: 160 are in, and 200 to call."""
    hand = begin(table(big_blind_cents=200, limit=Limit.HALF_POT), (5000, 60, 5000, 5000))

    assert bounds(hand) == (400, 400)


# -- a fixed number of raises -----------------------------------------------------------------------------------------


@both("24.a", "38")
@both_variants
def test_an_incomplete_all_in_uses_up_no_raise_and_is_completed(variant: Variant) -> None:
    hand = play(begin(table(variant, limit=FIXED), (10_000, 240, 10_000)), "c c x")
    hand = act(hand, "r100")
    # All in for 140: 40 more than the bet.
    hand = act(hand, "r140")
    assert (hand.actor, to_call(hand), bounds(hand)) == (2, 140, (200, 200))

    hand = act(hand, "r200")

    # Two raises are left of three.
    for to in (300, 400):
        assert bounds(hand) == (to, to)
        hand = act(hand, f"r{to}")
    assert bounds(hand) is None


def test_after_an_incomplete_raise_who_has_acted_may_only_call() -> None:
    hand = play(begin(table(limit=FIXED), (10_000, 240, 10_000)), "c c x | r100 r140 c")

    assert (hand.actor, to_call(hand), bounds(hand)) == (0, 40, None)


def test_the_size_of_bets_is_the_unit_of_the_round() -> None:
    hand = begin(table(limit=FIXED, bet_units=(2, 3, 4, 5)), (100_000,) * 2)
    assert bounds(hand) == (300, 300)
    hand = play(hand, "c x")
    for unit in (300, 400, 500):
        assert bounds(hand) == (unit, unit)
        hand = play(hand, "x x")


# -- incomplete all-ins and short blinds -----------------------------------------------------------------------


@both("37")
def test_an_incomplete_raise_before_the_flop_leaves_the_minimum_as_it_is() -> None:
    hand = begin(table(), (10_000, 10_000, 10_000, 150))
    hand = play(hand, "c r150")
    assert (hand.actor, bounds(hand)) == (0, (250, 10_000))
    # The big blind has not acted yet; the player who called 100 has, and faces 50.
    hand = play(hand, "c c")
    assert (hand.actor, to_call(hand), bounds(hand)) == (2, 50, None)


@both("52")
def test_a_short_big_blind_counts_in_full() -> None:
    hand = begin(table(big_blind_cents=200), (5000, 60, 5000))

    assert (hand.bets, to_call(hand), bounds(hand)) == ((100, 60, 0), 200, (400, 5000))
    hand = play(hand, "c c")
    assert hand.street == 1
    over = play(hand, "x x x x x x")
    assert pots(over) == [(180, (0, 1, 2)), (280, (0, 2))]


def test_where_nobody_can_answer_a_short_big_blind_nothing_is_asked() -> None:
    """The small blind has matched a big blind that is all in for less: the rest is run at once."""
    hand = begin(table(big_blind_cents=200), (5000, 60), "AsAd KsKd", BOARD)

    assert hand.is_over
    assert pots(hand) == [(120, (0, 1))]
    assert paid(hand) == ((5054, 0), 6)


def test_blinds_that_are_all_in_are_run_out() -> None:
    hand = begin(table(), (30, 80), "AsAd KsKd", BOARD)

    assert hand.is_over
    assert len(hand.board) == 5
    assert paid(hand) == ((57, 50), 3)


def test_a_small_blind_that_is_all_in_wins_the_main_pot_alone() -> None:
    hand = play(begin(table(), (50, 10_000, 10_000), PAIRS, BOARD), "c x | x x | x x | x x")

    assert pots(hand) == [(150, (0, 1, 2)), (100, (1, 2))]
    assert paid(hand)[0] == (143, 9995, 9900)


# -- where no decision is left ----------------------------------------------------------------------------------------


@both("36")
@both_variants
def test_the_last_player_gets_the_pot_and_shows_nothing(variant: Variant) -> None:
    hand = play(begin(table(variant), (10_000,) * 3), "c c x | r100 f f")

    assert hand.result is not None
    assert hand.result.shown == ()
    assert [seat.strength for seat in Table.view(hand).seats] == [None, None, None]
    assert len(hand.board) == 3


@both("59")
def test_cards_are_run_out_when_all_but_one_are_all_in() -> None:
    hand = play(begin(table(), (500, 10_000, 300), PAIRS, BOARD), "r300 r500 c")

    assert hand.is_over
    assert len(hand.board) == 5
    # Nobody bet on the river: from the left of the button on.
    assert hand.result is not None
    assert hand.result.shown == (0, 1, 2)


def test_the_others_go_on_when_one_is_all_in() -> None:
    hand = play(begin(table(), (500, 10_000, 10_000), PAIRS, BOARD), "c r500 c c")

    assert (hand.street, hand.actor, bounds(hand)) == (1, 1, (100, 9500))


def test_a_player_with_too_little_to_call_may_stay_in_for_everything() -> None:
    hand = play(begin(table(), (700, 10_000, 10_000), PAIRS, BOARD), "r2000 c")

    # The small blind is all in for 700; the big blind decides about 1900 more.
    assert (hand.actor, to_call(hand)) == (1, 1900)
    assert hand.bets == (700, 100, 2000)


@both("35")
def test_folding_where_a_check_is_free_is_possible_in_every_round() -> None:
    hand = play(begin(table(), (10_000,) * 3), "c c f | f")

    assert paid(hand)[0] == (9900, 9900, 10_200)


# -- voluntary posts (A-20) -------------------------------------------------------------------------------------------


@both("20", "21")
def test_who_posts_to_enter_may_still_raise_and_checks_for_free() -> None:
    hand = begin(table(), (10_000,) * 4, posters=(2,))
    assert (hand.bets, hand.pot_cents) == ((50, 100, 100, 0), 250)
    assert (hand.actor, to_call(hand), bounds(hand)) == (2, 0, (200, 10_000))

    hand = play(hand, "x c c")
    assert (hand.actor, to_call(hand)) == (1, 0)
    assert play(hand, "x").street == 1


def test_time_that_runs_out_checks_or_folds_and_never_calls() -> None:
    hand = begin(table(), (10_000,) * 3)
    assert Table.default(hand) == FOLD
    assert Table.default(play(hand, "c c")) == CHECK
    assert Table.default(play(hand, "c c r200")) == FOLD


def test_a_raise_says_what_the_bet_becomes() -> None:
    hand = begin(table(HOLDEM), (10_000,) * 3)

    after = Table.after(hand, Move(Kind.RAISE, 300))

    assert (after.bets, after.stacks, after.pot_cents) == ((50, 100, 300), (9950, 9900, 9700), 450)
    assert Table.after(after, CALL).bets == (300, 100, 300)
