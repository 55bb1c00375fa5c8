"""Exact counts: every hand of five cards one by one, and every hand of seven cards by classes of equal strength."""

from __future__ import annotations

from collections import Counter
from math import comb

import pytest

from services.poker.evaluation.holdem import holdem_rank
from tests.engine.poker.evaluation.classes import classes_of_hands
from tests.engine.poker.evaluation.frequencies import (
    OF_FIVE_CARDS,
    OF_SEVEN_CARDS,
    RANKS_OF_FIVE_CARDS,
    RANKS_OF_SEVEN_CARDS,
    by_combination,
    rank_counts_of_all_hands,
)

COMBINATIONS = "806/2015:29", "811/2015:29"


@pytest.mark.rule(*COMBINATIONS)
def test_every_hand_of_five_cards() -> None:
    counts = rank_counts_of_all_hands(common_cards=3)
    assert counts.total() == comb(52, 5) == 2_598_960
    assert by_combination(counts) == OF_FIVE_CARDS
    assert len(counts) == RANKS_OF_FIVE_CARDS


@pytest.mark.rule(*COMBINATIONS)
def test_every_hand_of_seven_cards_by_classes() -> None:
    counts: Counter[int] = Counter()
    for hand, hands in classes_of_hands(7):
        counts[holdem_rank(hand[:2], hand[2:])] += hands
    assert counts.total() == comb(52, 7) == 133_784_560
    assert by_combination(counts) == OF_SEVEN_CARDS
    assert len(counts) == RANKS_OF_SEVEN_CARDS
