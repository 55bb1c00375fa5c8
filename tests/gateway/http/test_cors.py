"""CORS: scripts of the configured origins may call from a browser, and no others."""

from __future__ import annotations

from gateway.http.cors import CorsPolicy
from tests.gateway.http_gateway import FakeDispatcher, http_gateway

CASINO = {"Origin": "https://casino.example"}
OTHER = {"Origin": "https://other.example"}
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
CORS = CorsPolicy(["https://casino.example/"])


async def test_a_configured_origin_is_allowed() -> None:
    async with http_gateway(FakeDispatcher(), CORS) as client:
        preflight = await client.options("/v1/accounts", headers={**CASINO, **PREFLIGHT})
        assert preflight.status == 204
        assert preflight.headers["Access-Control-Allow-Origin"] == CASINO["Origin"]
        for name in ("Authorization", "Idempotency-Key", "Content-Type"):
            assert name in preflight.headers["Access-Control-Allow-Headers"]
        assert "PUT" in preflight.headers["Access-Control-Allow-Methods"]
        for path in ("/v1/tables/t", "/v1/nothing", "/openapi.json", "/v1/accounts/a/balance"):
            answer = await client.get(path, headers=CASINO)
            assert answer.headers["Access-Control-Allow-Origin"] == CASINO["Origin"]
            assert "X-Trace-Id" in answer.headers["Access-Control-Expose-Headers"]
            assert "Access-Control-Allow-Credentials" not in answer.headers
        cached = await client.get("/v1/tables/t", headers=CASINO)
        assert {"Authorization", "Origin"} <= set(cached.headers["Vary"].split(", "))


async def test_another_origin_is_not_allowed() -> None:
    async with http_gateway(FakeDispatcher(), CORS) as client:
        for answer in (
            await client.options("/v1/accounts", headers={**OTHER, **PREFLIGHT}),
            await client.get("/v1/tables/t", headers=OTHER),
            await client.get("/v1/tables/t"),
        ):
            assert not [name for name in answer.headers if name.startswith("Access-Control")]
            assert "Origin" in answer.headers["Vary"]


async def test_all_origins_may_be_allowed() -> None:
    async with http_gateway(FakeDispatcher(), CorsPolicy(["*"])) as client:
        answer = await client.get("/v1/tables/t", headers=OTHER)
        assert answer.headers["Access-Control-Allow-Origin"] == OTHER["Origin"]


async def test_without_configuration_no_origin_is_allowed() -> None:
    async with http_gateway(FakeDispatcher()) as client:
        preflight = await client.options("/v1/accounts", headers={**CASINO, **PREFLIGHT})
        assert "Access-Control-Allow-Origin" not in preflight.headers
        assert "Origin" not in (await client.get("/v1/tables/t", headers=CASINO)).headers.get("Vary", "")
