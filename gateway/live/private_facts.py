"""Sends players their private facts: each player on their own connections only (G7)."""

from __future__ import annotations

from nats.aio.client import Client as Nats
from prometheus_client import Counter

from feltro.wallet.v1 import events_pb2
from gateway.backends.listener import StreamListener
from gateway.contracts import json_codec
from gateway.live.encoding import Framing, notice, notification
from gateway.live.feeds import ClientConnection, Watcher
from services.kit.bus.subjects import FACTS_STREAM

_SUBJECT = "feltro.player.*.wallet"
_PLAYER_AT = 2

_SENT = Counter("feltro_edge_private_facts", "Private facts sent to players")


class PrivateFacts:
    """The players who are connected to this gateway."""

    def __init__(self, bus: Nats) -> None:
        self._listener = StreamListener(bus, FACTS_STREAM, _SUBJECT, self._on_message, self._on_gap)
        self._players: dict[str, dict[ClientConnection, None]] = {}

    @property
    def is_listening(self) -> bool:
        return self._listener.is_listening

    async def run(self) -> None:
        """Listens until cancelled."""
        await self._listener.run()

    def add_connection(self, player_id: str, connection: ClientConnection) -> None:
        self._players.setdefault(player_id, {})[connection] = None

    def remove_connection(self, player_id: str, connection: ClientConnection) -> None:
        connections = self._players.get(player_id, {})
        connections.pop(connection, None)
        if not connections:
            self._players.pop(player_id, None)

    def _on_message(self, subject: str, payload: bytes) -> None:
        connections = self._players.get(subject.split(".")[_PLAYER_AT])
        if connections:
            fact = events_pb2.PlayerFact.FromString(payload)
            frame = notification(Framing.WEBSOCKET, "player", json_codec.encode(fact))
            for connection in list(connections):
                _note_session(connection.watchers, fact)
                connection.send(frame)
            _SENT.inc(len(connections))

    def _on_gap(self) -> None:
        message = "Private facts may have been missed: read the balance and the session again."
        frame = notice(Framing.WEBSOCKET, "facts_missed", message=message)
        for connections in list(self._players.values()):
            for connection in list(connections):
                connection.send(frame)


def _note_session(watchers: dict[str, Watcher], fact: events_pb2.PlayerFact) -> None:
    """Notes the player's session at a watched table, for the log of the connection's end."""
    if fact.HasField("session_started"):
        session = fact.session_started.session
        if session.table_id in watchers:
            watchers[session.table_id].session_id = session.session_id
    elif fact.HasField("session_ended"):
        session = fact.session_ended.session
        watcher = watchers.get(session.table_id)
        if watcher is not None and watcher.session_id == session.session_id:
            watcher.session_id = ""
