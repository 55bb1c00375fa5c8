"""Which process answers what: leases and heartbeats of the games as the bus has them, and where the wallet is."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.message import DecodeError, Message
from nats.aio.client import Client as Nats
from nats.js.api import KeyValueConfig, StorageType

from feltro.table.v1 import placement_pb2
from gateway.contracts import refusals
from gateway.contracts.methods import Method
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import Outage
from services.kit.bus.subjects import HEARTBEAT_LIFETIME_S, LEASES_BUCKET, REPLICAS_BUCKET
from services.kit.clock import seconds_since_boot

_log = logging.getLogger(__name__)


class NoReplicaKnown(Exception):
    """No process is known that could answer: it may be starting, or just have stopped."""


@dataclass(frozen=True, slots=True)
class DirectorySnapshot:
    """What the bus says at one moment."""

    leases: Mapping[str, placement_pb2.Lease]
    replicas: Mapping[str, placement_pb2.Replica]


class Directory:
    """Knows where to send a call."""

    def __init__(self, bus: Nats, fixed_addresses: Mapping[str, str]) -> None:
        """`services` are addresses of what is no game, by the beginning of their full names."""
        self._services = dict(fixed_addresses)
        self._turn = itertools.count()
        self._outage = Outage(_log, "the directory of tables")
        self._tables = Bucket(
            bus, KeyValueConfig(bucket=LEASES_BUCKET, history=1, storage=StorageType.FILE), self._noticed
        )
        self._replicas = Bucket(
            bus,
            KeyValueConfig(bucket=REPLICAS_BUCKET, history=1, storage=StorageType.MEMORY, ttl=HEARTBEAT_LIFETIME_S),
            self._noticed,
        )
        self._games = DirectorySnapshot({}, {})
        # Every game that was ever seen here: one that is being started again is not unknown.
        self._seen: set[str] = set()
        self.changed = asyncio.Event()

    async def run(self) -> None:
        """Watches for ever."""
        await asyncio.gather(*(bucket.watch_forever(self._outage) for bucket in (self._tables, self._replicas)))

    def _noticed(self) -> None:
        self._outage.recovered()
        self._games = DirectorySnapshot(
            {key: lease for key, noted in self._tables.entries.items() if (lease := _lease(noted.value)) is not None},
            {key: one for key, noted in self._replicas.entries.items() if (one := _replica(noted.value)) is not None},
        )
        self._seen.update(lease.game for lease in self._games.leases.values())
        self._seen.update(replica.game for replica in self._games.replicas.values())
        self.changed.set()
        self.changed = asyncio.Event()

    @property
    def is_current(self) -> bool:
        """Whether it is known who is there."""
        return self._tables.is_current and self._replicas.is_current

    def games(self) -> list[str]:
        """Every game that some process serves."""
        return sorted({replica.game for replica in self._alive()})

    def replicas(self) -> list[placement_pb2.Replica]:
        """The processes that are alive, in the order of their addresses."""
        return sorted(self._alive(), key=lambda replica: replica.address)

    def _alive(self) -> list[placement_pb2.Replica]:
        now = seconds_since_boot()
        alive = []
        for key, replica in self._games.replicas.items():
            noted = self._replicas.entries.get(key)
            # While the bus is away nobody is seen, and those that were known are the best guess.
            if noted is not None and (not self._replicas.is_current or now - noted.seen_at < HEARTBEAT_LIFETIME_S):
                alive.append(replica)
        return alive

    def addresses(self, method: Method, request: Message) -> list[str]:
        """Where a call goes; where a table is named that nobody runs, one process of each game, for one may know it."""
        for beginning, address in self._services.items():
            if method.service.startswith(beginning):
                return [address]
        table_id, game = method.routing_ids(request)
        lease = self.owner(table_id) if table_id else None
        if lease is not None:
            return [lease.address]
        return [self._of_game(one) for one in ([game] if game else self.games())]

    def owner(self, table_id: str) -> placement_pb2.Lease | None:
        """Who runs a table, or the house a player's own table stands in."""
        leases = self._games.leases
        return leases.get(table_id) or leases.get(table_id.rpartition("-")[0])

    def _of_game(self, game: str) -> str:
        serving = [replica for replica in self.replicas() if replica.game == game]
        ready = [replica for replica in serving if not replica.draining] or serving
        if not ready:
            if game not in self._seen and self.is_current:
                raise refusals.game_unknown(game)
            raise NoReplicaKnown(game)
        return ready[next(self._turn) % len(ready)].address


def _lease(value: bytes) -> placement_pb2.Lease | None:
    try:
        return placement_pb2.Lease.FromString(value) if value else None
    except DecodeError:
        return None


def _replica(value: bytes) -> placement_pb2.Replica | None:
    try:
        return placement_pb2.Replica.FromString(value) if value else None
    except DecodeError:
        return None
