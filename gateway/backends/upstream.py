"""Calls services for clients: one relay connection to each process, so that calls of a moment travel together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from feltro.relay.v1 import relay_pb2
from gateway.backends.trusted_addresses import ServiceAddress
from services.kit import background
from services.kit.rpc.relay_connection import RelayConnection
from services.kit.rpc.transport import PLAINTEXT, Transport

# A restarted process is a new one, most often at another address.
CLEANUP_EVERY_S = 30.0


class Upstream:
    """The relay connections to all processes."""

    def __init__(self, transport: Transport = PLAINTEXT) -> None:
        self._transport = transport
        # The same address, to be proved for another service, is another connection.
        self._connections: dict[ServiceAddress, RelayConnection] = {}
        self._failed: list[asyncio.Task[None]] = []
        self._one_failed = asyncio.Event()

    async def call(
        self, called: ServiceAddress, method: str, token: str, request: bytes, traceparent: str = ""
    ) -> bytes:
        """Returns the answer's bytes; raises the service's `Refused`, or `relay_connection.NoAnswer`."""
        connection = self._connections.get(called)
        if connection is None:
            connection = RelayConnection(called.address, called.service, self._transport)
            self._connections[called] = connection
            connection.run_task.add_done_callback(self._ended)
        call = relay_pb2.Call(method=method, token=token, request=request, traceparent=traceparent)
        answer = connection.send(call)
        try:
            return await answer
        finally:
            connection.discard(call)

    async def maintain(self, known: Callable[[], set[str]]) -> None:
        """Closes connections to processes that are not known any more, until cancelled (G11).

        Fails when a connection's task has failed: calls over it would never be answered.
        """
        while True:
            await background.wait_for_event(self._one_failed, CLEANUP_EVERY_S)
            for failed in self._failed:
                failed.result()
            await self.close_others(known())

    async def close_others(self, addresses: set[str]) -> None:
        """Closes all other connections that nobody waits for an answer on."""
        for called in [called for called in self._connections if called.address not in addresses]:
            if self._connections[called].idle:
                await self._connections.pop(called).close()

    async def close(self) -> None:
        while self._connections:
            await self._connections.popitem()[1].close()

    def _ended(self, task: asyncio.Task[None]) -> None:
        # Closing a connection cancels its task.
        if not task.cancelled():
            self._failed.append(task)
            self._one_failed.set()
