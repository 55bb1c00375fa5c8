"""Knows which process answers which call: by leases and heartbeats on the bus, and the wallet's address.

What the bus says is checked before a call goes there (`trusted_addresses`).
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from google.protobuf.message import DecodeError, Message
from nats.aio.client import Client as Nats

from feltro.table.v1 import placement_pb2
from gateway.backends.trusted_addresses import LOOPBACK_NETWORKS, ServiceAddress, TrustedAddresses
from gateway.contracts import refusals
from gateway.contracts.methods import Method
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import Outage
from services.kit.bus.subjects import HEARTBEAT_LIFETIME_S, LEASES_BUCKET, REPLICAS_BUCKET
from services.kit.clock import seconds_since_boot

# Entries that are remembered as logged (G11).
REFUSED_ENTRIES_LIMIT = 10_000

# Tables that belong to a placement: a player's own table, and a table that its placement numbers.
_BELONGING = re.compile(r"(?P<placement>.+)-(?:[0-9a-f]{16,}|t[1-9][0-9]*)")
_log = logging.getLogger(__name__)
_MessageT = TypeVar("_MessageT", placement_pb2.Lease, placement_pb2.Replica)


class NoReplicaKnown(Exception):
    """No process is known that could answer: it may be starting, or may just have stopped."""


class AddressUntrusted(NoReplicaKnown):
    """The process that should answer has announced an address that is not called."""


@dataclass(frozen=True, slots=True)
class DirectorySnapshot:
    """The leases and replicas at one moment."""

    leases: Mapping[str, placement_pb2.Lease]
    replicas: Mapping[str, placement_pb2.Replica]


class Directory:
    """Finds the addresses that a call may be sent to."""

    def __init__(
        self, bus: Nats, fixed_addresses: Mapping[str, ServiceAddress], trusted: TrustedAddresses | None = None
    ) -> None:
        """`fixed_addresses` are those of services that are no game, by the prefixes of their full names.

        Unless `trusted` says otherwise, games are called on this machine alone.
        """
        self._fixed_addresses = dict(fixed_addresses)
        self._trusted = trusted or TrustedAddresses(LOOPBACK_NETWORKS)
        # The untrusted ones that are in the log already, for as long as the bus shows them.
        self._untrusted: frozenset[ServiceAddress] = frozenset()
        self._turn = itertools.count()
        self._outage = Outage(_log, "the directory of tables")
        self._leases = Bucket(bus, LEASES_BUCKET, self._on_change)
        self._replicas = Bucket(bus, REPLICAS_BUCKET, self._on_change)
        self._snapshot = DirectorySnapshot({}, {})
        # Games that were ever served: one that is being started again is not unknown.
        self._known_games: set[str] = set()
        # The game that had a placement first keeps it: no other can take it by a lease of its own.
        self._games_of: dict[str, str] = {}
        # Entries that were logged already: all are read again and again.
        self._refused: set[tuple[str, bytes]] = set()
        self.changed = asyncio.Event()

    async def run(self) -> None:
        """Follows the bus until cancelled."""
        await asyncio.gather(*(bucket.watch_forever(self._outage) for bucket in (self._leases, self._replicas)))

    def _on_change(self) -> None:
        self._outage.recovered()
        self._snapshot = DirectorySnapshot(
            self._by_placement(self._decoded(placement_pb2.Lease, self._leases, "placement_id")),
            self._decoded(placement_pb2.Replica, self._replicas, "replica_id"),
        )
        self._log_untrusted((*self._snapshot.leases.values(), *self._snapshot.replicas.values()))
        self._known_games.update(lease.game for lease in self._snapshot.leases.values())
        self._known_games.update(replica.game for replica in self._snapshot.replicas.values())
        self.changed.set()
        self.changed = asyncio.Event()

    def _log_untrusted(self, announced: Iterable[placement_pb2.Lease | placement_pb2.Replica]) -> None:
        shown = {ServiceAddress(process.address, process.game) for process in announced}
        untrusted = frozenset(address for address in shown if not self._trusted.includes(address))
        for address in untrusted - self._untrusted:
            facts = {"address": address.address, "game": address.service}
            _log.error("the bus names a process at an address that is not trusted: it is not called", extra=facts)
        self._untrusted = untrusted

    @property
    def is_current(self) -> bool:
        """Whether the bus is in view, so that what is not known does not exist."""
        return self._leases.is_current and self._replicas.is_current

    def games(self) -> list[str]:
        """Returns the games that some process serves."""
        return sorted({replica.game for replica in self._alive()})

    def replicas(self) -> list[placement_pb2.Replica]:
        """Returns the processes that are alive, in the order of their addresses."""
        return sorted(self._alive(), key=lambda replica: replica.address)

    def _alive(self) -> list[placement_pb2.Replica]:
        now = seconds_since_boot()
        alive = []
        for key, replica in self._snapshot.replicas.items():
            entry = self._replicas.entries.get(key)
            # While the bus is away no heartbeat arrives, and the last known processes are the best guess.
            if entry is not None and (not self._replicas.is_current or now - entry.seen_at < HEARTBEAT_LIFETIME_S):
                alive.append(replica)
        return alive

    def addresses(self, method: Method, request: Message) -> list[ServiceAddress]:
        """Returns the addresses to try: for a table that was never seen, one process of each game: one may know it."""
        for prefix, address in self._fixed_addresses.items():
            if method.service.startswith(prefix):
                return [address]
        table_id, game = method.routing_ids(request)
        # A method of one game goes to no other, whatever table it names: its own processes know that they have none.
        lease = self.owner(table_id) if table_id else None
        if lease is not None and method.own_game in {"", lease.game}:
            return [self._address_of_owner(lease)]
        # Also while none of its processes is there: no other game knows the table, and would say so for good.
        game = method.own_game or game or (self.game_of(table_id) if table_id else None) or ""
        return [self._address_of_game(name) for name in ([game] if game else self.games())]

    def owner(self, table_id: str) -> placement_pb2.Lease | None:
        """Returns the lease of a table, or of the configured table that it belongs to."""
        return self._snapshot.leases.get(self._placement_of(table_id, self._snapshot.leases))

    def game_of(self, table_id: str) -> str | None:
        """Returns the game of a table; None if it was never seen."""
        return self._games_of.get(self._placement_of(table_id, self._games_of))

    def _placement_of(self, table_id: str, placements: Mapping[str, object]) -> str:
        """Returns the placement of a table: the configured table, or the one that the table belongs to."""
        belonging = _BELONGING.fullmatch(table_id)
        if belonging is not None and belonging["placement"] in placements:
            # Even if a game has a lease under the very id of such a table of another game.
            return belonging["placement"]
        return table_id if table_id in placements else table_id.rpartition("-")[0]

    def _by_placement(self, leases: Mapping[str, placement_pb2.Lease]) -> dict[str, placement_pb2.Lease]:
        """Returns the leases by placement; of two games that claim one, only what was there first is believed."""
        games: dict[str, set[str]] = {}
        for lease in leases.values():
            games.setdefault(lease.placement_id, set()).add(lease.game)
        for placement_id, claiming in games.items():
            if placement_id not in self._games_of and len(claiming) == 1:
                self._games_of[placement_id] = next(iter(claiming))
        found: dict[str, placement_pb2.Lease] = {}
        for key, lease in leases.items():
            if self._games_of.get(lease.placement_id) == lease.game:
                found[lease.placement_id] = lease
            else:
                self._refuse("another game has the table: its lease is not believed", key, self._leases)
        return found

    def _decoded(self, message_class: type[_MessageT], bucket: Bucket, id_field: str) -> dict[str, _MessageT]:
        """Decodes a bucket's entries; leaves out deleted and unreadable ones, and those under a key of others."""
        decoded: dict[str, _MessageT] = {}
        for key, entry in bucket.entries.items():
            if not entry.value:
                continue
            try:
                message = message_class.FromString(entry.value)
            except DecodeError:
                message = message_class()
            # Keys are what permissions on the bus are about: no game writes under the key of another.
            if key == f"{message.game}.{getattr(message, id_field)}":
                decoded[key] = message
            else:
                self._refuse("an entry of the bus cannot be read: it counts as none", key, bucket)
        return decoded

    def _refuse(self, why: str, key: str, bucket: Bucket) -> None:
        """Logs an entry that is left out, once."""
        noted = (key, bucket.entries[key].value)
        if noted not in self._refused:
            if len(self._refused) >= REFUSED_ENTRIES_LIMIT:
                self._refused.clear()
            self._refused.add(noted)
            _log.error("%s", why, extra={"key": key})

    def _address_of_owner(self, lease: placement_pb2.Lease) -> ServiceAddress:
        address = ServiceAddress(lease.address, lease.game)
        if not self._trusted.includes(address):
            raise AddressUntrusted(lease.placement_id)
        return address

    def _address_of_game(self, game: str) -> ServiceAddress:
        announced = [replica for replica in self.replicas() if replica.game == game]
        serving = [replica for replica in announced if self._trusted.includes(ServiceAddress(replica.address, game))]
        ready = [replica for replica in serving if not replica.draining] or serving
        if not ready:
            if announced:
                raise AddressUntrusted(game)
            if game not in self._known_games and self.is_current:
                raise refusals.game_unknown(game)
            raise NoReplicaKnown(game)
        return ServiceAddress(ready[next(self._turn) % len(ready)].address, game)
