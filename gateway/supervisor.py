"""What runs for as long as the gateway does: when a part of it ends, the gateway is not ready any more, and stops.

Without that part the gateway would answer, and be wrong. It is started anew, whole, by whoever supervises it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable

from gateway.backends.readiness import Readiness
from services.kit import background

_log = logging.getLogger(__name__)


class TaskSupervisor:
    """All of it."""

    def __init__(self, readiness: Readiness) -> None:
        """`lookout` is what readiness is read from."""
        self.has_failed = False
        """Whether a part has ended by itself."""
        self.stopping = asyncio.Event()
        """It is time to stop: a part has ended, or somebody has said so."""
        self.stop_now = asyncio.Event()
        """Somebody has said so again."""
        self._lookout = readiness
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, tasks: Iterable[Coroutine[object, object, None]]) -> None:
        """Runs parts that run for ever."""
        for part in tasks:
            task = asyncio.create_task(part, name=str(getattr(part, "__qualname__", part)))
            task.add_done_callback(self._ended)
            self._tasks.append(task)

    def request_stop(self) -> None:
        """Somebody says so."""
        if self.stopping.is_set():
            self.stop_now.set()
        self.stopping.set()

    async def announce_stop(self, within_s: float) -> None:
        """Everything is answered as ever, but for whether this gateway is ready: nobody new is to be sent here."""
        self._lookout.mark_stopping()
        await background.wait_for_event(self.stop_now, within_s)

    async def cancel_all(self) -> None:
        """Ends them all."""
        await background.cancel_and_wait(self._tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        # One that only returns is as good as none, too.
        said = {"part": task.get_name()}
        _log.error("a part of the gateway has broken: it is started anew", exc_info=task.exception(), extra=said)
        self.has_failed = True
        self._lookout.mark_broken()
        self.stopping.set()
