"""When a player last did something with his token: after thirty minutes without he has to log in anew (GLI-19 2.5.4).

Each gateway remembers what it saw and tells the others through a bucket on the bus, whose notes disappear when they
mean nothing any more. It is asked only for a token that was issued more than thirty minutes ago and was not used here
since. A token that fell asleep stays asleep: being refused is no activity. While the bus is away such a token is
refused as UNAVAILABLE, for he may have been busy elsewhere (G9), and may not have been (G12).
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import struct
import time
from collections import OrderedDict
from collections.abc import Callable

from nats.aio.client import Client as Nats
from nats.js.api import KeyValueConfig, StorageType

from gateway import refusals
from gateway.refusals import GatewayRefused
from services.kit.identity import Caller
from services.kit.table.leases import Bucket
from services.kit.table.outages import BUS_FAILURES, Outage

BUCKET = "feltro_activity"
IDLE_LIMIT_S = 30 * 60
# How often the others are told of one token; so much too early they may think it asleep.
TOLD_EVERY_S = 60
TELL_TICK_S = 2.0
# Tokens that are remembered here; the one that was used longest ago is forgotten first (G11).
KNOWN_LIMIT = 200_000
TOLD_TOGETHER = 100
ASKED_AGAIN_AFTER_S = 5.0
BUCKET_BYTES_LIMIT = 64 * 1024 * 1024

_log = logging.getLogger(__name__)
_MOMENT = struct.Struct("!d")


class Activity:
    """What this gateway saw, and what it can ask the others."""

    def __init__(self, bus: Nats, wall_time: Callable[[], float] = time.time) -> None:
        self._wall_time = wall_time
        # After the limit a note says nothing that its absence does not say.
        config = KeyValueConfig(
            bucket=BUCKET,
            history=1,
            storage=StorageType.FILE,
            ttl=IDLE_LIMIT_S + TOLD_EVERY_S,
            max_bytes=BUCKET_BYTES_LIMIT,
        )
        self._bucket = Bucket(bus, config, lambda: None)
        self._used: OrderedDict[str, float] = OrderedDict()
        # Tokens used since the others were told, and when they were told last.
        self._untold: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._outage = Outage(_log, "the activity of players")
        self.reachable = False
        """Whether the bucket was there when it was last needed."""

    def note(self, caller: Caller) -> None:
        """He does something. A heartbeat of his program is nothing that he does."""
        if caller.player_id is None:
            return
        now = self._wall_time()
        self._remember(caller.token_id, now)
        self._untold[caller.token_id] = now

    def _remember(self, token_id: str, used_at: float) -> None:
        self._used[token_id] = used_at
        self._used.move_to_end(token_id)
        if len(self._used) > KNOWN_LIMIT:
            forgotten, _ = self._used.popitem(last=False)
            self._untold.pop(forgotten, None)
            self._told.pop(forgotten, None)

    async def verify(self, caller: Caller) -> None:
        """Refused with LOGIN_NEEDED if he did nothing for too long. Operators are machines, and do not fall asleep."""
        if self.idle_in(caller) > 0:
            return
        last = await self._told_by_others(caller.token_id)
        if self._wall_time() - last >= IDLE_LIMIT_S:
            minutes = IDLE_LIMIT_S // 60
            sentence = f"Nothing was done for {minutes} minutes: log in anew."
            raise GatewayRefused("LOGIN_NEEDED", sentence, idle_limit_s=IDLE_LIMIT_S)
        self._remember(caller.token_id, last)

    def idle_in(self, caller: Caller) -> float:
        """After how many seconds he will have done nothing for too long, as far as it is known here."""
        if caller.player_id is None:
            return float("inf")
        last = max(caller.issued_at, self._used.get(caller.token_id, 0.0))
        return last + IDLE_LIMIT_S - self._wall_time()

    async def _told_by_others(self, token_id: str) -> float:
        try:
            content = (await self._bucket.read(_key(token_id))).value
        except BUS_FAILURES as failed:
            self.reachable = False
            self._outage.failed(failed)
            raise refusals.unavailable(
                "It cannot be told whether the token was used of late: try again in a moment, or log in anew."
            ) from None
        return float(_MOMENT.unpack(content)[0]) if len(content) == _MOMENT.size else 0.0

    async def run(self) -> None:
        """Tells the others, for ever."""
        while True:
            try:
                if not self.reachable:
                    # It may be gone, with all that was in it.
                    await self._bucket.make()
                await self._tell()
                self.reachable = True
                self._outage.over()
            except BUS_FAILURES as failed:
                self.reachable = False
                self._outage.failed(failed)
            await asyncio.sleep(TELL_TICK_S)

    async def _tell(self) -> None:
        now = self._wall_time()
        due = [token_id for token_id in self._untold if now - self._told.get(token_id, 0.0) >= TOLD_EVERY_S]
        for first in range(0, len(due), TOLD_TOGETHER):
            await asyncio.gather(*(self._tell_of(token_id, now) for token_id in due[first : first + TOLD_TOGETHER]))
        for token_id in [token_id for token_id, told_at in self._told.items() if now - told_at > IDLE_LIMIT_S]:
            del self._told[token_id]

    async def _tell_of(self, token_id: str, now: float) -> None:
        used_at = self._untold.get(token_id)
        if used_at is None:
            return
        await self._bucket.put(_key(token_id), _MOMENT.pack(used_at))
        self._told[token_id] = now
        if self._untold.get(token_id) == used_at:
            del self._untold[token_id]


def _key(token_id: str) -> str:
    return hashlib.blake2b(token_id.encode(), digest_size=16).hexdigest()
