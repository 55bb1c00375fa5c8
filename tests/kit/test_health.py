"""`feltro health`: it believes a process that serves, over TLS as well, and no other."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web

from feltro.wallet.v1 import complaint_pb2
from services.kit import health
from services.kit.rpc.transport import PLAINTEXT, Transport
from stack.issuer import DevelopmentIssuer
from stack.servers.ephemeral import free_port
from tests.kit.fake_service import FakeService, serving
from tests.processes.certificates import CertificateAuthority


class FakeComplaintService(FakeService):
    """Has methods that nobody calls here."""

    descriptor = complaint_pb2.DESCRIPTOR.services_by_name["ComplaintService"]


@pytest.fixture(autouse=True)
def development(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FELTRO_ENVIRONMENT", "development")


async def check(port: int, monkeypatch: pytest.MonkeyPatch, *options: str) -> int:
    """Runs the command as a container does, whose process listens at all addresses."""
    monkeypatch.setenv("FELTRO_WALLET_LISTEN", f"0.0.0.0:{port}")
    return await asyncio.to_thread(health.command, ["wallet", *options])


async def test_a_process_that_serves_is_healthy_and_one_that_stops_is_not(
    issuer: DevelopmentIssuer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async with serving(FakeComplaintService(), issuer) as server:
        assert await check(server.port, monkeypatch) == 0
        await server.set_serving(serving=False)
        assert await check(server.port, monkeypatch) == 1
        port = server.port
    assert "it answered NOT_SERVING" in capsys.readouterr().err
    assert await check(port, monkeypatch) == 1
    assert "wallet does not serve: " in capsys.readouterr().err


@pytest.mark.guarantee("G12")
async def test_over_tls_only_the_service_itself_is_believed(
    issuer: DevelopmentIssuer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authority = CertificateAuthority(tmp_path)
    for name, value in authority.variables("wallet").items():
        monkeypatch.setenv(name, value)

    async def asked(transport: Transport) -> int:
        async with serving(FakeComplaintService(), issuer, transport=transport) as server:
            return await check(server.port, monkeypatch)

    assert await asked(authority.transport("wallet")) == 0
    assert await asked(authority.transport("roulette")) == 1
    assert await asked(PLAINTEXT) == 1


@pytest.mark.parametrize(("status", "result"), [(200, 0), (503, 1)])
async def test_over_http_the_status_decides(
    status: int, result: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(status=status)

    application = web.Application()
    application.router.add_get("/healthz", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        assert await check(port, monkeypatch, "--http") == result
    finally:
        await runner.cleanup()
    assert ("it answered 503" in capsys.readouterr().err) == bool(result)
    assert await check(port, monkeypatch, "--http") == 1
