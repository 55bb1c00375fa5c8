"""When a player last did something: after thirty minutes without he has to log in anew (GLI-19 2.5.4).

What he does is what he asks for: a call. To connect, to show a token, to renew it, to answer a heartbeat is done by his
program alone, and keeps nobody awake: a token that takes the place of another takes over when he last did something.

Each gateway remembers what it saw and tells the others through a bucket on the bus, whose notes disappear when they
mean nothing any more. It is asked for a login that was never seen here, and for one that has done nothing here for too
long. A login that fell asleep stays asleep: being refused is no activity. While the bus is away one that was long ago
is refused as UNAVAILABLE, for he may have been busy elsewhere (G9), and may not have been (G12).
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
from gateway.logins import Login
from gateway.refusals import GatewayRefused
from services.kit.table.leases import Bucket
from services.kit.table.outages import BUS_FAILURES, Outage

BUCKET = "feltro_activity"
IDLE_LIMIT_S = 30 * 60
# How often the others are told of one login; so much too early they may think it asleep.
TOLD_EVERY_S = 60
TELL_TICK_S = 2.0
# Logins that are remembered here; the one that was used longest ago is forgotten first (G11).
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
        # Logins used since the others were told, and when they were told last.
        self._untold: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._outage = Outage(_log, "the activity of players")
        self.reachable = False
        """Whether the bucket was there when it was last needed."""

    def note(self, login: Login | None) -> None:
        """He does something."""
        if login is None:
            return
        now = self._wall_time()
        self._remember(login.key, now)
        self._untold[login.key] = now

    def _remember(self, key: str, used_at: float) -> None:
        self._used[key] = used_at
        self._used.move_to_end(key)
        if len(self._used) > KNOWN_LIMIT:
            forgotten, _ = self._used.popitem(last=False)
            self._untold.pop(forgotten, None)
            self._told.pop(forgotten, None)

    async def verify(self, login: Login | None) -> None:
        """Refused with LOGIN_NEEDED if he did nothing for too long."""
        if login is None or (login.key in self._used and self.idle_in(login) > 0):
            return
        try:
            told = await self._told_by_others(login.key)
        except BUS_FAILURES as failed:
            self._lost_sight(failed)
            if login.key not in self._used and self.idle_in(login) > 0:
                # He has just logged in, as far as anybody here can know.
                return
            raise refusals.unavailable(
                "It cannot be told whether the token was used of late: try again in a moment, or log in anew."
            ) from None
        last = max(told, self._used.get(login.key, 0.0)) or login.since
        if self._wall_time() - last >= IDLE_LIMIT_S:
            minutes = IDLE_LIMIT_S // 60
            sentence = f"Nothing was done for {minutes} minutes: log in anew."
            raise GatewayRefused("LOGIN_NEEDED", sentence, idle_limit_s=IDLE_LIMIT_S)
        self._remember(login.key, last)

    async def go_on(self, before: Login | None, after: Login | None) -> None:
        """A connection goes on with a newer token, which has done nothing that the older one had not: `verify` it.

        Every gateway knows it when this returns, or as soon as the bus is there again.
        """
        if before is None or after is None or after.named or after.key == before.key:
            await self.verify(after)
            return
        await self.verify(before)
        last = max(self._used.get(before.key, before.since), self._used.get(after.key, 0.0))
        try:
            # It may have been used by itself, elsewhere.
            last = max(last, await self._told_by_others(after.key))
        except BUS_FAILURES as failed:
            self._lost_sight(failed)
        self._remember(after.key, last)
        self._untold[after.key] = last
        try:
            await self._tell_of(after.key, self._wall_time())
        except BUS_FAILURES as failed:
            self._lost_sight(failed)

    def idle_in(self, login: Login | None) -> float:
        """After how many seconds he will have done nothing for too long, as far as it is known here."""
        if login is None:
            return float("inf")
        return self._used.get(login.key, login.since) + IDLE_LIMIT_S - self._wall_time()

    async def _told_by_others(self, key: str) -> float:
        """When he was told to have done something; 0 if it was never told."""
        content = (await self._bucket.read(_bucket_key(key))).value
        return float(_MOMENT.unpack(content)[0]) if len(content) == _MOMENT.size else 0.0

    def _lost_sight(self, failed: BaseException) -> None:
        self.reachable = False
        self._outage.failed(failed)

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
                self._lost_sight(failed)
            await asyncio.sleep(TELL_TICK_S)

    async def _tell(self) -> None:
        now = self._wall_time()
        due = [key for key in self._untold if now - self._told.get(key, 0.0) >= TOLD_EVERY_S]
        for first in range(0, len(due), TOLD_TOGETHER):
            await asyncio.gather(*(self._tell_of(key, now) for key in due[first : first + TOLD_TOGETHER]))
        for key in [key for key, told_at in self._told.items() if now - told_at > IDLE_LIMIT_S]:
            del self._told[key]

    async def _tell_of(self, key: str, now: float) -> None:
        used_at = self._untold.get(key)
        if used_at is None:
            return
        await self._bucket.put(_bucket_key(key), _MOMENT.pack(used_at))
        self._told[key] = now
        if self._untold.get(key) == used_at:
            del self._untold[key]


def _bucket_key(key: str) -> str:
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
