"""Tests of the wheels: the number, order and colours of their pockets, and that every pocket is equally likely."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from feltro.roulette.v1 import roulette_pb2
from services.kit.randomness.tape import Tape, TapeExhausted
from tests.engine.roulette import reference
from tests.engine.roulette.tables import WHEELS, place, rule_marks, table

# As the regulations print them (6.c, rulebook 3.1).
PRINTED = {
    "AMERICAN_37": (
        "0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2"
    ),
    "AMERICAN_38": (
        "0 28 9 26 30 11 7 20 32 17 5 22 34 15 3 24 36 13 1 00 27 10 25 29 12 8 19 31 18 6 21 33 16 4 23 35 14 2"
    ),
    "FRENCH": "0 32 15 19 4 21 2 25 17 34 6 27 13 36 11 30 8 23 10 5 24 16 33 1 20 14 31 9 22 18 29 7 28 12 35 3 26",
}
RED, BLACK, GREEN = roulette_pb2.COLOUR_RED, roulette_pb2.COLOUR_BLACK, roulette_pb2.COLOUR_GREEN


def order(wheel: str) -> list[str]:
    return [pocket.number for pocket in table(wheel).layout().pockets]


@pytest.mark.parametrize(
    ("wheel", "pockets"),
    [
        pytest.param("AMERICAN_37", 37, marks=rule_marks("804/2015:6.a")),
        pytest.param("AMERICAN_38", 38, marks=rule_marks("804/2015:6.a")),
        pytest.param("FRENCH", 37, marks=rule_marks("807/2015:6.a")),
    ],
)
def test_a_wheel_has_every_number_once(wheel: str, pockets: int) -> None:
    assert len(order(wheel)) == pockets
    assert sorted(order(wheel)) == sorted(reference.numbers_of(wheel))


@pytest.mark.parametrize(
    "wheel",
    [
        pytest.param("AMERICAN_37", marks=rule_marks("804/2015:6.c")),
        pytest.param("AMERICAN_38", marks=rule_marks("804/2015:6.c")),
        pytest.param("FRENCH", marks=rule_marks("807/2015:6.c")),
    ],
)
def test_the_order_is_the_printed_one(wheel: str) -> None:
    assert order(wheel) == PRINTED[wheel].split()


@pytest.mark.rule("804/2015:6.c")
def test_on_the_american_wheel_odd_numbers_lie_opposite_the_next_even_ones() -> None:
    pockets = order("AMERICAN_38")

    assert pockets.index("00") == pockets.index("0") + 19
    for odd in range(1, 37, 2):
        assert (pockets.index(str(odd)) + 19) % 38 == pockets.index(str(odd + 1))


@pytest.mark.rule("804/2015:6.c")
def test_t2_the_american_wheel_with_one_zero_is_the_one_with_two_without_its_00() -> None:
    assert order("AMERICAN_37") == [number for number in order("AMERICAN_38") if number != "00"]
    assert order("AMERICAN_37") != order("FRENCH")


@pytest.mark.rule("804/2015:6.b")
@pytest.mark.rule("807/2015:6.b")
@pytest.mark.parametrize("wheel", WHEELS)
def test_t3_numbers_have_the_standard_colours_and_zeros_are_green(wheel: str) -> None:
    for pocket in table(wheel).layout().pockets:
        if pocket.number in {"0", "00"}:
            assert pocket.colour == GREEN
        else:
            assert pocket.colour == (RED if reference.wins("red", pocket.number) else BLACK)


@pytest.mark.parametrize(
    ("wheel", "same_colour"),
    [
        # T3: the only two neighbours of one colour; the homologation file mentions them.
        pytest.param("AMERICAN_37", [("1", "27")], marks=rule_marks("804/2015:6.b")),
        pytest.param("AMERICAN_38", [], marks=rule_marks("804/2015:6.b")),
        pytest.param("FRENCH", [], marks=rule_marks("807/2015:6.b")),
    ],
)
def test_red_and_black_alternate(wheel: str, same_colour: list[tuple[str, str]]) -> None:
    pockets = list(table(wheel).layout().pockets)
    neighbours = pairwise([*pockets, pockets[0]])

    assert [(one.number, other.number) for one, other in neighbours if one.colour == other.colour] == same_colour


@pytest.mark.rule("903-B/2015:6.1.2")
@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.rule("804/2015:6.a")
@pytest.mark.rule("807/2015:6.a")
@pytest.mark.parametrize(
    ("wheel", "pockets", "bytes_each"), [("AMERICAN_37", 37, 6), ("AMERICAN_38", 38, 6), ("FRENCH", 37, 6)]
)
def test_every_pocket_comes_from_equally_many_tapes(wheel: str, pockets: int, bytes_each: int) -> None:
    rules, drawn, rejected = table(wheel), Counter[str](), 0
    for byte in range(256):
        try:
            drawn[rules.draw(Tape(bytes([byte]))).number] += 1
        except TapeExhausted:
            rejected += 1

    assert drawn == dict.fromkeys(PRINTED[wheel].split(), bytes_each)
    assert rejected == 256 - pockets * bytes_each


@pytest.mark.rule("903-B/2015:6.1.2")
@pytest.mark.parametrize("wheel", WHEELS)
def test_a_draw_takes_one_number_and_depends_on_the_tape_alone(wheel: str) -> None:
    rules = table(wheel)
    first, second = Tape(bytes([7])), Tape(bytes([7]))
    before = rules.draw(first)

    place(rules, {"red": 54000, "17": 3000})
    assert rules.draw(second) == before
    assert table(wheel, minimum_cents=1, without_doubles=True).draw(Tape(bytes([7]))) == before
    assert (first.used, second.used) == (1, 1)


@pytest.mark.rule("804/2015:2")
@pytest.mark.rule("807/2015:2")
@pytest.mark.parametrize("wheel", WHEELS)
def test_the_ball_rests_in_a_pocket_of_the_layout(wheel: str) -> None:
    rules = table(wheel)
    pockets = rules.layout().pockets

    seen = set()
    for byte in range(len(pockets)):
        outcome = rules.outcome_message(rules.draw(Tape(bytes([byte]))))
        pocket = pockets[outcome.pocket]
        assert (outcome.number, outcome.colour) == (pocket.number, pocket.colour)
        seen.add(outcome.pocket)
    assert seen == set(range(len(pockets)))
