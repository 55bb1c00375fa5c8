"""Runs a process of the platform: its tasks, its signals, its metrics and its memory."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from services.kit import background
from services.kit.telemetry import metrics_server

# Objects made before the collector looks at the young ones: nearly all are dropped together, with their request, their
# group or their round.
GC_YOUNG_THRESHOLD = 50_000

_Result = TypeVar("_Result")
_log = logging.getLogger(__name__)


class TaskSupervisor:
    """Runs the tasks that must never end: when one does, the process stops, and is started again as a whole.

    Without that task it would answer, and be wrong (G12).
    """

    def __init__(self, process: str, on_failure: Callable[[], None] | None = None) -> None:
        """`process` is its name in the log; `on_failure` is called as soon as a task has ended by itself."""
        self.failure: Exception | None = None
        """What the first task that ended by itself has failed with."""
        self.stopping = asyncio.Event()
        """It is time to stop: a stop was requested, or a task has failed."""
        self.is_serving = False
        """Whether calls may be sent to the process; the process itself says so."""
        self.stop_now = asyncio.Event()
        """A stop was requested once more: nothing is waited for any longer."""
        self._process = process
        self._on_failure = on_failure
        self._tasks: list[asyncio.Task[None]] = []

    def start(self, tasks: Iterable[Coroutine[Any, Any, None]]) -> None:
        """Runs tasks that must never end."""
        for endless in tasks:
            task = asyncio.create_task(endless, name=str(getattr(endless, "__qualname__", endless)))
            task.add_done_callback(self._ended)
            self._tasks.append(task)

    def request_stop(self) -> None:
        """Asks the process to stop; asked a second time, not to wait for anything."""
        if self.stopping.is_set():
            self.stop_now.set()
        self.stopping.set()

    async def wait_for_stop(self) -> None:
        """Returns when a stop is requested; raises what a task has failed with."""
        await self.stopping.wait()
        if self.failure is not None:
            raise self.failure

    async def cancel_all(self) -> None:
        """Ends all tasks."""
        await background.cancel_and_wait(self._tasks)

    def _ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled():
            return
        failure = task.exception()
        if not isinstance(failure, Exception):
            # Returning is a failure too: these tasks must never end.
            failure = RuntimeError(f"the task {task.get_name()} has returned")
        _log.error("a task of the %s has failed: the process stops", self._process, exc_info=failure)
        self.failure = self.failure or failure
        if self._on_failure is not None:
            self._on_failure()
        self.stopping.set()


async def run_until_stopped(
    supervisor: TaskSupervisor, serving: Awaitable[_Result], metrics_listen: str | None
) -> _Result:
    """Serves until SIGTERM or SIGINT requests a stop; metrics and readiness are read at `metrics_listen`."""
    if metrics_listen is not None:
        metrics_server.start(metrics_listen, lambda: supervisor.is_serving and not supervisor.stopping.is_set())
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, supervisor.request_stop)
    return await serving


def prepare_memory() -> None:
    """Tells the collector what lives as long as the process, and to look at the rest less often."""
    gc.freeze()
    gc.set_threshold(GC_YOUNG_THRESHOLD, 20, 50)
