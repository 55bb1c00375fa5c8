"""Who is connected, for tables: players have a line to some gateway, have none, or nobody can know at the moment.

Each gateway writes one entry for each player who has a connection there, and deletes it when the last one ends. It has
a heartbeat, too: the entries of a gateway that has died say nothing about its players, who had no part in that (G9).
Entries are repeated now and then, and expire.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from enum import Enum, auto

from nats.aio.client import Client as Nats

from services.kit import background
from services.kit.bus.buckets import Bucket, BucketEntry
from services.kit.bus.outages import Outage
from services.kit.bus.streams import CONNECTIONS_KEPT_S
from services.kit.bus.subjects import CONNECTIONS_BUCKET
from services.kit.clock import seconds_since_boot

# How often a gateway says that it is alive, and after which silence it is dead.
GATEWAY_HEARTBEAT_S = 1.0
GATEWAY_LIFETIME_S = 4.0
# How often a reader forgets what has expired (G11).
SWEEP_EVERY_S = 30.0
# Changes within this time are published together: thousands of players reconnect at once when a gateway restarts.
TELL_AFTER_S = 0.05

_GATEWAYS, _PLAYERS = "gateways", "players"
_log = logging.getLogger(__name__)


class Line(Enum):
    """A player's line to the platform."""

    CONNECTED = auto()
    AWAY = auto()
    """The player has no connection: the line is the player's own."""
    UNKNOWN = auto()
    """The platform cannot know: a gateway has died, or the bus is away. No clock runs against the player."""


def gateway_key(gateway_id: str) -> str:
    """Returns the key of a gateway's heartbeat."""
    return f"{_GATEWAYS}.{gateway_id}"


def player_key(player_id: str, gateway_id: str) -> str:
    """Returns the key that says that a player is connected to a gateway."""
    return f"{_PLAYERS}.{player_id}.{gateway_id}"


class Connections:
    """Reads who is connected."""

    def __init__(
        self, bus: Nats, on_change: Callable[[], None], clock: Callable[[], float] = seconds_since_boot
    ) -> None:
        self._on_change = on_change
        self._telling: asyncio.TimerHandle | None = None
        self._clock = clock
        self._bucket = Bucket(bus, CONNECTIONS_BUCKET, self._receive, clock)
        # The gateways by player.
        self._gateways: dict[str, set[str]] = {}

    async def run(self) -> None:
        """Reads until cancelled."""
        watching = asyncio.create_task(self._bucket.watch_forever(Outage(_log, "who is connected")))
        try:
            while not watching.done():
                await asyncio.wait([watching], timeout=SWEEP_EVERY_S)
                self._forget_expired()
            watching.result()
        finally:
            await background.cancel_and_wait([watching])
            if self._telling is not None:
                self._telling.cancel()

    def line_of(self, player_id: str) -> Line:
        """Returns what is known of a player's line."""
        if not self._bucket.is_current:
            return Line.UNKNOWN
        entries = self._bucket.entries
        gateways = [
            gateway_id
            for gateway_id in self._gateways.get(player_id, ())
            if self._is_younger(entries.get(player_key(player_id, gateway_id)), CONNECTIONS_KEPT_S)
        ]
        if any(self._is_younger(entries.get(gateway_key(each)), GATEWAY_LIFETIME_S) for each in gateways):
            return Line.CONNECTED
        return Line.UNKNOWN if gateways else Line.AWAY

    def _is_younger(self, entry: BucketEntry | None, age_s: float) -> bool:
        return entry is not None and bool(entry.value) and self._clock() - entry.seen_at < age_s

    def _receive(self) -> None:
        key = self._bucket.last_changed_key
        if key is None:
            self._gateways.clear()
            for each in list(self._bucket.entries):
                self._index(each)
        else:
            self._index(key)
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(TELL_AFTER_S, self._tell)

    def _tell(self) -> None:
        self._telling = None
        self._on_change()

    def _index(self, key: str) -> None:
        entry = self._bucket.entries[key]
        if not entry.value:
            self._forget(key)
        elif (names := _player_and_gateway(key)) is not None:
            self._gateways.setdefault(names[0], set()).add(names[1])

    def _forget(self, key: str) -> None:
        del self._bucket.entries[key]
        names = _player_and_gateway(key)
        if names is not None:
            gateways = self._gateways.get(names[0], set())
            gateways.discard(names[1])
            if not gateways:
                self._gateways.pop(names[0], None)

    def _forget_expired(self) -> None:
        """Forgets entries that the bus has dropped: it says nothing when they expire."""
        for key, entry in list(self._bucket.entries.items()):
            if self._clock() - entry.seen_at >= CONNECTIONS_KEPT_S:
                self._forget(key)


def _player_and_gateway(key: str) -> tuple[str, str] | None:
    kind, _, rest = key.partition(".")
    player_id, _, gateway_id = rest.partition(".")
    return (player_id, gateway_id) if kind == _PLAYERS and gateway_id else None
