"""Counts how many beats of the new owner pass between the last beat of a killed replica and the last claim.

Beats are a clock as slow as the machine lets the replicas run: a replica that is late with its claims is late with its
beats, too. Both are on the bus, each with the moment at which the bus stored it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime

import nats
from nats.aio.msg import Msg

from feltro.table.v1.placement_pb2 import Lease, Replica
from services.kit.bus.subjects import LEASES_BUCKET, REPLICAS_BUCKET


@dataclass(frozen=True)
class _Beat:
    address: str
    number: int
    at: datetime


@dataclass(frozen=True)
class _Claim:
    placement_id: str
    address: str
    at: datetime


class HeartbeatLog:
    """The beats of all replicas, and their claims."""

    def __init__(self) -> None:
        self._beats: list[_Beat] = []
        self._claims: list[_Claim] = []

    @asynccontextmanager
    async def recording(self, url: str) -> AsyncIterator[None]:
        bus = await nats.connect(url)
        try:
            for bucket, receive in ((REPLICAS_BUCKET, self._add_beat), (LEASES_BUCKET, self._add_claim)):
                await bus.jetstream().subscribe(
                    f"$KV.{bucket}.>", stream=f"KV_{bucket}", cb=receive, ordered_consumer=True
                )
            yield
        finally:
            await bus.close()

    async def _add_beat(self, message: Msg) -> None:
        # A key that was deleted or has expired is empty.
        if message.data:
            replica, stored = Replica.FromString(message.data), message.metadata
            self._beats.append(_Beat(replica.address, stored.sequence.stream, stored.timestamp))

    async def _add_claim(self, message: Msg) -> None:
        if message.data:
            lease = Lease.FromString(message.data)
            self._claims.append(_Claim(lease.placement_id, lease.address, message.metadata.timestamp))

    def beats_until_claimed(self, placements: Collection[str], former: str, owner: str) -> int | None:
        """The beats until the last of these placements was claimed; None while a claim is missing.

        A beat that this log missed is counted by its number.
        """
        last = max((beat for beat in self._beats if beat.address == former), key=lambda beat: beat.number)
        claims = [claim for claim in self._claims if claim.address == owner and claim.at > last.at]
        first = {claim.placement_id: claim.at for claim in reversed(claims)}
        if not first.keys() >= set(placements):
            return None
        latest = max(first[placement_id] for placement_id in placements)
        return max(beat.number for beat in self._beats if beat.at <= latest) - last.number
