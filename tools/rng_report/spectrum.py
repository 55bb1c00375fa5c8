"""The discrete Fourier transform of a sequence of real numbers, for lengths with small prime factors."""

import cmath
from collections.abc import Sequence
from functools import lru_cache


def magnitudes(values: Sequence[float]) -> list[float]:
    """The moduli of the first half of the transform; the second half mirrors it. The length is even."""
    # Even and odd places are the real and the imaginary part of one transform of half the length.
    length = len(values)
    half = length // 2
    packed = _transform([complex(*pair) for pair in zip(values[::2], values[1::2], strict=True)], _roots(half), 1)
    packed.append(packed[0])
    mirrored = [value.conjugate() for value in reversed(packed)]
    return [
        abs(forth + back - 1j * root * (forth - back)) / 2
        for forth, back, root in zip(packed[:half], mirrored[:half], _roots(length)[:half], strict=True)
    ]


@lru_cache(maxsize=4)
def _roots(length: int) -> list[complex]:
    return [cmath.rect(1.0, -2 * cmath.pi * index / length) for index in range(length)]


def _transform(values: list[complex], roots: list[complex], stride: int) -> list[complex]:
    """`roots[i * stride]` are the roots of unity of these values' number."""
    length = len(values)
    if length == 1:
        return values
    if length == 4:
        # Half of the work is at the bottom: there it is done without lists.
        first, second, third, fourth = values
        even, odd, across, turned = first + third, second + fourth, first - third, (second - fourth) * -1j
        return [even + odd, across + turned, even - odd, across - turned]
    factor = _smallest_factor(length)
    parts = [_transform(values[start::factor], roots, stride * factor) for start in range(factor)]
    if factor == 2:
        left, right = parts
        right = [root * value for root, value in zip(roots[: length // 2 * stride : stride], right, strict=True)]
        return [a + b for a, b in zip(left, right, strict=True)] + [a - b for a, b in zip(left, right, strict=True)]
    # Horner's rule over the parts; each part repeats `factor` times around the circle.
    result = parts[-1] * factor
    circle = roots[: length * stride : stride]
    for part in reversed(parts[:-1]):
        result = [value * root + other for value, root, other in zip(result, circle, part * factor, strict=True)]
    return result


def _smallest_factor(number: int) -> int:
    return next(factor for factor in range(2, number + 1) if number % factor == 0)
