"""Tells the tables which players are connected to this gateway, and that the gateway itself is alive."""

from __future__ import annotations

import asyncio
import logging
import re

from nats.aio.client import Client as Nats

from gateway.live.private_facts import PlayerConnections
from services.kit.bus.buckets import Bucket
from services.kit.bus.connections import GATEWAY_HEARTBEAT_S, gateway_key, player_key
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.bus.streams import CONNECTIONS_KEPT_S
from services.kit.bus.subjects import CONNECTIONS_BUCKET
from services.kit.clock import seconds_since_boot

# How often an entry is written again before it expires.
REPEAT_AFTER_S = CONNECTIONS_KEPT_S / 2.5
# Entries that are written at the same time (G11).
CONCURRENT_WRITES_LIMIT = 200

# Nobody else sits at a table, and no other name can be part of a key.
_PLAYER_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_IS_CONNECTED = b"1"
_log = logging.getLogger(__name__)


class ConnectedPlayers:
    """Keeps the bucket of who is connected as this gateway sees it."""

    def __init__(self, bus: Nats, gateway_id: str, connections: list[PlayerConnections]) -> None:
        """`connections` are of all kinds: a player is connected while any of them is open."""
        self._bucket = Bucket(bus, CONNECTIONS_BUCKET, lambda: None)
        self._gateway_id = gateway_id
        self._connections = connections
        self._outage = Outage(_log, "telling tables who is connected")
        # When the entry of each player was written last.
        self._written: dict[str, float] = {}

    async def run(self) -> None:
        """Writes what has changed every second, until cancelled."""
        while True:
            try:
                await self._bucket.put(gateway_key(self._gateway_id), _IS_CONNECTED)
                await self._write_changes()
            except BUS_FAILURES as failed:
                # The bus may have lost everything: it is written anew.
                self._written = dict.fromkeys(self._written, float("-inf"))
                self._outage.failed(failed)
            else:
                self._outage.recovered()
            await asyncio.sleep(GATEWAY_HEARTBEAT_S)

    async def _write_changes(self) -> None:
        connected = {player_id for each in self._connections for player_id in each.player_ids()}
        connected = {player_id for player_id in connected if _PLAYER_ID.fullmatch(player_id)}
        due = seconds_since_boot() - REPEAT_AFTER_S
        changes = [(self._remove, each) for each in self._written.keys() - connected]
        changes += [(self._write, each) for each in connected if self._written.get(each, float("-inf")) <= due]
        for start in range(0, len(changes), CONCURRENT_WRITES_LIMIT):
            batch = changes[start : start + CONCURRENT_WRITES_LIMIT]
            written = await asyncio.gather(*(change(each) for change, each in batch), return_exceptions=True)
            if failed := [each for each in written if each is not None]:
                raise failed[0]

    async def _write(self, player_id: str) -> None:
        await self._bucket.put(player_key(player_id, self._gateway_id), _IS_CONNECTED)
        self._written[player_id] = seconds_since_boot()

    async def _remove(self, player_id: str) -> None:
        await self._bucket.remove(player_key(player_id, self._gateway_id))
        del self._written[player_id]
