"""Hands that tests deal, and how far they are played."""

from __future__ import annotations

from tests.browser.recorded.poker.felt_page import FeltPage

# By the numbers of the seats.
SIX = "AsKs QhQd 7c7d 9h8h JcTc 2s2d"
TEN = f"{SIX} 3c3d 4c5c 6c6d 8c8d"
BOARD = "Js Qc Kd 4h 2h"
TEN_CAVES = {seat: 5_000 + seat * 777 for seat in range(1, 11)}
TWO_CAVES = {1: 12_345, 2: 9_900}
# One has less than the others, for a side pot.
FOUR_CAVES = {1: 10_000, 2: 2_000, 3: 10_000, 4: 10_000}


def to_flop(felt: FeltPage) -> FeltPage:
    """Six are dealt in; 1, 3 and 4 see the flop for 3 each, with the button at 5 and the blinds at 6 and 1."""
    felt.deal(SIX, BOARD, button=5).play("f r300 c f f c")
    felt.expect_board("Js Qc Kd")
    return felt


def to_river(felt: FeltPage) -> FeltPage:
    """Nobody bets on the flop and on the turn."""
    to_flop(felt).play("x x x")
    felt.expect_board("Js Qc Kd 4h")
    felt.play("x x x")
    felt.expect_board("Js Qc Kd 4h 2h")
    return felt


def to_result(felt: FeltPage) -> FeltPage:
    """1 wins 9.03 with a pair of kings; 3 and 4 have shown their cards."""
    to_river(felt).play("x x x")
    felt.expect_stage("result")
    return felt


def to_side_pot(felt: FeltPage) -> FeltPage:
    """Four are dealt in; 2 is all in, and 3 and 4 have gone on betting: 60.50 lie in the main pot, 10 in a side pot."""
    felt.deal("2c7d AsAd KsKh QsQh", "Jd 4c 5h 8d 2s", button=4).play("c c f r2000 c c")
    felt.expect_board("Jd 4c 5h")
    felt.play("r500 c")
    felt.expect_board("Jd 4c 5h 8d")
    return felt


def three_all_in(felt: FeltPage) -> FeltPage:
    """Ten are dealt in; 2 and 3 are all in before the flop, and 9 has more: 2 wins the main pot, 3 the side pot."""
    return felt.deal(TEN, BOARD, button=4).play("f f r2000 f f r4000 r7331 f f f c c")
