"""Gateways as far as they meet on the bus: connected, and running what they run in the background."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import nats
from nats.aio.client import Client as Nats

from services.kit import background

WITHIN_S = 60.0


@asynccontextmanager
async def bus_client(url: str) -> AsyncIterator[Nats]:
    """A client that comes back when the bus does."""

    async def hushed(_: Exception) -> None:
        """Outages are what is tested."""

    bus = await nats.connect(url, reconnect_time_wait=0.05, max_reconnect_attempts=-1, error_cb=hushed)
    yield bus
    await bus.close()


@asynccontextmanager
async def running_tasks(*parts: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(part) for part in parts]
    yield
    await background.cancel_and_wait(tasks)


async def wait_until(condition: Callable[[], bool]) -> None:
    """For what has no event to wait for."""
    async with asyncio.timeout(WITHIN_S):
        while not condition():
            await asyncio.sleep(0.01)


class FakeClock:
    """Time in the test's hands."""

    def __init__(self, seconds: float = 1_800_000_000.0) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds
