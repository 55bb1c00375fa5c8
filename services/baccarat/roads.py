"""The roads (*estradas*): the last rounds of a table, as players write them down. Pure.

The bead road has every round. The big road has a column for each run of one side. A run goes down six rows and then to
the right, and it turns earlier where an earlier run lies in its way: players call the part to the right a dragon's
tail. A tie is noted on the round before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from services.baccarat.engine import Outcome, Winner, is_pair

ROWS = 6


@dataclass(frozen=True, slots=True)
class Mark:
    """One round that ponto or banca won, with the ties that followed."""

    column: int
    row: int
    winner: Winner
    ponto_pair: bool
    banca_pair: bool
    ties: int = 0


@dataclass(frozen=True, slots=True)
class BigRoad:
    """The marks in the order of the rounds."""

    marks: tuple[Mark, ...]
    ties_before_first: int


def big_road(outcomes: Iterable[Outcome]) -> BigRoad:
    """Draws the big road of these rounds, oldest first."""
    marks: list[Mark] = []
    taken: set[tuple[int, int]] = set()
    ties_before_first, first_column = 0, 0
    for outcome in outcomes:
        if outcome.winner is Winner.TIE:
            if marks:
                marks[-1] = replace(marks[-1], ties=marks[-1].ties + 1)
            else:
                ties_before_first += 1
            continue
        if marks and marks[-1].winner is outcome.winner:
            column, row = _next_cell(marks, taken)
        else:
            # A run that could never leave the top row may lie where the next column would begin.
            column, row = next(column for column in range(first_column, len(taken) + 1) if (column, 0) not in taken), 0
            first_column = column + 1
        taken.add((column, row))
        marks.append(Mark(column, row, outcome.winner, is_pair(outcome.ponto), is_pair(outcome.banca)))
    return BigRoad(tuple(marks), ties_before_first)


def _next_cell(marks: list[Mark], taken: set[tuple[int, int]]) -> tuple[int, int]:
    """Returns where a run goes on: below its last mark, or to the right from where it has once turned."""
    last = marks[-1]
    has_turned = len(marks) > 1 and marks[-2].winner is last.winner and marks[-2].row == last.row
    below = (last.column, last.row + 1)
    if has_turned or below[1] == ROWS or below in taken:
        return last.column + 1, last.row
    return below
