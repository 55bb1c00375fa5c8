"""What runs for as long as the gateway does: when a part of it ends, the gateway is not ready any more, and stops.

Without that part the gateway would answer, and be wrong. It is started anew, whole, by whoever supervises it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine, Iterable

from gateway.parts import Lookout
from services.kit import background

_log = logging.getLogger(__name__)


class Vital:
    """All of it."""

    def __init__(self, lookout: Lookout) -> None:
        """`lookout` is what readiness is read from."""
        self.broken = False
        """Whether a part has ended by itself."""
        self.stopping = asyncio.Event()
        """It is time to stop: a part has ended, or somebody has said so."""
        self.at_once = asyncio.Event()
        """Somebody has said so again."""
        self._lookout = lookout
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self, parts: Iterable[Coroutine[object, object, None]]) -> None:
        """Runs parts that run for ever."""
        for part in parts:
            task = asyncio.create_task(part, name=str(getattr(part, "__qualname__", part)))
            task.add_done_callback(self._ended)
            self._tasks.append(task)

    def stop(self) -> None:
        """Somebody says so."""
        if self.stopping.is_set():
            self.at_once.set()
        self.stopping.set()

    async def leave(self, within_s: float) -> None:
        """Everything is answered as ever, but for whether this gateway is ready: nobody new is to be sent here."""
        self._lookout.leave()
        await background.set_within(self.at_once, within_s)

    async def end(self) -> None:
        """Ends them all."""
        await background.end(self._tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        # One that only returns is as good as none, too.
        said = {"part": task.get_name()}
        _log.error("a part of the gateway has broken: it is started anew", exc_info=task.exception(), extra=said)
        self.broken = True
        self._lookout.give_up()
        self.stopping.set()
