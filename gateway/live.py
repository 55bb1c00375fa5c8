"""What is live of the edge, put together: it ends with the application whose routes it has."""

from __future__ import annotations

from collections.abc import Coroutine

from aiohttp import web
from nats.aio.client import Client as Nats

from gateway.asking import Asks
from gateway.asyncapi import LiveReference
from gateway.connections import Connections
from gateway.contracts import Contracts
from gateway.conversation import Conversation
from gateway.hub import Hub
from gateway.private_facts import PrivateFacts
from gateway.rates import Rates
from gateway.sse import Streams
from gateway.visitors import Visitors
from gateway.websocket import Sockets


class Live:
    """WebSockets and server-sent events. Its routes come before REST's, which would take every path."""

    def __init__(
        self,
        contracts: Contracts,
        desk: Asks,
        visitors: Visitors,
        rates: Rates,
        bus: Nats,
        connections: Connections,
        stop_grace_s: float,
    ) -> None:
        self.hub = Hub(bus, contracts, desk)
        self.facts = PrivateFacts(bus)
        conversation = Conversation(contracts, desk, visitors, rates, self.hub, self.facts)
        self.sockets = Sockets(conversation, visitors, rates, connections)
        self.streams = Streams(self.hub, visitors, rates, connections)
        self._reference = LiveReference(contracts)
        self._stop_grace_s = stop_grace_s

    def background(self) -> list[Coroutine[object, object, None]]:
        """What has to run for as long as anybody is connected."""
        return [*self.hub.background(), self.facts.run(), self.sockets.sweep()]

    def add_routes(self, application: web.Application) -> None:
        self.sockets.add_routes(application)
        self.streams.add_routes(application)
        self._reference.add_routes(application)
        application.on_shutdown.append(self._drain)
        application.on_cleanup.append(self._close)

    async def _drain(self, _: web.Application) -> None:
        self.streams.drain()
        await self.sockets.drain(self._stop_grace_s)

    async def _close(self, _: web.Application) -> None:
        self.sockets.close()
        await self.hub.close()
