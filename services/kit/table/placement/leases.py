"""The leases of one game: read and written under keys that begin with the game, and checked as they are read.

Anything may stand in the bucket: what is no lease of the placement under its key counts as none, and is logged.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from google.protobuf.message import DecodeError
from nats.aio.client import Client as Nats

from feltro.table.v1.placement_pb2 import Lease
from services.kit.bus.buckets import Bucket, BucketEntry
from services.kit.bus.outages import Outage
from services.kit.bus.subjects import LEASES_BUCKET

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LeaseEntry:
    """What stands under the key of a placement."""

    lease: Lease | None
    """None if nothing does, or no lease."""
    revision: int


class LeaseBucket:
    """The leases of one game, as this process sees them."""

    def __init__(self, bus: Nats, game: str, on_change: Callable[[], None], clock: Callable[[], float]) -> None:
        self._bucket = Bucket(bus, LEASES_BUCKET, on_change, clock)
        self._game = game
        self._prefix = f"{game}."
        # By placement, with the value that was decoded: each is looked at far more often than it changes.
        self._decoded: dict[str, tuple[bytes, LeaseEntry]] = {}

    @property
    def is_current(self) -> bool:
        """Whether the leases are, as far as this process can know, those in the bucket."""
        return self._bucket.is_current

    @property
    def watched_since(self) -> float | None:
        """Since when every change has been received; None while the watch is broken."""
        return self._bucket.watched_since

    async def watch_forever(self, outage: Outage) -> None:
        """Watches, and begins again whenever that fails, until it is cancelled."""
        await self._bucket.watch_forever(outage)

    def lease(self, placement_id: str) -> Lease | None:
        """Returns the last known lease of a placement; None if there is none."""
        entry = self._bucket.entries.get(self._prefix + placement_id)
        return None if entry is None else self._decode(placement_id, entry).lease

    def all(self) -> Iterator[tuple[str, LeaseEntry]]:
        """Returns what is known of every placement of the game."""
        for key, entry in list(self._bucket.entries.items()):
            if key.startswith(self._prefix):
                placement_id = key.removeprefix(self._prefix)
                yield placement_id, self._decode(placement_id, entry)

    async def read(self, placement_id: str) -> LeaseEntry:
        """Reads the lease from the bucket, whatever the watch has received."""
        return self._decode(placement_id, await self._bucket.read(self._prefix + placement_id))

    async def write(self, lease: Lease, expected_revision: int) -> int:
        """Writes over a revision (0: no value yet) and returns the new one."""
        return await self._bucket.write(self._prefix + lease.placement_id, lease.SerializeToString(), expected_revision)

    async def remove(self, placement_id: str, expected_revision: int) -> None:
        """Removes the lease of this revision."""
        await self._bucket.remove(self._prefix + placement_id, expected_revision)

    def _decode(self, placement_id: str, entry: BucketEntry) -> LeaseEntry:
        value, decoded = self._decoded.get(placement_id, (b"", LeaseEntry(None, -1)))
        if decoded.revision != entry.revision or value != entry.value:
            decoded = LeaseEntry(self._read(placement_id, entry.value), entry.revision)
            self._decoded[placement_id] = entry.value, decoded
        return decoded

    def _read(self, placement_id: str, value: bytes) -> Lease | None:
        if not value:
            return None
        try:
            lease = Lease.FromString(value)
        except DecodeError:
            lease = Lease()
        if (lease.game, lease.placement_id) != (self._game, placement_id) or not lease.replica_id:
            _log.error("a lease cannot be read: it counts as none", extra={"key": self._prefix + placement_id})
            return None
        return lease
