"""The clock of a game's tables: the machine's, and in development as far ahead of it as an operator has moved it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from datetime import datetime, timedelta

from nats.aio.client import Client as Nats

from services.kit.bus.buckets import Bucket, RevisionConflict
from services.kit.bus.outages import BUS_FAILURES, RETRY_DELAY_S, Outage
from services.kit.bus.subjects import TABLE_CLOCKS_BUCKET
from services.kit.clock import Clock
from services.kit.table import refusals
from services.kit.table.refusals import TableRefused
from services.kit.table.server.settings import TableClockKind

# The same as the session clock's: dates have an end.
AHEAD_LIMIT = timedelta(days=3660)
# Replicas that move the clock in the same moment are each given a turn, within reason.
ADVANCE_ATTEMPTS_LIMIT = 20

_MICROSECOND = timedelta(microseconds=1)

_log = logging.getLogger(__name__)


class TableClock:
    """Tells the tables of one game the time; it never goes back, and all replicas share how far ahead it is.

    Betting windows, results on show and the moments from which specific rules hold follow it. Leases, tokens and the
    wallet do not. A real clock never opens the bucket: what development left there must not close a round early.
    """

    def __init__(self, clock: Clock, bus: Nats, game: str, kind: TableClockKind, setting: str) -> None:
        """`setting` is the variable that chose `kind`: a refusal names it."""
        self.on_change: Callable[[], None] = lambda: None
        self._clock = clock
        self._key = game
        self._setting = setting
        self._ahead = timedelta()
        self._outage = Outage(_log, "the clock of the tables")
        self._bucket: Bucket | None = None
        if kind is TableClockKind.ADVANCEABLE:
            self._bucket = Bucket(bus, TABLE_CLOCKS_BUCKET, self._on_bucket_change)

    def now(self) -> datetime:
        """The time of the tables, as far as this process knows."""
        return self._clock.now() + self._ahead

    async def load(self, stopped: asyncio.Event) -> None:
        """Reads how far ahead the clock is, so that no table begins behind it; returns early if `stopped` is set."""
        while self._bucket is not None and not stopped.is_set():
            try:
                entry = await self._bucket.read(self._key)
            except BUS_FAILURES as failed:
                self._outage.failed(failed)
                await asyncio.sleep(RETRY_DELAY_S)
                continue
            self._set_ahead(self._read(entry.value))
            return

    def coroutines(self) -> list[Coroutine[None, None, None]]:
        """The work that follows other replicas; none for a real clock."""
        return [] if self._bucket is None else [self._bucket.watch_forever(self._outage)]

    async def advance(self, by: timedelta) -> datetime:
        """Moves the clock forward for all replicas and returns what it shows."""
        if self._bucket is None:
            raise TableRefused(
                "NOT_OFFERED",
                "The clock of the tables is real here: only a development stack moves it.",
                setting=self._setting,
            )
        for _ in range(ADVANCE_ATTEMPTS_LIMIT):
            try:
                entry = await self._bucket.read(self._key)
                ahead = max(self._ahead, self._read(entry.value)) + by
                if ahead > AHEAD_LIMIT:
                    raise refusals.invalid(
                        "by_ms", f"would move the clock more than {AHEAD_LIMIT.days} days ahead of the machine's."
                    )
                await self._bucket.write(self._key, str(ahead // _MICROSECOND).encode(), entry.revision)
            except RevisionConflict:
                continue
            except BUS_FAILURES as failed:
                raise refusals.unavailable("The bus does not answer") from failed
            self._set_ahead(ahead)
            return self.now()
        raise refusals.unavailable("Others are moving the clock of the tables")

    def _on_bucket_change(self) -> None:
        self._outage.recovered()
        if self._bucket is not None and (entry := self._bucket.entries.get(self._key)) is not None:
            self._set_ahead(self._read(entry.value))

    def _set_ahead(self, ahead: timedelta) -> None:
        # An entry may be older than what this process wrote since, and a bucket that was lost holds none.
        if ahead > self._ahead:
            self._ahead = ahead
            self.on_change()

    def _read(self, value: bytes) -> timedelta:
        """Reads how far ahead the clock is; what is no such time, or beyond the limit, moves nothing and is logged."""
        try:
            ahead = timedelta(microseconds=int(value or b"0"))
        except (ValueError, OverflowError):
            ahead = AHEAD_LIMIT + _MICROSECOND
        if timedelta() <= ahead <= AHEAD_LIMIT:
            return ahead
        _log.error("the clock of the tables cannot be read: it stays as it is", extra={"key": self._key})
        return timedelta()
