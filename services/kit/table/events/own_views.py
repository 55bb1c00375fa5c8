"""Tells players what they alone may see at a table: nobody but the gateway hears it, and nothing keeps it (G7).

One that is lost is read instead (`GetTableResponse.own_seat`), so what cannot leave at once is dropped: the table never
waits for the bus.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from nats.aio.client import Client as Nats
from prometheus_client import Counter

from feltro.table.v1 import events_pb2
from services.kit.bus.connection import require_connection
from services.kit.bus.outages import BUS_FAILURES, Outage
from services.kit.bus.subjects import own_view_subject
from services.kit.telemetry import trace

# Players whose news may wait to leave, over all tables of one process (G11).
WAITING_LIMIT = 10_000
PUBLISH_TIMEOUT_S = 2.0

_log = logging.getLogger(__name__)
_PUBLISHED = Counter("feltro_table_own_views_published", "Private views of tables that have left for the bus")
_DROPPED = Counter("feltro_table_own_views_dropped", "Private views of tables that were dropped, for players to read")


class OwnViewPublisher(Protocol):
    """Publishes what single players may see of tables."""

    def publish(self, changed: events_pb2.OwnViewChanged) -> None:
        """Takes the view of the player that it names, and never blocks: it may be lost."""


class BusOwnViews:
    """An `OwnViewPublisher` for all tables of one process of a game."""

    def __init__(self, bus: Nats, game: str) -> None:
        self._bus = bus
        self._game = game
        self._outage = Outage(_log, "private views of tables")
        # By player, table, whether it is a place on the waiting list, and the notice: a newer one replaces one that
        # still waits, and no notice replaces another.
        self._waiting: dict[tuple[str, str, bool, bytes], tuple[events_pb2.OwnViewChanged, str]] = {}
        self._wake = asyncio.Event()

    def publish(self, changed: events_pb2.OwnViewChanged) -> None:
        key = changed.player_id, changed.table_id, changed.HasField("waiting"), changed.notice.value
        if key not in self._waiting and len(self._waiting) >= WAITING_LIMIT:
            _DROPPED.inc()
            return
        self._waiting[key] = changed, trace.recorded_traceparent()
        self._wake.set()

    async def run(self) -> None:
        """Publishes until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            waiting, self._waiting = self._waiting, {}
            sent = 0
            try:
                async with asyncio.timeout(PUBLISH_TIMEOUT_S):
                    for changed, cause in waiting.values():
                        # The client would keep it, and send it when the view is long another one.
                        require_connection(self._bus)
                        subject = own_view_subject(self._game, changed.player_id)
                        headers = {trace.HEADER: cause} if cause else None
                        await self._bus.publish(subject, changed.SerializeToString(), headers=headers)
                        sent += 1
            except BUS_FAILURES as failed:
                _DROPPED.inc(len(waiting) - sent)
                self._outage.failed(failed)
            else:
                self._outage.recovered()
            _PUBLISHED.inc(sent)
