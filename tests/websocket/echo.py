"""The gateway's own WebSocket server, which echoes every message as Autobahn's cases expect.

Frames, limits, pings and closing are the product's. Two things differ: messages may be larger, and binary ones, which
the product refuses, are echoed as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from aiohttp import web

from gateway.access.authenticator import Authenticator
from gateway.access.rate_limiter import RateLimiter
from gateway.http.connection_limiter import ConnectionCounter
from gateway.live import frames
from gateway.live.connections import websocket
from gateway.live.connections.rpc_server import RpcConnection, RpcServer
from gateway.live.connections.websocket import WebSocketConnection, WebSocketServer
from services.kit import background
from stack.servers.ephemeral import free_port
from tests.gateway.live_gateway import UNLIMITED, FakeAuthenticator

PATH = websocket.PATH
MESSAGE_BYTES_LIMIT = 16 * 1024 * 1024
_BINARY = b"\x82"


class Echo:
    """Answers every message with itself."""

    def register(self, _: RpcConnection) -> None:
        """Nothing is kept about connections."""

    def unregister(self, _: RpcConnection) -> None:
        """Nothing was kept."""

    async def handle_message(self, connection: RpcConnection, text: bytes) -> None:
        connection.send_answer(text)


class EchoSocket(WebSocketConnection):
    """Echoes binary messages, too."""

    def _on_bytes(self, content: bytes) -> None:
        if self.is_open:
            self.send(_BINARY + frames.text(content)[1:])


@asynccontextmanager
async def echo_server() -> AsyncIterator[int]:
    """Runs the server, and yields its port."""
    websocket.MESSAGE_BYTES_LIMIT = MESSAGE_BYTES_LIMIT
    websocket.WebSocketConnection = EchoSocket  # type: ignore[misc]
    connections = ConnectionCounter(1_000, 1_000)
    sockets = WebSocketServer(
        cast("RpcServer", Echo()), cast("Authenticator", FakeAuthenticator()), RateLimiter(UNLIMITED), connections
    )
    application = web.Application()
    sockets.install(application)
    runner = web.AppRunner(application, access_log=None)
    port = free_port()
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    sweeping = asyncio.create_task(sockets.sweep())
    try:
        yield port
    finally:
        await background.cancel_and_wait([sweeping])
        sockets.abort_all()
        await runner.cleanup()
