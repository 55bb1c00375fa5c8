"""What is told to those who watch, as the bytes that go over the wire: built once, the same for everybody on a wire."""

from __future__ import annotations

from enum import Enum, auto

from gateway import frames


class Wire(Enum):
    """How a connection is spoken on."""

    FRAMES = auto()
    """WebSocket."""
    CHUNKS = auto()
    """Server-sent events over HTTP/1.1."""
    LINES = auto()
    """Server-sent events over HTTP/1.0, until the connection ends."""


def told(wire: Wire, name: str, params: bytes, seq: int | None = None) -> bytes:
    """One thing that is told: its name, and JSON. `seq` is where server-sent events can be taken up again."""
    if wire is Wire.FRAMES:
        return frames.text(b'{"jsonrpc":"2.0","method":"%s","params":%s}' % (name.encode(), params))
    place = b"" if seq is None else b"id: %d\n" % seq
    return on(wire, b"%sevent: %s\ndata: %s\n\n" % (place, name.encode(), params))


def on(wire: Wire, lines: bytes) -> bytes:
    """Lines of server-sent events as their wire has them."""
    return b"%x\r\n%s\r\n" % (len(lines), lines) if wire is Wire.CHUNKS else lines


class Event:
    """One event of a table. Its frame is built here, once; the other wires' bytes are made from it, once if ever."""

    __slots__ = ("_on_others", "_params_at", "frame", "seq", "taken")

    def __init__(self, seq: int, params: bytes, *, taken: bool) -> None:
        """`taken`: it is a whole picture, to be believed whatever came before."""
        self.seq = seq
        self.taken = taken
        self.frame = told(Wire.FRAMES, "table", params)
        self._params_at = len(self.frame) - len(params) - 1
        self._on_others: dict[Wire, bytes] = {}

    def bytes_on(self, wire: Wire) -> bytes:
        if wire is Wire.FRAMES:
            return self.frame
        made = self._on_others.get(wire)
        if made is None:
            made = self._on_others[wire] = told(wire, "table", self.frame[self._params_at : -1], self.seq)
        return made
