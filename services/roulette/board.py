"""The board: every place where a chip can lie, found from the shapes that are drawn on the cloth.

    ┌───────────────┐    ┌───────┬───────┐    A chip covers the numbers it touches: one from the middle of a number,
    │       0       │    │   0   │  00   │    two from an edge, three or four from a point where they meet. On the
    ├────┬─────┬────┤    ├────┬──┴──┬────┤    outer edge it covers a whole row, and between two rows both of them.
    │ 1  │  2  │ 3  │    │ 1  │  2  │ 3  │    What would cover five numbers (0-00-1-2-3) is no bet, since rule 7 has
    ├────┼─────┼────┤    ├────┼─────┼────┤    no kind for it (T5).

"All combinations that are possible" (804/2015:9, 807/2015:10) means: possible on this cloth (T4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from itertools import pairwise, product
from types import MappingProxyType

from services.roulette.wheel import BLACK, RED, Wheel


class Kind(StrEnum):
    """The kinds of bets of rule 7, by their names in the regulation."""

    STRAIGHT = "pleno"
    SPLIT = "cavalo"
    STREET = "rua"
    CORNER = "quadro"
    SIX_LINE = "linha"
    DOZEN = "dúzia"
    COLUMN = "coluna"
    DOUBLE_DOZEN = "cavalo de dúzia"
    DOUBLE_COLUMN = "cavalo de coluna"
    EVEN = "par"
    ODD = "ímpar"
    LOW = "menor"
    HIGH = "maior"
    RED = "encarnado"
    BLACK = "preto"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chip can lie."""

    name: str
    kind: Kind
    # In ascending order.
    ordered_numbers: tuple[str, ...]
    numbers: frozenset[str]


KIND_BY_COUNT = {1: Kind.STRAIGHT, 2: Kind.SPLIT, 3: Kind.STREET, 4: Kind.CORNER, 6: Kind.SIX_LINE}

# Twelve units divide a row into three numbers, two zeros or one, and a row is two units high: so every edge that two
# numbers share has a point in its middle, also the edge of 2 with half of 0.
_ROW_WIDTH, _ROW_HEIGHT = 12, 2
_OUTER_EDGE = 0


# Every table with the wheel shares them: to find them costs more than a whole round.
@cache
def places(wheel: Wheel) -> Mapping[str, Place]:
    """Returns all places of a wheel's board by name, those with the fewest numbers first."""
    ascending = wheel.ascending
    found = [
        Place("-".join(numbers), KIND_BY_COUNT[len(numbers)], numbers, frozenset(numbers))
        for numbers in sorted(
            (_in_order(covered, ascending) for covered in _covered_by_a_chip(wheel) if len(covered) in KIND_BY_COUNT),
            key=lambda numbers: (len(numbers), [ascending.index(number) for number in numbers]),
        )
    ]
    found += (Place(name, kind, _in_order(numbers, ascending), frozenset(numbers)) for name, kind, numbers in _boxes())
    return MappingProxyType({place.name: place for place in found})


def _covered_by_a_chip(wheel: Wheel) -> set[frozenset[str]]:
    """Returns the sets of numbers that a chip covers, from every point of the cloth."""
    rows = [wheel.zeros, *(tuple(map(str, range(first, first + 3))) for first in range(1, 37, 3))]
    covered: dict[tuple[int, int], set[str]] = defaultdict(set)
    for row_no, row in enumerate(rows):
        width = _ROW_WIDTH // len(row)
        down = range(row_no * _ROW_HEIGHT, (row_no + 1) * _ROW_HEIGHT + 1)
        for at, number in enumerate(row):
            for point in product(range(at * width, (at + 1) * width + 1), down):
                covered[point].add(number)
        for y in down:
            covered[_OUTER_EDGE, y].update(row)
    return set(map(frozenset, covered.values()))


def _boxes() -> Iterator[tuple[str, Kind, Iterable[str]]]:
    """Yields the boxes around the numbers; none of them holds a zero (T24)."""
    numbers = range(1, 37)
    dozens = [_named(numbers[first : first + 12]) for first in range(0, 36, 12)]
    columns = [_named(numbers[first::3]) for first in range(3)]
    for boxes, name, kind in ((dozens, "dozen", Kind.DOZEN), (columns, "column", Kind.COLUMN)):
        yield from ((f"{name}-{no}", kind, box) for no, box in enumerate(boxes, start=1))
    # A chip covers two boxes where they meet, so never the first and the third (T6).
    for boxes, name, kind in ((dozens, "dozen", Kind.DOUBLE_DOZEN), (columns, "column", Kind.DOUBLE_COLUMN)):
        yield from (
            (f"double-{name}-{no}-{no + 1}", kind, one + other)
            for no, (one, other) in enumerate(pairwise(boxes), start=1)
        )
    yield "even", Kind.EVEN, _named(numbers[1::2])
    yield "odd", Kind.ODD, _named(numbers[::2])
    yield "low", Kind.LOW, _named(numbers[:18])
    yield "high", Kind.HIGH, _named(numbers[18:])
    yield "red", Kind.RED, RED
    yield "black", Kind.BLACK, BLACK


def _named(numbers: range) -> list[str]:
    return [str(number) for number in numbers]


def _in_order(numbers: Iterable[str], ascending: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(numbers, key=ascending.index))
