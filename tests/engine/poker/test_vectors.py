"""The rulebook's worked hands, C-01 to C-27 and C-32 to C-34, by their numbers.

In a script the actions stand in turn order: `rN` is a bet or raise to N, `c` call, `x` check, `f` fold, `t` time over.
"""

from __future__ import annotations

import pytest

from services.poker.engine import Table
from services.poker.evaluation.combination import Combination
from services.poker.hand.state import Hand, Kind, Move
from services.poker.specific_rules import Approval, HeadsUpBlinds, Limit, NoFlopNoDrop
from services.poker.variant import Variant
from tests.engine.poker.tables import (
    HOLDEM,
    OMAHA,
    act,
    begin,
    both,
    both_variants,
    bounds,
    paid,
    payments,
    play,
    pots,
    refusal_of,
    table,
    to_call,
)

ACES_KINGS_QUEENS_JACKS = {
    HOLDEM: ("AsAd", "KsKd", "QsQd", "JsJd"),
    OMAHA: ("AsAd4s4h", "KsKd5s5h", "QsQd4d5d", "JsJd4c6s"),
}
LOW_BOARD = "7h 8h 9c 2c 3d"


def no_limit(variant: Variant, big_blind_cents: int = 100, **chosen: object) -> Table:
    return table(variant, big_blind_cents, limit=Limit.NO_LIMIT, **chosen)


def holes_of(variant: Variant, order: str) -> str:
    """Returns the holes of players with aces, kings, queens or jacks: `AKQ` for aces at p0 and so on."""
    return " ".join(ACES_KINGS_QUEENS_JACKS[variant]["AKQJ".index(letter)] for letter in order)


def turn_order(hand: Hand, script: str) -> tuple[list[int], Hand]:
    order = []
    for word in script.replace("|", "").split():
        order.append(hand.actor)
        hand = act(hand, word)
    return order, hand


# -- hands that end before the showdown -------------------------------------------------------------------------------


@both("18", "24.c", "35", "36", "40", "51", "2.i", "2.n", "48")
@both_variants
def test_c_01_a_raise_before_the_flop_that_nobody_calls(variant: Variant) -> None:
    hand = begin(no_limit(variant), [10_000] * 6)
    assert hand.actor == 2

    hand = play(hand, "r300 f f f f f")

    assert paid(hand) == ((9950, 9900, 10_150, 10_000, 10_000, 10_000), 0)
    assert pots(hand) == [(250, (2,))]
    assert hand.result is not None
    assert hand.result.shown == ()

    literal = play(begin(no_limit(variant, no_flop_no_drop=NoFlopNoDrop.LITERAL), [10_000] * 6), "r300 f f f f f")
    assert paid(literal) == ((9950, 9900, 10_138, 10_000, 10_000, 10_000), 12)


@both("18", "36", "40")
@both_variants
def test_c_02_a_walk(variant: Variant) -> None:
    hand = play(begin(no_limit(variant), [10_000] * 3), "f f")

    assert paid(hand) == ((9950, 10_050, 10_000), 0)
    assert pots(hand) == [(100, (1,))]


@pytest.mark.rule("806/2015:17.a", "806/2015:27", "806/2015:54", "806/2015:56", "806/2015:58", "806/2015:59")
@pytest.mark.rule("806/2015:60", "806/2015:25", "806/2015:53", "806/2015:55", "806/2015:57")
def test_c_03_a_showdown_with_nobody_all_in() -> None:
    hand = begin(table(), [10_000] * 3, "7c7d AhQs KsKd", "Kh 9h 4c 2s 3d")

    hand = play(hand, "r300 c c | x r450 c f | x x | x r900 c")

    assert paid(hand) == ((9700, 8350, 11_770), 180)
    assert payments(hand) == [(0, 2, 3600, 180)]
    assert hand.result is not None
    # The last to bet on the river shows first.
    assert hand.result.shown == (2, 1)


@pytest.mark.rule("811/2015:17.a", "811/2015:27", "811/2015:54", "811/2015:56", "811/2015:58", "811/2015:59")
@pytest.mark.rule("811/2015:60", "811/2015:25", "811/2015:53", "811/2015:55", "811/2015:57")
def test_c_03_the_same_hand_in_omaha() -> None:
    hand = begin(no_limit(OMAHA), [10_000] * 3, "7c7d6s6h AhQs8c8d KsKdTcTd", "Kh 9h 4c 2s 3d")

    hand = play(hand, "r300 c c | x r450 c f | x x | x r900 c")

    assert paid(hand) == ((9700, 8350, 11_770), 180)
    assert hand.result is not None
    assert hand.result.shown == (2, 1)


@both("2.i", "2.n", "48", "51", "54")
@both_variants
def test_c_04_two_players_and_the_letter_of_the_blinds(variant: Variant) -> None:
    hand = begin(no_limit(variant), [10_000] * 2)
    # The button is the last position, and posts the big blind.
    assert hand.bets == (50, 100)
    assert (to_call(hand), bounds(hand)) == (50, (200, 10_000))
    limped = act(hand, "c")
    assert (limped.actor, to_call(limped), bounds(limped)) == (1, 0, (200, 10_000))

    order, hand = turn_order(hand, "c r300 c | x r300 f")

    assert order == [0, 1, 0, 0, 1, 0]
    assert paid(hand) == ((9700, 10_270), 30)
    assert pots(hand) == [(600, (1,))]


@both_variants
def test_c_05_two_players_where_the_button_posts_the_small_blind(variant: Variant) -> None:
    approvals = frozenset({Approval.BUTTON_SMALL_BLIND})
    international = no_limit(variant, heads_up_blinds=HeadsUpBlinds.BUTTON_SMALL_BLIND, approvals=approvals)
    hand = begin(international, [10_000] * 2)
    assert hand.bets == (100, 50)

    order, hand = turn_order(hand, "c r300 c | r300 f")

    assert order == [1, 0, 1, 0, 1]
    assert paid(hand) == ((10_270, 9700), 30)


@both("17.a", "40")
@both_variants
def test_c_06_the_commission_is_on_what_was_called(variant: Variant) -> None:
    hand = play(begin(no_limit(variant), [10_000] * 3), "r300 c c | r600 r2000 f f")

    assert paid(hand) == ((9100, 11_095, 9700), 105)
    assert pots(hand) == [(2100, (1,))]


# -- all in -----------------------------------------------------------------------------------------------------------


@both("19", "41", "63.b", "2.k", "2.p")
@both_variants
def test_c_07_an_all_in_player_wins_the_main_pot(variant: Variant) -> None:
    hand = begin(no_limit(variant), [2000, 10_000, 10_000], holes_of(variant, "AKQ"), LOW_BOARD)

    hand = play(hand, "r300 r2000 c c | r1500 c | x x | x x")

    assert pots(hand) == [(6000, (0, 1, 2)), (3000, (1, 2))]
    assert payments(hand) == [(0, 0, 6000, 300), (1, 1, 3000, 150)]
    assert paid(hand) == ((5700, 9350, 6500), 450)


@both("19", "63.a")
@both_variants
def test_c_08_the_all_in_player_loses(variant: Variant) -> None:
    hand = begin(no_limit(variant), [2000, 10_000, 10_000], holes_of(variant, "QAK"), LOW_BOARD)

    hand = play(hand, "r300 r2000 c c | r1500 c | x x | x x")

    assert payments(hand) == [(0, 1, 6000, 300), (1, 1, 3000, 150)]
    assert paid(hand) == ((0, 15_050, 6500), 450)


@both("19", "42", "63.c", "37", "39")
@pytest.mark.parametrize(
    ("variant", "holes"),
    [(HOLDEM, "AsAd KsKd QsQd JsJd"), (OMAHA, "AsAd9s9h KsKdTsTh QsQdJc6s JsJdQc6h")],
)
def test_c_09_several_all_in_players_with_different_amounts(variant: Variant, holes: str) -> None:
    hand = begin(no_limit(variant), [533, 1287, 2711, 10_000], holes, "7h 8h 2c 3c 4d")

    hand = play(hand, "r2711 c c c")

    assert pots(hand) == [(2132, (0, 1, 2, 3)), (2262, (1, 2, 3)), (2848, (2, 3))]
    assert payments(hand) == [(0, 0, 2132, 106), (1, 1, 2262, 113), (2, 2, 2848, 142)]
    assert paid(hand) == ((2026, 2149, 2706, 7289), 361)


@both("33", "62")
@pytest.mark.parametrize(("variant", "holes"), [(HOLDEM, "2c3c AsKd AdKs"), (OMAHA, "2c3c2h3h AsKd9s8d AdKs9d8s")])
def test_c_10_a_tie_with_an_odd_cent(variant: Variant, holes: str) -> None:
    hand = begin(no_limit(variant, 50), [5000] * 3, holes, "Qh Jh 7c 5c 2d")

    hand = play(hand, "r150 f c | x x | x x | x x")

    assert paid(hand) == ((4975, 5005, 5004), 16)


@both("33", "62")
@pytest.mark.parametrize(
    ("variant", "holes"),
    [(HOLDEM, "2c3c AsKd AdKs AcKh"), (OMAHA, "2c3c2h3h AsKd9s8d AdKs9d8s AcKh9c8c")],
)
def test_c_11_a_tie_of_three_with_two_odd_cents(variant: Variant, holes: str) -> None:
    hand = begin(no_limit(variant), [5000] * 4, holes, "Qh Jh 7d 5c 2d")

    hand = play(hand, "r305 c f c | x x x | x x x | x x x")

    assert paid(hand) == ((4950, 5001, 5001, 5000), 48)


@both("19", "33", "62")
@pytest.mark.parametrize(("variant", "holes"), [(HOLDEM, "AsKd AdKs QcQd"), (OMAHA, "AsKd9s8d AdKs9d8s QcQd6s3s")])
def test_c_12_a_tie_with_an_all_in_is_charged_by_payment(variant: Variant, holes: str) -> None:
    hand = begin(no_limit(variant, 2), [1014, 5000, 5000], holes, "Ah Kh 7c 5c 2d")

    hand = play(hand, "r10 r1014 c f")

    assert pots(hand) == [(2038, (0, 1))]
    assert payments(hand) == [(0, 0, 1019, 50), (0, 1, 1019, 50)]
    assert paid(hand) == ((969, 4955, 4990), 100)


# -- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("811/2015:24.b")
def test_c_13_pot_limit() -> None:
    hand = begin(table(OMAHA), [20_000] * 4)
    assert (hand.actor, to_call(hand), bounds(hand)) == (2, 100, (200, 350))
    hand = act(hand, "r350")
    assert (hand.actor, bounds(hand)) == (3, (600, 1200))
    hand = act(hand, "c")
    assert (hand.actor, bounds(hand)) == (0, (600, 1500))
    hand = act(hand, "f")
    assert (hand.actor, bounds(hand)) == (1, (600, 1450))
    hand = act(hand, "c")

    assert (hand.pot_cents, hand.actor, bounds(hand)) == (1100, 1, (100, 1100))


@both("24.a")
@both_variants
def test_c_14_half_the_pot(variant: Variant) -> None:
    hand = begin(table(variant, limit=Limit.HALF_POT), [10_000] * 3)
    assert (hand.actor, bounds(hand)) == (2, (200, 225))
    hand = act(hand, "r225")
    assert (hand.actor, to_call(hand), bounds(hand)) == (0, 175, (350, 500))
    hand = act(hand, "c")
    assert (hand.actor, to_call(hand), bounds(hand)) == (1, 125, (350, 562))
    hand = act(hand, "f")

    assert (hand.pot_cents, hand.actor, bounds(hand)) == (550, 0, (100, 275))


@both("24.a", "38")
@both_variants
def test_c_15_a_fixed_number_of_raises(variant: Variant) -> None:
    hand = begin(table(variant, limit=Limit.FIXED_RAISES), [10_000] * 3)
    for position, to in ((2, 200), (0, 300), (1, 400)):
        assert (hand.actor, bounds(hand)) == (position, (to, to))
        hand = act(hand, f"r{to}")
    assert (hand.actor, bounds(hand)) == (2, None)
    hand = play(hand, "c")
    assert (hand.actor, bounds(hand)) == (0, None)
    hand = act(hand, "c")
    assert hand.pot_cents == 1200

    for unit in (100, 200, 200):
        street = hand.street
        for level in range(1, 5):
            assert bounds(hand) == (unit * level, unit * level)
            hand = act(hand, f"r{unit * level}")
        assert bounds(hand) is None
        refused = refusal_of(lambda hand=hand: act(hand, "r9999"))  # type: ignore[misc]
        assert refused.facts["rule"] == f"{variant.regulation}:38"
        hand = act(act(hand, "c"), "c")
        assert hand.is_over or hand.street == street + 1


@both("23", "34.d", "37")
@both_variants
def test_c_16_the_minimum_raise(variant: Variant) -> None:
    hand = act(begin(no_limit(variant), [10_000] * 4), "r250")
    assert (hand.actor, bounds(hand)) == (3, (400, 10_000))
    hand = act(hand, "r400")

    assert (hand.actor, to_call(hand), bounds(hand)) == (0, 350, (550, 10_000))


@both("37", "39")
@both_variants
def test_c_17_an_incomplete_all_in_does_not_reopen(variant: Variant) -> None:
    hand = begin(no_limit(variant), [10_000, 1000, 10_000, 10_000])
    hand = play(hand, "c c c x | r500 r900")
    assert (hand.actor, to_call(hand), bounds(hand)) == (2, 900, (1400, 9900))
    hand = act(hand, "c")
    assert (hand.actor, bounds(hand)) == (3, (1400, 9900))
    # C-17b
    hand = act(hand, "c")
    assert (hand.actor, to_call(hand), bounds(hand)) == (0, 400, None)
    assert refusal_of(lambda: act(hand, "r1400")).facts["rule"] == f"{variant.regulation}:34.d"


@both("37", "39")
@both_variants
def test_c_18_short_all_ins_add_up_player_by_player(variant: Variant) -> None:
    hand = begin(no_limit(variant), [10_000, 250, 10_000, 300])
    hand = play(hand, "c c c x | r100 r150 c r200")
    assert (hand.actor, to_call(hand), bounds(hand)) == (0, 100, (300, 9900))
    # C-18b
    hand = act(hand, "c")
    assert (hand.actor, to_call(hand), bounds(hand)) == (2, 50, None)


@both("34.b", "45", "52")
@both_variants
def test_c_19_time_over_where_a_check_is_free(variant: Variant) -> None:
    hand = play(begin(no_limit(variant), [10_000] * 3), "c c t | t")

    assert (hand.street, hand.actor, hand.pot_cents, bounds(hand)) == (1, 1, 300, (100, 9900))
    assert hand.moves[-2:] == (Move(Kind.CHECK), Move(Kind.CHECK))


@both("45", "35")
@both_variants
def test_c_20_time_over_facing_a_bet(variant: Variant) -> None:
    hand = play(begin(no_limit(variant), [10_000] * 3), "r300 t t")

    assert pots(hand) == [(250, (2,))]
    assert paid(hand) == ((9950, 9900, 10_150), 0)


@both("72")
@both_variants
def test_c_21_a_void_hand_gives_back_what_was_bet(variant: Variant) -> None:
    hand = play(begin(no_limit(variant), [10_000] * 3), "r300 c f | r500")

    assert hand.contributions == (800, 100, 300)
    assert Table.void_stacks(hand) == (10_000, 10_000, 10_000)


# -- combinations in play ---------------------------------------------------------------------------------------------


@pytest.mark.rule("811/2015:1", "811/2015:26", "811/2015:60")
def test_c_22_omaha_takes_two_and_three() -> None:
    hand = begin(table(OMAHA), [10_000] * 2, "AhKs4c3d QdQc8h7h", "Jh 9h 2h Tc 6h")

    hand = play(hand, "c x | x x | x x | x x")

    ours, theirs = (seat.strength for seat in Table.view(hand).seats)
    assert ours is not None
    assert theirs is not None
    assert ours.combination is not Combination.FLUSH
    assert theirs.combination is Combination.FLUSH
    assert paid(hand) == ((9900, 10_090), 10)


@pytest.mark.rule("806/2015:32.d", "806/2015:29.e")
def test_c_23_a_flush_that_the_second_card_decides() -> None:
    hand = begin(table(), [10_000] * 2, "Kh2c Qh3c", "Ah Jh 8h 5h Td")

    assert paid(play(hand, "c x | x x | x x | x x")) == ((10_090, 9900), 10)


@pytest.mark.rule("806/2015:31", "806/2015:32.c")
def test_c_24_a_wheel_loses_to_a_straight_to_the_six() -> None:
    hand = begin(table(), [10_000] * 2, "Ac9d 6cKd", "2h 3s 4d 5c Qh")

    assert paid(play(hand, "c x | x x | x x | x x")) == ((9900, 10_090), 10)


@both("18", "35")
@both_variants
@pytest.mark.parametrize("reading", list(NoFlopNoDrop))
def test_c_25_a_hand_that_ends_on_the_flop_without_a_bet(variant: Variant, reading: NoFlopNoDrop) -> None:
    hand = play(begin(no_limit(variant, no_flop_no_drop=reading), [10_000] * 3), "c c x | f f")

    assert paid(hand) == ((9900, 9900, 10_200), 0)


@both("18", "19")
@both_variants
def test_c_26_all_in_before_the_flop_and_called_is_charged(variant: Variant) -> None:
    hand = begin(no_limit(variant), [1500] * 2, holes_of(variant, "AK"), LOW_BOARD)

    hand = play(hand, "r1500 c")

    assert len(hand.board) == 5
    assert paid(hand) == ((2850, 0), 150)


@both("35", "41", "63.b")
@both_variants
def test_c_27_folded_money_in_a_side_pot(variant: Variant) -> None:
    hand = begin(no_limit(variant), [800, 10_000, 10_000, 10_000], holes_of(variant, "AKQJ"), LOW_BOARD)

    hand = play(hand, "r300 c r800 c c c | r1000 c c | r2000 c f | x x")

    assert pots(hand) == [(3200, (0, 1, 2)), (7000, (1, 2))]
    assert payments(hand) == [(0, 0, 3200, 160), (1, 1, 7000, 350)]
    assert paid(hand) == ((3040, 12_850, 6200, 8200), 510)


@both("23", "37", "39")
@both_variants
def test_c_32_an_all_in_below_the_minimum_does_not_reopen_to_checkers(variant: Variant) -> None:
    hand = begin(no_limit(variant), [3367, 1451, 108], holes_of(variant, "AKQ"), LOW_BOARD)
    hand = play(hand, "c c x | x x x | x x x | x x r8")
    assert (hand.actor, to_call(hand), bounds(hand)) == (0, 8, None)

    hand = play(hand, "c c")

    assert pots(hand) == [(324, (0, 1, 2))]
    assert paid(hand) == ((3567, 1343, 0), 16)


@both("35", "41")
@both_variants
def test_c_33_a_needless_fold_leaves_nothing_to_decide(variant: Variant) -> None:
    order = "QKA"
    board = "7h 8h 9c 3c 2h"
    hand = begin(no_limit(variant), [500, 10_000, 10_000], holes_of(variant, order), board)

    hand = play(hand, "c r500 c c | r300 c | f")

    assert pots(hand) == [(1500, (0, 2)), (600, (2,))]
    assert payments(hand) == [(0, 2, 1500, 75), (1, 2, 600, 30)]
    assert paid(hand) == ((0, 9200, 11_195), 105)


@pytest.mark.rule("806/2015:26", "806/2015:33", "806/2015:62")
def test_c_34_everybody_plays_the_board() -> None:
    hand = begin(table(), [10_000] * 3, "AsKd QcQd 2c3c", "Qh Jh Th 9h 8h")

    hand = play(hand, "r300 c c | r500 c f | x x | x x")

    assert pots(hand) == [(1900, (0, 1))]
    assert paid(hand) == ((10_103, 10_102, 9700), 95)
