"""Ends a test that hangs, and shows where: the stacks of its thread and of every asyncio task.

pytest's `faulthandler_timeout` shows threads alone, of which one that runs an event loop waits in `select`, and can
only end the whole worker: it stays behind this, for what never comes back to Python.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
import traceback
from collections.abc import Generator, Iterator
from types import FrameType
from typing import Any, NoReturn

import pytest

# Several times what the longest test takes on a machine that does much else.
TIME_LIMIT_S = 600.0
# How often it is ended again: what was interrupted may have been a task that nobody waits for.
REPEAT_S = 10.0


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Limits the making of the fixtures."""
    with time_limit(f"the setup of {item.nodeid}", TIME_LIMIT_S):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Limits the test."""
    with time_limit(item.nodeid, TIME_LIMIT_S):
        yield


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Limits the end of the fixtures."""
    with time_limit(f"the teardown of {item.nodeid}", TIME_LIMIT_S):
        yield


@contextlib.contextmanager
def time_limit(name: str, seconds: float) -> Iterator[None]:
    """Fails what takes longer; a limit within another one takes its place for so long."""
    if threading.current_thread() is not threading.main_thread():
        # Signals reach the main thread alone.
        yield
        return

    def fail(_: int, frame: FrameType | None) -> NoReturn:
        pytest.fail(f"{name} did not end within {seconds:g} seconds\n{_stacks(frame)}", pytrace=False)

    # Stopped first, so that each handler is called for its own timer alone.
    previous_timer = signal.setitimer(signal.ITIMER_REAL, 0)
    previous_handler = signal.signal(signal.SIGALRM, fail)
    try:
        # Within: the time may be over before anything else is done.
        signal.setitimer(signal.ITIMER_REAL, seconds, REPEAT_S)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)
        signal.setitimer(signal.ITIMER_REAL, *previous_timer)


def _stacks(frame: FrameType | None) -> str:
    """The main thread's stack, and those of the tasks of the event loop that runs in it."""
    stacks = ["Main thread:", *traceback.format_stack(frame)]
    with contextlib.suppress(RuntimeError):
        for task in sorted(asyncio.all_tasks(), key=asyncio.Task.get_name):
            stacks += [f"Task {task.get_name()}:", *traceback.StackSummary.from_list(_awaited_lines(task)).format()]
    return "\n".join(stack.rstrip() for stack in stacks)


def _awaited_lines(task: asyncio.Task[Any]) -> list[traceback.FrameSummary]:
    """Where a task stands, from its own coroutine to the innermost; `Task.get_stack` tells the outermost alone."""
    lines = []
    awaited: object = task.get_coro()
    while awaited is not None:
        # Coroutines, generators and asynchronous generators each name the same two things in their own way.
        for prefix in ("cr", "gi", "ag"):
            frame = getattr(awaited, f"{prefix}_frame", None)
            if frame is not None:
                lines.append(traceback.FrameSummary(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name))
        awaited = next(
            (getattr(awaited, name) for name in ("cr_await", "gi_yieldfrom", "ag_await") if hasattr(awaited, name)),
            None,
        )
    return lines
