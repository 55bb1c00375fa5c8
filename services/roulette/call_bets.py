"""Call bets (807/2015:8): groups and series that follow the order of the wheel, and the bets they consist of.

The regulation lists numbers, not chips. These are the chips that tables everywhere put on them (T19). Each lies on a
place of the board and is paid as a bet of its own kind (807/2015:15).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from services.roulette.wheel import Wheel

# Both sides together, so a bet covers 3, 5 or 7 numbers (807/2015:8.d.i-iii, T20).
NEIGHBOUR_COUNTS = (2, 4, 6)
# How the name of a call bet begins.
NAME_PREFIXES = frozenset({"voisins", "tiers", "orphelins", "neighbours", "final"})


@dataclass(frozen=True, slots=True)
class CallBet:
    """A named bet of some units on each of several places."""

    name: str
    components: tuple[tuple[str, int], ...]

    @property
    def units(self) -> int:
        return sum(units for _, units in self.components)


VOISINS = CallBet(  # série 0-2-3, the 17 numbers from 22 to 25 (807/2015:8.a)
    "voisins",
    (
        ("0-2-3", 2),
        ("4-7", 1),
        ("12-15", 1),
        ("18-21", 1),
        ("19-22", 1),
        ("25-26-28-29", 2),
        ("32-35", 1),
    ),
)
TIERS = CallBet(  # série 5-8, the 12 numbers from 27 to 33 (807/2015:8.b)
    "tiers",
    (("5-8", 1), ("10-11", 1), ("13-16", 1), ("23-24", 1), ("27-30", 1), ("33-36", 1)),
)
ORPHELINS = CallBet(  # órfãos, the 8 numbers in neither series (807/2015:8.c)
    "orphelins",
    (("1", 1), ("6-9", 1), ("14-17", 1), ("17-20", 1), ("31-34", 1)),
)


# Every table with the wheel shares them.
@cache
def call_bets(wheel: Wheel) -> Mapping[str, CallBet]:
    """Returns all call bets on the French wheel by name."""
    found = [VOISINS, TIERS, ORPHELINS, *_neighbours(wheel), *_finals(wheel)]
    return MappingProxyType({call_bet.name: call_bet for call_bet in found})


def _neighbours(wheel: Wheel) -> Iterator[CallBet]:
    """Yields the bets of one chip on a number and on each of its neighbours on the wheel (807/2015:8.d)."""
    for number in wheel.ascending:
        for neighbours in NEIGHBOUR_COUNTS:
            covered = wheel.neighbourhood(number, neighbours)
            yield CallBet(f"neighbours-{number}-{neighbours}", tuple((each, 1) for each in covered))


def _finals(wheel: Wheel) -> Iterator[CallBet]:
    """Yields the bets on all numbers that end in one digit; 0 ends in 0 (807/2015:8.e, T21)."""
    for digit in "0123456789":
        covered = (number for number in wheel.ascending if number[-1] == digit)
        yield CallBet(f"final-{digit}", tuple((each, 1) for each in covered))
