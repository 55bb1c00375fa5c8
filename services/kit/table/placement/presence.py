"""Which replicas of a game live, this one included: heartbeats as they are written, seen and missed.

All count the same time: whose heartbeat was not seen for `LIVES_FOR_S` is gone, and who could not renew his own knows
that `GIVES_UP_EARLIER_S` sooner, so that what he had is given up before anyone can take it (G8).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from contextlib import suppress

from nats.aio.client import Client as Nats
from nats.js.api import KeyValueConfig, StorageType

from feltro.table.v1.placement_pb2 import Replica
from services.kit import background
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import BUS_FAILURES, RETRY_DELAY_S, Outage
from services.kit.bus.subjects import HEARTBEAT_LIFETIME_S, REPLICAS_BUCKET

HEARTBEAT_EVERY_S = 0.6
# A replica whose heartbeat was not seen for so long is gone, and its houses are free.
# By how much sooner it gives its houses up itself.
GIVE_UP_MARGIN_S = 0.5
GUARD_EVERY_S = 0.1

_log = logging.getLogger(__name__)


class Presence:
    """One replica among the others of its game. `replica_id` is never used again by another process."""

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
        """`heartbeat` is what others are told; `given_up` is called once they may take what this replica has."""
        self._game = game
        self._replica_id = replica_id
        self._clock = clock
        self._heartbeat = heartbeat
        self._given_up = on_give_up
        self._noticed = on_change
        self._bucket = Bucket(
            bus,
            KeyValueConfig(bucket=REPLICAS_BUCKET, history=1, storage=StorageType.MEMORY, ttl=HEARTBEAT_LIFETIME_S),
            self._saw,
            clock,
        )
        self._beating = Outage(_log, "heartbeat")
        self._seeing = Outage(_log, "replicas")
        self._beat_now = asyncio.Event()
        self._left = False
        # Until when nobody can have taken what is ours; None when somebody may have.
        self._safe_until: float | None = None

    def coroutines(self) -> list[Coroutine[None, None, None]]:
        """What has to run all the time, whatever happens to the bus."""
        return [self._keep_alive(), self._guard(), self._bucket.watch_forever(self._seeing)]

    @property
    def is_current(self) -> bool:
        """Whether what is known of the others is what is so."""
        return self._bucket.is_current

    @property
    def watched_since(self) -> float | None:
        """Since when every heartbeat has been seen; None while they are not."""
        return self._bucket.watched_since

    def beat_now(self) -> None:
        """There is something that the others have to know at once."""
        self._beat_now.set()

    async def withdraw(self) -> None:
        """Says goodbye: the others need not wait until we are missed."""
        self._left = True
        with suppress(*BUS_FAILURES):
            await self._bucket.remove(self._key(self._replica_id))

    def is_exclusive(self) -> bool:
        """Whether nobody can have taken what is ours. Once somebody can, it is given up."""
        if self._safe_until is None:
            return False
        if self._clock() < self._safe_until:
            return True
        self._safe_until = None
        self._given_up()
        return False

    def seems_gone(self, replica_id: str) -> bool:
        """Whether no heartbeat was seen for so long that the replica has given up what it had."""
        noted = self._bucket.entries.get(self._key(replica_id))
        if noted is not None and not noted.value:
            return True
        seen_at = noted.seen_at if noted is not None else self._bucket.watched_since
        return seen_at is not None and self._clock() - seen_at >= HEARTBEAT_LIFETIME_S

    async def confirm_gone(self, replica_id: str) -> bool:
        """The same, asked of the bucket: our own view may have stood still."""
        if not self.seems_gone(replica_id):
            return False
        known = self._bucket.entries.get(self._key(replica_id))
        there = await self._bucket.read(self._key(replica_id))
        return not there.value or (known is not None and known.revision == there.revision)

    def active_replicas(self) -> list[str]:
        """The replicas that take houses, this one included."""
        others = [Replica.FromString(noted.value) for noted in self._bucket.entries.values() if noted.value]
        return [self._replica_id] + [
            other.replica_id
            for other in others
            if other.game == self._game
            and other.replica_id != self._replica_id
            and not (other.draining or other.failing)
            and not self.seems_gone(other.replica_id)
        ]

    async def _keep_alive(self) -> None:
        while not self._left:
            self._beat_now.clear()
            started = self._clock()
            try:
                await self._bucket.put(self._key(self._replica_id), self._heartbeat().SerializeToString())
            except BUS_FAILURES as failed:
                self._beating.failed(failed)
                await asyncio.sleep(RETRY_DELAY_S)
                continue
            self._beating.recovered()
            # What was lost in the meantime stays lost.
            self.is_exclusive()
            # Others count from when they saw it, which was later.
            self._safe_until = started + HEARTBEAT_LIFETIME_S - GIVE_UP_MARGIN_S
            await background.wait_for_event(self._beat_now, HEARTBEAT_EVERY_S - (self._clock() - started))

    async def _guard(self) -> None:
        while True:
            self.is_exclusive()
            await asyncio.sleep(GUARD_EVERY_S)

    def _saw(self) -> None:
        self._seeing.recovered()
        self._noticed()

    def _key(self, replica_id: str) -> str:
        return f"{self._game}.{replica_id}"
