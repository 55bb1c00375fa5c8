"""Calls services on behalf of clients: one line to each process, so that calls of a moment travel together."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from feltro.relay.v1 import relay_pb2
from services.kit.relay_line import Line

# A process that is started again is another one, mostly at another address.
TIDY_EVERY_S = 30.0


class Upstream:
    """The lines to all processes."""

    def __init__(self) -> None:
        self._lines: dict[str, Line] = {}

    async def call(self, address: str, method: str, token: str, request: bytes, traceparent: str = "") -> bytes:
        """The answer's bytes; `Refused` as the service said it, or `relay_line.NoAnswer`."""
        line = self._lines.get(address)
        if line is None:
            line = self._lines[address] = Line(address)
        call = relay_pb2.Call(method=method, token=token, request=request, traceparent=traceparent)
        answer = line.ask(call)
        try:
            return await answer
        finally:
            line.forget(call)

    async def tidy(self, known: Callable[[], set[str]]) -> None:
        """Lets go, for ever and again, of lines to processes that are not known any more (G11)."""
        while True:
            await asyncio.sleep(TIDY_EVERY_S)
            await self.keep(known())

    async def keep(self, addresses: set[str]) -> None:
        """Lets go of all other lines over which nobody waits for an answer."""
        for address in set(self._lines) - addresses:
            if self._lines[address].idle:
                await self._lines.pop(address).close()

    async def close(self) -> None:
        while self._lines:
            await self._lines.popitem()[1].close()
