"""Sends players what they alone may see at a table: each on their own connections only (G7).

Games tell it outside the streams, and nothing keeps it. What is lost is read instead (`GetTableResponse.own_seat`): a
client notices by the turn, which the table's own events name, too.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress

from google.protobuf.message import DecodeError
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from opentelemetry.trace import SpanKind
from prometheus_client import Counter

from feltro.table.v1 import events_pb2
from gateway.contracts import json_codec
from gateway.live.encoding import Framing, notification
from gateway.live.private_facts import PlayerConnections
from services.kit.bus.connection import require_connection
from services.kit.bus.outages import BUS_FAILURES, RETRY_DELAY_S, Outage
from services.kit.bus.subjects import game_and_player, own_view_subject
from services.kit.telemetry import trace

NOTIFICATION = "own_view"
# What may wait to be sent on when more arrives at once (G11).
WAITING_MESSAGES_LIMIT = 10_000
WAITING_BYTES_LIMIT = 16 * 1024 * 1024

_log = logging.getLogger(__name__)
_SENT = Counter("feltro_edge_own_views", "Private views of tables sent to players")
_REFUSED = Counter("feltro_edge_own_views_refused", "Private views that no game may tell or nobody can read")


class OwnViews:
    """The private views of all tables, for the players who are connected to this gateway."""

    def __init__(
        self,
        bus: Nats,
        game_of: Callable[[str], str | None],
        sockets: PlayerConnections,
        streams: PlayerConnections,
    ) -> None:
        """`game_of` returns the game of a table, which alone tells its players anything."""
        self.is_listening = False
        self._bus = bus
        self._game_of = game_of
        self._sockets = sockets
        self._streams = streams
        self._outage = Outage(_log, "receiving private views of tables")

    async def run(self) -> None:
        """Listens until cancelled."""
        while True:
            try:
                await self._listen()
            except BUS_FAILURES as failed:
                self._outage.failed(failed)
            await asyncio.sleep(RETRY_DELAY_S)

    async def _listen(self) -> None:
        require_connection(self._bus)
        subscription = await self._bus.subscribe(
            own_view_subject("*", "*"),
            cb=self._receive,
            pending_msgs_limit=WAITING_MESSAGES_LIMIT,
            pending_bytes_limit=WAITING_BYTES_LIMIT,
        )
        try:
            await self._bus.flush()
            self.is_listening = True
            self._outage.recovered()
            # The client subscribes again by itself whenever it has connected again.
            await asyncio.get_running_loop().create_future()
        finally:
            self.is_listening = False
            with suppress(*BUS_FAILURES):
                await subscription.unsubscribe()

    async def _receive(self, message: Msg) -> None:
        if trace.is_recording() and (cause := (message.headers or {}).get(trace.HEADER)):
            with trace.start_span("deliver own view", cause, kind=SpanKind.CONSUMER):
                self._send_on(message)
        else:
            self._send_on(message)

    def _send_on(self, message: Msg) -> None:
        game, player_id = game_and_player(message.subject)
        sockets, streams = self._sockets.of_player(player_id), self._streams.of_player(player_id)
        if not sockets and not streams:
            return
        try:
            changed = events_pb2.OwnViewChanged.FromString(message.data)
            params = json_codec.encode(changed)
        except DecodeError:
            _REFUSED.inc()
            return
        if changed.player_id != player_id or self._game_of(changed.table_id) != game:
            _REFUSED.inc()
            return
        frame = notification(Framing.WEBSOCKET, NOTIFICATION, params)
        for connection in sockets:
            connection.send(frame)
        watching = [stream for stream in streams if changed.table_id in stream.watchers]
        for stream in watching:
            stream.send(notification(stream.framing, NOTIFICATION, params))
        _SENT.inc(len(sockets) + len(watching))
