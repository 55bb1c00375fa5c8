"""How often each combination occurs among all hands, and `make poker-hands`: counts every hand of seven cards.

The figures are those of the literature. The tests count the same, hands of seven cards by classes.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping
from itertools import combinations

from services.kit.cards.shoe import PACK
from services.poker.evaluation.combination import Combination, combination_of
from services.poker.evaluation.holdem import holdem_ranks

OF_FIVE_CARDS = {
    Combination.ROYAL_FLUSH: 4,
    Combination.STRAIGHT_FLUSH: 36,
    Combination.FOUR_OF_A_KIND: 624,
    Combination.FULL_HOUSE: 3_744,
    Combination.FLUSH: 5_108,
    Combination.STRAIGHT: 10_200,
    Combination.THREE_OF_A_KIND: 54_912,
    Combination.TWO_PAIRS: 123_552,
    Combination.PAIR: 1_098_240,
    Combination.HIGH_CARD: 1_302_540,
}
# Hands that differ in strength.
RANKS_OF_FIVE_CARDS = 7_462

OF_SEVEN_CARDS = {
    Combination.ROYAL_FLUSH: 4_324,
    Combination.STRAIGHT_FLUSH: 37_260,
    Combination.FOUR_OF_A_KIND: 224_848,
    Combination.FULL_HOUSE: 3_473_184,
    Combination.FLUSH: 4_047_644,
    Combination.STRAIGHT: 6_180_020,
    Combination.THREE_OF_A_KIND: 6_461_620,
    Combination.TWO_PAIRS: 31_433_400,
    Combination.PAIR: 58_627_800,
    Combination.HIGH_CARD: 23_294_460,
}
RANKS_OF_SEVEN_CARDS = 4_824


def by_combination(counts_of_ranks: Mapping[int, int]) -> dict[Combination, int]:
    """Returns how many hands each combination has, from how many each hand rank has."""
    counts = dict.fromkeys(reversed(Combination), 0)
    for rank, count in counts_of_ranks.items():
        counts[combination_of(rank)] += count
    return counts


def rank_counts_of_all_hands(common_cards: int) -> Counter[int]:
    """Evaluates every selection of two own and so many common cards, each selection of cards once."""
    # The own cards stand behind the common ones in the pack.
    pairs_behind = [list(combinations(PACK[place + 1 :], 2)) for place in range(len(PACK))]
    counts: Counter[int] = Counter()
    for board in combinations(range(len(PACK)), common_cards):
        counts.update(holdem_ranks(pairs_behind[board[-1]], [PACK[place] for place in board]))
    return counts


def main() -> int:
    """Counts every hand of seven cards, one by one."""
    started = time.monotonic()
    counts = rank_counts_of_all_hands(5)
    found = by_combination(counts)
    for combination, expected in OF_SEVEN_CARDS.items():
        print(f"{combination.letter}) {combination.name:<16}{found[combination]:>12,}  of {expected:>12,}")
    print(f"   {counts.total():,} hands of {len(counts):,} different ranks in {time.monotonic() - started:.0f} s")
    return 0 if found == OF_SEVEN_CARDS and len(counts) == RANKS_OF_SEVEN_CARDS else 1


if __name__ == "__main__":
    sys.exit(main())
