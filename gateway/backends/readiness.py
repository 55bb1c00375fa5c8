"""Which parts of the platform the gateway can reach right now.

Looked at once a second, however many ask, so that a probe costs nobody anything (G11). Anybody may ask what is up;
where a part lives is for the log alone (G7).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from nats.aio.client import Client
from nats.errors import Error as NatsError

from services.kit.bus.connection import connect

CHECK_EVERY_S = 1.0
ANSWER_WITHIN_S = 1.0
NO_ANSWER = "does not answer"

_PASSWORDS = re.compile(r"[^,@]*@")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DependencyState:
    """How a part is; `problem` is empty when it is up."""

    name: str
    purpose: str
    problem: str

    @property
    def is_up(self) -> bool:
        """Whether it can be used."""
        return not self.problem


class Dependency(Protocol):
    """Something the gateway depends on."""

    name: str
    purpose: str
    address: str
    """Its address, for the log: without what lets one in there."""

    async def check(self) -> str:
        """What is wrong with it, for everybody to know, or nothing."""
        ...

    async def close(self) -> None:
        """Let go of it."""
        ...


class GrpcDependency:
    """A service that answers gRPC health checks."""

    def __init__(self, name: str, purpose: str, address: str) -> None:
        self.name = name
        self.purpose = purpose
        self.address = address
        # Asked every second: the channel's own pauses after a failure, up to two minutes, would hide its return.
        self._channel = grpc.aio.insecure_channel(address, options=[("grpc.max_reconnect_backoff_ms", 1000)])
        self._health = health_pb2_grpc.HealthStub(self._channel)

    async def check(self) -> str:
        """Not serving, or not there."""
        try:
            answer = await self._health.Check(health_pb2.HealthCheckRequest(), timeout=ANSWER_WITHIN_S)
        except grpc.aio.AioRpcError:
            return NO_ANSWER
        return "" if answer.status == health_pb2.HealthCheckResponse.SERVING else "answers, but is not serving"

    async def close(self) -> None:
        """Close the channel."""
        await self._channel.close()


class NatsDependency:
    """The event bus."""

    name = "events"
    purpose = "carries what happens to whoever watches"

    def __init__(self, url: str) -> None:
        self.address = _PASSWORDS.sub("", urlsplit(url).netloc)
        self._url = url
        self.client = Client()
        """For whoever speaks to the bus; it connects when the part is first looked at, and again when it is lost."""
        self._connecting: asyncio.Task[Client] | None = None

    async def check(self) -> str:
        """Not connected; once started, the client itself tries again for ever."""
        if self._connecting is None:
            self._connecting = asyncio.create_task(connect(self._url, "feltro gateway", client=self.client))
        return "" if self.client.is_connected else NO_ANSWER

    async def close(self) -> None:
        """Close the connection."""
        if self._connecting is None:
            return
        self._connecting.cancel()
        await asyncio.gather(self._connecting, return_exceptions=True)
        with contextlib.suppress(NatsError, OSError):
            await self.client.close()


class Readiness:
    """Looks at all parts, and remembers what it saw."""

    def __init__(self, dependencies: list[Dependency]) -> None:
        self._parts = dependencies
        self._seen = [DependencyState(part.name, part.purpose, "has not been looked at yet") for part in dependencies]
        self._own: list[DependencyState] = []

    @property
    def states(self) -> list[DependencyState]:
        """What was seen last, at most a few seconds ago."""
        return [*self._seen, *self._own]

    def mark_broken(self) -> None:
        """The gateway itself has broken: it is not ready, however well the others are."""
        self._own = [DependencyState("gateway", "answers players", "has lost a part of itself and is started anew")]

    def mark_stopping(self) -> None:
        """It stops in a moment; if something has broken that is still what is wrong."""
        self._own = self._own or [DependencyState("gateway", "answers players", "stops: ask another one")]

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            seen = await asyncio.gather(*(self._look(part) for part in self._parts))
            for part, before, now in zip(self._parts, self._seen, seen, strict=True):
                if now.problem != before.problem:
                    _note(part, now)
            self._seen = seen
            await asyncio.sleep(CHECK_EVERY_S)

    async def close(self) -> None:
        """Let go of all parts."""
        await asyncio.gather(*(part.close() for part in self._parts))

    async def _look(self, part: Dependency) -> DependencyState:
        try:
            problem = await asyncio.wait_for(part.check(), 3 * ANSWER_WITHIN_S)
        except TimeoutError:
            problem = "does not answer in time"
        return DependencyState(part.name, part.purpose, problem)


def _note(part: Dependency, seen: DependencyState) -> None:
    """Once for each change: whoever operates has to know where to look."""
    said = {"part": part.name, "address": part.address, "problem": seen.problem}
    _log.log(logging.INFO if seen.is_up else logging.WARNING, "a part of the platform has changed", extra=said)
