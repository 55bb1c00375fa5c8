"""What is told to those who watch, as the bytes that go over the wire: built once, the same for everybody on a wire."""

from __future__ import annotations

from enum import Enum, auto

from gateway.live import frames


class Framing(Enum):
    """How a connection is spoken on."""

    WEBSOCKET = auto()
    """WebSocket."""
    CHUNKED_LINES = auto()
    """Server-sent events over HTTP/1.1."""
    PLAIN_LINES = auto()
    """Server-sent events over HTTP/1.0, until the connection ends."""


def notification(framing: Framing, name: str, params: bytes, seq: int | None = None) -> bytes:
    """One thing that is told: its name, and JSON. `seq` is where server-sent events can be taken up again."""
    if framing is Framing.WEBSOCKET:
        return frames.text(b'{"jsonrpc":"2.0","method":"%s","params":%s}' % (name.encode(), params))
    place = b"" if seq is None else b"id: %d\n" % seq
    return framed_lines(framing, b"%sevent: %s\ndata: %s\n\n" % (place, name.encode(), params))


def framed_lines(framing: Framing, lines: bytes) -> bytes:
    """Lines of server-sent events as their wire has them."""
    return b"%x\r\n%s\r\n" % (len(lines), lines) if framing is Framing.CHUNKED_LINES else lines


class EncodedEvent:
    """One event of a table. Its frame is built here, once; the other wires' bytes are made from it, once if ever."""

    __slots__ = ("_on_others", "_params_at", "is_snapshot", "seq", "websocket_frame")

    def __init__(self, seq: int, params: bytes, *, is_snapshot: bool) -> None:
        """`taken`: it is a whole picture, to be believed whatever came before."""
        self.seq = seq
        self.is_snapshot = is_snapshot
        self.websocket_frame = notification(Framing.WEBSOCKET, "table", params)
        self._params_at = len(self.websocket_frame) - len(params) - 1
        self._on_others: dict[Framing, bytes] = {}

    def bytes_for(self, framing: Framing) -> bytes:
        if framing is Framing.WEBSOCKET:
            return self.websocket_frame
        made = self._on_others.get(framing)
        if made is None:
            made = self._on_others[framing] = notification(
                framing, "table", self.websocket_frame[self._params_at : -1], self.seq
            )
        return made
