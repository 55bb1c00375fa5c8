"""Builds WebSocket frames: a server's frames are not masked, so that one frame serves all connections."""

from __future__ import annotations

import struct

_FINAL_TEXT = 0x81
_FINAL_CLOSE = 0x88
_FINAL_PING = 0x89
_FINAL_PONG = 0x8A
_SHORT, _MIDDLE = 126, 65_536
# The payload of a control frame; a close frame's code takes two bytes of it.
CONTROL_BYTES_LIMIT = 125

PING = bytes((_FINAL_PING, 0))


def text(payload: bytes) -> bytes:
    """Returns the frame of a whole text message."""
    size = len(payload)
    if size < _SHORT:
        return struct.pack("!BB", _FINAL_TEXT, size) + payload
    if size < _MIDDLE:
        return struct.pack("!BBH", _FINAL_TEXT, 126, size) + payload
    return struct.pack("!BBQ", _FINAL_TEXT, 127, size) + payload


def pong(payload: bytes) -> bytes:
    """Returns the frame that answers a ping."""
    return bytes((_FINAL_PONG, len(payload))) + payload


def close(code: int, reason: str = "") -> bytes:
    """Returns a close frame; code 0 answers a close without a code."""
    if not code:
        return bytes((_FINAL_CLOSE, 0))
    encoded = reason.encode()[: CONTROL_BYTES_LIMIT - 2].decode(errors="ignore").encode()
    return struct.pack("!BBH", _FINAL_CLOSE, 2 + len(encoded), code) + encoded
