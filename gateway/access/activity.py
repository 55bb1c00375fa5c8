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

from gateway.access.logins import Login
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import BUS_FAILURES, Outage

BUCKET = "feltro_activity"
IDLE_LIMIT_S = 30 * 60
# How often the others are told of one login; so much too early they may think it asleep.
PUBLISH_EVERY_S = 60
PUBLISH_TICK_S = 2.0
# Logins that are remembered here; the one that was used longest ago is forgotten first (G11).
REMEMBERED_LOGINS_LIMIT = 200_000
PUBLISH_BATCH = 100
RECHECK_AFTER_S = 5.0
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
            ttl=IDLE_LIMIT_S + PUBLISH_EVERY_S,
            max_bytes=BUCKET_BYTES_LIMIT,
        )
        self._bucket = Bucket(bus, config, lambda: None)
        self._used: OrderedDict[str, float] = OrderedDict()
        # Logins used since the others were told, and when they were told last.
        self._untold: dict[str, float] = {}
        self._told: dict[str, float] = {}
        self._outage = Outage(_log, "the activity of players")
        self.bus_reachable = False
        """Whether the bucket was there when it was last needed."""

    def record(self, login: Login | None) -> None:
        """He does something."""
        if login is None:
            return
        now = self._wall_time()
        self._remember(login.key, now)
        self._untold[login.key] = now

    def _remember(self, key: str, used_at: float) -> None:
        self._used[key] = used_at
        self._used.move_to_end(key)
        if len(self._used) > REMEMBERED_LOGINS_LIMIT:
            forgotten, _ = self._used.popitem(last=False)
            self._untold.pop(forgotten, None)
            self._told.pop(forgotten, None)

    async def verify(self, login: Login | None) -> None:
        """Refused with LOGIN_NEEDED if he did nothing for too long."""
        if login is None or (login.key in self._used and self.seconds_until_idle(login) > 0):
            return
        try:
            told = await self._told_by_others(login.key)
        except BUS_FAILURES as failed:
            self._lost_sight(failed)
            if login.key not in self._used and self.seconds_until_idle(login) > 0:
                # He has just logged in, as far as anybody here can know.
                return
            raise refusals.unavailable(
                "It cannot be told whether the token was used of late: try again in a moment, or log in anew."
            ) from None
        last = max(told, self._used.get(login.key, 0.0)) or login.logged_in_at
        if self._wall_time() - last >= IDLE_LIMIT_S:
            minutes = IDLE_LIMIT_S // 60
            sentence = f"Nothing was done for {minutes} minutes: log in anew."
            raise GatewayRefused("LOGIN_NEEDED", sentence, idle_limit_s=IDLE_LIMIT_S)
        self._remember(login.key, last)

    async def carry_over(self, previous: Login | None, renewed: Login | None) -> None:
        """A connection goes on with a newer token, which has done nothing that the older one had not: `verify` it.

        Every gateway knows it when this returns, or as soon as the bus is there again.
        """
        if previous is None or renewed is None or renewed.has_auth_time or renewed.key == previous.key:
            await self.verify(renewed)
            return
        await self.verify(previous)
        last = max(self._used.get(previous.key, previous.logged_in_at), self._used.get(renewed.key, 0.0))
        try:
            # It may have been used by itself, elsewhere.
            last = max(last, await self._told_by_others(renewed.key))
        except BUS_FAILURES as failed:
            self._lost_sight(failed)
        self._remember(renewed.key, last)
        self._untold[renewed.key] = last
        try:
            await self._tell_of(renewed.key, self._wall_time())
        except BUS_FAILURES as failed:
            self._lost_sight(failed)

    def seconds_until_idle(self, login: Login | None) -> float:
        """After how many seconds he will have done nothing for too long, as far as it is known here."""
        if login is None:
            return float("inf")
        return self._used.get(login.key, login.logged_in_at) + IDLE_LIMIT_S - self._wall_time()

    async def _told_by_others(self, key: str) -> float:
        """When he was told to have done something; 0 if it was never told."""
        content = (await self._bucket.read(_bucket_key(key))).value
        return float(_MOMENT.unpack(content)[0]) if len(content) == _MOMENT.size else 0.0

    def _lost_sight(self, failed: BaseException) -> None:
        self.bus_reachable = False
        self._outage.failed(failed)

    async def run(self) -> None:
        """Tells the others, for ever."""
        while True:
            try:
                if not self.bus_reachable:
                    # It may be gone, with all that was in it.
                    await self._bucket.create_if_missing()
                await self._tell()
                self.bus_reachable = True
                self._outage.recovered()
            except BUS_FAILURES as failed:
                self._lost_sight(failed)
            await asyncio.sleep(PUBLISH_TICK_S)

    async def _tell(self) -> None:
        now = self._wall_time()
        due = [key for key in self._untold if now - self._told.get(key, 0.0) >= PUBLISH_EVERY_S]
        for first in range(0, len(due), PUBLISH_BATCH):
            await asyncio.gather(*(self._tell_of(key, now) for key in due[first : first + PUBLISH_BATCH]))
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
