"""Where each table is run at present, as the gateway learns it: from the leases on the bus."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import nats
from nats.js.api import KeyValueConfig, StorageType

from feltro.table.v1.placement_pb2 import Lease
from services.kit import background
from services.kit.table.leases import Bucket
from services.kit.table.outages import BUS_FAILURES
from services.kit.table.placement import TABLES_BUCKET

TRY_AGAIN_AFTER_S = 0.1


class Signposts:
    """The leases, for as long as the bus shows them; afterwards as they were last seen."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses
        self._leases: dict[str, Lease] = {}
        self._turn = 0
        self._moved = asyncio.Event()

    @asynccontextmanager
    async def read(self, url: str) -> AsyncIterator[None]:
        async def lost(_: Exception) -> None:
            """It comes back."""

        bus = await nats.connect(url, error_cb=lost, max_reconnect_attempts=-1, reconnect_time_wait=0.1)
        config = KeyValueConfig(bucket=TABLES_BUCKET, history=1, storage=StorageType.FILE)
        bucket = Bucket(bus, config, lambda: self._note(bucket))
        reading = asyncio.create_task(self._watch(bucket))
        try:
            yield
        finally:
            await background.end([reading])
            with suppress(*BUS_FAILURES):
                await bus.close()

    async def _watch(self, bucket: Bucket) -> None:
        while True:
            with suppress(*BUS_FAILURES):
                await bucket.watch()
            await asyncio.sleep(TRY_AGAIN_AFTER_S)

    def _note(self, bucket: Bucket) -> None:
        self._leases = {
            house_id: Lease.FromString(noted.value) for house_id, noted in bucket.entries.items() if noted.value
        }
        self._moved.set()

    def address(self, house_id: str) -> str:
        """Where to ask; one after the other while nobody seems to run it."""
        lease = self._leases.get(house_id)
        if lease is not None:
            return lease.address
        return self.another()

    def another(self) -> str:
        """Any replica: it will say where to ask, if it knows."""
        self._turn += 1
        return self._addresses[self._turn % len(self._addresses)]

    def houses_at(self, address: str) -> set[str]:
        """Those that are open there."""
        return {house for house, lease in self._leases.items() if lease.address == address and lease.epoch}

    async def until_at(self, address: str, houses: int, within_s: float) -> None:
        """Returns when so many houses are open there."""
        async with asyncio.timeout(within_s):
            while len(self.houses_at(address)) < houses:
                self._moved.clear()
                await self._moved.wait()
