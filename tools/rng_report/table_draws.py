"""Examines the draws of the tables themselves: the entropy in a file that they appended to.

The bytes of a draw are those it rejected and then those it used, so the bytes of many draws, one after another, are an
even stream again, and the numbers can be drawn from it once more. Nothing can be repeated on a fresh sample here, so a
result fails if a perfect source gives such a one in fewer than one file in a thousand.
"""

from __future__ import annotations

from dataclasses import dataclass

from tools.rng_report import battery, samples

FALSE_ALARM = 0.001
# Those of French roulette, whose journals are read.
NUMBERS = 37
# Fewer bytes prove nothing.
LEAST_BYTES = 1000


@dataclass(frozen=True, slots=True)
class TableDraws:
    """The results on one file."""

    size: int
    spins: int
    p_values: dict[str, float]

    @property
    def threshold(self) -> float:
        return FALSE_ALARM / max(len(self.p_values), 1)

    @property
    def failed(self) -> list[str]:
        return [name for name, p in self.p_values.items() if p < self.threshold]


def examine(entropy: bytes) -> TableDraws:
    """One sequence of all bits for the suite, and the numbers for their counts."""
    if len(entropy) < LEAST_BYTES:
        raise ValueError(f"the tables drew {len(entropy)} bytes; below {LEAST_BYTES} nothing can be said")
    bits = samples.sequences(entropy, len(entropy) * 8)[0]
    p_values = battery.examine(bits, list(battery.TESTS))
    sample = samples.replayed(entropy, NUMBERS)
    # Fewer than five of a kind are too few for a chi-square.
    fits = [fit for fit in sample.fits if sample.outcomes >= 5 * 2 * (fit.freedom + 1)]
    p_values |= {f"chi-square of {fit.name}": fit.p_value for fit in fits}
    return TableDraws(len(entropy), sample.outcomes, p_values)
