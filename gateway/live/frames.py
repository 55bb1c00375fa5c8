"""WebSocket frames as they go over the wire: a server's are not masked, so one that is built once serves everybody."""

from __future__ import annotations

import struct

_FINAL_TEXT = 0x81
_FINAL_CLOSE = 0x88
_FINAL_PING = 0x89
_FINAL_PONG = 0x8A
_SHORT, _MIDDLE = 126, 65_536
# A control frame carries no more, and a close frame's code takes two of it.
CONTROL_BYTES_LIMIT = 125

PING = bytes((_FINAL_PING, 0))


def text(payload: bytes) -> bytes:
    """A whole message."""
    size = len(payload)
    if size < _SHORT:
        return struct.pack("!BB", _FINAL_TEXT, size) + payload
    if size < _MIDDLE:
        return struct.pack("!BBH", _FINAL_TEXT, 126, size) + payload
    return struct.pack("!BBQ", _FINAL_TEXT, 127, size) + payload


def pong(payload: bytes) -> bytes:
    """The answer to a ping."""
    return bytes((_FINAL_PONG, len(payload))) + payload


def close(code: int, reason: str = "") -> bytes:
    """The last frame; code 0 answers a close without a code."""
    if not code:
        return bytes((_FINAL_CLOSE, 0))
    said = reason.encode()[: CONTROL_BYTES_LIMIT - 2].decode(errors="ignore").encode()
    return struct.pack("!BBH", _FINAL_CLOSE, 2 + len(said), code) + said
