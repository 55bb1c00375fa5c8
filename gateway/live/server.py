"""What is live of the edge, put together: it ends with the application whose routes it has."""

from __future__ import annotations

from collections.abc import Coroutine

from aiohttp import web
from nats.aio.client import Client as Nats

from gateway.access.principals import Authenticator
from gateway.access.rate_limiter import RateLimiter
from gateway.backends.principal_dispatcher import PrincipalDispatcher
from gateway.contracts.methods import Contracts
from gateway.http.connection_limiter import ConnectionCounter
from gateway.live.event_stream import EventStreams
from gateway.live.hub import Hub
from gateway.live.private_facts import PrivateFacts
from gateway.live.rpc_server import RpcServer
from gateway.live.websocket import WebSocketServer
from gateway.reference.asyncapi import AsyncApiRoutes


class LiveServer:
    """WebSockets and server-sent events. Its routes come before REST's, which would take every path."""

    def __init__(
        self,
        contracts: Contracts,
        dispatcher: PrincipalDispatcher,
        authenticator: Authenticator,
        rate_limiter: RateLimiter,
        bus: Nats,
        connections: ConnectionCounter,
        stop_grace_s: float,
    ) -> None:
        self.hub = Hub(bus, contracts, dispatcher)
        self.private_facts = PrivateFacts(bus)
        conversation = RpcServer(contracts, dispatcher, authenticator, rate_limiter, self.hub, self.private_facts)
        self.websockets = WebSocketServer(conversation, authenticator, rate_limiter, connections)
        self.event_streams = EventStreams(self.hub, authenticator, rate_limiter, connections)
        self._reference = AsyncApiRoutes(contracts)
        self._stop_grace_s = stop_grace_s

    def background_tasks(self) -> list[Coroutine[object, object, None]]:
        """What has to run for as long as anybody is connected."""
        return [*self.hub.background_tasks(), self.private_facts.run(), self.websockets.sweep()]

    def install(self, application: web.Application) -> None:
        self.websockets.install(application)
        self.event_streams.install(application)
        self._reference.install(application)
        application.on_shutdown.append(self._drain)
        application.on_cleanup.append(self._close)

    async def _drain(self, _: web.Application) -> None:
        self.event_streams.drain()
        await self.websockets.drain(self._stop_grace_s)

    async def _close(self, _: web.Application) -> None:
        self.websockets.abort_all()
        await self.hub.close()
