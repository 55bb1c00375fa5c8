"""Waits for background work without ending it, for an event no longer than that, and ends work for certain."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from typing import TypeVar

# A cancellation that was lost is said again after this long.
CANCEL_RETRY_INTERVAL_S = 0.2

_Result = TypeVar("_Result")


async def shared_result(task: asyncio.Future[_Result]) -> _Result:
    """What work that others wait for too comes to: it goes on if whoever asked goes away.

    `asyncio.shield` does as much and costs several times more, which counts where there is a bet for each call.
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
    """Waits for an event, but no longer than that; for good if it is None."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def cancel_and_wait(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancels tasks until all have ended.

    Once is not enough: before Python 3.12 `asyncio.wait_for`, which clients of the bus use, forgets a cancellation that
    arrives together with the result it waits for. So whoever ends others may be asked again to end, too, while he does
    it: they end first.
    """
    pending = set(tasks)
    asked_again = False
    while pending:
        for task in pending:
            task.cancel()
        try:
            _, pending = await asyncio.wait(pending, timeout=CANCEL_RETRY_INTERVAL_S)
        except asyncio.CancelledError:
            asked_again = True
            pending = {task for task in pending if not task.done()}
    if asked_again:
        raise asyncio.CancelledError
