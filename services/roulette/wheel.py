"""The three wheels, pocket by pocket, and the colours of their numbers (804/2015:6.a-c, 807/2015:6.a-c)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from services.roulette.articles import AMERICAN, FRENCH, Articles

# Numbers are text as on the wheel: `00` is not `0`, and neither is even (T24).
ZEROS = ("0", "00")


def _numbers(numbers: str) -> tuple[str, ...]:
    return tuple(numbers.split())


class Colour(StrEnum):
    """The colour of a number (6.b)."""

    RED = "encarnado"
    BLACK = "preto"
    GREEN = "verde"


# Neither regulation lists the colours; these are the standard ones, on every wheel (T3). They are no function of the
# order: on the American wheel with one zero, 1 and 27 are neighbours and both red.
RED = frozenset(_numbers("1 3 5 7 9 12 14 16 18 19 21 23 25 27 30 32 34 36"))
BLACK = frozenset(_numbers("2 4 6 8 10 11 13 15 17 20 22 24 26 28 29 31 33 35"))


def colour_of(number: str) -> Colour:
    if number in RED:
        return Colour.RED
    return Colour.BLACK if number in BLACK else Colour.GREEN


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel with its numbers, clockwise from 0 (6.c); it decides which regulation governs the table."""

    name: str
    articles: Articles
    order: tuple[str, ...]

    @property
    def zeros(self) -> tuple[str, ...]:
        return tuple(zero for zero in ZEROS if zero in self.order)

    @property
    def ascending(self) -> tuple[str, ...]:
        """The numbers in ascending order: 0, then 00, then 1 to 36."""
        return self.zeros + tuple(str(number) for number in range(1, 37))

    def neighbourhood(self, number: str, neighbours: int) -> tuple[str, ...]:
        """Returns a number between its neighbours, half of them on each side (T20), clockwise."""
        centre, side = self.order.index(number), neighbours // 2
        return tuple(self.order[at % len(self.order)] for at in range(centre - side, centre + side + 1))


# Three sequences (T2): the American wheel with one zero is the one with two without its 00, not the French one.
AMERICAN_37 = Wheel(
    "AMERICAN_37",
    AMERICAN,
    _numbers("0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2"),
)
AMERICAN_38 = Wheel(
    "AMERICAN_38",
    AMERICAN,
    _numbers("0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 00 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2"),
)
FRENCH_37 = Wheel(
    "FRENCH",
    FRENCH,
    _numbers("0 32 15 19 4 21 2 25 17 34 6 27 13 36 11 30 8 23 10 5 24 16 33 1 20 14 31 9 22 18 29 7 28 12 35 3 26"),
)
WHEELS = (AMERICAN_37, AMERICAN_38, FRENCH_37)
