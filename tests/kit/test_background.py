"""Work is ended for certain, by whoever has begun it, however often he is asked to end himself."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from services.kit import background


async def forgetful(times: int) -> None:
    """Forgets that it was cancelled, so often."""
    for _ in range(times):
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()


async def test_it_is_said_again_until_it_is_heard() -> None:
    task = asyncio.create_task(forgetful(3))
    await asyncio.sleep(0)
    await background.cancel_and_wait([task])
    assert task.done()


async def test_who_is_asked_again_while_he_ends_others_ends_them_first() -> None:
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
