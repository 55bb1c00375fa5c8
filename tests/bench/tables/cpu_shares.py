"""Where the CPU time of this process goes: its stack is sampled a few hundred times in each second of CPU time."""

from __future__ import annotations

import signal
from collections import Counter
from types import FrameType
from typing import Self

SAMPLE_EVERY_CPU_S = 0.002

# From the innermost frame outwards, the first of these found in the path of a frame names the part of a sample.
_PARTS = (
    ("services/roulette/", "engine"),
    ("services/baccarat/", "engine"),
    ("services/blackjack/", "engine"),
    ("services/poker/", "engine"),
    ("services/kit/cards/", "engine"),
    ("services/kit/randomness/", "engine"),
    ("services/kit/table/journal/", "journal"),
    ("asyncpg", "journal"),
    ("services/kit/table/events/", "publishing"),
    ("services/kit/bus/", "publishing"),
    ("nats/", "publishing"),
    ("services/kit/table/wallet/", "wallet call"),
    ("services/kit/table/banked/stake_batcher", "wallet call"),
    ("services/kit/rpc/", "wallet call"),
    ("grpc/", "wallet call"),
    ("services/kit/table/", "runtime"),
    ("services/kit/", "runtime"),
    ("tests/bench/", "bots"),
)


class CpuShares:
    """Samples the stack while it is entered."""

    def __init__(self) -> None:
        self._samples: Counter[str] = Counter()

    def __enter__(self) -> Self:
        signal.signal(signal.SIGPROF, self._sample)
        signal.setitimer(signal.ITIMER_PROF, SAMPLE_EVERY_CPU_S, SAMPLE_EVERY_CPU_S)
        return self

    def __exit__(self, *_: object) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)

    def _sample(self, _number: int, frame: FrameType | None) -> None:
        while frame is not None:
            path = frame.f_code.co_filename
            for found, part in _PARTS:
                if found in path:
                    self._samples[part] += 1
                    return
            frame = frame.f_back
        self._samples["event loop"] += 1

    def shares(self) -> dict[str, float]:
        """The share of each part in all samples, largest first."""
        total = sum(self._samples.values()) or 1
        return {part: count / total for part, count in self._samples.most_common()}
