"""An event loop whose clock jumps to the next event, and processes on it that can die at any await."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, TypeVarTuple, Unpack

STARTS_AT = datetime(2026, 1, 2, 20, 0, tzinfo=UTC)
# The context of everything outside the simulated processes: it never dies.
OUTSIDE_CONTEXT = Context()

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")
_process: ContextVar[Process | None] = ContextVar("process", default=None)


class Deadlock(Exception):
    """No event is scheduled any more, and something still waits."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Runs what is due, and when nothing is, moves the clock on at once. It never waits for real input or output."""

    def __init__(self) -> None:
        self._elapsed = 0.0
        super().__init__(_NoSelector(self._advance))
        self.set_task_factory(_task)  # type: ignore[arg-type] # typeshed has no context here

    def time(self) -> float:
        return self._elapsed

    def now(self) -> datetime:
        """Returns the virtual time as a date, which makes the loop a `Clock`."""
        return STARTS_AT + timedelta(seconds=round(self._elapsed, 6))

    def _advance(self, seconds: float | None) -> None:
        if seconds is None:
            raise Deadlock
        self._elapsed += seconds

    def call_soon(
        self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts, context: Context | None = None
    ) -> asyncio.Handle:
        context = copy_context() if context is None else context
        process = context.get(_process)
        if process is None:
            return super().call_soon(callback, *args, context=context)
        return super().call_soon(process.step, context, callback, args, context=context)

    def call_at(
        self,
        when: float,
        callback: Callable[[Unpack[_Ts]], object],
        *args: *_Ts,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        context = copy_context() if context is None else context
        process = context.get(_process)
        if process is None:
            return super().call_at(when, callback, *args, context=context)
        return super().call_at(when, process.step, context, callback, args, context=context)


class _NoSelector(selectors.SelectSelector):
    def __init__(self, advance: Callable[[float | None], None]) -> None:
        super().__init__()
        self._advance = advance

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._advance(timeout)
        return []


def _task(
    loop: VirtualTimeLoop, coroutine: Coroutine[Any, Any, _T], *, context: Context | None = None, **options: object
) -> asyncio.Task[_T]:
    context = copy_context() if context is None else context
    task: asyncio.Task[_T] = asyncio.Task(coroutine, loop=loop, context=context, **options)  # type: ignore[arg-type]
    process = context.get(_process)
    if process is not None:
        process.tasks.append(task)
    return task


class Process:
    """Tasks that live and die together. A death runs no `finally`: what was under way simply stops."""

    def __init__(self, name: str, loop: VirtualTimeLoop) -> None:
        self.name = name
        self.dead = False
        self.steps = 0
        """How often one of its tasks or callbacks has run; it can die before each of them."""
        self.fault_at_step: int | None = None
        self.fault: Callable[[], None] = self.kill
        """What happens before that step, if it is not a death."""
        self.on_death: Callable[[], None] = lambda: None
        self.tasks: list[asyncio.Task[Any]] = []
        self._loop = loop
        self._context = Context()
        self._context.run(_process.set, self)
        self._dropped_steps: list[tuple[Context, Callable[..., object], tuple[object, ...]]] = []

    def spawn(self, coroutine: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        return self._loop.create_task(coroutine, context=self._context.copy())

    def deliver(self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts) -> None:
        """Runs a callback in the process that comes from outside."""
        self._loop.call_soon(callback, *args, context=self._context)

    def step(self, context: Context, callback: Callable[..., object], args: tuple[object, ...]) -> None:
        if not self.dead:
            self.steps += 1
            if self.steps == self.fault_at_step:
                self.fault()
        if self.dead:
            self._dropped_steps.append((context, callback, args))
        else:
            callback(*args)

    def kill(self) -> None:
        self.dead = True
        self._loop.call_soon(self.on_death, context=OUTSIDE_CONTEXT)

    async def finish_tasks(self) -> None:
        """Ends the tasks of a process after the simulation, so that none is left behind half done."""
        self.dead, self.fault_at_step = False, None
        dropped, self._dropped_steps = self._dropped_steps, []
        for context, callback, args in dropped:
            self._loop.call_soon(callback, *args, context=context)
        while pending := [task for task in self.tasks if not task.done()]:
            for task in pending:
                task.cancel()
            await asyncio.sleep(0.3)
        for task in self.tasks:
            if not task.cancelled():
                task.exception()
