"""A NATS whose disk was full is started again when there is room, and what it missed is taken then."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import nats
import nats.errors
import pytest

from stack.commands.disk_watch import CHECK_EVERY_S, NEEDED_BYTES, DiskWatch
from tests.service.table.stoppable_nats import StoppableNats

TIMEOUT_S = 240.0


class Disk:
    """How much is free."""

    def __init__(self) -> None:
        self.free_bytes = NEEDED_BYTES * 10

    def __call__(self, _: Path) -> int:
        return self.free_bytes


@pytest.fixture
def bus() -> Iterator[StoppableNats]:
    with StoppableNats() as server:
        yield server


async def publish(bus: StoppableNats, timeout_s: float) -> None:
    client = await nats.connect(bus.url)
    try:
        await client.jetstream(timeout=timeout_s).publish("feltro.wallet.transfers", b"x" * 100)
    finally:
        await client.close()


async def test_nats_is_started_again_when_there_is_room(bus: StoppableNats) -> None:
    disk, sentences, restarts = Disk(), list[str](), list[int]()

    def restart() -> None:
        bus.stop()
        bus.start()
        restarts.append(1)

    watch = DiskWatch(bus.server, restart, sentences.append, disk)
    times = (number * CHECK_EVERY_S for number in range(1_000))
    await asyncio.to_thread(watch.check, next(times))
    assert (sentences, restarts) == ([], [])
    bus.fill_disk()
    disk.free_bytes = 0
    with pytest.raises(nats.errors.TimeoutError):
        await publish(bus, timeout_s=0.5)
    for _ in range(3):
        await asyncio.to_thread(watch.check, next(times))
    assert (len(sentences), restarts) == (1, [])
    assert "disk is full" in sentences[0]
    bus.free_disk()
    disk.free_bytes = NEEDED_BYTES
    await asyncio.to_thread(watch.check, next(times))
    assert (len(sentences), restarts) == (2, [1])
    await publish(bus, TIMEOUT_S)
    await asyncio.to_thread(watch.check, next(times))
    assert (len(sentences), restarts) == (2, [1])


async def test_a_server_that_does_not_answer_is_left_to_the_process_manager(bus: StoppableNats) -> None:
    bus.stop()
    watch = DiskWatch(bus.server, lambda: pytest.fail("restarted"), pytest.fail)
    await asyncio.to_thread(watch.check, 0.0)
    bus.start()
