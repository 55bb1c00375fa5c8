"""The owner of each placement, read from the leases on the bus as the gateway reads them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from feltro.table.v1.placement_pb2 import Lease
from services.kit import background
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import BUS_FAILURES
from services.kit.bus.subjects import LEASES_BUCKET
from tests.processes.bus import connect_bus

RETRY_AFTER_S = 0.1


class LeaseDirectory:
    """The leases; the last known ones while the bus is down."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._leases: dict[str, Lease] = {}
        self._turn = 0
        self._moved = asyncio.Event()

    @asynccontextmanager
    async def watching(self, url: str) -> AsyncIterator[None]:
        bus = await connect_bus(url)
        bucket = Bucket(bus, LEASES_BUCKET, lambda: self._update(bucket))
        reading = asyncio.create_task(self._watch(bucket))
        try:
            yield
        finally:
            await background.cancel_and_wait([reading])
            with suppress(*BUS_FAILURES):
                await bus.close()

    async def _watch(self, bucket: Bucket) -> None:
        while True:
            with suppress(*BUS_FAILURES):
                await bucket.watch()
            await asyncio.sleep(RETRY_AFTER_S)

    def _update(self, bucket: Bucket) -> None:
        self._leases = {
            lease.placement_id: lease
            for lease in (Lease.FromString(entry.value) for entry in bucket.entries.values() if entry.value)
        }
        self._moved.set()

    def address(self, placement_id: str) -> str:
        """The address of the owner; each replica in turn while there is no lease."""
        lease = self._leases.get(placement_id)
        if lease is not None:
            return lease.address
        return self.next_replica()

    def next_replica(self) -> str:
        """The replicas in turn: each names the owner, if it knows it."""
        self._turn += 1
        return self._addresses[self._turn % len(self._addresses)]

    def placements_at(self, address: str) -> set[str]:
        """The placements that are open at a replica."""
        return {
            placement_id for placement_id, lease in self._leases.items() if lease.address == address and lease.epoch
        }

    async def wait_until_at(self, address: str, placements: int, within_s: float) -> None:
        """Returns when so many placements are open at a replica."""
        async with asyncio.timeout(within_s):
            while len(self.placements_at(address)) < placements:
                self._moved.clear()
                await self._moved.wait()
