"""A wallet in the event loop of a test, from its start on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from grpc_health.v1 import health_pb2

from services.kit.clock import SystemClock
from services.kit.supervision import TaskSupervisor
from services.wallet.server.process import WalletServer
from services.wallet.settings import WalletSettings
from tests.processes.bus import password, plain_url
from tests.processes.wallet import WalletClient, WalletProcess

SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING


@dataclass(frozen=True)
class StartingWallet:
    """A wallet that may not serve yet, and its client."""

    client: WalletClient
    server: WalletServer
    running: asyncio.Task[None]

    async def health(self, service: str = "") -> int:
        request = health_pb2.HealthCheckRequest(service=service)
        answer = await self.client.health.Check(request, wait_for_ready=True, timeout=60)
        return int(answer.status)

    async def wait_until_serving(self) -> None:
        ready = asyncio.create_task(self.server.ready.wait())
        await asyncio.wait([ready, self.running], return_when=asyncio.FIRST_COMPLETED, timeout=60)
        ready.cancel()
        assert self.server.ready.is_set()
        assert await self.health() == SERVING
        await self.client.open_account("ana")


@asynccontextmanager
async def start_wallet(url: str, nats_url: str, home: Path) -> AsyncIterator[StartingWallet]:
    described, supervisor = WalletProcess(url, nats_url, home), TaskSupervisor("wallet")
    settings = WalletSettings.model_validate(
        {
            "environment": "development",
            "nats_url": plain_url(nats_url),
            "nats_password": password(nats_url),
            "issuer_jwks": described.issuer.jwks,
            "database_url": url,
            "listen": described.address,
            "stop_grace_s": 0,
        }
    )
    server = WalletServer(settings, SystemClock())
    running = asyncio.create_task(server.run(supervisor))
    async with described.client() as client:
        yield StartingWallet(client, server, running)
    supervisor.request_stop()
    await running
