"""The fifteen tests of NIST SP 800-22 rev. 1a, on sequences written as text of `0` and `1`.

Each gives the chance (p-value) that a true source makes a sequence at least this strange. Numbers in parentheses are
the standard's sections; tests/tools/test_nist_vectors.py compares every test with the values that NIST published.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import accumulate

from tools.rng_report.distributions import normal_below, upper_gamma
from tools.rng_report.spectrum import magnitudes

RANK_SIZE = 32
TEMPLATE_BLOCKS = 8
OVERLAPPING_BLOCK = 1032
OVERLAPPING_TEMPLATE = 9
# Chances of 0 … 4 and of more matches in a block of `OVERLAPPING_BLOCK` (3.8). NIST's program and its published
# p-values still have the approximation that these replaced in rev. 1a.
OVERLAPPING_CHANCES = (0.364091, 0.185659, 0.139381, 0.100571, 0.0704323, 0.139865)
# Shortest sequence for each block length, and mean and variance of the statistic (2.9.4, 2.9.7).
UNIVERSAL = (
    (387_840, 6, 5.2177052, 2.954),
    (904_960, 7, 6.1962507, 3.125),
    (2_068_480, 8, 7.1836656, 3.238),
    (4_654_080, 9, 8.1764248, 3.311),
)
# Chances of the classes of a block's linear complexity (3.10). NIST's program, and with it its published p-values, has
# 0.01047 for the first.
COMPLEXITY_CHANCES = (1 / 96, 1 / 32, 1 / 8, 1 / 2, 1 / 4, 1 / 16, 1 / 48)
# Shortest sequence, block length, shortest and longest run that is a class, chances of the classes (2.4.2, 3.4).
LONGEST_RUNS = (
    (750_000, 10_000, 10, 16, (0.0882, 0.2092, 0.2483, 0.1933, 0.1208, 0.0675, 0.0727)),
    (6_272, 128, 4, 9, (0.1174, 0.2430, 0.2493, 0.1752, 0.1027, 0.1124)),
    (128, 8, 1, 4, (0.2148, 0.3672, 0.2305, 0.1875)),
)
EXCURSION_STATES = (-4, -3, -2, -1, 1, 2, 3, 4)
EXCURSION_VARIANT_STATES = tuple(state for state in range(-9, 10) if state)


def _chi_square(observed: Iterable[int], chances: Sequence[float], trials: int) -> float:
    return sum(
        (count - trials * chance) ** 2 / (trials * chance) for count, chance in zip(observed, chances, strict=True)
    )


def _goodness(observed: Sequence[int], chances: Sequence[float]) -> float:
    return upper_gamma((len(chances) - 1) / 2, _chi_square(observed, chances, sum(observed)) / 2)


def _blocks(bits: str, length: int) -> list[str]:
    """Complete blocks; a shorter rest at the end is left out."""
    return [bits[start : start + length] for start in range(0, len(bits) - length + 1, length)]


def frequency(bits: str) -> float:
    """Whether there are as many ones as zeros (2.1)."""
    n = len(bits)
    return math.erfc(abs(2 * bits.count("1") - n) / math.sqrt(2 * n))


def block_frequency(bits: str, length: int) -> float:
    """Whether each block has as many ones as zeros (2.2)."""
    blocks = _blocks(bits, length)
    statistic = 4 * length * sum((block.count("1") / length - 0.5) ** 2 for block in blocks)
    return upper_gamma(len(blocks) / 2, statistic / 2)


def runs(bits: str) -> float:
    """Whether ones and zeros alternate as often as they should (2.3)."""
    n = len(bits)
    ones = bits.count("1") / n
    if abs(ones - 0.5) >= 2 / math.sqrt(n):
        return 0.0
    changes = bits.count("01") + bits.count("10")
    expected = 2 * n * ones * (1 - ones)
    return math.erfc(abs(changes + 1 - expected) / (2 * math.sqrt(2 * n) * ones * (1 - ones)))


def longest_run(bits: str) -> float:
    """Whether the longest runs of ones in blocks are as long as they should be (2.4)."""
    _, length, shortest, longest, chances = next(row for row in LONGEST_RUNS if len(bits) >= row[0])
    found = Counter(min(max(shortest, *map(len, block.split("0"))), longest) for block in _blocks(bits, length))
    return _goodness([found[run] for run in range(shortest, longest + 1)], chances)


def matrix_rank(bits: str, size: int = RANK_SIZE) -> float:
    """Whether square matrices of the bits have the ranks that they should have (2.5)."""
    lacking = Counter(
        min(size - _rank([int(row, 2) for row in _blocks(matrix, size)]), 2) for matrix in _blocks(bits, size * size)
    )
    full = math.prod(1 - 2.0**-index for index in range(1, RANK_SIZE + 1))
    one_less = 2 * (1 - 2.0**-RANK_SIZE) * full
    return _goodness([lacking[0], lacking[1], lacking[2]], (full, one_less, 1 - full - one_less))


def _rank(rows: list[int]) -> int:
    rank = 0
    while rows:
        pivot = rows.pop()
        if pivot:
            rank += 1
            lowest = pivot & -pivot
            rows = [row ^ pivot if row & lowest else row for row in rows]
    return rank


def spectral(bits: str) -> float:
    """Whether the sequence has no periods (2.6)."""
    n = len(bits) // 2 * 2
    threshold = math.sqrt(math.log(1 / 0.05) * n)
    below = sum(1 for peak in magnitudes([1.0 if bit == "1" else -1.0 for bit in bits[:n]]) if peak < threshold)
    return math.erfc(abs(below - 0.95 * n / 2) / math.sqrt(n * 0.95 * 0.05 / 4) / math.sqrt(2))


def aperiodic_templates(length: int) -> list[str]:
    """The patterns that cannot overlap themselves, 148 of length 9."""
    every = [format(number, f"0{length}b") for number in range(2**length)]
    return [text for text in every if not any(text[shift:] == text[:-shift] for shift in range(1, length))]


def non_overlapping_template(bits: str, template: str, blocks: int = TEMPLATE_BLOCKS) -> float:
    """Whether one pattern is in each block as often as it should be (2.7)."""
    size, m = len(bits) // blocks, len(template)
    mean = (size - m + 1) / 2**m
    variance = size * (1 / 2**m - (2 * m - 1) / 2 ** (2 * m))
    counts = [bits.count(template, start * size, (start + 1) * size) for start in range(blocks)]
    return upper_gamma(blocks / 2, sum((count - mean) ** 2 for count in counts) / variance / 2)


def overlapping_template(bits: str, chances: Sequence[float] = OVERLAPPING_CHANCES) -> float:
    """Whether runs of nine ones, overlapping ones included, are in blocks as often as they should be (2.8)."""
    highest = len(chances) - 1
    found = Counter(
        min(sum(max(len(run) - OVERLAPPING_TEMPLATE + 1, 0) for run in block.split("0")), highest)
        for block in _blocks(bits, OVERLAPPING_BLOCK)
    )
    return _goodness([found[matches] for matches in range(highest + 1)], chances)


def universal_statistic(bits: str, length: int, primed: int) -> tuple[float, int]:
    """The mean logarithm (base 2) of the distance to a block's last occurrence, and the number of blocks in it."""
    blocks = [int(block, 2) for block in _blocks(bits, length)]
    seen = [0] * 2**length
    for number, block in enumerate(blocks[:primed], start=1):
        seen[block] = number
    distances: Counter[int] = Counter()
    for number, block in enumerate(blocks[primed:], start=primed + 1):
        distances[number - seen[block]] += 1
        seen[block] = number
    rest = len(blocks) - primed
    return math.fsum(count * math.log2(distance) for distance, count in distances.items()) / rest, rest


def universal(bits: str) -> float:
    """Whether the sequence cannot be compressed: Maurer's test (2.9)."""
    _, length, mean, variance = next(row for row in reversed(UNIVERSAL) if len(bits) >= row[0])
    statistic, rest = universal_statistic(bits, length, 10 * 2**length)
    correction = 0.7 - 0.8 / length + (4 + 32 / length) * rest ** (-3 / length) / 15
    return math.erfc(abs(statistic - mean) / (math.sqrt(2) * correction * math.sqrt(variance / rest)))


def shortest_register(bits: str) -> int:
    """The length of the shortest linear feedback shift register that makes the bits (Berlekamp and Massey)."""
    # Bit i of `taps` is coefficient i of the connection polynomial; bit i of `past` is the bit i steps ago.
    taps, before, length, past = 1, 1, 0, 0
    for step, bit in enumerate(bits):
        past = past << 1 | (bit == "1")
        before <<= 1
        if (taps & past).bit_count() & 1:
            if 2 * length <= step:
                taps, before, length = taps ^ before, taps, step + 1 - length
            else:
                taps ^= before
    return length


def linear_complexity(bits: str, length: int, chances: Sequence[float] = COMPLEXITY_CHANCES) -> float:
    """Whether no short shift register makes the blocks (2.10)."""
    sign = -1 if length % 2 else 1
    mean = length / 2 + (9 - sign) / 36 - (length / 3 + 2 / 9) / 2**length
    found = Counter(
        # Class 0 is everything up to -2.5, class 6 everything above 2.5.
        min(max(math.ceil(sign * (shortest_register(block) - mean) + 2 / 9 - 0.5) + 3, 0), 6)
        for block in _blocks(bits, length)
    )
    return _goodness([found[index] for index in range(7)], chances)


def _patterns(bits: str, length: int) -> list[int]:
    """How often each pattern occurs, overlapping, the end joined to the beginning."""
    around = bits + (bits * (length // len(bits) + 1))[: length - 1]
    found = Counter(around[start : start + length] for start in range(len(bits)))
    counts = [0] * 2**length
    for pattern, count in found.items():
        counts[int(pattern, 2)] = count
    return counts


def _shortened(counts: list[int]) -> list[int]:
    """The counts of patterns that are one bit shorter: the end is joined to the beginning, so they are exact."""
    return [a + b for a, b in zip(counts[::2], counts[1::2], strict=True)]


def serial(bits: str, length: int) -> tuple[float, float]:
    """Whether all patterns of a length are equally frequent (2.11)."""
    n = len(bits)
    counts = _patterns(bits, length)
    shorter = _shortened(counts)
    squares = [
        len(each) / n * sum(count * count for count in each) - n for each in (counts, shorter, _shortened(shorter))
    ]
    first = squares[0] - squares[1]
    second = squares[0] - 2 * squares[1] + squares[2]
    return upper_gamma(2 ** (length - 2), first / 2), upper_gamma(2 ** (length - 3), second / 2)


def approximate_entropy(bits: str, length: int) -> float:
    """Whether patterns of a length do not predict the next bit (2.12)."""
    n = len(bits)
    longer = _patterns(bits, length + 1)
    entropies = [
        math.fsum(count / n * math.log(count / n) for count in counts if count)
        for counts in (_shortened(longer), longer)
    ]
    statistic = 2 * n * (math.log(2) - (entropies[0] - entropies[1]))
    return upper_gamma(2 ** (length - 1), statistic / 2)


def _walk(bits: str) -> list[int]:
    """The position of a walk after each bit: a step up for a one, a step down for a zero."""
    return list(accumulate(1 if bit == "1" else -1 for bit in bits))


def cumulative_sums(bits: str) -> tuple[float, float]:
    """Whether the walk strays as far as it should, forward and backward (2.13)."""
    walk = _walk(bits)
    forward = max(map(abs, walk))
    # A backward sum is the end less what comes before.
    end, before = walk[-1], [0, *walk[:-1]]
    backward = max(end - min(before), max(before) - end)
    return _strays(len(bits), forward), _strays(len(bits), backward)


def _strays(n: int, farthest: int) -> float:
    root = math.sqrt(n)

    def between(low: float, high: float, shift_low: int, shift_high: int) -> float:
        return math.fsum(
            normal_below((4 * k + shift_high) * farthest / root) - normal_below((4 * k + shift_low) * farthest / root)
            for k in range(math.floor(low), math.floor(high) + 1)
        )

    ratio = n / farthest
    return 1 - between((-ratio + 1) / 4, (ratio - 1) / 4, -1, 1) + between((-ratio - 3) / 4, (ratio - 1) / 4, 1, 3)


def cycles(bits: str) -> tuple[int, dict[int, Counter[int]]]:
    """The number of returns to zero, and for each state how many cycles visit it how often."""
    walk = _walk(bits)
    number = 0
    visits: dict[int, Counter[int]] = {state: Counter() for state in EXCURSION_VARIANT_STATES}
    seen: Counter[int] = Counter()
    for place in [*walk, 0] if walk[-1] else walk:
        if place:
            if -9 <= place <= 9:
                seen[place] += 1
        else:
            number += 1
            for state, times in seen.items():
                visits[state][times] += 1
            seen.clear()
    return number, visits


def excursions_possible(n: int, cycle_count: int) -> bool:
    """Whether there are enough cycles for the tests of random excursions (2.14.4, 2.15.4)."""
    return cycle_count >= max(0.005 * math.sqrt(n), 500)


def random_excursions(cycle_count: int, visits: dict[int, Counter[int]]) -> dict[int, float]:
    """Whether cycles visit the states near zero as often as they should (2.14)."""
    values = {}
    for state in EXCURSION_STATES:
        stay = 1 - 1 / (2 * abs(state))
        chances = [stay, *((1 - stay) ** 2 * stay ** (times - 1) for times in range(1, 5)), (1 - stay) * stay**4]
        found = [visits[state][times] for times in range(1, 5)]
        more = sum(visits[state].values()) - sum(found)
        values[state] = _goodness([cycle_count - sum(found) - more, *found, more], chances)
    return values


def random_excursions_variant(cycle_count: int, visits: dict[int, Counter[int]]) -> dict[int, float]:
    """Whether the whole walk visits the states near zero as often as it should (2.15)."""
    values = {}
    for state in EXCURSION_VARIANT_STATES:
        total = sum(times * count for times, count in visits[state].items())
        values[state] = math.erfc(abs(total - cycle_count) / math.sqrt(2 * cycle_count * (4 * abs(state) - 2)))
    return values
