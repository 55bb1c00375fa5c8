"""What players are told in private: each on his own connections, and nowhere else (G7)."""

from __future__ import annotations

from typing import Protocol

from nats.aio.client import Client as Nats
from prometheus_client import Counter

from feltro.wallet.v1 import events_pb2
from gateway import json_codec
from gateway.feeds import Outlet, Watcher
from gateway.listener import Listener
from gateway.wires import Wire, told

STREAM = "FELTRO_WALLET"
_SUBJECT = "feltro.player.*.wallet"
_PLAYER_AT = 2

_TOLD = Counter("feltro_edge_private_facts", "Private facts written to players")


class Listening(Outlet, Protocol):
    """A player's connection."""

    watching: dict[str, Watcher]


class PrivateFacts:
    """All players who are connected here."""

    def __init__(self, bus: Nats) -> None:
        self._listener = Listener(bus, STREAM, _SUBJECT, self._heard, self._missed)
        self._players: dict[str, dict[Listening, None]] = {}

    @property
    def listening(self) -> bool:
        return self._listener.listening

    async def run(self) -> None:
        """Listens for ever."""
        await self._listener.run()

    def join(self, player_id: str, outlet: Listening) -> None:
        self._players.setdefault(player_id, {})[outlet] = None

    def leave(self, player_id: str, outlet: Listening) -> None:
        outlets = self._players.get(player_id, {})
        outlets.pop(outlet, None)
        if not outlets:
            self._players.pop(player_id, None)

    def _heard(self, subject: str, payload: bytes) -> None:
        outlets = self._players.get(subject.split(".")[_PLAYER_AT])
        if outlets:
            fact = events_pb2.PlayerFact.FromString(payload)
            frame = told(Wire.FRAMES, "player", json_codec.encode(fact))
            for outlet in list(outlets):
                _note_session(outlet.watching, fact)
                outlet.tell(frame)
            _TOLD.inc(len(outlets))

    def _missed(self) -> None:
        frame = told(Wire.FRAMES, "notice", json_codec.dumps(FACTS_MISSED))
        for outlets in list(self._players.values()):
            for outlet in list(outlets):
                outlet.tell(frame)


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


FACTS_MISSED = {
    "kind": "facts_missed",
    "why": "Private facts may have been missed: read the balance and the session again.",
}
