"""The continuous health tests: the standard's cutoffs, how soon they notice a fault, and how rarely a sound source."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.kit.randomness.health_tests import (
    PROPORTION_CUTOFF,
    REPETITION_CUTOFF,
    WINDOW,
    AdaptiveProportion,
    HealthTests,
    RepetitionCount,
    proportion_cutoff,
    repetition_cutoff,
)

HOURS_A_YEAR = 24 * 365


def bytes_until_fault(source: bytes, step: int = 1) -> int | None:
    """Returns how many bytes were read before the fault was noticed."""
    tests = HealthTests()
    for start in range(0, len(source), step):
        if tests.fault(source[start : start + step]):
            return start + step
    return None


@pytest.mark.parametrize(
    ("entropy", "window", "cutoff"),
    [
        # SP 800-90B, table 2: one bit a sample in windows of 1024, otherwise windows of 512; alpha = 2**-20.
        *[(0.2, 1024, 941), (0.4, 1024, 840), (0.6, 1024, 748), (0.8, 1024, 664), (1, 1024, 589)],
        *[(0.5, 512, 410), (1, 512, 311), (2, 512, 177), (4, 512, 62), (8, 512, 13)],
    ],
)
def test_proportion_cutoffs_are_the_published_ones(entropy: float, window: int, cutoff: int) -> None:
    assert proportion_cutoff(entropy, 20, window) == cutoff


def test_repetition_cutoffs_are_the_published_ones() -> None:
    # SP 800-90B, 4.4.1: at alpha = 2**-20 a source of two bits a sample fails at the eleventh.
    assert repetition_cutoff(2.0, 20) == 11
    assert [repetition_cutoff(bits, 20) for bits in (1, 7.3, 8)] == [21, 4, 4]


def test_a_sound_source_practically_never_fails() -> None:
    """Computed exactly, for a source of full entropy that is read a megabyte an hour for ten thousand years."""
    samples = 10**6 * HOURS_A_YEAR * 10_000
    run = Fraction(1, 256 ** (REPETITION_CUTOFF - 1))
    others = WINDOW - 1
    window = Fraction(
        sum(comb(others, count) * 255 ** (others - count) for count in range(PROPORTION_CUTOFF - 1, others + 1)),
        256**others,
    )
    assert run * samples < Fraction(1, 500)
    assert window * samples < Fraction(1, 10**15)


@pytest.mark.rule("903-B/2015:6.7.3")
def test_a_stuck_source_is_noticed_within_eight_bytes() -> None:
    sound = random.Random(1).randbytes(1000)
    assert bytes_until_fault(sound + b"\xa5" * 100) == 1000 + REPETITION_CUTOFF == 1008


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.parametrize("step", [1, 7, 32, 4096])
def test_two_alternating_bytes_are_noticed_within_a_window(step: int) -> None:
    noticed_after = bytes_until_fault(b"\x00\xff" * 4096, step)
    assert noticed_after is not None
    assert noticed_after <= max(2 * PROPORTION_CUTOFF, step) + step


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.parametrize("period", [3, 8, 14])
def test_a_short_period_is_noticed_within_a_window(period: int) -> None:
    assert (bytes_until_fault(bytes(range(period)) * 1000) or WINDOW + 1) <= WINDOW


@pytest.mark.rule("903-B/2015:6.7.3")
@pytest.mark.parametrize(
    ("name", "byte"),
    [
        ("four bits of eight are stuck", lambda chance: chance.randrange(16) << 4),
        ("a tenth of the bytes are zero", lambda chance: 0 if chance.random() < 0.1 else chance.randrange(256)),
        ("bits are ones three times out of four", lambda chance: chance.getrandbits(8) | chance.getrandbits(8)),
    ],
)
def test_a_biased_source_is_noticed_within_64_kib(name: str, byte: object) -> None:
    assert callable(byte)
    chance = random.Random(2)
    noticed_after = bytes_until_fault(bytes(byte(chance) for _ in range(64 * 1024)))
    assert noticed_after is not None, name


@pytest.mark.rule("903-B/2015:6.7.3")
def test_a_good_source_passes_over_four_megabytes() -> None:
    chance = random.Random(3)
    tests = HealthTests()
    assert [tests.fault(chance.randbytes(4096)) for _ in range(1024)] == [None] * 1024


@given(st.lists(st.binary(max_size=70), max_size=30))
def test_repetitions_are_counted_across_reads(pieces: list[bytes]) -> None:
    cutoff = 2
    whole = b"".join(pieces)
    repeats = any(a == b for a, b in pairwise(whole))
    test = RepetitionCount(cutoff)
    assert all(test.passes(piece) for piece in pieces) == (not repeats)


@given(st.lists(st.binary(max_size=40), max_size=30))
def test_proportions_are_counted_as_in_the_standard(pieces: list[bytes]) -> None:
    cutoff, window = 3, 16
    whole = b"".join(pieces)
    # 4.4.2: one window after another, the last one incomplete.
    windows = [whole[start : start + window] for start in range(0, len(whole), window)]
    allowed = all(each.count(each[0]) < cutoff for each in windows)
    test = AdaptiveProportion(cutoff, window)
    assert all(test.passes(piece) for piece in pieces) == allowed


@pytest.mark.guarantee("G7")
def test_g7_a_fault_does_not_reveal_the_bytes() -> None:
    assert HealthTests().fault(b"\x5b" * 64) == HealthTests().fault(b"\x2c" * 64)
