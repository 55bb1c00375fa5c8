"""Sends players their private facts: each player on their own connections only (G7)."""

from __future__ import annotations

from nats.aio.client import Client as Nats
from prometheus_client import Counter

from feltro.wallet.v1 import events_pb2
from gateway.backends.listener import StreamListener
from gateway.contracts import json_codec
from gateway.live.encoding import Framing, notice, notification
from gateway.live.event_delay import EventDelay
from gateway.live.feeds import ClientConnection, Watcher
from services.kit.bus.subjects import FACTS_STREAM

_SUBJECT = "feltro.player.*.wallet"
_PLAYER_AT = 2

_SENT = Counter("feltro_edge_private_facts", "Private facts sent to players")


class PlayerConnections:
    """The connections of players to this gateway, of one kind: WebSockets or event streams."""

    def __init__(self) -> None:
        self._players: dict[str, dict[ClientConnection, None]] = {}

    def add(self, connection: ClientConnection) -> None:
        """Adds a connection, if a player has it."""
        player_id = connection.principal.player_id
        if player_id is not None:
            self._players.setdefault(player_id, {})[connection] = None

    def remove(self, connection: ClientConnection) -> None:
        player_id = connection.principal.player_id
        if player_id is not None:
            connections = self._players.get(player_id, {})
            connections.pop(connection, None)
            if not connections:
                self._players.pop(player_id, None)

    def of_player(self, player_id: str) -> list[ClientConnection]:
        """Returns the connections of one player."""
        return list(self._players.get(player_id, ()))

    def player_ids(self) -> list[str]:
        return list(self._players)

    def all(self) -> list[ClientConnection]:
        return [connection for connections in self._players.values() for connection in connections]


class PrivateFacts:
    """The facts about players that the wallet publishes."""

    def __init__(self, bus: Nats, players: PlayerConnections) -> None:
        self._listener = StreamListener(bus, FACTS_STREAM, _SUBJECT, self._on_message, self._on_gap)
        self._players = players
        self._delay = EventDelay("player")

    @property
    def is_listening(self) -> bool:
        return self._listener.is_listening

    async def run(self) -> None:
        """Listens until cancelled."""
        await self._listener.run()

    def _on_message(self, subject: str, payload: bytes) -> None:
        connections = self._players.of_player(subject.split(".")[_PLAYER_AT])
        if connections:
            fact = events_pb2.PlayerFact.FromString(payload)
            frame = notification(Framing.WEBSOCKET, "player", json_codec.encode(fact))
            for connection in connections:
                _note_session(connection.watchers, fact)
                connection.send(frame)
            _SENT.inc(len(connections))
            self._delay.observe(fact.at)

    def _on_gap(self) -> None:
        message = "Private facts may have been missed: read the balance and the session again."
        frame = notice(Framing.WEBSOCKET, "facts_missed", message=message)
        for connection in self._players.all():
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
