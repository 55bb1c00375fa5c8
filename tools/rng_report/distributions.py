"""The tail probabilities that statistical tests end in."""

import math

# Both the series and the continued fraction below converge with far fewer terms.
TERMS_LIMIT = 100_000
PRECISION = 1e-15
# Stands for zero in the continued fraction (Lentz's method).
TINY = 1e-300


def upper_gamma(shape: float, x: float) -> float:
    """The regularised upper incomplete gamma function Q(shape, x), `igamc` in SP 800-22."""
    if x <= 0:
        return 1.0
    scale = math.exp(-x + shape * math.log(x) - math.lgamma(shape))
    return 1 - scale * _lower_series(shape, x) if x < shape + 1 else scale * _upper_fraction(shape, x)


def chi_square_tail(statistic: float, freedom: int) -> float:
    """The chance of a chi-square at least this large."""
    return upper_gamma(freedom / 2, statistic / 2)


def normal_below(x: float) -> float:
    """The cumulative standard normal distribution."""
    return math.erfc(-x / math.sqrt(2)) / 2


def _lower_series(shape: float, x: float) -> float:
    term = total = 1 / shape
    for index in range(1, TERMS_LIMIT):
        term *= x / (shape + index)
        total += term
        if term < total * PRECISION:
            return total
    raise ArithmeticError(f"Q({shape}, {x}) does not converge.")


def _upper_fraction(shape: float, x: float) -> float:
    b = x + 1 - shape
    c = 1 / TINY
    d = fraction = 1 / b
    for index in range(1, TERMS_LIMIT):
        a = -index * (index - shape)
        b += 2
        d = 1 / (a * d + b or TINY)
        c = b + a / c or TINY
        fraction *= c * d
        if abs(c * d - 1) < PRECISION:
            return fraction
    raise ArithmeticError(f"Q({shape}, {x}) does not converge.")
