"""A TCP proxy on loopback that behaves like a bad network: it cuts, swallows for a while, delays, or passes on."""

from __future__ import annotations

import asyncio
import contextlib
from enum import StrEnum

from services.kit import background
from stack.settings import LOOPBACK

CHUNK_BYTES = 64 * 1024
CONNECT_WITHIN_S = 5.0
SLOW_S = 0.15


class Network(StrEnum):
    """How the connections behave."""

    FINE = "fine"
    CUT = "cut"
    """Connections are reset, new ones too."""
    SILENT = "silent"
    """Nothing arrives; it does when the network is fine again."""
    HALF_OPEN = "half-open"
    """What the client sends arrives; what the server sends does not before the network is fine again."""
    SLOW = "slow"
    """Each piece arrives later."""


class FaultProxy:
    """Passes connections on to one server, as the network lets it."""

    def __init__(self, port: int, server_port: int) -> None:
        self.port = port
        self._server_port = server_port
        self._network = Network.FINE
        self._to_server, self._to_client = asyncio.Event(), asyncio.Event()
        self._listener: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._listener = await asyncio.start_server(self._accept, LOOPBACK, self.port)
        self.be(Network.FINE)

    async def stop(self) -> None:
        """Ends every connection, and listens no more."""
        if self._listener is not None:
            self._listener.close()
        await background.cancel_and_wait([*self._connections])

    def be(self, network: Network) -> None:
        """Behaves so from now on."""
        self._network = network
        if network is Network.CUT:
            for connection in self._connections:
                connection.cancel()
        for direction, blocked in (
            (self._to_server, {Network.SILENT}),
            (self._to_client, {Network.SILENT, Network.HALF_OPEN}),
        ):
            if network in blocked:
                direction.clear()
            else:
                direction.set()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is None or self._network is Network.CUT:
            writer.transport.abort()
            return
        self._connections.add(task)
        try:
            await self._pass_on(reader, writer)
        except asyncio.CancelledError:
            # A connection that is cut is over; stopping the proxy waits for no more than that.
            pass
        except (OSError, TimeoutError):
            pass
        finally:
            self._connections.discard(task)
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._to_server.wait()
        async with asyncio.timeout(CONNECT_WITHIN_S):
            server_reader, server_writer = await asyncio.open_connection(LOOPBACK, self._server_port)
        try:
            pumps = [
                asyncio.create_task(self._pump(reader, server_writer, self._to_server)),
                asyncio.create_task(self._pump(server_reader, writer, self._to_client)),
            ]
            try:
                await asyncio.gather(*pumps)
            finally:
                await background.cancel_and_wait(pumps)
        finally:
            server_writer.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, may_pass: asyncio.Event) -> None:
        while data := await reader.read(CHUNK_BYTES):
            if self._network is Network.SLOW:
                await asyncio.sleep(SLOW_S)
            await may_pass.wait()
            writer.write(data)
            await writer.drain()
        await may_pass.wait()
        with contextlib.suppress(OSError):
            writer.write_eof()
