"""Calls services on behalf of clients: one line to each process, so that calls of a moment travel together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from feltro.relay.v1 import relay_pb2
from services.kit import background
from services.kit.rpc.relay_connection import RelayConnection

# A process that is started again is another one, mostly at another address.
CLEANUP_EVERY_S = 30.0


class Upstream:
    """The lines to all processes."""

    def __init__(self) -> None:
        self._lines: dict[str, RelayConnection] = {}
        self._broken: list[asyncio.Task[None]] = []
        self._one_broke = asyncio.Event()

    async def call(self, address: str, method: str, token: str, request: bytes, traceparent: str = "") -> bytes:
        """The answer's bytes; `Refused` as the service said it, or `relay_line.NoAnswer`."""
        line = self._lines.get(address)
        if line is None:
            line = self._lines[address] = RelayConnection(address)
            line.run_task.add_done_callback(self._ended)
        call = relay_pb2.Call(method=method, token=token, request=request, traceparent=traceparent)
        answer = line.send(call)
        try:
            return await answer
        finally:
            line.discard(call)

    async def maintain(self, known: Callable[[], set[str]]) -> None:
        """Lets go, for ever and again, of lines to processes that are not known any more (G11).

        It fails when a line has: whatever is asked over one that carries nothing would be without an answer.
        """
        while True:
            await background.wait_for_event(self._one_broke, CLEANUP_EVERY_S)
            for broken in self._broken:
                broken.result()
            await self.close_others(known())

    async def close_others(self, addresses: set[str]) -> None:
        """Lets go of all other lines over which nobody waits for an answer."""
        for address in set(self._lines) - addresses:
            if self._lines[address].idle:
                await self._lines.pop(address).close()

    async def close(self) -> None:
        while self._lines:
            await self._lines.popitem()[1].close()

    def _ended(self, line: asyncio.Task[None]) -> None:
        # One that was closed was cancelled.
        if not line.cancelled():
            self._broken.append(line)
            self._one_broke.set()
