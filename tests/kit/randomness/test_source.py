"""Tapes read without bias and for ever the same; the source is watched, latched, and never replaced."""

from __future__ import annotations

import inspect
import os
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import permutations, product
from math import factorial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.randomness import source as module
from services.kit.randomness.source import (
    DRAW_BYTES_LIMIT,
    START_UP_SAMPLES,
    Randomness,
    SourceFailed,
    Tape,
    TapeExhausted,
    draw,
)


class Source:
    """A source that can be broken and mended, and remembers what it gave."""

    def __init__(self) -> None:
        self.chance = random.Random(4)
        self.gave: list[bytes] = []
        self.instead: Callable[[int], bytes] | None = None

    def __call__(self, count: int) -> bytes:
        given_bytes = self.chance.randbytes(count) if self.instead is None else self.instead(count)
        self.gave.append(given_bytes)
        return given_bytes


def no_entropy(count: int) -> bytes:
    raise OSError("the device is gone")


def take_a_hundred_bytes(randomness: Randomness) -> None:
    for _ in range(4):
        randomness.take(25)


def said(randomness: Randomness) -> str | None:
    return randomness.failure


FAILURES = {
    "stuck": lambda count: b"\x00" * count,
    "alternating": lambda count: (b"\x12\x34" * count)[:count],
    "too little": lambda count: os.urandom(count - 1),
    "none": no_entropy,
}


@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.parametrize("n", [1, 2, 6, 37, 38, 52, 128, 255, 256])
def test_every_number_below_n_comes_of_equally_many_bytes(n: int) -> None:
    numbers: Counter[int] = Counter()
    thrown_away = 0
    for byte in range(256):
        try:
            numbers[Tape(bytes([byte])).below(n)] += 1
        except TapeExhausted:
            thrown_away += 1
    assert numbers == dict.fromkeys(range(n), 256 // n)
    assert thrown_away == 256 % n


@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.parametrize("n", [257, 300, 416, 65535, 65536])
def test_every_number_below_n_comes_of_equally_many_pairs_of_bytes(n: int) -> None:
    numbers: Counter[int] = Counter()
    for pair in range(65536):
        try:
            numbers[Tape(pair.to_bytes(2, "big")).below(n)] += 1
        except TapeExhausted:
            continue
    assert numbers == dict.fromkeys(range(n), 65536 // n)


def test_a_number_is_read_as_documented() -> None:
    # 37 * 6 = 222: 0xFF and 0xDE (222) are thrown away, 0xDD (221) is 36.
    tape = Tape(bytes([0xFF, 0xDE, 0xDD, 5]))
    assert (tape.below(37), tape.used) == (36, 3)
    # 0x0102 = 258
    assert Tape(b"\x01\x02").below(300) == 258
    assert Tape(b"").below(1) == 0


@pytest.mark.parametrize("n", [0, -1])
def test_there_is_no_number_below_nothing(n: int) -> None:
    with pytest.raises(ValueError, match="There is no number"):
        Tape(b"\x00" * 8).below(n)


@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.parametrize("cards", ["abc", "abcd"])
def test_every_order_comes_of_equally_much_entropy(cards: str) -> None:
    """Over all numbers that the shuffle can draw, taken as bytes below the limits: each order exactly once a set."""
    choices = [range(size) for size in range(len(cards), 1, -1)]
    orders = Counter("".join(Tape(bytes(chosen)).shuffled(cards)) for chosen in product(*choices))
    assert orders == {"".join(order): 1 for order in permutations(cards)}
    assert len(orders) == factorial(len(cards))


@pytest.mark.rule("903-B/2015:6.7.2")
def test_every_order_of_three_comes_of_equally_many_bytes() -> None:
    orders: Counter[str] = Counter()
    for first in range(256):
        for second in range(256):
            try:
                orders["".join(Tape(bytes([first, second])).shuffled("abc"))] += 1
            except TapeExhausted:
                continue
    assert orders == {"".join(order): 255 * 256 // 6 for order in permutations("abc")}


@given(st.binary(max_size=300), st.lists(st.integers(1, 70_000), max_size=40))
def test_numbers_are_below_n_and_bytes_are_read_once_in_order(entropy: bytes, limits: list[int]) -> None:
    tape = Tape(entropy)
    for n in limits:
        before = tape.used
        try:
            number = tape.below(n)
        except TapeExhausted:
            assert tape.used == before
            return
        assert 0 <= number < n
        assert before <= tape.used <= len(entropy)
        # The same bytes alone give the same number.
        assert Tape(entropy[before : tape.used]).below(n) == number


@given(st.lists(st.integers(), max_size=60), st.integers(0, 2**32))
def test_a_shuffle_loses_nothing_and_changes_nothing_given(items: list[int], seed: int) -> None:
    given_items = list(items)
    assert Counter(Tape(random.Random(seed).randbytes(2000)).shuffled(items)) == Counter(items)
    assert items == given_items


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 8, 32, 700]))
@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.guarantee("G10")
def test_what_was_used_gives_the_same_again(seed: int, first_bytes: int) -> None:
    def shoe(tape: Tape) -> list[int]:
        return tape.shuffled(range(312))

    drawn, used = draw(Randomness(random.Random(seed).randbytes), shoe, first_bytes)
    again = Tape(used)
    assert shoe(again) == drawn
    assert again.used == len(used)


@pytest.mark.guarantee("G6")
def test_a_tape_that_ends_too_soon_is_continued_and_not_replaced() -> None:
    source = Source()
    randomness = Randomness(source)
    seen: list[list[int]] = []

    def twenty(tape: Tape) -> list[int]:
        seen.append([])
        for _ in range(20):
            seen[-1].append(tape.below(37))
        return seen[-1]

    drawn, used = draw(randomness, twenty, first_bytes=4)
    assert len(seen) > 2
    assert all(attempt == drawn[: len(attempt)] for attempt in seen)
    assert b"".join(source.gave[1:]).startswith(used)


@pytest.mark.guarantee("G11")
def test_a_draw_without_end_ends() -> None:
    source = Source()
    attempts = []

    def never(tape: Tape) -> None:
        attempts.append(tape)
        while True:
            tape.below(2)

    with pytest.raises(TapeExhausted):
        draw(Randomness(source), never)
    assert sum(map(len, source.gave)) == START_UP_SAMPLES + DRAW_BYTES_LIMIT
    assert len(attempts) == 12


@pytest.mark.rule("903-B/2015:6.7.1", "GLI-19 3.3")
def test_nothing_is_drawn_in_advance_and_what_was_tested_is_what_is_given() -> None:
    source = Source()
    randomness = Randomness(source)
    assert [len(piece) for piece in source.gave] == [START_UP_SAMPLES]
    taken = [randomness.take(count) for count in (1, 32, 5)]
    # The bytes of the start-up tests are thrown away.
    assert source.gave[1:] == taken


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_source_that_fails_gives_nothing_until_it_is_restarted(failure: Callable[[int], bytes]) -> None:
    source = Source()
    randomness = Randomness(source)
    assert said(randomness) is None
    source.instead = failure
    with pytest.raises(SourceFailed, match="has failed and is disabled"):
        take_a_hundred_bytes(randomness)
    # Mended, but nobody has said so: it is not even asked.
    source.instead = None
    asked = len(source.gave)
    with pytest.raises(SourceFailed):
        randomness.take(1)
    with pytest.raises(SourceFailed):
        draw(randomness, lambda tape: tape.below(37))
    assert len(source.gave) == asked
    assert said(randomness) is not None

    randomness.restart()
    assert len(source.gave[-1]) == START_UP_SAMPLES >= 1024
    assert said(randomness) is None
    assert randomness.take(32) == source.gave[-1]


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_restart_does_not_put_a_broken_source_into_use(failure: Callable[[int], bytes]) -> None:
    source = Source()
    source.instead = failure
    randomness = Randomness(source)
    with pytest.raises(SourceFailed):
        randomness.take(1)
    with pytest.raises(SourceFailed):
        randomness.restart()
    assert said(randomness) is not None
    with pytest.raises(SourceFailed):
        randomness.take(1)


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.guarantee("G12")
def test_a_restart_that_fails_disables_a_source_that_was_in_use() -> None:
    source = Source()
    randomness = Randomness(source)
    source.instead = no_entropy
    with pytest.raises(SourceFailed):
        randomness.restart()
    source.instead = None
    with pytest.raises(SourceFailed):
        randomness.take(1)


@pytest.mark.rule("903-B/2015:6.7.3")
def test_a_source_that_sticks_between_draws_is_noticed() -> None:
    source = Source()
    randomness = Randomness(source)
    source.instead = lambda count: b"\x07" * count
    assert [randomness.take(1) for _ in range(7)] == [b"\x07"] * 7
    with pytest.raises(SourceFailed):
        randomness.take(1)


@pytest.mark.parametrize("count", [0, -3])
def test_nothing_cannot_be_taken(count: int) -> None:
    with pytest.raises(ValueError, match="cannot be taken"):
        Randomness().take(count)


@pytest.mark.rule("903-B/2015:6.7.1", "903-B/2015:6.7.4", "GLI-19 3.3")
def test_the_source_is_the_operating_systems() -> None:
    assert inspect.signature(Randomness).parameters["read"].default is os.urandom
    # Neither a clock nor a generator of ours is anywhere near.
    lines = Path(str(module.__file__)).read_text(encoding="utf-8").splitlines()
    assert not [
        line for line in lines if line.startswith(("import time", "import random", "from random", "import secrets"))
    ]


FORKED = """
import os
from services.kit.randomness.source import Randomness
randomness = Randomness()
child = os.fork()
os.write(1, (randomness.take(32).hex() + "\\n").encode())
if child:
    os.waitpid(child, 0)
"""


@pytest.mark.rule("903-B/2015:6.7.4", "GLI-19 3.3")
def test_a_copy_of_the_process_does_not_draw_the_same() -> None:
    """A state-compromise attack by fork or snapshot of the process finds no state."""
    run = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    ours, childs = run.stdout.split()
    assert len(ours) == len(childs) == 64
    assert ours != childs
