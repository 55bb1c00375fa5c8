"""Time as something that is handed in, so that tests decide what time it is."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time. Every timestamp carries its offset (`903-B/2015:2.1.3`)."""

    def now(self) -> datetime: ...


class SystemClock:
    """The machine's synchronised clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)
