"""Shared by WebSockets and event streams: admitting clients, bounding unsent bytes, warning of expiring tokens."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import hdrs, web

from gateway.access.authenticator import Authenticator
from gateway.access.bearer import authenticated_principal
from gateway.access.principals import Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.http.connection_limiter import ConnectionCounter
from gateway.http.problems import Problem
from gateway.live.close_codes import CloseCode
from gateway.live.feeds import ClientConnection

# Unsent bytes of one connection (G11); fewer without a token.
UNSENT_BYTES_LIMIT = 2 * 1024 * 1024
ANONYMOUS_UNSENT_BYTES_LIMIT = 512 * 1024
SEND_BUFFER_BYTES = 256 * 1024
# Unsent answers of all connections together (G11). Events are not counted: all watchers share one copy of each.
TOTAL_BYTES_LIMIT = 64 * 1024 * 1024
# Above the limit, the connections with the most unsent bytes are closed at once until so much is left.
RELIEVED_BYTES_LIMIT = TOTAL_BYTES_LIMIT * 3 // 4
# A connection whose client acknowledges nothing for so long is lost.
UNACKNOWLEDGED_LIMIT_S = 45
# How long before its token expires a client is warned.
EXPIRY_WARNING_S = 60.0
# Clients of a gateway that stops connect to others within so long, not all at once.
RECONNECT_SPREAD_MS = 5_000
STOPPING_RETRY_AFTER_S = 1


@asynccontextmanager
async def admitted(
    request: web.Request,
    authenticator: Authenticator,
    rate_limiter: RateLimiter,
    connections: ConnectionCounter,
    *,
    draining: bool,
) -> AsyncIterator[Principal]:
    """Counts a connection while it lives, and authenticates its client; raises a `Problem` or a refusal."""
    if draining:
        headers: dict[str, str] = {hdrs.RETRY_AFTER: str(STOPPING_RETRY_AFTER_S)}
        raise Problem(503, "This gateway stops: connect again in a moment.", "UNAVAILABLE", headers=headers)
    address = request.remote or ""
    connections.acquire(address)
    try:
        if hdrs.AUTHORIZATION in request.headers:
            rate_limiter.count_shown_token(address)
        yield await authenticated_principal(request, authenticator)
    finally:
        connections.release(address)


def limit_send_buffer(transport: asyncio.Transport) -> None:
    """Keeps the system from buffering megabytes for a slow client, which would be noticed too late."""
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            # Linux only: other systems notice a lost network after a quarter of an hour.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNACKNOWLEDGED_LIMIT_S * 1000)


def is_writable(connection: ClientConnection) -> bool:
    """Whether a connection can be written to; closes it if its client reads too slowly."""
    if not connection.is_open or connection.transport.is_closing():
        return False
    limit = ANONYMOUS_UNSENT_BYTES_LIMIT if connection.principal.caller is None else UNSENT_BYTES_LIMIT
    if connection.transport.get_write_buffer_size() > limit:
        connection.close(CloseCode.TOO_SLOW)
    return connection.is_open


def expiry_warning(expires_in_s: float, message: str) -> dict[str, object] | None:
    """Returns the facts of a `token_expires` notice, or None while it is too early for one."""
    if expires_in_s > EXPIRY_WARNING_S:
        return None
    return {"expires_in_ms": max(0, int(expires_in_s * 1000)), "message": message}


class SendBudget:
    """The unsent answers of all connections, and their limit."""

    def __init__(self) -> None:
        self.unsent_bytes = 0
        """An upper bound: what has been sent since is found out when the limit is reached."""
        self._by_connection: dict[ClientConnection, int] = {}

    def send(self, connection: ClientConnection, answer: bytes) -> None:
        """Writes an answer and counts it; closes the slowest connections above the limit."""
        known = self._by_connection.get(connection, 0)
        unsent = min(known, connection.transport.get_write_buffer_size()) + len(answer)
        self._by_connection[connection] = unsent
        self.unsent_bytes += unsent - known
        connection.transport.write(answer)
        if self.unsent_bytes > TOTAL_BYTES_LIMIT:
            self._relieve()

    def release(self, connection: ClientConnection) -> None:
        """Forgets a connection that has ended."""
        self.unsent_bytes -= self._by_connection.pop(connection, 0)

    def _relieve(self) -> None:
        for connection, known in list(self._by_connection.items()):
            unsent = min(known, connection.transport.get_write_buffer_size())
            self.unsent_bytes += unsent - known
            if unsent:
                self._by_connection[connection] = unsent
            else:
                del self._by_connection[connection]
        if self.unsent_bytes <= TOTAL_BYTES_LIMIT:
            return
        for connection in sorted(self._by_connection, key=self._by_connection.__getitem__, reverse=True):
            if self.unsent_bytes <= RELIEVED_BYTES_LIMIT:
                return
            self.release(connection)
            connection.close(CloseCode.TOO_SLOW)
            # Closing alone would wait until the client has read everything.
            connection.transport.abort()
