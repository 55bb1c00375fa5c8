"""Puts the gateway together: what lets people in, what asks the services, and what answers over HTTP."""

from __future__ import annotations

from collections.abc import Coroutine

from aiohttp import web
from nats.aio.client import Client as Nats

from feltro.wallet.v1 import session_pb2
from gateway import json_codec
from gateway.activity import Activity
from gateway.connections import Connections, Entrance, room_for
from gateway.contracts import Contracts
from gateway.cors import Cors
from gateway.demo import DemoDoor
from gateway.desk import Desk
from gateway.directory import Directory
from gateway.documents import Reference
from gateway.edge import Edge, Routed
from gateway.front_end import FrontEnd
from gateway.live import Live
from gateway.local_service import GatewayService, methods_here
from gateway.openapi import document
from gateway.operator_audit import OperatorAudit
from gateway.parts import Lookout
from gateway.proxies import TrustedProxies, networks_of
from gateway.rates import Rates
from gateway.reason_pages import ReasonPages
from gateway.reasons import ReasonSets
from gateway.rest import Rest
from gateway.revocations import Revocations
from gateway.settings import GatewaySettings
from gateway.upstream import Upstream
from gateway.visitors import Visitors
from services.kit.signing_key import SigningKey

WALLET = "feltro.wallet."


class Gateway:
    """All of it, but the listening."""

    def __init__(self, settings: GatewaySettings, lookout: Lookout, bus: Nats) -> None:
        self._settings = settings
        contracts = Contracts()
        self._directory = Directory(bus, {WALLET: settings.wallet_address})
        self._upstream = Upstream()
        self._revocations = Revocations(bus)
        self._activity = Activity(bus)
        visitors = Visitors(settings.verifier(), self._revocations, self._activity)
        rates = Rates(settings.limits())
        desk = Desk(self._directory, self._upstream)
        desk.offer(methods_here(self._service(contracts, desk, rates), visitors))
        audited = OperatorAudit(desk)
        reasons = ReasonSets(contracts)
        front_end = FrontEnd(settings)
        proxies = TrustedProxies(networks_of(settings.trusted_proxies))
        connections, per_address = room_for(settings.connections), settings.connections_per_address
        self.entrance = Entrance(connections, per_address, proxies)
        clients = Connections(connections, per_address)
        self._live = Live(contracts, audited, visitors, rates, bus, clients, settings.stop_grace_s)
        parts: list[Routed] = [
            self.entrance,
            proxies,
            self._live,
            Rest(contracts, audited, visitors, rates),
            Reference(json_codec.dumps(document(contracts, reasons))),
            ReasonPages(contracts, reasons),
            front_end,
        ]
        cors = Cors(settings.cors_origins)
        self.application: web.Application = Edge(
            lookout, settings.environment, self._directory.replicas, parts, cors, front_end=front_end.there
        ).application()

    def background(self) -> list[Coroutine[object, object, None]]:
        """What has to run for as long as the gateway does."""
        return [
            self._directory.run(),
            self._revocations.run(),
            self._activity.run(),
            self._upstream.tend(self._addresses),
            *self._live.background(),
        ]

    def _addresses(self) -> set[str]:
        return {self._settings.wallet_address, *(replica.address for replica in self._directory.replicas())}

    async def close(self) -> None:
        """Lets go of the services."""
        await self._upstream.close()

    def _service(self, contracts: Contracts, desk: Desk, rates: Rates) -> GatewayService:
        end = contracts.by_rpc_name["SessionService.EndPlayerSessions"]

        async def end_sessions(
            request: session_pb2.EndPlayerSessionsRequest, token: str
        ) -> session_pb2.EndPlayerSessionsResponse:
            return session_pb2.EndPlayerSessionsResponse.FromString(await desk.ask(end, request, token))

        key = self._settings.demo_key
        door = DemoDoor(None if key is None else SigningKey.read(key), self._settings.issuer_audience)
        return GatewayService(self._directory, door, rates, self._revocations, end_sessions)
