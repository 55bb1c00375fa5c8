"""Connections to the bus and background tasks, for tests of what gateways share over the bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from nats.aio.client import Client as Nats

from services.kit import background
from tests.processes.bus import connect_bus

WITHIN_S = 240.0


@asynccontextmanager
async def bus_client(url: str) -> AsyncIterator[Nats]:
    """Connects to the bus, and reconnects when it comes back."""
    bus = await connect_bus(url)
    yield bus
    await bus.close()


@asynccontextmanager
async def running_tasks(*parts: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(part) for part in parts]
    yield
    await background.cancel_and_wait(tasks)


async def wait_until(condition: Callable[[], bool]) -> None:
    """Returns when the condition holds; for conditions that have no event to wait for."""
    async with asyncio.timeout(WITHIN_S):
        while not condition():
            await asyncio.sleep(0.01)


class FakeClock:
    """A clock that only the test moves."""

    def __init__(self, seconds: float = 1_800_000_000.0) -> None:
        self.seconds = seconds

    def __call__(self) -> float:
        return self.seconds
