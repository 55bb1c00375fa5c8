"""When each login was last active: a player who does nothing for thirty minutes has to log in anew (GLI-19 2.5.4).

Only a call counts as activity. Connecting, showing or renewing a token, and answering a heartbeat are done by the
client's program alone, and do not: a renewed token takes over the last activity of the one before.

Each gateway remembers what it saw, and publishes it to the others through a bucket on the bus whose entries expire when
they no longer matter. The bucket is read for a login that was never seen here, or was idle here for too long. An idle
login stays idle: a refused call is no activity. While the bus is away an idle login is refused as UNAVAILABLE, for it
may have been active at another gateway (G9), and may not have been (G12).
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

from gateway.access.logins import Login
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused
from services.kit.bus.buckets import Bucket
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.bus.subjects import ACTIVITY_BUCKET

IDLE_LIMIT_S = 30 * 60
# How often one login is published; the other gateways may think it idle by so much too early.
PUBLISH_EVERY_S = 60
PUBLISH_TICK_S = 2.0
# The login that was used longest ago is forgotten first (G11).
REMEMBERED_LOGINS_LIMIT = 200_000
PUBLISH_BATCH = 100
RECHECK_AFTER_S = 5.0
# By how much the clocks of two gateways may differ.
CLOCKS_DIFFER_S = 60.0

_log = logging.getLogger(__name__)
_TIMESTAMP = struct.Struct("!d")


class Activity:
    """The logins that this gateway saw active, and what the others have published."""

    def __init__(self, bus: Nats, wall_time: Callable[[], float] = time.time) -> None:
        self._wall_time = wall_time
        self._bucket = Bucket(bus, ACTIVITY_BUCKET, lambda: None)
        self._last_used: OrderedDict[str, float] = OrderedDict()
        # Logins used since they were last published.
        self._unpublished: dict[str, float] = {}
        self._published_at: dict[str, float] = {}
        self._outage = Outage(_log, "the activity of players")
        self.bus_reachable = False
        """Whether the bucket answered when it was last needed."""

    def record(self, login: Login | None) -> None:
        """Records that a login is active now."""
        if login is None:
            return
        now = self._wall_time()
        self._remember(login.key, now)
        self._unpublished[login.key] = now

    def _remember(self, key: str, used_at: float) -> None:
        self._last_used[key] = used_at
        self._last_used.move_to_end(key)
        if len(self._last_used) > REMEMBERED_LOGINS_LIMIT:
            forgotten, _ = self._last_used.popitem(last=False)
            self._unpublished.pop(forgotten, None)
            self._published_at.pop(forgotten, None)

    async def verify(self, login: Login | None) -> None:
        """Refuses a login that was idle for too long with LOGIN_NEEDED."""
        if login is None or (login.key in self._last_used and self.seconds_until_idle(login) > 0):
            return
        try:
            published = await self._read_published(login.key)
        except BUS_FAILURES as failed:
            self._note_outage(failed)
            if login.key not in self._last_used and self.seconds_until_idle(login) > 0:
                # As far as this gateway can know, the player has just logged in.
                return
            raise refusals.unavailable(
                "It cannot be told whether the token was used of late: try again in a moment, or log in anew."
            ) from None
        last = max(published, self._last_used.get(login.key, 0.0)) or login.logged_in_at
        if self._wall_time() - last >= IDLE_LIMIT_S:
            minutes = IDLE_LIMIT_S // 60
            sentence = f"Nothing was done for {minutes} minutes: log in anew."
            raise GatewayRefused("LOGIN_NEEDED", sentence, idle_limit_seconds=IDLE_LIMIT_S)
        self._remember(login.key, last)

    async def carry_over(self, previous: Login | None, renewed: Login | None) -> None:
        """Verifies a newer token of a connection, and gives it the last activity of the older one.

        Every gateway knows it when this returns, or as soon as the bus is back.
        """
        if previous is None or renewed is None or renewed.has_auth_time or renewed.key == previous.key:
            await self.verify(renewed)
            return
        await self.verify(previous)
        last = max(self._last_used.get(previous.key, previous.logged_in_at), self._last_used.get(renewed.key, 0.0))
        try:
            # The newer token may have been used at another gateway.
            last = max(last, await self._read_published(renewed.key))
        except BUS_FAILURES as failed:
            self._note_outage(failed)
        self._remember(renewed.key, last)
        self._unpublished[renewed.key] = last
        try:
            await self._publish(renewed.key, self._wall_time())
        except BUS_FAILURES as failed:
            self._note_outage(failed)

    def seconds_until_idle(self, login: Login | None) -> float:
        """Returns in how many seconds a login will be idle, as far as this gateway knows."""
        if login is None:
            return float("inf")
        return self._last_used.get(login.key, login.logged_in_at) + IDLE_LIMIT_S - self._wall_time()

    async def _read_published(self, key: str) -> float:
        """Returns the last activity that any gateway published; 0 if there is none."""
        content = (await self._bucket.read(_bucket_key(key))).value
        used_at = float(_TIMESTAMP.unpack(content)[0]) if len(content) == _TIMESTAMP.size else 0.0
        # What is no time, or one that has not come yet, says nothing: the login would never be idle.
        return used_at if used_at <= self._wall_time() + CLOCKS_DIFFER_S else 0.0

    def _note_outage(self, failed: BaseException) -> None:
        self.bus_reachable = False
        self._outage.failed(failed)

    async def run(self) -> None:
        """Publishes activity until cancelled."""
        while True:
            try:
                await self._publish_due()
                self.bus_reachable = True
                self._outage.recovered()
            except BUS_FAILURES as failed:
                self._note_outage(failed)
            await asyncio.sleep(PUBLISH_TICK_S)

    async def _publish_due(self) -> None:
        now = self._wall_time()
        due = [key for key in self._unpublished if now - self._published_at.get(key, 0.0) >= PUBLISH_EVERY_S]
        for first in range(0, len(due), PUBLISH_BATCH):
            await asyncio.gather(*(self._publish(key, now) for key in due[first : first + PUBLISH_BATCH]))
        for key in [key for key, published_at in self._published_at.items() if now - published_at > IDLE_LIMIT_S]:
            del self._published_at[key]

    async def _publish(self, key: str, now: float) -> None:
        used_at = self._unpublished.get(key)
        if used_at is None:
            return
        await self._bucket.put(_bucket_key(key), _TIMESTAMP.pack(used_at))
        self._published_at[key] = now
        if self._unpublished.get(key) == used_at:
            del self._unpublished[key]


def _bucket_key(key: str) -> str:
    return hashlib.blake2b(key.encode(), digest_size=16).hexdigest()
