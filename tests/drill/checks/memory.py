"""Checks that the memory of each process stays flat from the second third of a drill to the last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tests.drill.checks.findings import Check

# What the last third may have beyond the second: caches fill, and a heap grows in pieces.
GROWTH_SHARE, GROWTH_BYTES = 0.15, 32 * 1024 * 1024
# A shorter drill says nothing about leaks: its numbers are only reported.
JUDGED_FROM_S = 1_200.0
SAMPLES_MIN = 10


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one process: medians of the thirds, in bytes."""

    name: str
    second: float
    last: float
    most: float

    @property
    def grows(self) -> bool:
        return self.last > self.second + max(GROWTH_BYTES, GROWTH_SHARE * self.second)


def memories(samples: Mapping[str, Sequence[tuple[float, int]]], began: float, ended: float) -> list[Memory]:
    """Compares the thirds of a drill, for each process that was there in both; samples have a time and bytes."""
    third = (ended - began) / 3
    found = []
    for name, of_process in sorted(samples.items()):
        second = [size for at, size in of_process if began + third <= at < began + 2 * third]
        last = [size for at, size in of_process if began + 2 * third <= at <= ended]
        if second and last:
            found.append(Memory(name, median(second), median(last), max(size for _, size in of_process)))
    return found


def check_memory(found: Sequence[Memory], seconds: float) -> Check:
    """Judges a drill that is long enough."""
    bound = f"{GROWTH_SHARE:.0%} or {GROWTH_BYTES // 1024**2} MiB"
    check = Check(f"memory stays flat: the last third has at most {bound} more", "G11", len(found), "processes")
    if seconds < JUDGED_FROM_S:
        check.note = f"only reported: a drill is judged from {JUDGED_FROM_S / 60:.0f} minutes on"
        return check
    for memory in found:
        if memory.grows:
            mib = 1024**2
            check.violate(f"{memory.name} grew from {memory.second / mib:.0f} to {memory.last / mib:.0f} MiB")
    return check
