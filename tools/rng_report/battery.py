"""Runs the NIST suite over many sequences and judges by SP 800-22, 4.2: proportion and uniformity of p-values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tools.rng_report import nist
from tools.rng_report.distributions import chi_square_tail

ALPHA = 0.01
LEAST_UNIFORMITY = 0.0001
# The chance that three standard deviations stand for, where the normal approximation of 4.2.1 does not hold: with few
# sequences it would find one failure unusual.
UNUSUAL = 0.005
# Below this number of sequences uniformity says nothing (4.2.2), and is not judged.
SEQUENCES_FOR_UNIFORMITY = 55
BINS = 10
TEMPLATE_LENGTH = 9
BLOCK = 128
COMPLEXITY_BLOCK = 500

# Bits that the standard recommends for all tests.
RECOMMENDED = 1_000_000

PValues = dict[str, float]


def _serial(bits: str) -> PValues:
    length = min(16, int(math.log2(len(bits))) - 3)
    return dict(zip(("Serial, first", "Serial, second"), nist.serial(bits, length), strict=True))


def _sums(bits: str) -> PValues:
    names = ("Cumulative sums, forward", "Cumulative sums, backward")
    return dict(zip(names, nist.cumulative_sums(bits), strict=True))


def _templates(bits: str) -> PValues:
    templates = nist.aperiodic_templates(TEMPLATE_LENGTH)
    return {f"Non-overlapping template {each}": nist.non_overlapping_template(bits, each) for each in templates}


def _excursions(bits: str) -> PValues:
    number, visits = nist.cycles(bits)
    if not nist.excursions_possible(len(bits), number):
        return {}
    plain = {f"Random excursions {state:+}": p for state, p in nist.random_excursions(number, visits).items()}
    variant = nist.random_excursions_variant(number, visits)
    return plain | {f"Random excursions variant {state:+}": p for state, p in variant.items()}


# Fewest bits, and the test. Names of results begin with the name of the test. For three of them the standard recommends
# `RECOMMENDED` bits, but their approximations hold with fewer: five blocks in every class (2.8.7, 2.10.7), and 500
# cycles (2.14.7), which are counted.
TESTS: dict[str, tuple[int, Callable[[str], PValues]]] = {
    "Frequency": (100, lambda bits: {"Frequency": nist.frequency(bits)}),
    "Block frequency": (12_800, lambda bits: {"Block frequency": nist.block_frequency(bits, BLOCK)}),
    "Cumulative sums": (100, _sums),
    "Runs": (100, lambda bits: {"Runs": nist.runs(bits)}),
    "Longest run": (128, lambda bits: {"Longest run": nist.longest_run(bits)}),
    "Matrix rank": (38_912, lambda bits: {"Matrix rank": nist.matrix_rank(bits)}),
    "Spectral": (1000, lambda bits: {"Spectral": nist.spectral(bits)}),
    "Non-overlapping template": (65_536, _templates),
    "Overlapping template": (100_000, lambda bits: {"Overlapping template": nist.overlapping_template(bits)}),
    "Universal": (387_840, lambda bits: {"Universal": nist.universal(bits)}),
    "Approximate entropy": (
        4096,
        lambda bits: {"Approximate entropy": nist.approximate_entropy(bits, min(10, int(math.log2(len(bits))) - 6))},
    ),
    "Random excursions": (100_000, _excursions),
    "Serial": (1024, _serial),
    "Linear complexity": (
        250_000,
        lambda bits: {"Linear complexity": nist.linear_complexity(bits, COMPLEXITY_BLOCK)},
    ),
}


def test_of(result: str) -> str:
    """The test that a result comes from."""
    return max((name for name in TESTS if result.startswith(name)), key=len)


def too_short_for(length: int) -> list[str]:
    """The tests that sequences of this length are too short for."""
    return [name for name, (least, _) in TESTS.items() if length < least]


def examine(bits: str, tests: Sequence[str]) -> PValues:
    """The p-values of one sequence."""
    values: PValues = {}
    for name in tests:
        least, test = TESTS[name]
        if len(bits) >= least:
            values |= test(bits)
    return values


@dataclass(frozen=True, slots=True)
class Judgement:
    """The result of one test over all sequences."""

    name: str
    sequences: int
    passed: int
    least_passed: int
    uniformity: float | None
    """By 4.2.2; None if there are too few sequences."""

    @property
    def likelihood(self) -> float:
        """The chance that a perfect source fails so often, or spreads its p-values so badly."""
        so_often = _at_least(self.sequences - self.passed, self.sequences)
        return so_often if self.uniformity is None else min(so_often, self.uniformity)

    @property
    def sound(self) -> bool:
        return self.passed >= self.least_passed and (self.uniformity is None or self.uniformity >= LEAST_UNIFORMITY)


def _at_least(failures: int, sequences: int) -> float:
    """The chance that at least so many sequences of a perfect source fail."""
    every = range(failures, sequences + 1)
    return math.fsum(math.comb(sequences, k) * ALPHA**k * (1 - ALPHA) ** (sequences - k) for k in every)


def least_passed(sequences: int) -> int:
    """Three standard deviations below the expectation (4.2.1), or fewer where that is not unusual enough."""
    least = math.ceil(sequences * (1 - ALPHA - 3 * math.sqrt(ALPHA * (1 - ALPHA) / sequences)))
    while _at_least(sequences - least + 1, sequences) > UNUSUAL:
        least -= 1
    return least


def judge(results: Sequence[Mapping[str, float]]) -> list[Judgement]:
    """Judges each test by its share of passed sequences and by how evenly its p-values are spread."""
    judgements = []
    for name in dict.fromkeys(name for values in results for name in values):
        p_values = [values[name] for values in results if name in values]
        count = len(p_values)
        passed = sum(1 for p in p_values if p >= ALPHA)
        judgements.append(Judgement(name, count, passed, least_passed(count), _uniformity(p_values)))
    return judgements


def _uniformity(p_values: Sequence[float]) -> float | None:
    if len(p_values) < SEQUENCES_FOR_UNIFORMITY:
        return None
    found = Counter(min(int(p * BINS), BINS - 1) for p in p_values)
    expected = len(p_values) / BINS
    return chi_square_tail(sum((found[index] - expected) ** 2 for index in range(BINS)) / expected, BINS - 1)
