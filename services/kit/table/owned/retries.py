"""When the rounds of a blocked table are tried again: after growing waits, and with one line in the log per reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from services.kit.clock import Clock

# After the first failure; each one after it waits twice as long, up to the longest. While the wallet does not answer,
# the wait does not grow: that passes by itself.
FIRST_RETRY_AFTER = timedelta(seconds=5)
LONGEST_RETRY_AFTER = timedelta(seconds=60)


@dataclass(slots=True)
class _Retry:
    """The next attempt at one table."""

    reason: str
    wait: timedelta
    due_at: datetime


class Retries:
    """Knows when each table is tried next, and why the last attempt failed."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._retries: dict[str, _Retry] = {}

    def is_due(self, table_id: str) -> bool:
        """Whether a table may be tried now."""
        retry = self._retries.get(table_id)
        return retry is None or self._clock.now() >= retry.due_at

    def note_failure(self, table_id: str, reason: str, *, grows: bool) -> bool:
        """Notes a failed attempt; returns whether its reason is another one than before, which is worth a line."""
        earlier = self._retries.get(table_id)
        wait = FIRST_RETRY_AFTER
        if earlier is not None and grows:
            wait = min(earlier.wait * 2, LONGEST_RETRY_AFTER)
        self._retries[table_id] = _Retry(reason, wait, self._clock.now() + wait)
        return earlier is None or earlier.reason != reason

    def hurry(self) -> None:
        """Has every table tried with the next look: an operator has decided about one."""
        for retry in self._retries.values():
            retry.due_at = self._clock.now()

    def forget(self, table_id: str) -> None:
        self._retries.pop(table_id, None)
