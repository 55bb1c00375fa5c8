"""Ending tasks: all of them end, however often one forgets its cancellation or the caller is cancelled, too."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from services.kit import background


async def forgetful(times: int) -> None:
    """Forgets so many cancellations."""
    for _ in range(times):
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


async def test_a_cancellation_is_repeated_until_the_task_ends() -> None:
    task = asyncio.create_task(forgetful(3))
    await asyncio.sleep(0)
    await background.cancel_and_wait([task])
    assert task.done()


async def test_a_caller_that_is_cancelled_again_ends_its_tasks_first() -> None:
    inner = asyncio.create_task(forgetful(3))

    async def outer() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await background.cancel_and_wait([inner])

    ending = asyncio.create_task(outer())
    await asyncio.sleep(0)
    await background.cancel_and_wait([ending])
    ended = inner.done()
    await background.cancel_and_wait([inner])
    assert ending.cancelled()
    assert ended
