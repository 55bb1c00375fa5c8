"""Calls services for clients: one relay connection to each process, so that calls of a moment travel together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from feltro.relay.v1 import relay_pb2
from services.kit import background
from services.kit.rpc.relay_connection import RelayConnection

# A restarted process is a new one, most often at another address.
CLEANUP_EVERY_S = 30.0


class Upstream:
    """The relay connections to all processes."""

    def __init__(self) -> None:
        self._connections: dict[str, RelayConnection] = {}
        self._failed: list[asyncio.Task[None]] = []
        self._one_failed = asyncio.Event()

    async def call(self, address: str, method: str, token: str, request: bytes, traceparent: str = "") -> bytes:
        """Returns the answer's bytes; raises the service's `Refused`, or `relay_connection.NoAnswer`."""
        connection = self._connections.get(address)
        if connection is None:
            connection = self._connections[address] = RelayConnection(address)
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
        for address in set(self._connections) - addresses:
            if self._connections[address].idle:
                await self._connections.pop(address).close()

    async def close(self) -> None:
        while self._connections:
            await self._connections.popitem()[1].close()

    def _ended(self, task: asyncio.Task[None]) -> None:
        # Closing a connection cancels its task.
        if not task.cancelled():
            self._failed.append(task)
            self._one_failed.set()
