"""Puts the gateway together: access, the connections to services and bus, and the HTTP application."""

from __future__ import annotations

from collections.abc import Coroutine

from aiohttp import web
from nats.aio.client import Client as Nats

from feltro.wallet.v1 import session_pb2
from gateway.access.activity import Activity
from gateway.access.authenticator import Authenticator
from gateway.access.demonstration import DemoTokenIssuer
from gateway.access.principals import Principal
from gateway.access.proxies import TrustedProxies, parse_networks
from gateway.access.rate_limiter import RateLimiter
from gateway.access.revocations import Revocations
from gateway.backends.directory import Directory
from gateway.backends.dispatcher import CallContext, Dispatcher
from gateway.backends.local_service import GatewayService, local_methods
from gateway.backends.operator_audit import OperatorAudit
from gateway.backends.readiness import Readiness
from gateway.backends.trusted_addresses import ServiceAddress, TrustedAddresses
from gateway.backends.upstream import Upstream
from gateway.backends.wallet_revocations import WalletRevocations
from gateway.contracts.methods import Contracts
from gateway.contracts.reasons import ReasonSets
from gateway.http.application import ApplicationPart, EdgeApplication
from gateway.http.connection_limiter import ConnectionCounter, ConnectionLimiter, connection_capacity
from gateway.http.cors import CorsPolicy
from gateway.http.front_end import FrontEnd
from gateway.http.rest import RestApi
from gateway.http.security_headers import SecurityHeaders
from gateway.live.server import LiveServer
from gateway.reference.asyncapi import AsyncApiRoutes
from gateway.reference.openapi import OpenApiRoutes
from gateway.reference.reason_pages import ReasonPages
from gateway.settings import GatewaySettings
from services.kit.access.signing_key import SigningKey

WALLET_PACKAGE_PREFIX = "feltro.wallet."
# The service whose certificate the wallet has to show.
WALLET_SERVICE = "wallet"


class Gateway:
    """All parts of the gateway; `__main__` listens and supervises."""

    def __init__(self, settings: GatewaySettings, readiness: Readiness, bus: Nats) -> None:
        self._settings = settings
        contracts = Contracts()
        wallet = ServiceAddress(settings.wallet_address, WALLET_SERVICE)
        trusted = TrustedAddresses(settings.trusted_game_networks())
        self._directory = Directory(bus, {WALLET_PACKAGE_PREFIX: wallet}, trusted)
        self._upstream = Upstream(settings.transport())
        dispatcher = Dispatcher(self._directory, self._upstream)
        self._revocations = Revocations(WalletRevocations(dispatcher, self._upstream, wallet))
        self._activity = Activity(bus)
        authenticator = Authenticator(settings.verifier(), self._revocations, self._activity)
        rate_limiter = RateLimiter(settings.limits())
        service = self._gateway_service(contracts, dispatcher, rate_limiter)
        dispatcher.register_local(local_methods(service, authenticator))
        audited = OperatorAudit(dispatcher)
        reasons = ReasonSets(contracts)
        front_end = FrontEnd(settings)
        proxies = TrustedProxies(parse_networks(settings.trusted_proxies))
        connections, per_address = connection_capacity(settings.connections), settings.connections_per_address
        self.connection_limiter = ConnectionLimiter(connections, per_address, proxies)
        clients = ConnectionCounter(connections, per_address)
        game_of, grace_s = self._directory.game_of, settings.stop_grace_s
        self._live = LiveServer(contracts, audited, authenticator, rate_limiter, bus, game_of, clients, grace_s)
        parts: list[ApplicationPart] = [
            self.connection_limiter,
            proxies,
            self._live,
            AsyncApiRoutes(contracts),
            RestApi(contracts, audited, authenticator, rate_limiter),
            OpenApiRoutes(contracts, reasons),
            ReasonPages(contracts, reasons),
            front_end,
        ]
        cors = CorsPolicy(settings.cors_origins)
        self.application: web.Application = EdgeApplication(
            readiness,
            settings.environment,
            self._directory.replicas,
            parts,
            cors,
            security_headers=SecurityHeaders(settings.hsts or ""),
            has_front_end=front_end.has_index,
        ).build()

    def background_tasks(self) -> list[Coroutine[object, object, None]]:
        """Returns the tasks that have to run as long as the gateway does."""
        return [
            self._directory.run(),
            self._revocations.run(),
            self._activity.run(),
            self._upstream.maintain(self._addresses),
            *self._live.background_tasks(),
        ]

    def _addresses(self) -> set[str]:
        return {self._settings.wallet_address, *(replica.address for replica in self._directory.replicas())}

    async def close(self) -> None:
        """Closes the connections to services."""
        await self._upstream.close()

    def _gateway_service(
        self, contracts: Contracts, dispatcher: Dispatcher, rate_limiter: RateLimiter
    ) -> GatewayService:
        method = contracts.by_rpc_name["SessionService.EndPlayerSessions"]

        async def end_sessions(
            request: session_pb2.EndPlayerSessionsRequest, principal: Principal
        ) -> session_pb2.EndPlayerSessionsResponse:
            answer = await dispatcher.dispatch(method, request, CallContext(principal))
            return session_pb2.EndPlayerSessionsResponse.FromString(answer)

        key = self._settings.demo_key
        demo = DemoTokenIssuer(None if key is None else SigningKey.read(key), self._settings.issuer_audience)
        return GatewayService(self._directory, demo, rate_limiter, self._revocations, end_sessions)
