"""Readiness: the gateway is ready while all that players need can be reached, and says what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Self
from unittest.mock import AsyncMock

import grpc
import pytest
from aiohttp.test_utils import TestClient, TestServer
from aiohttp.web import Application, Request
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from gateway.backends import readiness
from gateway.backends.readiness import GrpcDependency, NatsDependency, Readiness, facts_dependency
from gateway.http.application import EdgeApplication
from services.kit.bus.connection import BusEndpoint
from services.kit.rpc.server import PUBLISHING_HEALTH
from services.kit.rpc.transport import PLAINTEXT
from services.kit.settings import Environment
from stack.servers.ephemeral import free_port

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
WITHIN_S = 240.0


class FakeWallet:
    """A health service under the test's control."""

    def __init__(self) -> None:
        self._server = grpc.aio.server()
        self._health = health.aio.HealthServicer()
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    async def set_status(self, status: int, service: str = "") -> None:
        await self._health.set(service, status)

    async def start(self) -> None:
        await self._server.start()

    async def stop(self) -> None:
        await self._server.stop(None)


@pytest.fixture
async def wallet() -> AsyncIterator[FakeWallet]:
    wallet = FakeWallet()
    await wallet.set_status(SERVING)
    await wallet.start()
    yield wallet
    await wallet.stop()


async def test_the_gateway_is_ready_while_everything_is_up(
    wallet: FakeWallet, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "CHECK_EVERY_S", 0.02)
    async with _Gateway(wallet.address, nats_url) as gateway:
        await gateway.wait_for(200)
        await wallet.set_status(NOT_SERVING)
        await gateway.wait_for(503)
        assert "not serving" in str((await gateway.problem())["detail"])
        await wallet.set_status(SERVING)
        await gateway.wait_for(200)


async def test_the_gateway_is_not_ready_while_the_wallet_can_take_bets_and_tell_nobody(
    wallet: FakeWallet, nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "CHECK_EVERY_S", 0.02)
    await wallet.set_status(SERVING, PUBLISHING_HEALTH)
    facts = facts_dependency("wallet", wallet.address, PLAINTEXT)
    async with _Gateway(wallet.address, nats_url, more=[facts]) as gateway:
        await gateway.wait_for(200)
        await wallet.set_status(NOT_SERVING, PUBLISHING_HEALTH)
        await gateway.wait_for(503, detail="facts are not published: the bus takes nothing.")
        await wallet.set_status(SERVING, PUBLISHING_HEALTH)
        await gateway.wait_for(200)


@pytest.mark.guarantee("G7")
async def test_g7_clients_see_what_is_missing_and_only_the_log_has_its_address(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(readiness, "CHECK_EVERY_S", 0.02)
    no_wallet, no_nats = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    async with _Gateway(no_wallet, f"nats://feltro:secret@{no_nats}") as gateway:
        await gateway.wait_for(503, detail="wallet does not answer; events does not answer.")
        problem = await gateway.problem()
        assert problem["status"] == 503
        for inner in ("127.0.0.1", no_wallet.rpartition(":")[2], no_nats.rpartition(":")[2], "secret"):
            assert inner not in str(problem)
        assert (await gateway.client.get("/healthz")).status == 200
    logged = {
        record.__dict__["dependency"]: record.__dict__ for record in caplog.records if "dependency" in record.__dict__
    }
    assert {name: record["address"] for name, record in logged.items()} == {"wallet": no_wallet, "events": no_nats}
    assert "secret" not in str(logged)


@pytest.mark.guarantee("G9")
async def test_g9_a_gateway_closes_although_the_client_of_the_bus_lost_a_cancellation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost = asyncio.Event()

    async def connect(*_: object, **__: object) -> None:
        # As `asyncio.wait_for` does when it is cancelled at the moment at which an address refuses the connection.
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        lost.set()
        await asyncio.Event().wait()

    monkeypatch.setattr(readiness, "connect", connect)
    bus = NatsDependency(BusEndpoint("nats://127.0.0.1:1"))
    monkeypatch.setattr(bus.client, "close", AsyncMock())
    assert await bus.check()
    await asyncio.sleep(0)
    await asyncio.wait_for(bus.close(), WITHIN_S)
    assert lost.is_set()


async def test_the_status_page_explains_the_login_only_in_development(nats_url: str) -> None:
    for environment in Environment:
        async with _Gateway(f"127.0.0.1:{free_port()}", nats_url, environment) as gateway:
            for path in ("/status", "/"):
                answer = await gateway.client.get(path)
                assert answer.headers["Content-Security-Policy"].startswith("default-src 'self'")
                assert ("feltro token" in await answer.text()) == (environment is Environment.DEVELOPMENT)
            for file in ("/status.js", "/pages.css"):
                assert (await gateway.client.get(file)).status == 200


class _Gateway:
    """The gateway's application and its readiness checks, as the process runs them."""

    def __init__(
        self,
        wallet: str,
        nats: str,
        environment: Environment = Environment.DEVELOPMENT,
        more: Sequence[GrpcDependency] = (),
    ) -> None:
        bus = NatsDependency(BusEndpoint(nats))
        self._readiness = Readiness([GrpcDependency("wallet", "", wallet), *more, bus])
        self.client: TestClient[Request, Application] = TestClient(
            TestServer(EdgeApplication(self._readiness, environment).build())
        )

    async def __aenter__(self) -> Self:
        self._watching = asyncio.create_task(self._readiness.watch())
        await self.client.start_server()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)
        await self._readiness.close()

    async def wait_for(self, status: int, detail: str = "") -> None:
        async with asyncio.timeout(WITHIN_S):
            answer = await self.client.get("/readyz")
            while answer.status != status or detail not in await answer.text():
                answer = await self.client.get("/readyz")

    async def problem(self) -> dict[str, object]:
        answer = await self.client.get("/readyz")
        assert answer.content_type == "application/problem+json"
        problem: dict[str, object] = await answer.json()
        return problem
