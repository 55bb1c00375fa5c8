"""What players are told in private: each on his own connections, and nowhere else (G7)."""

from __future__ import annotations

from typing import Protocol

from nats.aio.client import Client as Nats
from prometheus_client import Counter

from feltro.wallet.v1 import events_pb2
from gateway.backends.listener import StreamListener
from gateway.contracts import json_codec
from gateway.live.encoding import Framing, notification
from gateway.live.feeds import ClientConnection, Watcher

STREAM = "FELTRO_WALLET"
_SUBJECT = "feltro.player.*.wallet"
_PLAYER_AT = 2

_TOLD = Counter("feltro_edge_private_facts", "Private facts written to players")


class PlayerConnection(ClientConnection, Protocol):
    """A player's connection."""

    watchers: dict[str, Watcher]


class PrivateFacts:
    """All players who are connected here."""

    def __init__(self, bus: Nats) -> None:
        self._listener = StreamListener(bus, STREAM, _SUBJECT, self._heard, self._missed)
        self._players: dict[str, dict[PlayerConnection, None]] = {}

    @property
    def is_listening(self) -> bool:
        return self._listener.is_listening

    async def run(self) -> None:
        """Listens for ever."""
        await self._listener.run()

    def add_connection(self, player_id: str, connection: PlayerConnection) -> None:
        self._players.setdefault(player_id, {})[connection] = None

    def remove_connection(self, player_id: str, connection: PlayerConnection) -> None:
        outlets = self._players.get(player_id, {})
        outlets.pop(connection, None)
        if not outlets:
            self._players.pop(player_id, None)

    def _heard(self, subject: str, payload: bytes) -> None:
        outlets = self._players.get(subject.split(".")[_PLAYER_AT])
        if outlets:
            fact = events_pb2.PlayerFact.FromString(payload)
            frame = notification(Framing.WEBSOCKET, "player", json_codec.encode(fact))
            for outlet in list(outlets):
                _note_session(outlet.watchers, fact)
                outlet.send(frame)
            _TOLD.inc(len(outlets))

    def _missed(self) -> None:
        frame = notification(Framing.WEBSOCKET, "notice", json_codec.dumps(FACTS_MISSED_NOTICE))
        for outlets in list(self._players.values()):
            for outlet in list(outlets):
                outlet.send(frame)


def _note_session(watching: dict[str, Watcher], fact: events_pb2.PlayerFact) -> None:
    """He has sat down at a table that he watches, or stood up: his connection knows which session it shows."""
    if fact.HasField("session_started"):
        session = fact.session_started.session
        if session.table_id in watching:
            watching[session.table_id].session_id = session.session_id
    elif fact.HasField("session_ended"):
        session = fact.session_ended.session
        watcher = watching.get(session.table_id)
        if watcher is not None and watcher.session_id == session.session_id:
            watcher.session_id = ""


FACTS_MISSED_NOTICE = {
    "kind": "facts_missed",
    "why": "Private facts may have been missed: read the balance and the session again.",
}
