"""The source of entropy: it is tested as it is read, it stays off after a failure, and nothing replaces it."""

from __future__ import annotations

import inspect
import os
import random
import subprocess
import sys
from collections.abc import Callable
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
    draw,
)
from services.kit.randomness.tape import Tape, TapeExhausted


class FakeSource:
    """A source that can be broken and repaired, and remembers what it returned."""

    def __init__(self) -> None:
        self._generator = random.Random(4)
        self.returned: list[bytes] = []
        self.replacement: Callable[[int], bytes] | None = None

    def __call__(self, count: int) -> bytes:
        entropy = self._generator.randbytes(count) if self.replacement is None else self.replacement(count)
        self.returned.append(entropy)
        return entropy


def no_entropy(count: int) -> bytes:
    raise OSError("the device is gone")


def take_a_hundred_bytes(randomness: Randomness) -> None:
    for _ in range(4):
        randomness.take(25)


def current_failure(randomness: Randomness) -> str | None:
    return randomness.failure


FAILURES = {
    "stuck": lambda count: b"\x00" * count,
    "alternating": lambda count: (b"\x12\x34" * count)[:count],
    "too little": lambda count: os.urandom(count - 1),
    "none": no_entropy,
}


@given(st.integers(0, 2**32), st.sampled_from([1, 2, 8, 32, 700]))
@pytest.mark.rule("903-B/2015:6.7.2")
@pytest.mark.guarantee("G10")
def test_g10_the_used_bytes_give_the_same_outcome_again(seed: int, first_bytes: int) -> None:
    def shoe(tape: Tape) -> list[int]:
        return tape.shuffled(range(312))

    drawn, used = draw(Randomness(random.Random(seed).randbytes), shoe, first_bytes)
    again = Tape(used)
    assert shoe(again) == drawn
    assert again.used == len(used)


@pytest.mark.guarantee("G6")
def test_g6_a_tape_that_ends_too_soon_is_continued_and_not_replaced() -> None:
    source = FakeSource()
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
    assert b"".join(source.returned[1:]).startswith(used)


@pytest.mark.guarantee("G11")
def test_g11_a_draw_that_never_ends_is_stopped() -> None:
    source = FakeSource()
    attempts = []

    def never(tape: Tape) -> None:
        attempts.append(tape)
        while True:
            tape.below(2)

    with pytest.raises(TapeExhausted):
        draw(Randomness(source), never)
    assert sum(map(len, source.returned)) == START_UP_SAMPLES + DRAW_BYTES_LIMIT
    assert len(attempts) == 12


@pytest.mark.rule("903-B/2015:6.7.1", "GLI-19 3.3")
def test_nothing_is_drawn_in_advance_and_the_tested_bytes_are_the_returned_ones() -> None:
    source = FakeSource()
    randomness = Randomness(source)
    assert [len(piece) for piece in source.returned] == [START_UP_SAMPLES]
    taken = [randomness.take(count) for count in (1, 32, 5)]
    # The bytes of the start-up tests are discarded.
    assert source.returned[1:] == taken


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.guarantee("G12")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_g12_a_failed_source_returns_nothing_until_it_is_restarted(failure: Callable[[int], bytes]) -> None:
    source = FakeSource()
    randomness = Randomness(source)
    assert current_failure(randomness) is None
    source.replacement = failure
    with pytest.raises(SourceFailed, match="has failed and is disabled"):
        take_a_hundred_bytes(randomness)
    # Repaired, but not restarted: it is not even read.
    source.replacement = None
    reads = len(source.returned)
    with pytest.raises(SourceFailed):
        randomness.take(1)
    with pytest.raises(SourceFailed):
        draw(randomness, lambda tape: tape.below(37))
    assert len(source.returned) == reads
    assert current_failure(randomness) is not None

    randomness.restart()
    assert len(source.returned[-1]) == START_UP_SAMPLES >= 1024
    assert current_failure(randomness) is None
    assert randomness.take(32) == source.returned[-1]


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
def test_a_restart_does_not_put_a_broken_source_into_use(failure: Callable[[int], bytes]) -> None:
    source = FakeSource()
    source.replacement = failure
    randomness = Randomness(source)
    with pytest.raises(SourceFailed):
        randomness.take(1)
    with pytest.raises(SourceFailed):
        randomness.restart()
    assert current_failure(randomness) is not None
    with pytest.raises(SourceFailed):
        randomness.take(1)


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.guarantee("G12")
def test_g12_a_failed_restart_disables_a_source_that_was_in_use() -> None:
    source = FakeSource()
    randomness = Randomness(source)
    source.replacement = no_entropy
    with pytest.raises(SourceFailed):
        randomness.restart()
    source.replacement = None
    with pytest.raises(SourceFailed):
        randomness.take(1)


@pytest.mark.rule("903-B/2015:6.7.3")
def test_a_source_that_sticks_between_draws_is_noticed() -> None:
    source = FakeSource()
    randomness = Randomness(source)
    source.replacement = lambda count: b"\x07" * count
    assert [randomness.take(1) for _ in range(7)] == [b"\x07"] * 7
    with pytest.raises(SourceFailed):
        randomness.take(1)


@pytest.mark.parametrize("count", [0, -3])
def test_fewer_than_one_byte_cannot_be_taken(count: int) -> None:
    with pytest.raises(ValueError, match="cannot be taken"):
        Randomness().take(count)


@pytest.mark.rule("903-B/2015:6.7.1", "903-B/2015:6.7.4", "GLI-19 3.3")
def test_the_source_is_the_operating_system() -> None:
    assert inspect.signature(Randomness).parameters["read"].default is os.urandom
    # Neither a clock nor a generator of our own is imported.
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
def test_a_forked_process_draws_other_bytes() -> None:
    """A fork or a snapshot of the process holds no state from which the next draw could be guessed."""
    run = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=True)
    ours, childs = run.stdout.split()
    assert len(ours) == len(childs) == 64
    assert ours != childs
