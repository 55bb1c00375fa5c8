"""Only so many connections at once, in all and from one address; one too many is told so and costs nearly nothing."""

from __future__ import annotations

import asyncio
import json
import resource
from contextlib import AsyncExitStack, suppress
from uuid import uuid4

import aiohttp
import pytest

from gateway.access.proxies import TrustedProxies, parse_networks
from gateway.contracts import json_codec
from gateway.contracts.reasons import ReasonSets
from gateway.http import connection_limiter
from gateway.http.connection_limiter import ConnectionCounter, ConnectionLimiter, connection_capacity
from gateway.http.problems import Problem
from gateway.live import event_stream
from gateway.reference.openapi import document
from tests.gateway.documented_problems import DocumentedProblems
from tests.gateway.http_gateway import CONTRACTS, FakeDispatcher, bearer_headers, http_gateway
from tests.gateway.live_gateway import WITHIN_S, LiveGateway, RpcClient, live_gateway, wait_until

pytestmark = pytest.mark.guarantee("G11")

DOCUMENTED = DocumentedProblems(json.loads(json_codec.dumps(document(CONTRACTS, ReasonSets(CONTRACTS)))))

CLIENT = "X-Forwarded-For"


def test_so_many_from_an_address_and_so_many_in_all() -> None:
    known = ConnectionCounter(5, 2)
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"):
        known.acquire(address)
    with pytest.raises(Problem) as in_all:
        known.acquire("192.0.2.9")
    assert (in_all.value.status, in_all.value.reason, in_all.value.headers) == (503, "OVERLOADED", {"Retry-After": "5"})
    DOCUMENTED.verify("GET", "/v1/games", 503, in_all.value.document("/", ""))
    known.release("192.0.2.2")
    for address in ("192.0.2.1", "2001:db8::3"):
        with pytest.raises(Problem) as per_address:
            known.acquire(address)
        assert (per_address.value.status, per_address.value.facts) == (429, {"limit": "2"})
        DOCUMENTED.verify("GET", "/v1/games", 429, per_address.value.document("/", ""))
    for address in ("192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2"):
        known.release(address)
    assert not known._by_address
    known.acquire("192.0.2.9")


def test_one_who_is_refused_is_told_so_until_there_are_too_many_of_those_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_limiter, "REFUSED_CONNECTIONS_PER_ADDRESS_LIMIT", 2)
    entrance = ConnectionLimiter(100, 1, TrustedProxies(parse_networks("10.0.0.0/8")))
    places = [entrance.acquire("192.0.2.1") for _ in range(3)]
    assert [place.problem and place.problem.status for place in places] == [None, 429, 429]
    with pytest.raises(Problem):
        entrance.acquire("192.0.2.1")
    for place in places:
        place.release()
    assert entrance.acquire("192.0.2.1").problem is None
    # All clients of a proxy come from its address.
    assert all(entrance.acquire("10.1.2.3").problem is None for _ in range(10))


def test_a_process_has_a_file_for_each_of_its_connections() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = soft - connection_limiter.REFUSED_CONNECTIONS_LIMIT - connection_limiter.RESERVED_FILES - 1
    assert connection_capacity(wanted) == wanted
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (soft, hard)
    if hard != resource.RLIM_INFINITY:
        try:
            assert (
                connection_capacity(10 * hard)
                == hard - connection_limiter.REFUSED_CONNECTIONS_LIMIT - connection_limiter.RESERVED_FILES
            )
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_one_address_takes_nobody_elses_place(nats_url: str) -> None:
    async with live_gateway(nats_url, connections=(100, 2)) as (live, tables, _), AsyncExitStack() as stack:
        table = await tables.open(f"t{uuid4().hex[:12]}")
        for _ in range(2):
            await stack.enter_async_context(live.connect())
        for path in ("/v1/ws", f"/v1/tables/{table.table_id}/events"):
            async with live.client.get(path) as got:
                said = await got.json(content_type=None)
                assert (got.status, said["reason"], said["facts"]) == (429, "OVERLOADED", {"limit": "2"})
                assert got.headers["Retry-After"] == "5"
                assert got.headers["Connection"] == "close"
                assert len(said["trace_id"]) == 32
        async with _session_from(live, "127.0.0.2") as other, other.ws_connect("/v1/ws") as ws:
            await ws.send_str('{"jsonrpc":"2.0","id":1,"method":"ping"}')
            assert "result" in await ws.receive_json()
        await stack.aclose()
        await wait_until(lambda: not live.websockets._open)
        async with live.connect() as client:
            await client.result("ping")


async def test_one_too_many_to_be_heard_is_told_all_the_same(nats_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limiter, "REFUSED_CONNECTIONS_LIMIT", 0)
    async with live_gateway(nats_url, connections=(1, 1)) as (live, _, _), live.connect() as client:
        async with live.client.get("/v1/ws") as got:
            said = await got.json(content_type=None)
            assert (got.status, got.content_type) == (503, "application/problem+json")
            assert (got.headers["Retry-After"], said["reason"], said["status"]) == ("5", "OVERLOADED", 503)
        assert live.connection_limiter._connections._count == 1
        await client.result("ping")


async def test_more_than_there_is_room_for_are_refused_whoever_they_are(nats_url: str) -> None:
    async with live_gateway(nats_url, connections=(2, 2)) as (live, _, _), AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(live.connect()) for _ in range(2)]
        async with _session_from(live, "127.0.0.2") as other:
            with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
                async with other.ws_connect("/v1/ws"):
                    raise AssertionError
            assert refusal.value.status == 503
            assert refusal.value.headers is not None
            assert refusal.value.headers["Retry-After"] == "5"
        for client in clients:
            await client.result("ping")


async def test_behind_a_proxy_each_client_has_his_own_places(nats_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.02)
    async with live_gateway(nats_url, connections=(100, 2), proxies="127.0.0.1") as (live, tables, _):
        table = await tables.open(f"t{uuid4().hex[:12]}")
        events = f"/v1/tables/{table.table_id}/events"
        async with AsyncExitStack() as stack:
            for client in ("192.0.2.1", "192.0.2.2"):
                sent = {CLIENT: client}
                await stack.enter_async_context(live.client.ws_connect("/v1/ws", headers=sent))
                streamed = await stack.enter_async_context(live.client.get(events, headers=sent))
                assert streamed.status == 200
                async with live.client.get(events, headers=sent) as got:
                    assert got.status == 429
        await wait_until(lambda: not live.connections._by_address)


@pytest.mark.parametrize("sent", [b"", b"GET /v1/ws HTTP/1.1\r\nHost: "])
async def test_one_who_opens_a_connection_and_asks_nothing_is_let_go(
    nats_url: str, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connection_limiter, "KEEPALIVE_TIMEOUT_S", 0.1)
    async with live_gateway(nats_url, connections=(1, 1)) as (live, _, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", live.port)
        writer.write(sent)
        async with asyncio.timeout(WITHIN_S):
            assert await reader.read() == b""
        writer.close()
        async with AsyncExitStack() as stack:
            client = await _come_in(live, stack)
            # A WebSocket may be silent for as long as its pings are answered.
            await asyncio.sleep(0.2)
            await client.result("ping")


async def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limiter, "BODY_TIMEOUT_S", 0.1)
    desk = FakeDispatcher()
    async with http_gateway(desk) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.server.port)
        writer.write(
            b"POST /v1/accounts HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ana\r\n"
            b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        )
        async with asyncio.timeout(WITHIN_S):
            head = await reader.readuntil(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 408 ")
            assert b"application/problem+json" in head
            size = int(head.lower().partition(b"content-length:")[2].split()[0])
            DOCUMENTED.verify("POST", "/v1/accounts", 408, json.loads(await reader.readexactly(size)))
            with suppress(ConnectionResetError):
                await reader.read()
        writer.close()
        assert not desk.calls
        monkeypatch.setattr(connection_limiter, "BODY_TIMEOUT_S", 60.0)
        async with client.post(
            "/v1/accounts", json={}, headers=bearer_headers("ana", **{"Idempotency-Key": "k"})
        ) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(("sent", "told"), [(b"", True), (b"GET / HTTP/1.1\r\nHost:", False)])
async def test_one_who_is_refused_cannot_stay_by_saying_nothing(
    nats_url: str, monkeypatch: pytest.MonkeyPatch, sent: bytes, *, told: bool
) -> None:
    monkeypatch.setattr(connection_limiter, "REFUSED_CLOSE_AFTER_S", 0.1)
    async with live_gateway(nats_url, connections=(1, 1)) as (live, _, _), live.connect() as client:
        async with asyncio.timeout(WITHIN_S):
            # Whoever is held up before his first word could be heard has said nothing, and tries again.
            while (await _refused_with(live.port, sent)).startswith(
                b"HTTP/1.1 503 Service Unavailable\r\n"
            ) is not told:
                pass
        await client.result("ping")


async def _refused_with(port: int, sent: bytes) -> bytes:
    """What one hears until his connection is closed who says this and no more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    heard = b""
    with suppress(ConnectionResetError):
        heard = await reader.read()
    writer.close()
    return heard


async def _come_in(live: LiveGateway, stack: AsyncExitStack) -> RpcClient:
    """On a machine that is held up one may be let go before one could ask: one tries again."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            await wait_until(lambda: not live.connection_limiter._connections._count)
            with suppress(aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                return await stack.enter_async_context(live.connect())


def _session_from(live: LiveGateway, address: str) -> aiohttp.ClientSession:
    """A client elsewhere: the whole of 127.0.0.0/8 is this machine."""
    return aiohttp.ClientSession(
        f"http://127.0.0.1:{live.port}", connector=aiohttp.TCPConnector(local_addr=(address, 0))
    )
