"""Poker as the runtime sees it: specific rules, what a seat brings to a hand, decisions, and records."""

from __future__ import annotations

from typing import cast

import pytest

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.randomness.tape import Tape
from services.kit.table.game import StakeOnTable
from services.kit.table.refusals import TableRefused
from services.poker.dealt_hand import DealtPoker
from services.poker.game import PokerGame, PokerRules
from services.poker.messages import Brought
from services.poker.seated_lineup import SeatedLineup
from tests.simulation.caves.game import configuration

ENTROPY = bytes(range(256)) * 4


def table(**different: object) -> types_pb2.TableConfiguration:
    """Returns the configuration of a table, with specific rules that are different."""
    made = configuration()
    rules = poker_pb2.SpecificRules()
    made.rules.Unpack(rules)
    regulation = different.pop("regulation", made.regulation)
    for name, value in different.items():
        setattr(rules, name, value)
    made.regulation = str(regulation)
    made.name.pt, made.name.en = "Mesa", "Table"
    made.rules.Pack(rules)
    return made


def rules_of(configured: types_pb2.TableConfiguration) -> PokerRules:
    rules = PokerGame().rules(configured)
    assert isinstance(rules, PokerRules)
    return rules


def stakes(*caves: int, button: int) -> list[StakeOnTable[Brought]]:
    return [StakeOnTable(f"r.{seat}", seat, Brought(seat, cents, button)) for seat, cents in enumerate(caves, 1)]


# -- specific rules ---------------------------------------------------------------------------------------------------


@pytest.mark.rule("806/2015:22", "811/2015:22", "806/2015:25", "811/2015:25")
@pytest.mark.parametrize(("regulation", "hole_cards"), [("806/2015", 2), ("811/2015", 4)])
def test_the_regulation_says_which_variant_is_played(regulation: str, hole_cards: int) -> None:
    rules = rules_of(table(regulation=regulation))
    dealt = rules.deal(stakes(10_000, 10_000, button=2), Tape(ENTROPY))
    own = dealt.own_view(1, 0)
    assert own is not None
    assert len(own.cards) == hole_cards
    assert (rules.minimum_bet_cents, rules.minimum_cents) == (100, 10_000)


@pytest.mark.parametrize(
    ("different", "rule"),
    [
        ({"small_blind_cents": 101}, "806/2015:22"),
        ({"cave_min_cents": 99}, "806/2015:15"),
        ({"commission_bps": 501}, "806/2015:17.a"),
        ({"commission_mode": poker_pb2.COMMISSION_MODE_CAVE, "commission_bps": 499}, "806/2015:17.b"),
        ({"max_raises_per_turn": 4}, "806/2015:38"),
    ],
)
def test_what_the_regulation_forbids_is_refused_with_its_rule(different: dict[str, object], rule: str) -> None:
    with pytest.raises(TableRefused) as refused:
        rules_of(table(**different))
    assert (refused.value.reason, refused.value.facts["rule"]) == ("RULE_VIOLATED", rule)


@pytest.mark.parametrize("field", ["game", "regulation", "play", "rules"])
def test_a_configuration_of_another_game_is_refused(field: str) -> None:
    configured = table()
    if field == "play":
        configured.play = wallet_types.PLAY_MULTI_PLAYER
    elif field == "rules":
        configured.rules.Pack(poker_pb2.Move())
    else:
        setattr(configured, field, "805/2015")
    with pytest.raises(TableRefused) as refused:
        rules_of(configured)
    assert refused.value.facts["field"] == f"configuration.{field}"


# -- hands ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("806/2015:46")
@pytest.mark.guarantee("G10")
def test_g10_the_same_entropy_draws_the_same_button_and_deals_the_same_cards() -> None:
    rules, by_lot = rules_of(table()), stakes(10_000, 10_000, 10_000, button=0)
    dealt, again = rules.deal(by_lot, Tape(ENTROPY)), rules.deal(by_lot, Tape(ENTROPY))
    assert dealt.view() == again.view()
    assert dealt.view().button in {1, 2, 3}
    fixed = rules.deal(stakes(10_000, 10_000, 10_000, button=2), Tape(ENTROPY))
    assert fixed.view().button == 2


@pytest.mark.rule("806/2015:34.a", "806/2015:36")
@pytest.mark.guarantee("G1")
def test_g1_a_hand_that_is_folded_moves_the_blinds_and_pays_caves_by_its_record() -> None:
    rules, brought = rules_of(table()), stakes(10_000, 9_000, 8_000, button=1)
    dealt = rules.deal(brought, Tape(ENTROPY))
    while dealt.turn is not None:
        (seat,) = dealt.turn.seats
        move = poker_pb2.Move(action=poker_pb2.ACTION_FOLD).SerializeToString()
        dealt.judge(seat, move)
        dealt = dealt.after(seat, move, "")
    outcome = rules.read_outcome(rules.outcome_message(dealt.outcome).SerializeToString())
    # Seat 1 has the button, 2 the small and 3 the big blind; nobody called, so the big blind gets the small one.
    assert [rules.payout_cents(outcome, stake.bets) for stake in brought] == [10_000, 8_950, 8_050]
    assert rules.hand_result(outcome).commission_cents == 0
    assert not any(seat.cards for seat in outcome.record.view.seats)


@pytest.mark.rule("806/2015:45")
def test_the_clock_folds_what_is_to_be_matched_and_a_player_who_has_left_folds_whatever_it_is() -> None:
    dealt = rules_of(table()).deal(stakes(10_000, 10_000, button=2), Tape(ENTROPY))
    call = poker_pb2.Move(action=poker_pb2.ACTION_CALL).SerializeToString()
    first = dealt.turn
    assert first is not None
    assert poker_pb2.Move.FromString(first.defaults[0].move).action == poker_pb2.ACTION_FOLD
    second = dealt.after(first.seats[0], call, "").turn
    assert second is not None
    (default,) = second.defaults
    assert poker_pb2.Move.FromString(default.move).action == poker_pb2.ACTION_CHECK
    assert default.move_if_away is not None
    assert poker_pb2.Move.FromString(default.move_if_away).action == poker_pb2.ACTION_FOLD


@pytest.mark.parametrize(
    ("move", "field"),
    [
        (b"\xff\xff", "move"),
        (poker_pb2.Move().SerializeToString(), "move.action"),
        (poker_pb2.Move(action=poker_pb2.ACTION_CALL, to_cents=5).SerializeToString(), "move.to_cents"),
    ],
)
def test_a_decision_that_no_hand_could_be_asked_is_refused(move: bytes, field: str) -> None:
    dealt = rules_of(table()).deal(stakes(10_000, 10_000, button=2), Tape(ENTROPY))
    with pytest.raises(TableRefused) as refused:
        dealt.judge(1, move)
    assert refused.value.facts["field"] == field


def all_in(dealt: DealtPoker) -> DealtPoker:
    """Has everybody put all chips in before the flop."""
    while (turn := dealt.turn) is not None:
        legal = dealt.view().legal
        raises = poker_pb2.Move(action=poker_pb2.ACTION_RAISE, to_cents=legal.max_to_cents)
        move = raises if legal.max_to_cents else poker_pb2.Move(action=poker_pb2.ACTION_CALL)
        dealt.judge(turn.seats[0], move.SerializeToString())
        dealt = dealt.after(turn.seats[0], move.SerializeToString(), "")
    return dealt


@pytest.mark.guarantee("G7")
@pytest.mark.rule("806/2015:36")
@pytest.mark.parametrize("mucks", [False, True])
def test_g7_while_cards_are_run_out_nobody_learns_who_has_won(mucks: bool) -> None:  # noqa: FBT001 - a parameter
    """Where losers may muck, who shows cards would say it: theirs lie face down until all cards lie."""
    showdown = poker_pb2.SHOWDOWN_MUCK_LOSERS if mucks else poker_pb2.SHOWDOWN_UNSPECIFIED
    caves = 10_000, 10_000, 10_000
    dealt = all_in(rules_of(table(showdown=showdown)).deal(stakes(*caves, button=1), Tape(ENTROPY)))
    assert dealt.turn is None

    streets = dealt.run_out(cards_shown=6)

    views = [cast("poker_pb2.View", street.view) for street in streets]
    boards = [len(view.board) for view in views]
    assert list(zip(boards, [street.cards for street in streets], strict=True)) == [(0, 0), (3, 3), (4, 1), (5, 1)]
    for view in views:
        seats = view.seats
        assert [len(seat.cards) for seat in seats] == [0 if mucks else 2] * 3
        assert [seat.stack_cents for seat in seats] == [0, 0, 0], "nothing is paid yet"
        assert {seat.combination for seat in seats} == {poker_pb2.COMBINATION_UNSPECIFIED}
        assert not any(seat.best_cards for seat in seats)
    end = dealt.outcome.record
    assert sum(seat.stack_cents for seat in end.view.seats) == sum(caves) - end.commission_cents
    assert any(seat.combination and seat.cards for seat in end.view.seats)
    assert dealt.run_out(dealt.cards_shown) == ()


@pytest.mark.guarantee("G7")
def test_g7_a_seat_that_was_not_dealt_in_sees_no_cards_and_nothing_is_staked_after_the_deal() -> None:
    brought = stakes(10_000, 10_000, button=2)
    dealt = rules_of(table()).deal(brought, Tape(ENTROPY))
    assert dealt.own_view(3, 0) is None
    assert [dealt.move_staking(each.seat, each.bets) for each in brought] == [None, None]
    assert dealt.due_cents() == {}


@pytest.mark.rule("806/2015:21")
def test_who_posts_to_enter_has_bet_a_big_blind_of_their_own_free_will() -> None:
    rules = rules_of(table(entry_mode=poker_pb2.ENTRY_MODE_WAIT_OR_VOLUNTARY_POST))
    brought = stakes(10_000, 10_000, 10_000, 10_000, button=1)
    brought[3] = StakeOnTable("r.4", 4, Brought(4, 10_000, 1, posts=True))
    bets = {seat.seat: seat.bet_cents for seat in rules.deal(brought, Tape(ENTROPY)).view().seats}
    assert bets == {1: 0, 2: 50, 3: 100, 4: 100}


@pytest.mark.rule("806/2015:13", "811/2015:13")
@pytest.mark.parametrize("regulation", ["806/2015", "811/2015"])
def test_a_cave_its_top_up_and_bets_are_worth_what_was_paid_in_euro_cents(regulation: str) -> None:
    rules = rules_of(table(regulation=regulation, cave_min_cents=4_000, cave_max_cents=10_000))
    lineup = rules.lineup(None, None).take_seat(1, 4_000).take_seat(2, 4_001)
    lineup.verify_buy_in(1, 1_234, 0)
    lineup = lineup.buy_in(1, 1_234)
    brought = lineup.next_hand()[1]
    assert brought is not None
    dealt = rules.deal([StakeOnTable(f"r.{seat}", seat, each) for seat, each in brought.items()], Tape(ENTROPY))
    turn = dealt.turn
    assert turn is not None
    raised = poker_pb2.Move(action=poker_pb2.ACTION_RAISE, to_cents=217)
    dealt.judge(turn.seats[0], raised.SerializeToString())
    view = dealt.after(turn.seats[0], raised.SerializeToString(), "").view()
    assert {seat.seat: seat.stack_cents + seat.bet_cents for seat in view.seats} == {1: 5_234, 2: 4_001}
    assert {seat.seat: seat.bet_cents for seat in view.seats}[turn.seats[0]] == 217
    assert view.total_cents == sum(seat.bet_cents for seat in view.seats) == 317


@pytest.mark.parametrize("posts", [False, True])
def test_a_seat_and_what_it_brings_there_and_back(posts: bool) -> None:  # noqa: FBT001 - a parameter
    rules, brought = rules_of(table()), Brought(3, 12_345, 7, posts)
    assert rules.read_bets(rules.bets_message(brought).SerializeToString()) == brought
    assert rules.total_cents(brought) == 12_345


# -- caves ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("806/2015:8", "806/2015:14")
def test_what_a_seat_in_a_hand_may_buy_and_what_one_that_leaves_may_not() -> None:
    rules = rules_of(table(cave_min_cents=4_000, cave_max_cents=10_000))
    lineup, brought = rules.lineup(None, None).take_seat(1, 4_000).take_seat(2, 9_000).next_hand()
    assert brought is not None

    assert lineup.buy_in_bounds(1, 0) == (1, 10_000)
    lineup.verify_buy_in(1, 10_000, 0)
    lineup = lineup.buy_in(1, 3_000)
    for cents in (0, 7_001):
        with pytest.raises(TableRefused) as refused:
            lineup.verify_buy_in(1, cents, 0)
        assert refused.value.reason == "CAVE_OUT_OF_BOUNDS"
        bounds = {"amount_cents": str(cents), "minimum_cents": "1", "maximum_cents": "7000"}
        assert refused.value.facts == {**bounds, "rule": "806/2015:14"}
    assert lineup.buy_in(1, 7_000).buy_in_bounds(1, 0) == (0, 0), "the cave can hold no more"
    assert lineup.leave(1).buy_in_bounds(1, 0) == (0, 0)


def test_a_lineup_of_another_game_is_not_taken_over() -> None:
    rules = rules_of(table())
    lineup = rules.lineup(None, None).take_seat(1, 10_000)
    assert rules.adopt(lineup) == lineup
    with pytest.raises(TypeError, match="a lineup of poker goes on"):
        rules.adopt(cast("SeatedLineup", object()))


@pytest.mark.guarantee("G11")
def test_g11_no_cave_holds_more_after_a_hand_than_what_all_seats_can_bring() -> None:
    rules = rules_of(table(cave_min_cents=4_000, cave_max_cents=10_000))
    caves = [10_000] * 6
    dealt = all_in(rules.deal(brought := stakes(*caves, button=1), Tape(ENTROPY)))
    paid = [rules.payout_cents(dealt.outcome, each.bets) for each in brought]
    assert max(paid) <= rules.largest_payout_cents(brought[0].bets) <= rules.largest_payout_limit_cents
