"""A gateway whose background task has failed ends, so that it is restarted: its answers could be wrong."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path

import pytest

from gateway.__main__ import serve
from gateway.assembly import Gateway
from gateway.settings import GatewaySettings
from services.kit.settings import load_or_exit
from stack.issuer import DevelopmentIssuer
from stack.servers.ephemeral import free_port


@pytest.mark.guarantee("G12")
async def test_g12_a_failed_task_ends_the_gateway(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail() -> None:
        raise RuntimeError("a bug")

    def background(_: Gateway) -> list[Awaitable[None]]:
        return [fail()]

    monkeypatch.setattr(Gateway, "background_tasks", background)
    issuer = DevelopmentIssuer(tmp_path / "issuer")
    issuer.prepare()
    nowhere = f"127.0.0.1:{free_port()}"
    monkeypatch.setenv("FELTRO_ENVIRONMENT", "development")
    monkeypatch.setenv("FELTRO_NATS_URL", f"nats://{nowhere}")
    monkeypatch.setenv("FELTRO_ISSUER_JWKS", str(issuer.jwks))
    monkeypatch.setenv("FELTRO_DEMO_JWKS", str(issuer.demo_keys.jwks))
    monkeypatch.setenv("FELTRO_GATEWAY_WALLET_ADDRESS", nowhere)
    monkeypatch.setenv("FELTRO_GATEWAY_LISTEN", f"127.0.0.1:{free_port()}")
    assert await serve(load_or_exit(GatewaySettings)) == 1
    assert "a task of the gateway has failed" in caplog.text
