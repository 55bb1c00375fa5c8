"""The gateway's own sockets with a conversation that says everything again: what Autobahn's cases want to talk to.

Frames, limits, pings, closing and the end of a connection are the product's. Two things differ: messages may be larger,
and one that is binary, which the product refuses, is said again as well.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import cast

from aiohttp import web

from gateway import frames, websocket
from gateway.connections import Connections
from gateway.conversation import Conversation, Talker
from gateway.rates import Rates
from gateway.visitors import Visitors
from gateway.websocket import Socket, Sockets
from services.kit import background
from stack.ephemeral import free_port
from tests.gateway.sockets import GENEROUS, Door

PATH = websocket.PATH
MESSAGE_BYTES_LIMIT = 16 * 1024 * 1024
_BINARY = b"\x82"


class Echo:
    """Says it again."""

    def welcome(self, _: Talker) -> None:
        """Nobody is known."""

    def part(self, _: Talker) -> None:
        """Nothing is to be let go."""

    async def answer(self, talker: Talker, text: bytes) -> None:
        talker.say(text)


class EchoSocket(Socket):
    """Takes binary messages, too."""

    def _hear_bytes(self, said: bytes) -> None:
        if self.open:
            self.tell(_BINARY + frames.text(said)[1:])


@asynccontextmanager
async def echoing() -> AsyncIterator[int]:
    """The port where it listens."""
    websocket.MESSAGE_BYTES_LIMIT = MESSAGE_BYTES_LIMIT
    websocket.Socket = EchoSocket  # type: ignore[misc]
    many = Connections(1_000, 1_000)
    sockets = Sockets(cast("Conversation", Echo()), cast("Visitors", Door()), Rates(GENEROUS), many)
    application = web.Application()
    sockets.add_routes(application)
    runner = web.AppRunner(application, access_log=None)
    port = free_port()
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    sweeping = asyncio.create_task(sockets.sweep())
    try:
        yield port
    finally:
        await background.end([sweeping])
        sockets.close()
        await runner.cleanup()
