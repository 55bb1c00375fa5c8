"""Compares the suite of `make rng-report` with the values that NIST published.

Small examples are those of SP 800-22 rev. 1a, section 2. The others are its Appendix B: the first million binary digits
of e and of the square root of two, computed here, with the p-values that NIST's own program (sts-2.1.2) gives.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

import pytest

from tools.rng_report import nist
from tools.rng_report.distributions import chi_square_tail, normal_below, upper_gamma
from tools.rng_report.spectrum import magnitudes

MILLION = 1_000_000
# Digits computed beyond those that are compared.
SPARE = 64

# The first hundred binary digits of pi: the standard's longer examples are about these.
HUNDRED = "1100100100001111110110101010001000100001011010001100001000110100110001001100011001100010100010111000"
RUNS_EXAMPLE = (
    "1100110000010101011011000100110011100000000000100100110101010001"
    "0001001111010110100000001101011111001100111001101101100010110010"
)

# NIST's program puts rounded chances into the linear complexity test (the first mistyped), and into the overlapping
# template test the approximation that rev. 1a replaced. The published values need these.
STS_COMPLEXITY_CHANCES = (0.01047, 0.03125, 0.125, 0.5, 0.25, 0.0625, 0.020833)
_HIT = (1.0, 1 / 2, 3 / 8, 13 / 48, 73 / 384)
STS_OVERLAPPING_CHANCES = (*(math.exp(-1) * part for part in _HIT), 1 - math.exp(-1) * sum(_HIT))


def _sum_of_reciprocal_factorials(first: int, last: int) -> tuple[int, int]:
    """Numerator and denominator of 1/first + 1/(first (first + 1)) + …, `last` excluded."""
    if last - first == 1:
        return 1, first
    middle = (first + last) // 2
    left, left_below = _sum_of_reciprocal_factorials(first, middle)
    right, right_below = _sum_of_reciprocal_factorials(middle, last)
    return left * right_below + right, left_below * right_below


def _e() -> str:
    terms = next(count for count in range(1000, MILLION, 1000) if math.lgamma(count) > (MILLION + SPARE) * math.log(2))
    above, below = _sum_of_reciprocal_factorials(1, terms)
    return format(((above + below) << (MILLION + SPARE)) // below, "b")


def _root_of_two() -> str:
    return format(math.isqrt(2 << 2 * (MILLION + SPARE)), "b")


@cache
def _digits(constant: str) -> str:
    return (_e() if constant == "e" else _root_of_two())[:MILLION]


Test = Callable[[str], float]
MILLION_BIT_TESTS: dict[str, Test] = {
    "frequency": nist.frequency,
    "block frequency": lambda bits: nist.block_frequency(bits, 128),
    "cumulative sums forward": lambda bits: nist.cumulative_sums(bits)[0],
    "cumulative sums backward": lambda bits: nist.cumulative_sums(bits)[1],
    "runs": nist.runs,
    "longest run": nist.longest_run,
    "rank": nist.matrix_rank,
    "spectral": nist.spectral,
    "non-overlapping template": lambda bits: nist.non_overlapping_template(bits, "000000001"),
    "overlapping template": lambda bits: nist.overlapping_template(bits, STS_OVERLAPPING_CHANCES),
    "universal": nist.universal,
    "approximate entropy": lambda bits: nist.approximate_entropy(bits, 10),
    "random excursions": lambda bits: nist.random_excursions(*nist.cycles(bits))[1],
    "random excursions variant": lambda bits: nist.random_excursions_variant(*nist.cycles(bits))[-1],
    "linear complexity": lambda bits: nist.linear_complexity(bits, 500, STS_COMPLEXITY_CHANCES),
    "serial": lambda bits: nist.serial(bits, 16)[0],
}
# The spectral test is published for the root too (0.581909); one of these takes as long as all the others.
PUBLISHED = {
    "e": (
        0.953749, 0.211072, 0.669887, 0.724266, 0.561917, 0.718945, 0.306156, 0.847187,
        0.078790, 0.110434, 0.282568, 0.700073, 0.786868, 0.826009, 0.826335, 0.766182,
    ),
    "sqrt2": (
        0.811881, 0.833222, 0.879009, 0.957206, 0.313427, 0.012117, 0.823810, None,
        0.569461, 0.791982, 0.130805, 0.884740, 0.216235, 0.566118, 0.317127, 0.861925,
    ),
}  # fmt: skip
CASES = [
    pytest.param(constant, name, value, id=f"{constant} {name}")
    for constant, values in PUBLISHED.items()
    for name, value in zip(MILLION_BIT_TESTS, values, strict=True)
    if value is not None
]


@pytest.mark.parametrize(("constant", "name", "value"), CASES)
def test_million_bits(constant: str, name: str, value: float) -> None:
    assert MILLION_BIT_TESTS[name](_digits(constant)) == pytest.approx(value, abs=1.1e-6)


def test_examples_of_section_2() -> None:
    found = {
        "2.1.4": nist.frequency("1011010101"),
        "2.1.8": nist.frequency(HUNDRED),
        "2.2.4": nist.block_frequency("0110011010", 3),
        "2.2.8": nist.block_frequency(HUNDRED, 10),
        "2.3.4": nist.runs("1001101011"),
        "2.3.8": nist.runs(HUNDRED),
        "2.4.8": nist.longest_run(RUNS_EXAMPLE),
        "2.7.4": nist.non_overlapping_template("10100100101110010110", "001", blocks=2),
        "2.11.4, first": nist.serial("0011011101", 3)[0],
        "2.11.4, second": nist.serial("0011011101", 3)[1],
        "2.11.8, first": nist.serial(_digits("e"), 2)[0],
        "2.11.8, second": nist.serial(_digits("e"), 2)[1],
        "2.12.4": nist.approximate_entropy("0100110101", 3),
        "2.12.8": nist.approximate_entropy(HUNDRED, 2),
        "2.13.4": nist.cumulative_sums("1011010111")[0],
        "2.13.8, forward": nist.cumulative_sums(HUNDRED)[0],
        "2.13.8, backward": nist.cumulative_sums(HUNDRED)[1],
        "2.14.4": nist.random_excursions(*nist.cycles("0110110101"))[1],
        "2.15.4": nist.random_excursions_variant(*nist.cycles("0110110101"))[1],
    }
    published = {
        "2.1.4": 0.527089, "2.1.8": 0.109599, "2.2.4": 0.801252, "2.2.8": 0.706438, "2.3.4": 0.147232,
        "2.3.8": 0.500798, "2.4.8": 0.180598, "2.7.4": 0.344154,
        "2.11.4, first": 0.808792, "2.11.4, second": 0.670320, "2.11.8, first": 0.843764, "2.11.8, second": 0.561915,
        "2.12.4": 0.261961, "2.12.8": 0.235301, "2.13.4": 0.411659, "2.13.8, forward": 0.219194,
        "2.13.8, backward": 0.114866, "2.14.4": 0.502529, "2.15.4": 0.683091,
    }  # fmt: skip
    # 2.13.4 and 2.14.4 were computed by hand with few digits. 2.6.4 and 2.6.8 are missing: the standard prints N1 = 4
    # and 46 where its own definition gives 5 and 48, as others found; the spectral test is compared on e above.
    assert found == pytest.approx(published, abs=1e-4)
    assert nist.spectral(HUNDRED) == pytest.approx(math.erfc((48 - 47.5) / math.sqrt(100 * 0.95 * 0.05 / 4 * 2)))


def test_example_of_matrix_rank() -> None:
    # 2.5.4, with the chances rounded to four digits.
    assert nist.matrix_rank("01011001001010101101", 3) == pytest.approx(0.741948, abs=2e-4)


def test_example_of_universal_statistic() -> None:
    # 2.9.4
    statistic, blocks = nist.universal_statistic("01011010011101010111", 2, 4)
    assert statistic == pytest.approx(1.1949875)
    assert blocks == 6


def test_example_of_linear_complexity() -> None:
    # 2.10.4
    assert nist.shortest_register("1101011110001") == 4


def test_cycles_are_counted_as_published() -> None:
    # 2.14.8
    assert nist.cycles(_digits("e"))[0] == 1490


def test_chances_of_overlapping_matches_are_exact() -> None:
    """Walks through all blocks at once: how likely each trailing run of ones is together with each count of matches."""
    chances = {(0, 0): 1.0}
    for _ in range(nist.OVERLAPPING_BLOCK):
        following: dict[tuple[int, int], float] = {}
        for (run, matches), chance in chances.items():
            longer = min(run + 1, nist.OVERLAPPING_TEMPLATE)
            hit = min(matches + (longer == nist.OVERLAPPING_TEMPLATE), 5)
            for after in ((0, matches), (longer, hit)):
                following[after] = following.get(after, 0.0) + chance / 2
        chances = following
    by_count = [sum(chance for (_, matches), chance in chances.items() if matches == count) for count in range(6)]
    assert by_count == pytest.approx(nist.OVERLAPPING_CHANCES, abs=2e-6)


def test_there_are_as_many_aperiodic_templates_as_published() -> None:
    # 2.7.2
    assert [len(nist.aperiodic_templates(length)) for length in range(2, 10)] == [2, 4, 6, 12, 20, 40, 74, 148]


@pytest.mark.parametrize("length", [2, 8, 10, 12, 30, 64, 98, 100])
def test_spectrum_is_the_transform(length: int) -> None:
    values = [float((7 * index * index + 3 * index) % 11 - 5) for index in range(length)]
    expected = [
        abs(
            sum(value * complex(math.cos(angle * place), math.sin(angle * place)) for place, value in enumerate(values))
        )
        for angle in (-2 * math.pi * index / length for index in range(length // 2))
    ]
    assert magnitudes(values) == pytest.approx(expected, abs=1e-9)


def test_tails_of_distributions() -> None:
    assert upper_gamma(0.5, 0.7) == pytest.approx(math.erfc(math.sqrt(0.7)))
    # For whole shapes the tail is a Poisson sum.
    for shape, x in ((3, 0.5), (3, 9.0), (40, 31.0), (40, 55.0)):
        poisson = math.fsum(math.exp(-x) * x**k / math.factorial(k) for k in range(shape))
        assert upper_gamma(shape, x) == pytest.approx(poisson)
    assert chi_square_tail(3.841459, 1) == pytest.approx(0.05, abs=1e-6)
    assert chi_square_tail(0.0, 5) == 1.0
    assert normal_below(-1.959964) == pytest.approx(0.025, abs=1e-6)
