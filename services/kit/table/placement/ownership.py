"""Decides which houses this replica runs, together with the other replicas of its game: each house has one owner (G8).

A house is what is placed: one configured table. A lease in the bucket `feltro_leases` says who runs it, and counts for
as long as its owner's heartbeat is seen in `feltro_replicas`: to renew costs the same for one house as for a thousand.
Leases are written by compare-and-set. An owner that could not renew gives its houses up before anyone can take them;
should clock, bus or machine betray us all the same, journal and wallet refuse the epoch of every stale write.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from nats.aio.client import Client as Nats
from nats.js.api import KeyValueConfig, StorageType
from prometheus_client import Counter, Gauge

from feltro.table.v1.placement_pb2 import Lease, Replica
from services.kit import background
from services.kit.bus.buckets import Bucket, BucketEntry, RevisionConflict
from services.kit.bus.outages import BUS_FAILURES, RETRY_DELAY_S, Outage
from services.kit.bus.subjects import LEASES_BUCKET
from services.kit.clock import seconds_since_boot
from services.kit.table.placement import sharing
from services.kit.table.placement.presence import Presence

# How long a view of the others is too new to claim by: who starts or returns at the same time shows himself first.
VIEW_SETTLES_AFTER_S = 0.7
# How often it is looked whether time alone has changed something.
CHECK_EVERY_S = 0.2
PLACEMENT_IDS_EVERY_S = 1.0
PLACEMENT_IDS_TIMEOUT_S = 5.0
GIVE_AWAY_EVERY_S = 1.0
# How long a house that was given away is left to others.
GIVEN_AWAY_PAUSE_S = 2.0
# How long a house that has ended is not claimed again here, doubling while it goes on ending soon.
CLAIM_PAUSE_S = 0.5
CLAIM_PAUSE_MAX_S = 5.0
STEADY_AFTER_S = 10.0
# How long a replica at which houses fail, and none is open, is given none.
FAILING_FOR_S = 30.0
# Claims that are under way together (G11).
CONCURRENT_CLAIMS_LIMIT = 16

_log = logging.getLogger(__name__)
_HOUSES = Gauge("feltro_houses", "Houses that this process runs")
_TAKEOVERS = Counter("feltro_house_takeovers", "Houses taken from a process that was gone")


class TableGroup(Protocol):
    """What a replica does with a house it has."""

    async def run(
        self, announce: Callable[[int], Awaitable[None]], hand_over: asyncio.Event, lost: asyncio.Event
    ) -> None:
        """Runs the house until it is asked to leave, between rounds, or the house is lost, at once.

        `announce` tells the others the epoch once the house has opened. To return or to raise gives the house back.
        """


@dataclass(slots=True, eq=False)
class _Tenure:
    """Our time with a house."""

    lease: Lease
    revision: int = 0
    # The lease as it was last written, and when.
    written: Lease | None = None
    written_at: float = 0.0
    given_away: bool = False
    leave: asyncio.Event = field(default_factory=asyncio.Event)
    lost: asyncio.Event = field(default_factory=asyncio.Event)
    # None while the claim is under way.
    task: asyncio.Task[None] | None = None

    @property
    def placement_id(self) -> str:
        return self.lease.placement_id


class Placement:
    """One replica's part in it. `replica_id` is never used again by another process."""

    def __init__(
        self,
        bus: Nats,
        game: str,
        replica_id: str,
        address: str,
        placement_ids: Callable[[], Awaitable[Collection[str]]],
        open_group: Callable[[str], TableGroup],
        clock: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self._game = game
        self._replica_id = replica_id
        self._address = address
        self._house_ids = placement_ids
        self._open_house = open_group
        self._clock = clock
        self._woken = asyncio.Event()
        self._given_back = asyncio.Event()
        self._outages = {what: Outage(_log, what) for what in ("leases", "claims", "houses")}
        self._leases = Bucket(
            bus,
            KeyValueConfig(bucket=LEASES_BUCKET, history=1, storage=StorageType.FILE),
            self._saw_leases,
            clock,
        )
        self._presence = Presence(
            bus,
            game,
            replica_id,
            clock,
            heartbeat=self._heartbeat,
            on_give_up=self._give_up,
            on_change=self._woken.set,
        )
        self._houses: frozenset[str] = frozenset()
        self._tenures: dict[str, _Tenure] = {}
        self._draining = False
        self._free_since: dict[str, float] = {}
        # Until when, and for how long, a house is not claimed here.
        self._rests: dict[str, tuple[float, float]] = {}
        self._gave_at = float("-inf")
        self._failed_at = float("-inf")

    async def run(self) -> None:
        """Takes part until it is cancelled, whatever happens to the bus in the meantime."""
        work = [
            *self._presence.coroutines(),
            self._leases.watch_forever(self._outages["leases"]),
            self._ask_for_houses(),
            self._place(),
        ]
        tasks = [asyncio.create_task(part) for part in work]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in done:
                task.result()
        finally:
            running = [tenure.task for tenure in self._tenures.values() if tenure.task is not None]
            await background.cancel_and_wait([*tasks, *running])

    async def drain(self) -> None:
        """Takes no house any more, and returns when every house was left between rounds and given back.

        `run` must go on meanwhile: until then the houses are ours.
        """
        self._draining = True
        self._presence.beat_now()
        for tenure in self._tenures.values():
            tenure.leave.set()
        while self._tenures:
            self._given_back.clear()
            await self._given_back.wait()
        await self._presence.withdraw()

    def owner(self, placement_id: str) -> Lease | None:
        """Who runs a house, as far as is known here."""
        if self.owns(placement_id):
            return self._tenures[placement_id].lease
        lease = self._lease(self._leases.entries.get(placement_id))
        if lease is None or lease.replica_id == self._replica_id or self._presence.seems_gone(lease.replica_id):
            return None
        return lease

    def owns(self, placement_id: str) -> bool:
        """Whether this replica has the house, and nobody else can have it yet."""
        tenure = self._tenures.get(placement_id)
        return (
            tenure is not None
            and tenure.task is not None
            and self._presence.is_exclusive()
            and not tenure.lost.is_set()
        )

    # -- what the others are told, and what they may do ----------------------------------------------------------------

    def _heartbeat(self) -> Replica:
        opened = sum(tenure.lease.epoch > 0 for tenure in self._tenures.values())
        return Replica(
            replica_id=self._replica_id,
            game=self._game,
            address=self._address,
            draining=self._draining,
            placements=opened,
            failing=not opened and self._clock() - self._failed_at < FAILING_FOR_S,
        )

    def _give_up(self) -> None:
        if self._tenures:
            _log.error("houses are given up: the heartbeat could not be renewed", extra={"houses": len(self._tenures)})
        for tenure in self._tenures.values():
            tenure.lost.set()

    # -- seeing --------------------------------------------------------------------------------------------------------

    def _saw_leases(self) -> None:
        self._outages["leases"].recovered()
        self._woken.set()

    async def _ask_for_houses(self) -> None:
        while True:
            try:
                async with asyncio.timeout(PLACEMENT_IDS_TIMEOUT_S):
                    houses = frozenset(await self._house_ids())
            except Exception as failed:  # noqa: BLE001 - whatever it is, the houses that are known go on
                self._outages["houses"].failed(failed)
            else:
                self._outages["houses"].recovered()
                if houses != self._houses:
                    self._houses = houses
                    self._woken.set()
            await asyncio.sleep(PLACEMENT_IDS_EVERY_S)

    @staticmethod
    def _lease(noted: BucketEntry | None) -> Lease | None:
        return Lease.FromString(noted.value) if noted is not None and noted.value else None

    # -- placing -------------------------------------------------------------------------------------------------------

    async def _place(self) -> None:
        while True:
            self._woken.clear()
            try:
                if self._may_act():
                    await self._mend()
                if self._may_act() and self._settled() and not self._draining:
                    await self._claim_free()
                    self._give_one()
            except BUS_FAILURES as failed:
                self._outages["claims"].failed(failed)
                await asyncio.sleep(RETRY_DELAY_S)
            else:
                await background.wait_for_event(self._woken, CHECK_EVERY_S)

    def _may_act(self) -> bool:
        return self._presence.is_exclusive() and self._leases.is_current and self._presence.is_current

    def _settled(self) -> bool:
        began = (self._leases.watched_since, self._presence.watched_since)
        return all(since is not None and self._clock() - since >= VIEW_SETTLES_AFTER_S for since in began)

    async def _mend(self) -> None:
        """Brings what is written in line with what we run: what was lost on the way, and what nobody runs."""
        for placement_id, noted in list(self._leases.entries.items()):
            lease, tenure = self._lease(noted), self._tenures.get(placement_id)
            ours = lease is not None and lease.replica_id == self._replica_id
            if tenure is None and ours:
                with suppress(RevisionConflict):
                    await self._leases.remove(placement_id, expected_revision=noted.revision)
            elif tenure is not None and lease is not None and not ours and noted.revision > tenure.revision > 0:
                self._lose(tenure)
        for tenure in list(self._tenures.values()):
            if tenure.task is not None and not tenure.lost.is_set() and not self._is_written(tenure):
                await self._write(tenure)

    def _is_written(self, tenure: _Tenure) -> bool:
        if tenure.written is not tenure.lease:
            return False
        if tenure.written_at >= (self._leases.watched_since or 0.0):
            return True
        # The watch began later: what it does not show is not there. The bus may have lost it.
        lease = self._lease(self._leases.entries.get(tenure.placement_id))
        return lease is not None and lease.replica_id == self._replica_id

    async def _write(self, tenure: _Tenure) -> None:
        try:
            await self._write_over(tenure, tenure.revision)
        except RevisionConflict:
            there = await self._leases.read(tenure.placement_id)
            other = self._lease(there)
            if other is not None and other.replica_id != self._replica_id:
                self._lose(tenure)
            # Otherwise it was ours, with its acknowledgement lost, or is gone: it is written again, over that.
            tenure.revision = there.revision
            tenure.written = None

    async def _write_over(self, tenure: _Tenure, revision: int) -> None:
        lease = tenure.lease
        tenure.revision = await self._leases.write(tenure.placement_id, lease.SerializeToString(), revision)
        tenure.written, tenure.written_at = lease, self._clock()
        self._outages["claims"].recovered()

    def _lose(self, tenure: _Tenure) -> None:
        if not tenure.lost.is_set():
            _log.error("a house was taken by another replica", extra={"placement_id": tenure.placement_id})
            tenure.lost.set()

    async def _claim_free(self) -> None:
        now = self._clock()
        free = [
            placement_id
            for placement_id in self._houses
            if placement_id not in self._tenures and self._looks_free(placement_id)
        ]
        self._free_since = {placement_id: self._free_since.get(placement_id, now) for placement_id in free}
        chosen = sharing.placements_to_claim(
            self._replica_id,
            {
                placement_id: since
                for placement_id, since in self._free_since.items()
                if not self._rests_now(placement_id, now)
            },
            now,
            groups=len(self._houses),
            replicas=len(self._presence.active_replicas()),
            owned=sum(not tenure.leave.is_set() for tenure in self._tenures.values()),
        )
        for first in range(0, len(chosen), CONCURRENT_CLAIMS_LIMIT):
            await asyncio.gather(
                *(self._claim(placement_id) for placement_id in chosen[first : first + CONCURRENT_CLAIMS_LIMIT])
            )

    def _looks_free(self, placement_id: str) -> bool:
        lease = self._lease(self._leases.entries.get(placement_id))
        if lease is None:
            return True
        return (
            lease.game == self._game
            and lease.replica_id != self._replica_id
            and self._presence.seems_gone(lease.replica_id)
        )

    def _rests_now(self, placement_id: str, now: float) -> bool:
        return placement_id in self._rests and now < self._rests[placement_id][0]

    async def _claim(self, placement_id: str) -> None:
        tenure = _Tenure(self._new_lease(placement_id, epoch=0))
        self._tenures[placement_id] = tenure
        won = False
        try:
            won = await self._win(tenure)
        except BUS_FAILURES as failed:
            # Should it be written all the same, `_mend` takes it away again.
            self._outages["claims"].failed(failed)
        finally:
            if not won:
                self._drop(tenure)
        if not won:
            return
        if self._draining:
            tenure.leave.set()
        tenure.task = asyncio.create_task(self._keep_house(tenure))
        _HOUSES.inc()

    def _new_lease(self, placement_id: str, epoch: int) -> Lease:
        return Lease(
            placement_id=placement_id, game=self._game, replica_id=self._replica_id, address=self._address, epoch=epoch
        )

    async def _win(self, tenure: _Tenure) -> bool:
        """Writes the lease if the house is free indeed; false if it is not, or another claimant was faster."""
        there = await self._leases.read(tenure.placement_id)
        lease = self._lease(there)
        if lease is not None and (lease.game != self._game or not await self._presence.confirm_gone(lease.replica_id)):
            return False
        if self._draining or not self._may_act():
            return False
        try:
            await self._write_over(tenure, there.revision)
        except RevisionConflict:
            return False
        if lease is not None:
            _TAKEOVERS.inc()
            _log.warning(
                "a house is taken over", extra={"placement_id": tenure.placement_id, "former": lease.replica_id}
            )
        return True

    # -- having a house ------------------------------------------------------------------------------------------------

    async def _keep_house(self, tenure: _Tenure) -> None:
        began = self._clock()
        try:
            await self._open_house(tenure.placement_id).run(partial(self._announce, tenure), tenure.leave, tenure.lost)
        except Exception:  # noqa: BLE001 - whatever it is, it must not reach the other houses
            _log.exception("a house has failed", extra={"placement_id": tenure.placement_id})
            self._failed_at = self._clock()
        self._let_rest(tenure, began)
        try:
            await self._leases.remove(tenure.placement_id, expected_revision=tenure.revision)
        except RevisionConflict:
            _log.debug("a house that ended is somebody else's already", extra={"placement_id": tenure.placement_id})
        except BUS_FAILURES as failed:
            self._outages["claims"].failed(failed)
        finally:
            _HOUSES.dec()
            self._drop(tenure)

    async def _announce(self, tenure: _Tenure, epoch: int) -> None:
        tenure.lease = self._new_lease(tenure.placement_id, epoch)
        try:
            await self._write(tenure)
        except BUS_FAILURES as failed:
            # The house runs all the same; it is written when the bus is back.
            self._outages["claims"].failed(failed)

    def _let_rest(self, tenure: _Tenure, began: float) -> None:
        now = self._clock()
        _, last = self._rests.get(tenure.placement_id, (0.0, 0.0))
        rest = CLAIM_PAUSE_S if now - began >= STEADY_AFTER_S else min(max(2 * last, CLAIM_PAUSE_S), CLAIM_PAUSE_MAX_S)
        self._rests[tenure.placement_id] = (now + max(rest, GIVEN_AWAY_PAUSE_S if tenure.given_away else 0.0), rest)

    def _drop(self, tenure: _Tenure) -> None:
        del self._tenures[tenure.placement_id]
        self._given_back.set()
        self._woken.set()

    def _give_one(self) -> None:
        """Asks a house to leave for a replica that has too few, one at a time."""
        now = self._clock()
        if now - self._gave_at < GIVE_AWAY_EVERY_S:
            return
        counts = dict.fromkeys(self._presence.active_replicas(), 0)
        for placement_id in self._houses:
            lease = self._lease(self._leases.entries.get(placement_id))
            if lease is not None and lease.replica_id in counts:
                counts[lease.replica_id] += 1
        staying = [tenure.placement_id for tenure in self._tenures.values() if not tenure.leave.is_set()]
        counts[self._replica_id] = len(staying)
        free = sum(
            placement_id not in self._tenures and self._looks_free(placement_id) for placement_id in self._houses
        )
        to_come = len(self._tenures) - len(staying) + free
        if sharing.should_give_one(self._replica_id, counts, groups=len(self._houses), unassigned=to_come):
            given = self._tenures[sharing.preferred_order(self._replica_id, staying)[-1]]
            given.given_away = True
            given.leave.set()
            self._gave_at = now
