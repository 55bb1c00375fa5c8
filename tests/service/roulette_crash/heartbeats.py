"""How often the heart of whoever takes houses over has beaten since that of their former owner stood still.

Beats are a clock that runs as slowly as the machine lets the replicas run: where one is late for its claims it is late
for its beats, too. Both are on the bus, each with the moment at which the bus had it.
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
    """Of all replicas, and which houses they claimed meanwhile."""

    def __init__(self) -> None:
        self._beats: list[_Beat] = []
        self._claims: list[_Claim] = []

    @asynccontextmanager
    async def listening(self, url: str) -> AsyncIterator[None]:
        bus = await nats.connect(url)
        try:
            for bucket, hear in ((REPLICAS_BUCKET, self._hear_beat), (LEASES_BUCKET, self._hear_claim)):
                await bus.jetstream().subscribe(
                    f"$KV.{bucket}.>", stream=f"KV_{bucket}", cb=hear, ordered_consumer=True
                )
            yield
        finally:
            await bus.close()

    async def _hear_beat(self, message: Msg) -> None:
        # A key that was deleted or has expired has nothing in it.
        if message.data:
            said, told = Replica.FromString(message.data), message.metadata
            self._beats.append(_Beat(said.address, told.sequence.stream, told.timestamp))

    async def _hear_claim(self, message: Msg) -> None:
        if message.data:
            said = Lease.FromString(message.data)
            self._claims.append(_Claim(said.placement_id, said.address, message.metadata.timestamp))

    def beats_until_claimed(self, placements: Collection[str], former: str, now: str) -> int | None:
        """The beats until the last of these houses was claimed; None as long as one is not known to be.

        Where a beat was missed by whoever counts here, the one before it is counted.
        """
        last = max((beat for beat in self._beats if beat.address == former), key=lambda beat: beat.number)
        claims = [claim for claim in self._claims if claim.address == now and claim.at > last.at]
        first = {claim.placement_id: claim.at for claim in reversed(claims)}
        if not first.keys() >= set(placements):
            return None
        latest = max(first[house] for house in placements)
        return max(beat.number for beat in self._beats if beat.at <= latest) - last.number
