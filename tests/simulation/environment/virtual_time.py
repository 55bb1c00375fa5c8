"""An event loop whose clock jumps to the next thing that happens, and processes on it that can die at any await."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context, ContextVar, copy_context
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, TypeVarTuple, Unpack

STARTS_AT = datetime(2026, 1, 2, 20, 0, tzinfo=UTC)
# Where nobody's process runs: the outside world, which never dies.
OUTSIDE_CONTEXT = Context()

_T = TypeVar("_T")
_Ts = TypeVarTuple("_Ts")
_process: ContextVar[Process | None] = ContextVar("process", default=None)


class Deadlock(Exception):
    """Nothing is going to happen any more, and somebody waits for something."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Runs what is due; when nothing is, it is later at once. Nothing outside can be waited for."""

    def __init__(self) -> None:
        self._elapsed = 0.0
        super().__init__(_NoSelector(self._let_pass))
        self.set_task_factory(_task)  # type: ignore[arg-type] # typeshed does not know of contexts here

    def time(self) -> float:
        return self._elapsed

    def now(self) -> datetime:
        """The same as a date: with this the loop is a `Clock`."""
        return STARTS_AT + timedelta(seconds=round(self._elapsed, 6))

    def _let_pass(self, seconds: float | None) -> None:
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
    def __init__(self, let_pass: Callable[[float | None], None]) -> None:
        super().__init__()
        self._let_pass = let_pass

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._let_pass(timeout)
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
    """Tasks that live and die together. Death runs no `finally`: what was under way is never heard of again."""

    def __init__(self, name: str, loop: VirtualTimeLoop) -> None:
        self.name = name
        self.dead = False
        self.steps = 0
        """How often one of its tasks or callbacks has run: each time it could have died before."""
        self.fault_at_step: int | None = None
        self.fault: Callable[[], None] = self.kill
        """What befalls it before that step, if it is not death."""
        self.on_death: Callable[[], None] = lambda: None
        self.tasks: list[asyncio.Task[Any]] = []
        self._loop = loop
        self._context = Context()
        self._context.run(_process.set, self)
        self._never_ran: list[tuple[Context, Callable[..., object], tuple[object, ...]]] = []

    def spawn(self, coroutine: Coroutine[Any, Any, _T]) -> asyncio.Task[_T]:
        return self._loop.create_task(coroutine, context=self._context.copy())

    def deliver(self, callback: Callable[[Unpack[_Ts]], object], *args: *_Ts) -> None:
        """Something reaches the process from outside."""
        self._loop.call_soon(callback, *args, context=self._context)

    def step(self, context: Context, callback: Callable[..., object], args: tuple[object, ...]) -> None:
        if not self.dead:
            self.steps += 1
            if self.steps == self.fault_at_step:
                self.fault()
        if self.dead:
            self._never_ran.append((context, callback, args))
        else:
            callback(*args)

    def kill(self) -> None:
        self.dead = True
        self._loop.call_soon(self.on_death, context=OUTSIDE_CONTEXT)

    async def finish_tasks(self) -> None:
        """Ends the tasks of a process when the story is over, so that none is left behind half done."""
        self.dead, self.fault_at_step = False, None
        frozen, self._never_ran = self._never_ran, []
        for context, callback, args in frozen:
            self._loop.call_soon(callback, *args, context=context)
        while pending := [task for task in self.tasks if not task.done()]:
            for task in pending:
                task.cancel()
            await asyncio.sleep(0.3)
        for task in self.tasks:
            if not task.cancelled():
                task.exception()
