"""What runs for ever runs under the part that ends the gateway: when it breaks, the gateway is unready, and stops."""

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
from gateway.backends.upstream import Upstream
from gateway.http.application import EdgeApplication
from gateway.live.hub import Hub
from gateway.live.private_facts import PrivateFacts
from gateway.live.websocket import WebSocketServer
from gateway.settings import GatewaySettings
from services.kit.rpc.relay_connection import RelayConnection
from services.kit.settings import Environment, load_or_exit
from services.kit.supervision import TaskSupervisor
from stack.issuer import DevelopmentIssuer
from stack.servers.ephemeral import free_port
from tests.gateway.bus import WITHIN_S

pytestmark = pytest.mark.guarantee("G12")


async def breaks(*_: object) -> None:
    raise RuntimeError("a bug")


async def only_returns(*_: object) -> None:
    return


@pytest.mark.parametrize(
    ("part", "work"),
    [
        (Hub, "_catch_up_late"),
        (Hub, "_drop_idle_feeds"),
        (PrivateFacts, "run"),
        (WebSocketServer, "sweep"),
        (Directory, "run"),
        (Revocations, "run"),
        (Activity, "run"),
        (Upstream, "maintain"),
        (Readiness, "watch"),
    ],
)
async def test_it_does_not_go_on_without_any_of_its_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, part: type, work: str
) -> None:
    monkeypatch.setattr(part, work, breaks)
    settings = alone(tmp_path, monkeypatch)
    assert await asyncio.wait_for(serve(settings), WITHIN_S) == 1
    assert "a task of the gateway has failed" in caplog.text


def alone(home: Path, monkeypatch: pytest.MonkeyPatch, **more: str) -> GatewaySettings:
    """Settings of a gateway with nothing behind it; `more` are variables without their beginning."""
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
async def test_g9_a_gateway_that_is_told_to_stop_says_so_before_it_listens_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = alone(tmp_path, monkeypatch, NOT_READY_S="120")
    serving = asyncio.create_task(serve(settings))

    async def said() -> str:
        async with session.get("/readyz") as answer:
            return str((await answer.json(content_type=None))["detail"])

    async with aiohttp.ClientSession(f"http://{settings.listen}") as session, asyncio.timeout(WITHIN_S):
        while True:
            with suppress(aiohttp.ClientConnectorError):
                assert "gateway" not in await said()
                break
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
        while "gateway stops" not in await said():
            await asyncio.sleep(0.01)
        async with session.get("/healthz") as answer:
            assert answer.status == 200
        assert not serving.done()
        # Who says so twice does not want to wait.
        os.kill(os.getpid(), signal.SIGTERM)
        assert await serving == 0


@pytest.mark.parametrize("part", [breaks, only_returns])
async def test_it_is_not_ready_without_a_part_of_itself(part: object) -> None:
    assert callable(part)
    lookout = Readiness([])
    vital = TaskSupervisor("gateway", lookout.mark_broken)
    async with TestClient(TestServer(EdgeApplication(lookout, Environment.DEVELOPMENT).build())) as client:
        assert (await client.get("/readyz")).status == 200
        vital.start([part()])
        await asyncio.wait_for(vital.stopping.wait(), WITHIN_S)
        assert vital.failure is not None
        answer = await client.get("/readyz")
        assert answer.status == 503
        assert "lost a part of itself" in (await answer.json())["detail"]
    await vital.cancel_all()


async def test_a_line_to_a_service_that_breaks_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RelayConnection, "_run", breaks)
    upstream = Upstream()
    asking = asyncio.create_task(upstream.call(f"127.0.0.1:{free_port()}", "a.B/C", "", b""))
    with pytest.raises(RuntimeError, match="a bug"):
        await asyncio.wait_for(upstream.maintain(set), WITHIN_S)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)


async def test_a_line_that_is_closed_is_not_broken() -> None:
    upstream = Upstream()
    asking = asyncio.create_task(upstream.call(f"127.0.0.1:{free_port()}", "a.B/C", "", b""))
    await asyncio.sleep(0)
    tending = asyncio.create_task(upstream.maintain(set))
    await asyncio.sleep(0)
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    await upstream.close()
    assert not tending.done()
    tending.cancel()
