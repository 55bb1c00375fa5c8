"""The continuous health tests of NIST SP 800-90B, 4.4: they notice a dead source of entropy within a few hundred bytes.

The kernel's generator claims 8 bits of min-entropy a byte; the tests require `ASSESSED_BITS` = 6. So they fail only if
the source has lost a quarter of what it claims, and yet notice a stuck one within 8 bytes. The number also decides how
often a sound source fails by chance: a run of 8 equal bytes begins at one byte in 2**56, and a window of 512 holds its
first byte 35 times once in 2**98. A casino that draws a megabyte an hour is closed by that once in millions of years
(tests/kit/randomness/test_health_tests.py computes both).
"""

from fractions import Fraction
from math import ceil, comb

# The min-entropy of a sample (a byte) that the tests require.
ASSESSED_BITS = 6
# -log2 of the standard's alpha, the chance that a source of exactly the assessed entropy fails at one sample. The
# standard recommends 20 to 40.
FALSE_ALARM_BITS = 40
# Samples in one window of the adaptive proportion test: the standard's number for samples of more than one bit.
WINDOW = 512


def repetition_cutoff(entropy_bits: float, false_alarm_bits: int) -> int:
    """SP 800-90B 4.4.1: C = 1 + ceil(-log2(alpha) / H)."""
    return 1 + ceil(false_alarm_bits / Fraction(entropy_bits))


def proportion_cutoff(entropy_bits: float, false_alarm_bits: int, window: int) -> int:
    """SP 800-90B 4.4.2: C = 1 + critbinom(W, 2**-H, 1 - alpha), computed in integers only.

    `critbinom` is the smallest count whose cumulative probability reaches 1 - alpha. With p = `ones`/`scale` the chance
    of a count is comb(W, count) * ones**count * (scale - ones)**(W - count) out of scale**W.
    """
    ones, scale = Fraction(2**-entropy_bits).as_integer_ratio()
    everything = scale**window
    above = everything
    for count in range(window + 1):
        above -= comb(window, count) * ones**count * (scale - ones) ** (window - count)
        if above << false_alarm_bits <= everything:
            return 1 + count
    raise AssertionError("the chances of all counts sum to one")


REPETITION_CUTOFF = repetition_cutoff(ASSESSED_BITS, FALSE_ALARM_BITS)
PROPORTION_CUTOFF = proportion_cutoff(ASSESSED_BITS, FALSE_ALARM_BITS, WINDOW)


class RepetitionCount:
    """SP 800-90B 4.4.1: fails when one value repeats too often in a row."""

    def __init__(self, cutoff: int = REPETITION_CUTOFF) -> None:
        self._cutoff = cutoff
        self._value = -1
        self._run = 0

    def passes(self, samples: bytes) -> bool:
        """Whether no run, those of earlier samples continued, reaches the cutoff."""
        value, run, longest = self._value, self._run, 0
        for sample in samples:
            if sample == value:
                run += 1
                if run > longest:  # noqa: PLR1730 - `max` costs more than the rest of the loop
                    longest = run
            else:
                value, run = sample, 1
        self._value, self._run = value, run
        return longest < self._cutoff


class AdaptiveProportion:
    """SP 800-90B 4.4.2: fails when the first value of a window occurs too often within it."""

    def __init__(self, cutoff: int = PROPORTION_CUTOFF, window: int = WINDOW) -> None:
        self._cutoff = cutoff
        self._window = window
        self._value = 0
        self._count = 0
        self._missing = 0
        """Samples until the window is full; at 0 the next sample begins another."""

    def passes(self, samples: bytes) -> bool:
        """Whether in no window, that of earlier samples continued, the count reaches the cutoff."""
        at, highest = 0, 0
        while at < len(samples):
            if not self._missing:
                self._value, self._count, self._missing = samples[at], 0, self._window
            end = min(at + self._missing, len(samples))
            self._count += samples.count(self._value, at, end)
            self._missing -= end - at
            highest = max(highest, self._count)
            at = end
        return highest < self._cutoff


class HealthTests:
    """Both tests over one stream of bytes."""

    def __init__(self) -> None:
        self._repetition = RepetitionCount()
        self._proportion = AdaptiveProportion()

    def fault(self, samples: bytes) -> str | None:
        """Says which test the stream fails at these bytes, if any, but never which bytes they are (G7)."""
        if not self._repetition.passes(samples):
            return f"one byte came {REPETITION_CUTOFF} times in a row or more (SP 800-90B 4.4.1)"
        if not self._proportion.passes(samples):
            return f"one byte filled {PROPORTION_CUTOFF} or more of {WINDOW} places (SP 800-90B 4.4.2)"
        return None
