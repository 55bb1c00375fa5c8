"""Headers that keep a browser from doing more with an answer than was meant: on every answer, refusals included."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer

from gateway.access.proxies import TrustedProxies
from gateway.backends.readiness import Readiness
from gateway.http.application import EdgeApplication
from gateway.http.connection_limiter import ConnectionLimiter, LimitedSite
from gateway.http.cors import CorsPolicy
from gateway.http.security_headers import SecurityHeaders
from services.kit.settings import Environment
from stack.servers.ephemeral import free_port
from tests.gateway.http_gateway import FORGED, FakeDispatcher, HttpClient, bearer_headers, http_gateway

HSTS = "Strict-Transport-Security"
WITHIN_S = 240.0


@pytest_asyncio.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with http_gateway(FakeDispatcher(), cors=CorsPolicy(["https://casino.example"])) as made:
        yield made


def verify_data(headers: Mapping[str, str]) -> None:
    """Fails unless nothing can be loaded, run or framed by what a browser makes of the answer."""
    lowered = {name.lower(): value for name, value in headers.items()}
    policy = {part.strip() for part in lowered["content-security-policy"].split(";")}
    assert {"default-src 'none'", "frame-ancestors 'none'"} <= policy
    assert lowered["x-content-type-options"] == "nosniff"
    assert lowered["x-frame-options"] == "DENY"
    assert lowered["referrer-policy"] == "no-referrer"
    assert lowered["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    ("verb", "path", "token", "status"),
    [
        ("GET", "/v1/accounts/a/balance", "ana", 200),
        ("HEAD", "/v1/accounts/a/balance", "ana", 200),
        ("POST", "/v1/accounts", "ana", 200),
        ("GET", "/v1/tables/a/rounds", "ana", 200),
        ("OPTIONS", "/v1/accounts/a/balance", "", 204),
        ("GET", "/v1/accounts/a/balance", "", 401),
        ("GET", "/v1/accounts/a/balance", FORGED, 401),
        ("DELETE", "/v1/accounts/a/balance", "ana", 405),
        ("GET", "/v1/nothing", "ana", 404),
        ("GET", "/nothing", "", 404),
        ("GET", "/readyz", "", 200),
        ("GET", "/healthz", "", 200),
    ],
)
async def test_private_answers_are_stored_nowhere_and_can_do_nothing(
    client: HttpClient, verb: str, path: str, token: str, status: int
) -> None:
    body: dict[str, str] | None = {} if verb == "POST" else None
    async with client.request(verb, path, headers=bearer_headers(token) if token else {}, json=body) as answer:
        assert answer.status == status
        verify_data(answer.headers)
        assert answer.headers["Cache-Control"] == "no-store"
        assert HSTS not in answer.headers


@pytest.mark.parametrize("path", ["/v1/tables/a/rounds", "/openapi.json", "/problems", "/problems/INVALID"])
async def test_what_is_the_same_for_everybody_may_be_stored_and_can_do_nothing(client: HttpClient, path: str) -> None:
    async with client.get(path, headers={"Accept": "application/json"}) as answer:
        assert answer.status == 200
        verify_data(answer.headers)
        assert answer.headers["Cache-Control"].startswith("public")
        tag = answer.headers.get("ETag", "")
    if tag:
        async with client.get(path, headers={"If-None-Match": tag}) as unchanged:
            assert unchanged.status == 304
            verify_data(unchanged.headers)


async def test_an_answer_to_another_origin_is_no_exception(client: HttpClient) -> None:
    headers = {"Origin": "https://casino.example", "Access-Control-Request-Method": "GET"}
    async with client.options("/v1/accounts/a/balance", headers=headers) as answer:
        assert answer.status == 204
        verify_data(answer.headers)


@pytest.mark.parametrize("path", ["/status", "/", "/docs", "/problems", "/problems/INVALID", "/pages.css"])
async def test_pages_load_their_own_scripts_and_styles_and_nothing_else(client: HttpClient, path: str) -> None:
    async with client.get(path, headers={"Accept": "text/html"}) as answer:
        assert answer.status == 200
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Referrer-Policy"] == "no-referrer"


async def test_hsts_is_sent_with_every_answer_if_it_is_set() -> None:
    value = "max-age=31536000; includeSubDomains"
    headers = SecurityHeaders(value)
    edge = EdgeApplication(Readiness([]), Environment.PRODUCTION, security_headers=headers)
    async with TestClient(TestServer(edge.build())) as client:
        for path in ("/readyz", "/status", "/nothing"):
            async with client.get(path) as answer:
                assert answer.headers[HSTS] == value


async def _raw_answer(port: int, sent: bytes) -> dict[str, str]:
    """The headers of the answer to bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), WITHIN_S)
    writer.close()
    lines = head.decode().splitlines()[1:]
    return dict(line.split(": ", 1) for line in lines if line)


async def test_answers_before_any_request_is_read_are_no_exception() -> None:
    """Those to bytes that are no HTTP, and to one connection too many."""
    limiter = ConnectionLimiter(1, 1, TrustedProxies(()))
    edge = EdgeApplication(Readiness([]), Environment.PRODUCTION, parts=[limiter])
    runner, port = web.AppRunner(edge.build()), free_port()
    await runner.setup()
    try:
        await LimitedSite(runner, limiter, "127.0.0.1", port).start()
        verify_data(await _raw_answer(port, b"nonsense\r\n\r\n"))
        _, first = await asyncio.open_connection("127.0.0.1", port)
        verify_data(await _raw_answer(port, b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"))
        first.close()
    finally:
        await runner.cleanup()
