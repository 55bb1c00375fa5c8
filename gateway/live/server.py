"""Puts the live part of the gateway together: WebSockets, event streams, and the hub behind them."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Coroutine

from aiohttp import web
from nats.aio.client import Client as Nats

from gateway.access.authenticator import Authenticator
from gateway.access.rate_limiter import RateLimiter
from gateway.backends.dispatcher import CallDispatcher
from gateway.contracts.methods import Contracts
from gateway.http.connection_limiter import ConnectionCounter
from gateway.live.connected_players import ConnectedPlayers
from gateway.live.connections.event_stream import EventStreams
from gateway.live.connections.rpc_server import RpcServer
from gateway.live.connections.websocket import WebSocketServer
from gateway.live.hub import Hub
from gateway.live.own_views import OwnViews
from gateway.live.private_facts import PlayerConnections, PrivateFacts


class LiveServer:
    """Serves WebSockets and server-sent events. Install it before `RestApi`, which matches every path."""

    def __init__(
        self,
        contracts: Contracts,
        dispatcher: CallDispatcher,
        authenticator: Authenticator,
        rate_limiter: RateLimiter,
        bus: Nats,
        game_of: Callable[[str], str | None],
        connections: ConnectionCounter,
        stop_grace_s: float,
    ) -> None:
        """`game_of` returns the game of a table: nobody else's events are shown there."""
        self.hub = Hub(bus, contracts, dispatcher, game_of)
        players, streaming_players = PlayerConnections(), PlayerConnections()
        self.private_facts = PrivateFacts(bus, players)
        self.own_views = OwnViews(bus, game_of, players, streaming_players)
        self.connected_players = ConnectedPlayers(bus, secrets.token_hex(8), [players, streaming_players])
        rpc_server = RpcServer(contracts, dispatcher, authenticator, rate_limiter, self.hub, players)
        self.websockets = WebSocketServer(rpc_server, authenticator, rate_limiter, connections)
        self.event_streams = EventStreams(self.hub, authenticator, rate_limiter, connections, streaming_players)
        self._stop_grace_s = stop_grace_s

    def background_tasks(self) -> list[Coroutine[object, object, None]]:
        """Returns the tasks that have to run as long as the gateway does."""
        players = [self.private_facts.run(), self.own_views.run(), self.connected_players.run()]
        return [*self.hub.background_tasks(), *players, self.websockets.sweep()]

    def install(self, application: web.Application) -> None:
        self.websockets.install(application)
        self.event_streams.install(application)
        application.on_shutdown.append(self._drain)
        application.on_cleanup.append(self._close)

    async def _drain(self, _: web.Application) -> None:
        self.event_streams.drain()
        await self.websockets.drain(self._stop_grace_s)

    async def _close(self, _: web.Application) -> None:
        self.websockets.abort_all()
        await self.hub.close()
