"""Which dependencies the gateway can reach right now.

They are checked once a second, however many probes ask (G11). Anybody may ask what is up; the addresses of dependencies
are for the log alone (G7).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from nats.aio.client import Client as Nats
from nats.errors import Error as NatsError

from services.kit.background import cancel_and_wait
from services.kit.bus.connection import BusClient, BusEndpoint, connect
from services.kit.rpc.server import PUBLISHING_HEALTH
from services.kit.rpc.transport import PLAINTEXT, PeerChannel, Transport

CHECK_EVERY_S = 1.0
ANSWER_WITHIN_S = 1.0
NO_ANSWER = "does not answer"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DependencyState:
    """The state of a dependency; `problem` is empty when it is up."""

    name: str
    purpose: str
    problem: str

    @property
    def is_up(self) -> bool:
        return not self.problem


class Dependency(Protocol):
    """Something the gateway depends on."""

    name: str
    purpose: str
    address: str
    """The address for the log, without passwords."""

    async def check(self) -> str:
        """Returns what is wrong with it, in words that anybody may read; empty if nothing is."""
        ...

    async def close(self) -> None:
        """Closes the connection to it."""
        ...


class GrpcDependency:
    """A service that answers gRPC health checks."""

    def __init__(
        self,
        name: str,
        purpose: str,
        address: str,
        transport: Transport = PLAINTEXT,
        *,
        peer: str = "",
        health_service: str = "",
        not_serving: str = "answers, but is not serving",
    ) -> None:
        """`peer` is the service whose certificate it has to show, `name` itself if empty.

        `health_service` is what is asked about, the whole process if empty; `not_serving` says what a no means.
        """
        self._health_service = health_service
        self._not_serving = not_serving
        self.name = name
        self.purpose = purpose
        self.address = address
        # The channel's own pauses after a failure, up to two minutes, would hide the return of the service.
        self._peer = PeerChannel(transport, address, peer or name, [("grpc.max_reconnect_backoff_ms", 1000)])

    async def check(self) -> str:
        try:
            health = health_pb2_grpc.HealthStub(await self._peer.current())
            request = health_pb2.HealthCheckRequest(service=self._health_service)
            answer = await health.Check(request, timeout=ANSWER_WITHIN_S)
        except grpc.aio.AioRpcError:
            return NO_ANSWER
        return "" if answer.status == health_pb2.HealthCheckResponse.SERVING else self._not_serving

    async def close(self) -> None:
        await self._peer.close()


def facts_dependency(wallet_service: str, wallet_address: str, transport: Transport) -> GrpcDependency:
    """Asks the wallet whether players are told of what it does: one that takes bets in silence is of no use to them."""
    return GrpcDependency(
        "facts",
        "tells players what happened to their money",
        wallet_address,
        transport,
        peer=wallet_service,
        health_service=PUBLISHING_HEALTH,
        not_serving="are not published: the bus takes nothing",
    )


class NatsDependency:
    """The event bus."""

    name = "events"
    purpose = "carries events to clients"

    def __init__(self, endpoint: BusEndpoint) -> None:
        self.address = urlsplit(endpoint.url).netloc.rpartition("@")[2]
        self._endpoint = endpoint
        self.client = BusClient()
        """The connection to the bus; it connects at the first check, and again whenever it is lost."""
        self._connecting: asyncio.Task[Nats] | None = None

    async def check(self) -> str:
        """Starts connecting at the first call; from then on the client reconnects by itself."""
        if self._connecting is None:
            self._connecting = asyncio.create_task(connect(self._endpoint, "feltro gateway", client=self.client))
        return "" if self.client.is_connected else NO_ANSWER

    async def close(self) -> None:
        if self._connecting is None:
            return
        # Once is not enough: the client may lose a cancellation, and would look for the bus for ever.
        await cancel_and_wait([self._connecting])
        with contextlib.suppress(NatsError, OSError):
            await self.client.close()


class Readiness:
    """Checks all dependencies, and keeps their last states."""

    def __init__(self, dependencies: list[Dependency]) -> None:
        self._dependencies = dependencies
        self._last_states = [
            DependencyState(dependency.name, dependency.purpose, "has not been looked at yet")
            for dependency in dependencies
        ]
        self._own: list[DependencyState] = []

    @property
    def states(self) -> list[DependencyState]:
        """The last states, at most a few seconds old."""
        return [*self._last_states, *self._own]

    def mark_broken(self) -> None:
        """Reports that the gateway itself has failed: it is not ready, whatever its dependencies are."""
        self._own = [DependencyState("gateway", "answers players", "has lost a part of itself and is started anew")]

    def mark_stopping(self) -> None:
        """Reports that the gateway is stopping, unless it has failed before."""
        self._own = self._own or [DependencyState("gateway", "answers players", "stops: ask another one")]

    async def watch(self) -> None:
        """Checks all dependencies until cancelled."""
        while True:
            states = await asyncio.gather(*(self._check(dependency) for dependency in self._dependencies))
            for dependency, before, now in zip(self._dependencies, self._last_states, states, strict=True):
                if now.problem != before.problem:
                    _log_change(dependency, now)
            self._last_states = states
            await asyncio.sleep(CHECK_EVERY_S)

    async def close(self) -> None:
        await asyncio.gather(*(dependency.close() for dependency in self._dependencies))

    async def _check(self, dependency: Dependency) -> DependencyState:
        try:
            problem = await asyncio.wait_for(dependency.check(), 3 * ANSWER_WITHIN_S)
        except TimeoutError:
            problem = "does not answer in time"
        return DependencyState(dependency.name, dependency.purpose, problem)


def _log_change(dependency: Dependency, state: DependencyState) -> None:
    """Logs each change once, with the address, so that the operator knows where to look."""
    facts = {"dependency": dependency.name, "address": dependency.address, "problem": state.problem}
    _log.log(logging.INFO if state.is_up else logging.WARNING, "a dependency of the gateway has changed", extra=facts)
