"""Tests of what is seen: a hidden card reaches nobody (G7), and the steps of a hand tell it as it was."""

from __future__ import annotations

import random

import pytest

from services.kit.cards.card import Card
from services.kit.cards.shoe import PACK
from services.poker.engine import Table
from services.poker.hand.state import Hand, Move
from services.poker.hand.steps import Step, StepKind
from services.poker.lineup.entry import Positions
from services.poker.specific_rules import Approval, HeadsUpBlinds, Limit, Showdown
from services.poker.variant import Variant
from tests.engine.poker.tables import begin, both, both_variants, play, refusal_of, table
from tests.engine.poker.test_differential import random_move, random_stacks

PAIRS, BOARD = "AsAd KsKd QsQd", "7h 8h 9c 2c 3d"


def own_cards(hand: Hand, seat: int) -> tuple[Card, ...]:
    view = Table.own_view(hand, seat)
    assert view is not None
    return view.cards


@both("2.d", "34.a", "36")
def test_cards_are_shown_to_their_owner_alone_and_at_the_showdown_to_all() -> None:
    hand = play(begin(table(), (10_000,) * 3, PAIRS, BOARD), "c f x | x x | x x")
    assert [seat.cards for seat in Table.view(hand).seats] == [(), (), ()]
    assert own_cards(hand, 1) == hand.deal.holes[0]

    hand = play(hand, "x x")

    view = Table.view(hand)
    # The folded one stays hidden for ever, except from its owner.
    assert [seat.cards for seat in view.seats] == [(), hand.deal.holes[1], hand.deal.holes[2]]
    assert [seat.strength is None for seat in view.seats] == [True, False, False]
    assert own_cards(hand, 1) == hand.deal.holes[0]


@both("2.d")
def test_who_was_not_dealt_in_sees_nothing_of_their_own() -> None:
    assert Table.own_view(begin(table(), (10_000,) * 2), 7) is None


@both("2.e")
def test_everybody_sees_the_pot_the_stacks_and_the_bounds_of_whose_turn_it_is() -> None:
    hand = play(begin(table(), (2000, 10_000, 10_000), PAIRS, BOARD), "r300 r2000 c c | r1500")

    view = Table.view(hand)

    assert (view.button, view.small_blind, view.big_blind) == (3, 1, 2)
    assert (view.total_cents, [pot.cents for pot in view.pots]) == (7500, [6000])
    assert [(seat.stack_cents, seat.bet_cents, seat.is_all_in) for seat in view.seats] == [
        (0, 0, True),
        (6500, 1500, False),
        (8000, 0, False),
    ]
    assert view.turn is not None
    assert (view.turn.position, view.turn.to_call_cents, view.turn.min_to_cents) == (2, 1500, 3000)
    assert len(view.board) == 3
    assert Table.own_view(hand, 3).legal == view.turn  # type: ignore[union-attr]
    assert Table.own_view(hand, 2).legal is None  # type: ignore[union-attr]


# -- two worlds that differ only in what has not been seen ------------------------------------------------------------


def swapped(hand: Hand, seat: int, chance: random.Random) -> Hand:
    """Returns a hand in which all cards are others that this seat cannot have seen up to now."""
    deal = hand.deal
    position = deal.position(seat)
    seen = {*hand.board, *(deal.holes[position] if position is not None else ())}
    if hand.result is not None:
        seen.update(card for at in hand.result.shown for card in deal.holes[at])
    unseen = [card for card in PACK if card not in seen]
    chance.shuffle(unseen)
    new = iter(unseen)
    holes = tuple(tuple(card if card in seen else next(new) for card in hole) for hole in deal.holes)
    board = tuple(card if card in seen else next(new) for card in deal.board)
    return hand._replace(deal=deal._replace(holes=holes, board=board))


@both("2.d", "34.a", "36")
@both_variants
@pytest.mark.parametrize("seed", range(40))
def test_two_worlds_that_differ_only_in_unseen_cards_look_the_same(variant: Variant, seed: int) -> None:
    """Each seat, and somebody who only watches, sees the same and is refused in the same words."""
    chance = random.Random(f"{variant} {seed}")
    stacks = random_stacks(100, chance)
    showdown = chance.choice(list(Showdown))
    deck = list(PACK)
    chance.shuffle(deck)
    seats = tuple(range(1, len(stacks) + 1))
    hand = table(variant, limit=Limit.NO_LIMIT, showdown=showdown).deal(Positions(seats, stacks), deck)
    moves: list[Move] = []
    while True:
        for seat in (0, *seats):
            other = swapped(hand, seat, chance)
            assert Table.view(other) == Table.view(hand)
            assert Table.own_view(other, seat) == Table.own_view(hand, seat)
            assert repr(other) == repr(hand) or hand.is_over
            wrong = Move(chance.choice(moves).kind, 1) if moves else Move(random_move_of(hand, chance).kind, 1)
            assert refused(other, seat, wrong) == refused(hand, seat, wrong)
        if hand.is_over:
            return
        move = random_move_of(hand, chance)
        moves.append(move)
        hand = Table.after(hand, move)


def random_move_of(hand: Hand, chance: random.Random) -> Move:
    may = Table.legal(hand)
    assert may is not None
    return random_move(may, chance)


def refused(hand: Hand, seat: int, move: Move) -> str:
    try:
        Table.judge(hand, seat, move)
    except Exception as refusal:  # noqa: BLE001 - whatever is said is compared
        return f"{refusal!r} {refusal}"
    return ""


def test_that_test_would_see_a_card_that_is_shown() -> None:
    hand = begin(table(), (10_000,) * 3, PAIRS, BOARD)
    other = swapped(hand, 0, random.Random(1))

    assert own_cards(other, 1) != own_cards(hand, 1)
    assert refusal_of(lambda: Table.judge(hand, 1, Move(play(hand, "c").moves[0].kind))).reason == "NOT_YOUR_TURN"


# -- steps ------------------------------------------------------------------------------------------------------------


def told(begun: Hand, script: str) -> list[Step]:
    return list(Table.steps(begun, play(begun, script)))


def brief(step: Step) -> str:
    who = "" if step.position is None else f" p{step.position}"
    return f"{step.kind.value}{who}" + (f" {step.cents}" if step.cents else "")


def test_the_steps_of_a_hand_with_an_all_in() -> None:
    begun = begin(table(), (2000, 10_000, 10_000), PAIRS, BOARD)

    steps = told(begun, "r300 r2000 c c | r1500 r4000 f")

    assert [brief(step) for step in steps] == [
        "post p0 50",
        "post p1 100",
        "raise p2 300",
        "raise p0 1950",
        "call p1 1900",
        "call p2 1700",
        "board",
        "raise p1 1500",
        "raise p2 4000",
        "fold p1",
        "give back p2 2500",
        "show p0",
        "show p2",
        "board",
        "board",
        "pay p0 5700",
        "pay p2 2850",
    ]
    assert [len(step.cards) for step in steps if step.kind is StepKind.BOARD] == [3, 1, 1]
    assert [(step.pot, step.commission_cents) for step in steps if step.kind is StepKind.PAY] == [(0, 300), (1, 150)]


def test_the_steps_of_a_hand_that_nobody_saw() -> None:
    steps = told(begin(table(), (10_000,) * 3), "r300 f f")

    assert [brief(step) for step in steps] == [
        "post p0 50",
        "post p1 100",
        "raise p2 300",
        "fold p0",
        "fold p1",
        "give back p2 200",
        "pay p2 250",
    ]
    assert all(not step.cards for step in steps)


def test_the_steps_of_a_hand_that_blinds_decide() -> None:
    begun = begin(table(), (30, 80), "AsAd KsKd", BOARD)

    steps = Table.steps(begun, begun)

    assert [brief(step) for step in steps] == [
        "post p0 30",
        "post p1 80",
        "give back p1 50",
        "show p0",
        "show p1",
        "board",
        "board",
        "board",
        "pay p0 57",
    ]


@both_variants
@pytest.mark.parametrize("seed", range(25))
def test_the_steps_of_a_hand_move_every_cent_that_the_hand_moves(variant: Variant, seed: int) -> None:
    chance = random.Random(f"{variant} {seed}")
    stacks = random_stacks(1, chance)
    blinds = chance.choice(list(HeadsUpBlinds))
    deck = list(PACK)
    chance.shuffle(deck)
    made = table(variant, heads_up_blinds=blinds, approvals=frozenset(Approval), limit=chance.choice(list(Limit)))
    begun = made.deal(Positions(tuple(range(1, len(stacks) + 1)), stacks), deck)
    hand = begun
    while not hand.is_over:
        hand = Table.after(hand, random_move_of(hand, chance))
        moved = list(stacks)
        for step in Table.steps(begun, hand):
            if step.position is not None:
                gets = step.kind in {StepKind.GIVE_BACK, StepKind.PAY}
                moved[step.position] += step.cents if gets else -step.cents
        assert tuple(moved) == hand.stacks
