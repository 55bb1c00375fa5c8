"""Measures programs that do the same, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

# Of each program in one run.
TURNS = 5


def rates(programs: Mapping[str, Callable[[], int]], seconds: float, unit: str) -> dict[str, float]:
    """Returns how much each program does per second of CPU time; a call does a part of it and says how much."""
    for program in programs.values():
        # What is computed once and kept is not measured.
        program()
    done, spent = dict.fromkeys(programs, 0), dict.fromkeys(programs, 0.0)
    for _ in range(TURNS):
        for name, program in programs.items():
            started = time.process_time()
            while (took := time.process_time() - started) < seconds / TURNS:
                done[name] += program()
            spent[name] += took
    measured = {name: done[name] / spent[name] for name in programs}
    for name, rate in measured.items():
        print(f"  {name:<56}{rate:>12,.0f} {unit}/s of CPU time", flush=True)
    return measured
