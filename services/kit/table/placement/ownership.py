"""Claims and hands over placements among the replicas of a game, so that each has one owner (G8).

A placement is the table group of one configured table. Its lease in the bucket `feltro_leases` names the owner, and is
valid while the owner's heartbeat is seen in `feltro_replicas`, so that a thousand leases cost as little as one. Leases
are written by compare-and-set. An owner without a heartbeat gives its placements up before another replica can claim
them. If clock, bus or machine fail in a way that this does not cover, journal and wallet refuse the stale epoch.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from nats.aio.client import Client as Nats
from prometheus_client import Counter, Gauge

from feltro.table.v1.placement_pb2 import Lease, Replica
from services.kit import background
from services.kit.bus.buckets import RevisionConflict
from services.kit.bus.outages import BUS_FAILURES, RETRY_DELAY_S, Outage
from services.kit.clock import seconds_since_boot
from services.kit.table.placement import sharing
from services.kit.table.placement.leases import LeaseBucket
from services.kit.table.placement.presence import Presence

# How long a replica watches before it claims: others that start or return at the same time must show themselves.
VIEW_SETTLES_AFTER_S = 0.7
# How often expired leases and pauses are looked for; everything else wakes the loop.
CHECK_EVERY_S = 0.2
PLACEMENT_IDS_EVERY_S = 1.0
PLACEMENT_IDS_TIMEOUT_S = 5.0
GIVE_AWAY_EVERY_S = 1.0
# How long a placement that was given away is left to others.
GIVEN_AWAY_PAUSE_S = 2.0
# How long a placement that has ended is not claimed again here; doubled while it ends soon after each claim.
CLAIM_PAUSE_S = 0.5
CLAIM_PAUSE_MAX_S = 5.0
STEADY_AFTER_S = 10.0
# How long a replica counts as failing after a placement failed there and while none is open: it is given none.
FAILING_FOR_S = 30.0
# Claims under way at a time (G11).
CONCURRENT_CLAIMS_LIMIT = 16

_log = logging.getLogger(__name__)
_PLACEMENTS = Gauge("feltro_placements", "Placements that this process runs")
_LOST = Counter("feltro_placements_lost", "Placements that this process had to give up in the middle of play")
_TAKEOVERS = Counter("feltro_placement_takeovers", "Placements taken from a process that was gone")


class TableGroup(Protocol):
    """The tables of one placement, which their owner runs."""

    async def run(
        self, announce: Callable[[int], Awaitable[None]], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        """Runs the tables until `hand_over` is set and their rounds have ended, or until `lost` is set, at once.

        `announce` publishes the epoch once the tables are open. Returning and raising release the placement.
        """


@dataclass(slots=True, eq=False)
class _Ownership:
    """One placement of this replica, from the claim to the release."""

    lease: Lease
    revision: int = 0
    # The lease as it was last written, and when.
    written: Lease | None = None
    written_at: float = 0.0
    given_away: bool = False
    # Its tables have ended: the lease is being removed.
    ended: bool = False
    hand_over: asyncio.Event = field(default_factory=asyncio.Event)
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    # None while the claim is under way.
    task: asyncio.Task[None] | None = None

    @property
    def placement_id(self) -> str:
        return self.lease.placement_id


class Placement:
    """The placements of one replica. No other process ever uses its `replica_id`."""

    def __init__(
        self,
        bus: Nats,
        game: str,
        replica_id: str,
        address: str,
        placement_ids: Callable[[], Awaitable[Collection[str]]],
        open_group: Callable[[str], TableGroup],
        clock: Callable[[], float] = seconds_since_boot,
        *,
        seated_here: Callable[[], Mapping[str, int]] = dict,
        is_unheard: Callable[[], bool] = lambda: False,
    ) -> None:
        """`seated_here` counts the players at the tables of this replica, by placement.

        `is_unheard` says whether events of the tables cannot be published. Both are for the heartbeat.
        """
        self._game = game
        self._is_unheard = is_unheard
        self._replica_id = replica_id
        self._address = address
        self._list_placement_ids = placement_ids
        self._open_group = open_group
        self._clock = clock
        self._seated_here = seated_here
        self._wake = asyncio.Event()
        self._one_released = asyncio.Event()
        self._outages = {what: Outage(_log, what) for what in ("leases", "claims", "placements")}
        self._leases = LeaseBucket(bus, game, self._on_lease_change, clock)
        self._presence = Presence(
            bus,
            game,
            replica_id,
            clock,
            heartbeat=self._heartbeat,
            on_give_up=self._give_up,
            on_change=self._wake.set,
        )
        self._placement_ids: frozenset[str] = frozenset()
        self._owned: dict[str, _Ownership] = {}
        self._draining = False
        self._free_since: dict[str, float] = {}
        # Placements that are not claimed here for a while: until when, and the length of the last pause.
        self._pauses: dict[str, tuple[float, float]] = {}
        self._gave_away_at = float("-inf")
        self._failed_at = float("-inf")

    async def run(self) -> None:
        """Claims and releases placements until it is cancelled, through every outage of the bus."""
        work = [
            *self._presence.coroutines(),
            self._leases.watch_forever(self._outages["leases"]),
            self._refresh_placement_ids(),
            self._claim_and_give(),
        ]
        tasks = [asyncio.create_task(part) for part in work]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            running = [ownership.task for ownership in self._owned.values() if ownership.task is not None]
            await background.cancel_and_wait([*tasks, *running])

    async def drain(self) -> None:
        """Claims no more, hands every placement over between rounds, and returns when all are released.

        `run` must go on meanwhile: this replica owns the placements until then.
        """
        self._draining = True
        self._presence.beat_now()
        for ownership in self._owned.values():
            ownership.hand_over.set()
        while self._owned:
            self._one_released.clear()
            await self._one_released.wait()
        await self._presence.withdraw()

    def owner(self, placement_id: str) -> Lease | None:
        """Returns the lease of the owner of a placement, as far as this replica knows."""
        if self.owns(placement_id):
            return self._owned[placement_id].lease
        lease = self._leases.lease(placement_id)
        if lease is None or lease.replica_id == self._replica_id or self._presence.seems_gone(lease.replica_id):
            return None
        return lease

    def owns(self, placement_id: str) -> bool:
        """Whether this replica owns the placement, and no other can have claimed it."""
        ownership = self._owned.get(placement_id)
        return (
            ownership is not None
            and ownership.task is not None
            and self._presence.is_exclusive()
            and not ownership.lost.is_set()
        )

    def seated(self, placement_id: str) -> int:
        """Returns how many players sit at the tables of a placement; at another replica's, as its heartbeat says."""
        if self.owns(placement_id):
            return self._seated_here().get(placement_id, 0)
        owner = self.owner(placement_id)
        heartbeat = None if owner is None else self._presence.heartbeat_of(owner.replica_id)
        return 0 if heartbeat is None else heartbeat.seated.get(placement_id, 0)

    # -- the heartbeat -------------------------------------------------------------------------------------------------

    def _heartbeat(self) -> Replica:
        opened = sum(ownership.lease.epoch > 0 for ownership in self._owned.values())
        return Replica(
            replica_id=self._replica_id,
            game=self._game,
            address=self._address,
            draining=self._draining,
            unheard=self._is_unheard(),
            placements=opened,
            failing=not opened and self._clock() - self._failed_at < FAILING_FOR_S,
            seated={each: count for each, count in self._seated_here().items() if each in self._owned and count},
        )

    def _give_up(self) -> None:
        if self._owned:
            _log.error(
                "placements are given up: the heartbeat could not be renewed", extra={"placements": len(self._owned)}
            )
        for ownership in self._owned.values():
            _LOST.inc()
            ownership.lost.set()

    # -- the view of leases and placements -----------------------------------------------------------------------------

    def _on_lease_change(self) -> None:
        self._outages["leases"].recovered()
        self._wake.set()

    async def _refresh_placement_ids(self) -> None:
        while True:
            try:
                async with asyncio.timeout(PLACEMENT_IDS_TIMEOUT_S):
                    placements = frozenset(await self._list_placement_ids())
            except Exception as failed:  # noqa: BLE001 - any failure leaves the known placements running
                self._outages["placements"].failed(failed)
            else:
                self._outages["placements"].recovered()
                if placements != self._placement_ids:
                    self._placement_ids = placements
                    self._wake.set()
            await asyncio.sleep(PLACEMENT_IDS_EVERY_S)

    # -- claiming ------------------------------------------------------------------------------------------------------

    async def _claim_and_give(self) -> None:
        while True:
            self._wake.clear()
            try:
                if self._may_act():
                    await self._reconcile_leases()
                if self._may_act() and self._view_has_settled() and not self._draining:
                    await self._claim_free()
                    self._give_one()
            except BUS_FAILURES as failed:
                self._outages["claims"].failed(failed)
                await asyncio.sleep(RETRY_DELAY_S)
            else:
                await background.wait_for_event(self._wake, CHECK_EVERY_S)

    def _may_act(self) -> bool:
        return self._presence.is_exclusive() and self._leases.is_current and self._presence.is_current

    def _view_has_settled(self) -> bool:
        began = (self._leases.watched_since, self._presence.watched_since)
        return all(since is not None and self._clock() - since >= VIEW_SETTLES_AFTER_S for since in began)

    async def _reconcile_leases(self) -> None:
        """Writes leases that were lost, removes own leases that nothing runs, and notices lost placements."""
        for placement_id, entry in self._leases.all():
            lease, ownership = entry.lease, self._owned.get(placement_id)
            is_own = lease is not None and lease.replica_id == self._replica_id
            if ownership is None and is_own:
                with suppress(RevisionConflict):
                    await self._leases.remove(placement_id, expected_revision=entry.revision)
            elif ownership is not None and lease is not None and not is_own and entry.revision > ownership.revision > 0:
                self._lose(ownership)
            elif ownership is not None and lease is None and entry.revision > ownership.revision > 0:
                # Somebody has removed the lease, or written something else over it: it is written again.
                ownership.revision, ownership.written = entry.revision, None
        for ownership in list(self._owned.values()):
            keeps = ownership.task is not None and not ownership.ended and not ownership.lost.is_set()
            if keeps and not self._is_written(ownership):
                await self._write(ownership)

    def _is_written(self, ownership: _Ownership) -> bool:
        if ownership.written is not ownership.lease:
            return False
        if ownership.written_at >= (self._leases.watched_since or 0.0):
            return True
        # The watch began after the write: if it does not show the lease, the bus has lost it.
        lease = self._leases.lease(ownership.placement_id)
        return lease is not None and lease.replica_id == self._replica_id

    async def _write(self, ownership: _Ownership) -> None:
        try:
            await self._write_over(ownership, ownership.revision)
        except RevisionConflict:
            current = await self._leases.read(ownership.placement_id)
            other = current.lease
            if other is not None and other.replica_id != self._replica_id:
                self._lose(ownership)
            # Otherwise the entry is gone, or is this replica's and its acknowledgement was lost: write over it.
            ownership.revision = current.revision
            ownership.written = None

    async def _write_over(self, ownership: _Ownership, revision: int) -> None:
        lease = ownership.lease
        ownership.revision = await self._leases.write(lease, revision)
        ownership.written, ownership.written_at = lease, self._clock()
        self._outages["claims"].recovered()

    def _lose(self, ownership: _Ownership) -> None:
        if not ownership.lost.is_set():
            _log.error("a placement was taken by another replica", extra={"placement_id": ownership.placement_id})
            _LOST.inc()
            ownership.lost.set()

    async def _claim_free(self) -> None:
        now = self._clock()
        free = [
            placement_id
            for placement_id in self._placement_ids
            if placement_id not in self._owned and self._looks_free(placement_id)
        ]
        self._free_since = {placement_id: self._free_since.get(placement_id, now) for placement_id in free}
        chosen = sharing.placements_to_claim(
            self._replica_id,
            {
                placement_id: since
                for placement_id, since in self._free_since.items()
                if not self._is_paused(placement_id, now)
            },
            now,
            placements=len(self._placement_ids),
            replicas=len(self._presence.active_replicas()),
            owned=sum(not ownership.hand_over.is_set() for ownership in self._owned.values()),
        )
        for first in range(0, len(chosen), CONCURRENT_CLAIMS_LIMIT):
            await asyncio.gather(
                *(self._claim(placement_id) for placement_id in chosen[first : first + CONCURRENT_CLAIMS_LIMIT])
            )

    def _looks_free(self, placement_id: str) -> bool:
        lease = self._leases.lease(placement_id)
        if lease is None:
            return True
        return lease.replica_id != self._replica_id and self._presence.seems_gone(lease.replica_id)

    def _is_paused(self, placement_id: str, now: float) -> bool:
        return placement_id in self._pauses and now < self._pauses[placement_id][0]

    async def _claim(self, placement_id: str) -> None:
        ownership = _Ownership(self._new_lease(placement_id, epoch=0))
        self._owned[placement_id] = ownership
        won = False
        try:
            won = await self._write_claim(ownership)
        except BUS_FAILURES as failed:
            # If the lease was written all the same, `_reconcile_leases` removes it.
            self._outages["claims"].failed(failed)
        finally:
            if not won:
                self._release(ownership)
        if not won:
            return
        if self._draining:
            ownership.hand_over.set()
        ownership.task = asyncio.create_task(self._run_group(ownership))
        _PLACEMENTS.inc()

    def _new_lease(self, placement_id: str, epoch: int) -> Lease:
        return Lease(
            placement_id=placement_id, game=self._game, replica_id=self._replica_id, address=self._address, epoch=epoch
        )

    async def _write_claim(self, ownership: _Ownership) -> bool:
        """Writes the lease if the placement is free; false if it is not, or another replica was faster."""
        current = await self._leases.read(ownership.placement_id)
        lease = current.lease
        if lease is not None and not await self._presence.confirm_gone(lease.replica_id):
            return False
        if self._draining or not self._may_act():
            return False
        try:
            await self._write_over(ownership, current.revision)
        except RevisionConflict:
            return False
        if lease is not None:
            _TAKEOVERS.inc()
            _log.warning(
                "a placement is taken over", extra={"placement_id": ownership.placement_id, "former": lease.replica_id}
            )
        return True

    # -- owning --------------------------------------------------------------------------------------------------------

    async def _run_group(self, ownership: _Ownership) -> None:
        began = self._clock()
        try:
            await self._open_group(ownership.placement_id).run(
                partial(self._announce, ownership), ownership.hand_over, ownership.lost
            )
        except Exception:  # noqa: BLE001 - no failure may reach the other placements
            _log.exception("a placement has failed", extra={"placement_id": ownership.placement_id})
            self._failed_at = self._clock()
        ownership.ended = True
        self._pause_claiming(ownership, began)
        try:
            await self._leases.remove(ownership.placement_id, expected_revision=ownership.revision)
        except RevisionConflict:
            _log.debug(
                "a placement that ended has another owner already", extra={"placement_id": ownership.placement_id}
            )
        except BUS_FAILURES as failed:
            self._outages["claims"].failed(failed)
        finally:
            _PLACEMENTS.dec()
            self._release(ownership)

    async def _announce(self, ownership: _Ownership, epoch: int) -> None:
        ownership.lease = self._new_lease(ownership.placement_id, epoch)
        try:
            await self._write(ownership)
        except BUS_FAILURES as failed:
            # The tables run all the same; the lease is written when the bus is back.
            self._outages["claims"].failed(failed)

    def _pause_claiming(self, ownership: _Ownership, began: float) -> None:
        now = self._clock()
        _, last = self._pauses.get(ownership.placement_id, (0.0, 0.0))
        pause = CLAIM_PAUSE_S if now - began >= STEADY_AFTER_S else min(max(2 * last, CLAIM_PAUSE_S), CLAIM_PAUSE_MAX_S)
        self._pauses[ownership.placement_id] = (
            now + max(pause, GIVEN_AWAY_PAUSE_S if ownership.given_away else 0.0),
            pause,
        )

    def _release(self, ownership: _Ownership) -> None:
        del self._owned[ownership.placement_id]
        self._one_released.set()
        self._wake.set()

    def _give_one(self) -> None:
        """Hands a placement over for a replica that has too few, one at a time."""
        now = self._clock()
        if now - self._gave_away_at < GIVE_AWAY_EVERY_S:
            return
        counts = dict.fromkeys(self._presence.active_replicas(), 0)
        for placement_id in self._placement_ids:
            lease = self._leases.lease(placement_id)
            if lease is not None and lease.replica_id in counts:
                counts[lease.replica_id] += 1
        kept = [ownership.placement_id for ownership in self._owned.values() if not ownership.hand_over.is_set()]
        counts[self._replica_id] = len(kept)
        free = sum(
            placement_id not in self._owned and self._looks_free(placement_id) for placement_id in self._placement_ids
        )
        unassigned = len(self._owned) - len(kept) + free
        if sharing.should_give_one(
            self._replica_id, counts, placements=len(self._placement_ids), unassigned=unassigned
        ):
            given = self._owned[sharing.preferred_order(self._replica_id, kept)[-1]]
            given.given_away = True
            given.hand_over.set()
            self._gave_away_at = now
