"""Writes this replica's heartbeat and watches those of the other replicas of its game.

A replica whose heartbeat was not seen for `HEARTBEAT_LIFETIME_S` is gone. A replica that could not renew its own gives
its placements up `GIVE_UP_MARGIN_S` earlier, before another one can claim them (G8).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress

from google.protobuf.message import DecodeError
from nats.aio.client import Client as Nats

from feltro.table.v1.placement_pb2 import Replica
from services.kit import background
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import BUS_FAILURES, RETRY_DELAY_S, Outage
from services.kit.bus.subjects import HEARTBEAT_LIFETIME_S, REPLICAS_BUCKET

HEARTBEAT_EVERY_S = 0.6
GIVE_UP_MARGIN_S = 0.5
GUARD_EVERY_S = 0.1

_log = logging.getLogger(__name__)


class Presence:
    """The presence of one replica among those of its game. No other process ever uses its `replica_id`."""

    def __init__(
        self,
        bus: Nats,
        game: str,
        replica_id: str,
        clock: Callable[[], float],
        *,
        heartbeat: Callable[[], Replica],
        on_give_up: Callable[[], None],
        on_change: Callable[[], None],
    ) -> None:
        """`heartbeat` builds the message; `on_give_up` is called before others may claim the placements."""
        self._game = game
        self._replica_id = replica_id
        self._clock = clock
        self._heartbeat = heartbeat
        self._on_give_up = on_give_up
        self._on_change = on_change
        self._bucket = Bucket(bus, REPLICAS_BUCKET, self._on_heartbeat, clock)
        self._heartbeat_outage = Outage(_log, "heartbeat")
        self._watch_outage = Outage(_log, "replicas")
        self._beat_now = asyncio.Event()
        # Heartbeats that were logged already: they are looked at again and again.
        self._unreadable: set[str] = set()
        self._withdrawn = False
        # Until when no other replica can have claimed a placement of this one; None if one may have.
        self._safe_until: float | None = None

    def coroutines(self) -> list[Coroutine[None, None, None]]:
        """The work that must run all the time, through every outage of the bus."""
        return [self._keep_alive(), self._guard(), self._bucket.watch_forever(self._watch_outage)]

    @property
    def is_current(self) -> bool:
        """Whether the view of the others is current."""
        return self._bucket.is_current

    @property
    def watched_since(self) -> float | None:
        """Since when every heartbeat has been seen; None while the watch is broken."""
        return self._bucket.watched_since

    def beat_now(self) -> None:
        """Writes a heartbeat at once, because its content has changed."""
        self._beat_now.set()

    async def withdraw(self) -> None:
        """Removes the heartbeat, so that the others need not wait until it expires."""
        self._withdrawn = True
        with suppress(*BUS_FAILURES):
            await self._bucket.remove(self._key(self._replica_id))

    def is_exclusive(self) -> bool:
        """Whether no other replica can have claimed a placement of this one; gives them up once one may have."""
        if self._safe_until is None:
            return False
        if self._clock() < self._safe_until:
            return True
        self._safe_until = None
        self._on_give_up()
        return False

    def seems_gone(self, replica_id: str) -> bool:
        """Whether no heartbeat was seen for so long that the replica has given its placements up."""
        entry = self._bucket.entries.get(self._key(replica_id))
        if entry is not None and not entry.value:
            return True
        seen_at = entry.seen_at if entry is not None else self._bucket.watched_since
        return seen_at is not None and self._clock() - seen_at >= HEARTBEAT_LIFETIME_S

    def heartbeat_of(self, replica_id: str) -> Replica | None:
        """Returns the latest heartbeat of another replica, if it has one."""
        entry = self._bucket.entries.get(self._key(replica_id))
        return Replica.FromString(entry.value) if entry is not None and entry.value else None

    async def confirm_gone(self, replica_id: str) -> bool:
        """Asks the bucket, because the own view may have stood still."""
        if not self.seems_gone(replica_id):
            return False
        seen = self._bucket.entries.get(self._key(replica_id))
        current = await self._bucket.read(self._key(replica_id))
        return not current.value or (seen is not None and seen.revision == current.revision)

    def active_replicas(self) -> list[str]:
        """Returns the replicas that claim placements, this one included."""
        others = (
            self._read(key, entry.value)
            for key, entry in self._bucket.entries.items()
            if entry.value and key.startswith(f"{self._game}.")
        )
        return [self._replica_id] + [
            other.replica_id
            for other in others
            if other is not None
            and other.replica_id != self._replica_id
            and not (other.draining or other.failing)
            and not self.seems_gone(other.replica_id)
        ]

    def _read(self, key: str, value: bytes) -> Replica | None:
        """Reads a heartbeat of this game; what is none of the replica under its key counts as none, and is logged."""
        try:
            replica = Replica.FromString(value)
        except DecodeError:
            replica = Replica()
        if replica.game == self._game and key == self._key(replica.replica_id):
            return replica
        if key not in self._unreadable:
            self._unreadable.add(key)
            _log.error("a heartbeat cannot be read: it counts as none", extra={"key": key})
        return None

    async def _keep_alive(self) -> None:
        while not self._withdrawn:
            self._beat_now.clear()
            started = self._clock()
            try:
                await self._bucket.put(self._key(self._replica_id), self._heartbeat().SerializeToString())
            except BUS_FAILURES as failed:
                self._heartbeat_outage.failed(failed)
                await asyncio.sleep(RETRY_DELAY_S)
                continue
            self._heartbeat_outage.recovered()
            # If the heartbeat had expired before this one, the placements are given up.
            self.is_exclusive()
            # Others count from when they see the heartbeat, which is later.
            self._safe_until = started + HEARTBEAT_LIFETIME_S - GIVE_UP_MARGIN_S
            await background.wait_for_event(self._beat_now, HEARTBEAT_EVERY_S - (self._clock() - started))

    async def _guard(self) -> None:
        while True:
            self.is_exclusive()
            await asyncio.sleep(GUARD_EVERY_S)

    def _on_heartbeat(self) -> None:
        self._watch_outage.recovered()
        self._on_change()

    def _key(self, replica_id: str) -> str:
        return f"{self._game}.{replica_id}"
