"""Every task that never ends is supervised: when one fails, the gateway is not ready, and stops."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

import aiohttp
import pytest
from aiohttp.test_utils import TestClient, TestServer

from gateway.__main__ import serve
from gateway.access.activity import Activity
from gateway.access.revocations import Revocations
from gateway.backends.directory import Directory
from gateway.backends.readiness import Readiness
from gateway.backends.trusted_addresses import ServiceAddress
from gateway.backends.upstream import Upstream
from gateway.http.application import EdgeApplication
from gateway.live.connected_players import ConnectedPlayers
from gateway.live.connections.websocket import WebSocketServer
from gateway.live.hub import Hub
from gateway.live.own_views import OwnViews
from gateway.live.private_facts import PrivateFacts
from gateway.settings import GatewaySettings
from services.kit.rpc.relay_connection import RelayConnection
from services.kit.settings import Environment, load_or_exit
from services.kit.supervision import TaskSupervisor
from stack.issuer import DevelopmentIssuer
from stack.servers.ephemeral import free_port
from tests.gateway.bus import WITHIN_S

pytestmark = pytest.mark.guarantee("G12")


async def fail(*_: object) -> None:
    raise RuntimeError("a bug")


async def only_return(*_: object) -> None:
    return


@pytest.mark.parametrize(
    ("part", "work"),
    [
        (Hub, "_catch_up_late"),
        (Hub, "_drop_idle_feeds"),
        (PrivateFacts, "run"),
        (OwnViews, "run"),
        (ConnectedPlayers, "run"),
        (WebSocketServer, "sweep"),
        (Directory, "run"),
        (Revocations, "run"),
        (Activity, "run"),
        (Upstream, "maintain"),
        (Readiness, "watch"),
    ],
)
async def test_g12_a_failure_of_any_task_ends_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: type, work: str
) -> None:
    monkeypatch.setattr(part, work, fail)
    settings = settings_without_services(tmp_path, monkeypatch)
    assert await asyncio.wait_for(serve(settings), WITHIN_S) == 1
    assert "a task of the gateway has failed" in caplog.text


def settings_without_services(home: Path, monkeypatch: pytest.MonkeyPatch, **more: str) -> GatewaySettings:
    """Returns the settings of a gateway with no services; `more` are variables without their prefix."""
    issuer = DevelopmentIssuer(home / "issuer")
    issuer.prepare()
    nowhere = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("FELTRO_ENVIRONMENT", "development")
    monkeypatch.setenv("FELTRO_NATS_URL", f"nats://{nowhere}")
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", str(issuer.jwks))
    monkeypatch.setenv("FELTRO_DEMO_JWKS", str(issuer.demo_keys.jwks))
    given = {"WALLET_ADDRESS": nowhere, "LISTEN": f"127.0.0.1:{free_port()}", **more}
    for name, value in given.items():
        monkeypatch.setenv(f"FELTRO_GATEWAY_{name}", value)
    return load_or_exit(GatewaySettings)


@pytest.mark.guarantee("G9")
async def test_g9_a_stopping_gateway_is_not_ready_before_it_stops_listening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_without_services(tmp_path, monkeypatch, NOT_READY_S="120")
    serving = asyncio.create_task(serve(settings))

    async def readiness_detail() -> str:
        async with session.get("/readyz") as answer:
            return str((await answer.json(content_type=None))["detail"])

    async with aiohttp.ClientSession(f"http://{settings.listen}") as session, asyncio.timeout(WITHIN_S):
        while True:
            with suppress(aiohttp.ClientConnectorError):
                assert "gateway" not in await readiness_detail()
                break
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
        while "gateway stops" not in await readiness_detail():
            await asyncio.sleep(0.01)
        async with session.get("/healthz") as answer:
            assert answer.status == 200
        assert not serving.done()
        # A second signal does not wait.
        os.kill(os.getpid(), signal.SIGTERM)
        assert await serving == 0


@pytest.mark.parametrize("task", [fail, only_return])
async def test_g12_a_gateway_with_a_failed_task_is_not_ready(task: object) -> None:
    assert callable(task)
    readiness = Readiness([])
    supervisor = TaskSupervisor("gateway", readiness.mark_broken)
    async with TestClient(TestServer(EdgeApplication(readiness, Environment.DEVELOPMENT).build())) as client:
        assert (await client.get("/readyz")).status == 200
        supervisor.start([task()])
        await asyncio.wait_for(supervisor.stopping.wait(), WITHIN_S)
        assert supervisor.failure is not None
        answer = await client.get("/readyz")
        assert answer.status == 503
        assert "lost a part of itself" in (await answer.json())["detail"]
    await supervisor.cancel_all()


def unused_address() -> ServiceAddress:
    return ServiceAddress(f"127.0.0.1:{free_port()}", "roulette")


async def test_g12_a_failed_connection_to_a_service_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RelayConnection, "_run", fail)
    upstream = Upstream()
    calling = asyncio.create_task(upstream.call(unused_address(), "a.B/C", "", b""))
    with pytest.raises(RuntimeError, match="a bug"):
        await asyncio.wait_for(upstream.maintain(set), WITHIN_S)
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)


async def test_a_closed_connection_to_a_service_is_no_failure() -> None:
    upstream = Upstream()
    calling = asyncio.create_task(upstream.call(unused_address(), "a.B/C", "", b""))
    await asyncio.sleep(0)
    maintaining = asyncio.create_task(upstream.maintain(set))
    await asyncio.sleep(0)
    calling.cancel()
    await asyncio.gather(calling, return_exceptions=True)
    await upstream.close()
    assert not maintaining.done()
    maintaining.cancel()
