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
        self._lookout = lookout
        self._tasks: list[asyncio.Task[None]] = []

    def begin(self, parts: Iterable[Coroutine[object, object, None]]) -> None:
        """Runs parts that run for ever."""
        for part in parts:
            task = asyncio.create_task(part, name=str(getattr(part, "__qualname__", part)))
            task.add_done_callback(self._ended)
            self._tasks.append(task)

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
