"""Tests of the end of a hand: who shows and in which order, who need not, pots by layers, and odd cents."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.cards.card import cards_named
from services.poker.engine import Table
from services.poker.hand.settlement import layers, split
from services.poker.hand.state import Hand, Pot
from services.poker.hand.views import collected_pots
from services.poker.specific_rules import Showdown
from tests.engine.poker.tables import begin, both, paid, play, table

MUCK = table(showdown=Showdown.MUCK_LOSERS)
PAIRS, BOARD = "AsAd KsKd QsQd JsJd", "7h 8h 9c 2c 3d"


def shown(hand: Hand) -> tuple[int, ...]:
    assert hand.result is not None
    return hand.result.shown


@both("59")
@pytest.mark.parametrize(
    ("river", "order"),
    [
        # Without a bet, from the left of the button; with one, from the player who raised last.
        ("x x x x", (0, 1, 2, 3)),
        ("x x r100 c c c", (2, 3, 0, 1)),
        ("r100 c r300 c c c", (2, 3, 0, 1)),
        ("r100 r200 f c c", (1, 3, 0)),
        # A bet of an earlier round does not count.
        ("f x x x", (1, 2, 3)),
    ],
)
def test_cards_are_turned_up_from_the_last_raiser_of_the_river(river: str, order: tuple[int, ...]) -> None:
    hand = play(begin(table(), (10_000,) * 4, PAIRS, BOARD), "c c c x | x x x x | x x r100 c c c | " + river)

    assert shown(hand) == order


@both("28", "60")
@pytest.mark.parametrize(
    ("river", "order"),
    [
        # Aces show first, and the others need not.
        ("x x x x", (0,)),
        # Queens bet, jacks need not show, aces win, and kings come after them.
        ("x x r100 c c c", (2, 0)),
        ("x x x r100 c c c", (3, 0)),
        ("f x x x", (1,)),
    ],
)
def test_where_losers_need_not_show_the_winner_still_does(river: str, order: tuple[int, ...]) -> None:
    hand = play(begin(MUCK, (10_000,) * 4, PAIRS, BOARD), "c c c x | x x x x | x x x x | " + river)

    assert shown(hand) == order
    assert {at for at, seat in enumerate(Table.view(hand).seats) if seat.strength is not None} == set(order)


def test_a_winner_of_a_side_pot_shows_though_beaten_in_the_main_pot() -> None:
    hand = begin(MUCK, (300, 10_000, 10_000, 10_000), PAIRS, BOARD)

    hand = play(hand, "c c r300 c c c | r500 c c | x x x | x x x")

    assert shown(hand) == (0, 1)


def test_where_no_decision_is_left_before_the_last_card_all_have_shown() -> None:
    hand = play(begin(MUCK, (1000, 1000), "AsAd KsKd", BOARD), "r1000 c")

    assert shown(hand) == (0, 1)


def test_the_best_five_cards_are_named_and_told() -> None:
    hand = play(begin(table(), (10_000,) * 2, "AsAd KsKd", "Ah Kc 9c 2c 3d"), "c x | x x | x x | x x")

    best = Table.view(hand).seats[0].strength
    assert best is not None
    assert best.combination.letter == "g"
    assert set(best.cards) == set(cards_named("As Ad Ah Kc 9c"))


# -- pots -------------------------------------------------------------------------------------------------------------


@both("41", "42")
@pytest.mark.parametrize(
    ("contributions", "live", "pots"),
    [
        # Nobody is all in: one pot, with what has been folded.
        ((300, 300, 100), (0, 1), [(700, (0, 1))]),
        # As many side pots as all-in players with different amounts.
        ((100, 200, 300, 300), (0, 1, 2, 3), [(400, (0, 1, 2, 3)), (300, (1, 2, 3)), (200, (2, 3))]),
        # Two all in for the same amount make one.
        ((100, 100, 300, 300), (0, 1, 2, 3), [(400, (0, 1, 2, 3)), (400, (2, 3))]),
        # A single all-in and no more bets: there is no empty side pot.
        ((100, 100, 100), (0, 1, 2), [(300, (0, 1, 2))]),
        # Folded money stays in the layers that it reached.
        ((100, 250, 300, 300), (0, 2, 3), [(400, (0, 2, 3)), (550, (2, 3))]),
        # And above the highest layer in that.
        ((100, 200, 250), (0, 1), [(300, (0, 1)), (250, (1,))]),
    ],
)
def test_pots_are_layers_of_what_players_have_put_in(
    contributions: tuple[int, ...], live: tuple[int, ...], pots: list[tuple[int, tuple[int, ...]]]
) -> None:
    assert list(layers(contributions, live)) == [Pot(cents, positions) for cents, positions in pots]


@both("41")
def test_during_a_hand_the_pots_are_those_of_the_rounds_that_are_over() -> None:
    hand = begin(table(), (2000, 10_000, 10_000), PAIRS.rsplit(" ", 1)[0], BOARD)
    assert collected_pots(hand) == ()
    hand = play(hand, "r300 r2000 c c")
    assert collected_pots(hand) == (Pot(6000, (0, 1, 2)),)
    hand = play(hand, "r1500")
    assert collected_pots(hand) == (Pot(6000, (0, 1, 2)),)

    assert collected_pots(play(hand, "c")) == (Pot(6000, (0, 1, 2)), Pot(3000, (1, 2)))


@given(st.lists(st.integers(0, 5000), min_size=2, max_size=10), st.data())
def test_layers_hold_every_cent_and_are_nested(contributions: list[int], data: st.DataObject) -> None:
    paying = [position for position, cents in enumerate(contributions) if cents]
    if not paying:
        return
    live = sorted(data.draw(st.sets(st.sampled_from(paying), min_size=1)))

    pots = layers(contributions, live)

    assert sum(pot.cents for pot in pots) == sum(contributions)
    assert pots[0].positions == tuple(live)
    for lower, higher in pairwise(pots):
        assert set(higher.positions) < set(lower.positions)
        assert higher.cents > 0


@both("33", "62")
@given(st.integers(0, 10**9), st.integers(1, 10))
def test_equal_parts_differ_by_one_cent_at_most(cents: int, parts: int) -> None:
    divided = split(cents, parts)

    assert sum(divided) == cents
    assert divided == sorted(divided, reverse=True)
    assert divided[0] - divided[-1] <= 1


@both("33")
def test_the_winners_parts_and_the_charge_are_the_pot() -> None:
    """Three share 965 cents of which 48 are the commission: each payment names its part of both."""
    hand = begin(table(), [5000] * 4, "2c3c AsKd AdKs AcKh", "Qh Jh 7d 5c 2d")

    hand = play(hand, "r305 c f c | x x x | x x x | x x x")

    assert hand.result is not None
    assert sum(payment.gross_cents for payment in hand.result.payments) == 965
    assert [payment.net_cents for payment in hand.result.payments] == [306, 306, 305]
    assert paid(hand)[1] == 48


@both("33")
def test_equal_winners_have_equal_parts_of_the_pot_and_of_the_charge() -> None:
    """Of 460 cents 23 are the commission: who gets the odd cent of the rest bears one less of the charge."""
    hand = play(begin(table(), [5000] * 3, "2c3c AsKd AdKs", "Qh Jh 7c 5c 2d"), "r205 f c | x x | x x | x x")

    assert hand.result is not None
    assert [(each.gross_cents, each.commission_cents) for each in hand.result.payments] == [(230, 11), (230, 12)]
