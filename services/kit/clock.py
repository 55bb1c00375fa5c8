"""Clocks, handed in where they are read, so that tests decide what time it is."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time. Every timestamp carries its offset (`903-B/2015:2.1.3`)."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's synchronised clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def seconds_since_boot() -> float:
    """Seconds that go on while the machine sleeps, where the system can tell."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)
