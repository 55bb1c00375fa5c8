"""Runs tasks side by side, waits for those of others without ending them, and ends tasks for certain."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine
from contextlib import suppress
from typing import Any, TypeVar

# A cancellation that was lost is repeated after this long.
CANCEL_RETRY_INTERVAL_S = 0.2

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


async def shared_result(task: asyncio.Future[_Result]) -> _Result:
    """Returns the result of a task that others wait for, too: it goes on when this caller is cancelled.

    `asyncio.shield` does the same and costs several times more, which counts where there is one for each bet.
    """
    if not task.done():
        waiter = task.get_loop().create_future()

        def wake(_: object) -> None:
            if not waiter.done():
                waiter.set_result(None)

        task.add_done_callback(wake)
        try:
            await waiter
        finally:
            task.remove_done_callback(wake)
    return task.result()


async def wait_for_event(event: asyncio.Event, seconds: float | None) -> None:
    """Waits for an event, at most so many seconds; without a limit if that is None."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def run_until(event: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Runs work until it ends, or is cancelled because the event is set; raises what it has failed with."""
    working, waiting = asyncio.create_task(work), asyncio.create_task(wait_for_event(event, None))
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        await cancel_and_wait([working, waiting])


async def cancel_and_wait(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancels tasks until all have ended.

    Once is not enough: before Python 3.12 `asyncio.wait_for`, which clients of the bus use, forgets a cancellation that
    arrives together with the result it waits for. For the same reason the caller may be cancelled again meanwhile: the
    tasks end first.
    """
    # In their order, so that a simulated run can be repeated.
    pending: Collection[asyncio.Task[Any]] = list(tasks)
    cancelled_again = False
    while pending:
        for task in pending:
            task.cancel()
        try:
            _, pending = await asyncio.wait(pending, timeout=CANCEL_RETRY_INTERVAL_S)
        except asyncio.CancelledError:
            cancelled_again = True
            pending = [task for task in pending if not task.done()]
    if cancelled_again:
        raise asyncio.CancelledError


async def for_each(items: Collection[_Item], action: Callable[[_Item], Awaitable[None]], limit: int) -> None:
    """Runs an action for every item, so many side by side; the first failure ends the others and is raised."""
    remaining = iter(items)

    async def work() -> None:
        for item in remaining:
            await action(item)

    tasks = [asyncio.create_task(work()) for _ in range(min(limit, len(items)))]
    try:
        await asyncio.gather(*tasks)
    finally:
        await cancel_and_wait(tasks)
