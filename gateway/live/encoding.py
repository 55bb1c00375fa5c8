"""Encodes what clients are sent: built once for each framing, and the same bytes for all its connections."""

from __future__ import annotations

from enum import Enum, auto

from gateway.contracts import json_codec
from gateway.live import frames


class Framing(Enum):
    """How a connection frames what it sends."""

    WEBSOCKET = auto()
    CHUNKED_LINES = auto()
    """Server-sent events over HTTP/1.1."""
    PLAIN_LINES = auto()
    """Server-sent events over HTTP/1.0, up to the end of the connection."""


def notification(framing: Framing, name: str, params: bytes, seq: int | None = None) -> bytes:
    """Encodes a notification with JSON parameters; a stream of server-sent events can be resumed after `seq`."""
    if framing is Framing.WEBSOCKET:
        return frames.text(b'{"jsonrpc":"2.0","method":"%s","params":%s}' % (name.encode(), params))
    event_id = b"" if seq is None else b"id: %d\n" % seq
    return framed_lines(framing, b"%sevent: %s\ndata: %s\n\n" % (event_id, name.encode(), params))


def notice(framing: Framing, kind: str, **facts: object) -> bytes:
    """Encodes a notice about the connection itself."""
    return notification(framing, "notice", json_codec.dumps({"kind": kind, **facts}))


def framed_lines(framing: Framing, lines: bytes) -> bytes:
    """Frames lines of server-sent events."""
    return b"%x\r\n%s\r\n" % (len(lines), lines) if framing is Framing.CHUNKED_LINES else lines


class EncodedEvent:
    """One event of a table, encoded once: as a WebSocket frame at first, and in other framings when needed."""

    __slots__ = ("_other_framings", "_params_at", "is_snapshot", "seq", "websocket_frame")

    def __init__(self, seq: int, params: bytes, *, is_snapshot: bool) -> None:
        """`is_snapshot`: it holds the whole state, which replaces what came before."""
        self.seq = seq
        self.is_snapshot = is_snapshot
        self.websocket_frame = notification(Framing.WEBSOCKET, "table", params)
        self._params_at = len(self.websocket_frame) - len(params) - 1
        self._other_framings: dict[Framing, bytes] = {}

    def bytes_for(self, framing: Framing) -> bytes:
        if framing is Framing.WEBSOCKET:
            return self.websocket_frame
        encoded = self._other_framings.get(framing)
        if encoded is None:
            encoded = self._other_framings[framing] = notification(
                framing, "table", self.websocket_frame[self._params_at : -1], self.seq
            )
        return encoded
