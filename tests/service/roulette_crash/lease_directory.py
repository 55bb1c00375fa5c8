"""Where each table is run at present, as the gateway learns it: from the leases on the bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import nats
from nats.js.api import KeyValueConfig, StorageType

from feltro.table.v1.placement_pb2 import Lease
from services.kit import background
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import BUS_FAILURES
from services.kit.bus.subjects import LEASES_BUCKET

RETRY_AFTER_S = 0.1


class LeaseDirectory:
    """The leases, for as long as the bus shows them; afterwards as they were last seen."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._leases: dict[str, Lease] = {}
        self._turn = 0
        self._moved = asyncio.Event()

    @asynccontextmanager
    async def watching(self, url: str) -> AsyncIterator[None]:
        async def lost(_: Exception) -> None:
            """It comes back."""

        bus = await nats.connect(url, error_cb=lost, max_reconnect_attempts=-1, reconnect_time_wait=0.1)
        config = KeyValueConfig(bucket=LEASES_BUCKET, history=1, storage=StorageType.FILE)
        bucket = Bucket(bus, config, lambda: self._note(bucket))
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

    def _note(self, bucket: Bucket) -> None:
        self._leases = {
            placement_id: Lease.FromString(noted.value) for placement_id, noted in bucket.entries.items() if noted.value
        }
        self._moved.set()

    def address(self, placement_id: str) -> str:
        """Where to ask; one after the other while nobody seems to run it."""
        lease = self._leases.get(placement_id)
        if lease is not None:
            return lease.address
        return self.next_replica()

    def next_replica(self) -> str:
        """Any replica: it will say where to ask, if it knows."""
        self._turn += 1
        return self._addresses[self._turn % len(self._addresses)]

    def placements_at(self, address: str) -> set[str]:
        """Those that are open there."""
        return {house for house, lease in self._leases.items() if lease.address == address and lease.epoch}

    async def wait_until_at(self, address: str, placements: int, within_s: float) -> None:
        """Returns when so many houses are open there."""
        async with asyncio.timeout(within_s):
            while len(self.placements_at(address)) < placements:
                self._moved.clear()
                await self._moved.wait()
