"""Ends background tasks for certain."""

import asyncio
from collections.abc import Collection

# A cancellation that was lost is said again after this long.
ASK_AGAIN_S = 0.2


async def end(tasks: Collection[asyncio.Task[None]]) -> None:
    """Cancels tasks until all have ended.

    Once is not enough: before Python 3.12 `asyncio.wait_for`, which clients of the bus use, forgets a cancellation that
    arrives together with the result it waits for.
    """
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=ASK_AGAIN_S)
