"""Where the CPU time of this process goes: its stack is looked at a few hundred times in each second of CPU."""

from __future__ import annotations

import signal
from collections import Counter
from types import FrameType
from typing import Self

SAMPLE_EVERY_CPU_S = 0.002

# The first of these that is found in the path of a frame, from the innermost frame outwards, says what was being done.
_PARTS = (
    ("services/roulette/", "engine"),
    ("services/kit/table/postgres_journal", "journal"),
    ("asyncpg", "journal"),
    ("services/kit/table/table_bus", "publishing"),
    ("services/kit/table/appearance", "publishing"),
    ("nats/", "publishing"),
    ("services/kit/table/grpc_wallet", "wallet call"),
    ("services/kit/table/bank", "wallet call"),
    ("services/kit/table/carrier", "wallet call"),
    ("grpc/", "wallet call"),
    ("services/kit/table/", "runtime"),
    ("services/kit/", "runtime"),
    ("tests/bench/", "bots"),
)


class CpuShares:
    """Looks while it is entered."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def __enter__(self) -> Self:
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, SAMPLE_EVERY_CPU_S, SAMPLE_EVERY_CPU_S)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)

    def _look(self, _number: int, frame: FrameType | None) -> None:
        while frame is not None:
            path = frame.f_code.co_filename
            for part, what in _PARTS:
                if part in path:
                    self._seen[what] += 1
                    return
            frame = frame.f_back
        self._seen["event loop"] += 1

    def shares(self) -> dict[str, float]:
        """Of all looks, largest first."""
        total = sum(self._seen.values()) or 1
        return {what: seen / total for what, seen in self._seen.most_common()}
