"""What holds for every connection that stays, however it is spoken on: what may wait for its reader, and its end."""

from __future__ import annotations

import asyncio
import socket

from aiohttp import hdrs

from gateway.access.principals import Principal
from gateway.http.problems import Problem

# What is kept for one connection (G11); less of it where nobody has said who he is.
UNSENT_BYTES_LIMIT = 2 * 1024 * 1024
ANONYMOUS_UNSENT_BYTES_LIMIT = 512 * 1024
SEND_BUFFER_BYTES = 256 * 1024
# One is not spoken to any longer whose system does not say that it has received anything.
UNACKNOWLEDGED_LIMIT_S = 45
# So long before a token expires its bearer is told.
EXPIRY_WARNING_S = 60.0
# Clients of a gateway that stops come back to the others within so long, not all at once.
RECONNECT_SPREAD_MS = 5_000
STOPPING_RETRY_AFTER_S = 1


def unsent_limit(principal: Principal) -> int:
    """How many bytes may wait for a reader before he is too slow."""
    return ANONYMOUS_UNSENT_BYTES_LIMIT if principal.caller is None else UNSENT_BYTES_LIMIT


def stopping_problem() -> Problem:
    """Whoever balances the load knows by now, and asks another gateway."""
    headers: dict[str, str] = {hdrs.RETRY_AFTER: str(STOPPING_RETRY_AFTER_S)}
    return Problem(503, "This gateway stops: connect again in a moment.", "UNAVAILABLE", headers=headers)


def limit_send_buffer(transport: asyncio.Transport) -> None:
    """The system would let megabytes wait for one slow reader, and long; he would be noticed late."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # Linux only: elsewhere one whose network is gone is found by the system, after a quarter of an hour.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_LIMIT_S * 1000)
