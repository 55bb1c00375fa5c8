"""Watches how long something has waited to be published, and tells health checks, metrics and the log.

A process whose bus takes nothing goes on with its work: money does not wait for the bus. But nobody hears of it, so it
must not look as if all were well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from prometheus_client import Gauge

from services.kit.rpc.server import GrpcServer

# Publishing takes milliseconds; a bus that is started again takes seconds.
LATE_AFTER_S = 10.0
CHECK_EVERY_S = 1.0

_log = logging.getLogger(__name__)


class PublishingWatch:
    """Looks at the age of the oldest message that waits, as long as it runs."""

    def __init__(self, what: str, oldest_s: Callable[[], Awaitable[float]], gauge: Gauge, server: GrpcServer) -> None:
        """`oldest_s` returns the age of the oldest of `what` that waits; 0 if none does."""
        self.is_late = False
        """Whether something has waited for longer than `LATE_AFTER_S`."""
        self._what = what
        self._oldest_s = oldest_s
        self._gauge = gauge
        self._server = server

    async def run(self) -> None:
        """Watches until it is cancelled."""
        while True:
            await self.check()
            await asyncio.sleep(CHECK_EVERY_S)

    async def check(self) -> None:
        """Looks once."""
        age_s = await self._oldest_s()
        self._gauge.set(age_s)
        is_late = age_s > LATE_AFTER_S
        if is_late == self.is_late:
            return
        self.is_late = is_late
        await self._server.set_publishing(publishing=not is_late)
        if is_late:
            _log.error(
                "%s cannot be published, and nobody hears of them: see whether NATS runs and its disk has room;"
                " a NATS whose disk was full has to be started again",
                self._what,
                extra={"oldest_s": round(age_s)},
            )
        else:
            _log.info("%s are published again", self._what)
