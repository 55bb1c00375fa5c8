"""Tests of the roads: the shapes that players know, with dragon tails and ties, and properties of any road."""

from __future__ import annotations

from itertools import groupby, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from feltro.baccarat.v1 import baccarat_pb2
from services.baccarat.engine import Outcome, Winner
from services.baccarat.game import roads_message
from services.baccarat.roads import ROWS, big_road
from tests.engine.baccarat.tables import round_of

# One round for each letter: ponto wins, banca wins, a tie; in small letters with a pair on both sides.
ROUND = {
    "P": round_of("4c Ts 5d 7h"),
    "B": round_of("2h 3c 3s 5d"),
    "T": round_of("Kc 2d 6h 4s"),
    "p": round_of("4c 3h 4d 3s"),
    "b": round_of("3c 4h 3d 4s"),
}
LETTERS = {Winner.PONTO: "P", Winner.BANCA: "B"}


def rounds(letters: str) -> list[Outcome]:
    return [ROUND[letter] for letter in letters]


def drawn(letters: str) -> list[str]:
    """Draws the big road of these rounds, row by row; a digit after a letter counts the ties."""
    cells = {
        (mark.column, mark.row): LETTERS[mark.winner] + (str(mark.ties) if mark.ties else "")
        for mark in big_road(rounds(letters)).marks
    }
    columns = max((column for column, _ in cells), default=-1) + 1
    lines = (" ".join(cells.get((column, row), ".") for column in range(columns)) for row in range(ROWS))
    return [line for line in lines if line.strip(". ")]


@pytest.mark.parametrize(
    ("letters", "shape"),
    [
        ("", []),
        ("P", ["P"]),
        ("PPB", ["P B", "P ."]),
        # A column for each run.
        ("PBPPBBB", ["P B P B", ". . P B", ". . . B"]),
        # Six fit below each other, the seventh and eighth make a tail.
        ("BBBBBBBB", ["B . .", "B . .", "B . .", "B . .", "B . .", "B B B"]),
        # The next run begins beside the first mark of the long one, and turns one row higher.
        (
            "BBBBBBBB" + "PPPPPPP" + "B",
            ["B P B .", "B P . .", "B P . .", "B P . .", "B P P P", "B B B ."],
        ),
        # Three tails above each other.
        (
            "BBBBBBBBB" + "PPPPPPPP" + "BBBBBBB" + "P",
            ["B P B P . .", "B P B . . .", "B P B . . .", "B P B B B B", "B P P P P .", "B B B B . ."],
        ),
        # A tail is shorter than the column that it is in the way of: what comes after it goes down again.
        ("B" * 7 + "P" + "B" + "P" * 7, ["B P B P .", "B . . P .", "B . . P .", "B . . P .", "B . . P .", "B B . P P"]),
    ],
)
def test_the_big_road_has_the_shapes_that_players_know(letters: str, shape: list[str]) -> None:
    assert drawn(letters) == shape


def test_a_run_that_is_blocked_at_once_stays_in_the_top_row() -> None:
    """Tails lie above each other up to the second row; then the columns to the right have one cell left."""
    letters = "".join(letter * 12 for letter in "BPBPB") + "PPP" + "B"
    marks = big_road(rounds(letters)).marks
    blocked = marks[60:63]
    assert [mark.row for mark in blocked] == [0, 0, 0]
    assert [mark.column for mark in blocked] == [5, 6, 7]
    # The next run begins behind it, not upon it.
    assert (marks[63].column, marks[63].row) == (8, 0)


@pytest.mark.parametrize(
    ("letters", "shape", "before"),
    [
        ("TTP", ["P"], 2),
        ("PTTB", ["P2 B"], 0),
        ("PTP", ["P1", "P"], 0),
        ("BTBTT", ["B1", "B2"], 0),
        ("TT", [], 2),
    ],
)
def test_ties_are_noted_on_the_round_before_them(letters: str, shape: list[str], before: int) -> None:
    assert drawn(letters) == shape
    assert big_road(rounds(letters)).ties_before_first == before


def test_pairs_are_marked() -> None:
    marks = big_road(rounds("pPb")).marks
    assert [(mark.ponto_pair, mark.banca_pair) for mark in marks] == [(True, True), (False, False), (True, True)]


def test_the_bead_road_has_every_round() -> None:
    message = roads_message((f"t.{number}", outcome) for number, outcome in enumerate(rounds("TPb"), start=1))
    assert [(each.round_id, each.winner, each.score, each.ponto_pair) for each in message.bead_road] == [
        ("t.1", baccarat_pb2.WINNER_TIE, 6, False),
        ("t.2", baccarat_pb2.WINNER_PONTO, 9, False),
        ("t.3", baccarat_pb2.WINNER_BANCA, 8, True),
    ]
    assert message.ties_before_first == 1
    assert [(each.column, each.row, each.winner, each.ties) for each in message.big_road] == [
        (0, 0, baccarat_pb2.WINNER_PONTO, 0),
        (1, 0, baccarat_pb2.WINNER_BANCA, 0),
    ]


@given(st.text(st.sampled_from("PBT"), max_size=150))
def test_every_road_keeps_the_order_and_no_mark_lies_on_another(letters: str) -> None:
    road = big_road(rounds(letters))
    decided = [letter for letter in letters if letter != "T"]
    assert [LETTERS[mark.winner] for mark in road.marks] == decided
    assert road.ties_before_first + sum(mark.ties for mark in road.marks) == letters.count("T")
    cells = [(mark.column, mark.row) for mark in road.marks]
    assert len(set(cells)) == len(cells)
    assert all(0 <= row < ROWS for _, row in cells)
    first_columns = []
    position = 0
    for _, group in groupby(decided):
        run = cells[position : position + len(list(group))]
        position += len(run)
        first_columns.append(run[0])
        for (column, row), (next_column, next_row) in pairwise(run):
            assert (next_column - column, next_row - row) in {(0, 1), (1, 0)}
    assert all(row == 0 for _, row in first_columns)
    assert sorted(first_columns) == first_columns
