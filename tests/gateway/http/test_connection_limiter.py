"""Limits of open connections, in total and per address: one too many is refused with a reason, at little cost."""

from __future__ import annotations

import asyncio
import json
import resource
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from unittest.mock import MagicMock
from uuid import uuid4

import aiohttp
import pytest

from gateway.access.proxies import TrustedProxies, parse_networks
from gateway.contracts import json_codec
from gateway.contracts.reasons import ReasonSets
from gateway.http import connection_limiter
from gateway.http.connection_limiter import ConnectionCounter, ConnectionLimiter, LimitedConnection, connection_capacity
from gateway.http.problems import Problem
from gateway.live.connections import event_stream
from gateway.reference.openapi import document
from tests.gateway.documented_problems import DocumentedProblems
from tests.gateway.http_gateway import CONTRACTS, FakeDispatcher, bearer_headers, http_gateway
from tests.gateway.live_gateway import WITHIN_S, LiveGateway, RpcClient, live_gateway, wait_until

pytestmark = pytest.mark.guarantee("G11")

DOCUMENTED = DocumentedProblems(json.loads(json_codec.dumps(document(CONTRACTS, ReasonSets(CONTRACTS)))))

CLIENT = "X-Forwarded-For"


def test_connections_are_limited_per_address_and_in_total() -> None:
    counter = ConnectionCounter(5, 2)
    for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2"):
        counter.acquire(address)
    with pytest.raises(Problem) as over_total:
        counter.acquire("192.0.2.9")
    assert (over_total.value.status, over_total.value.reason, over_total.value.headers) == (
        503,
        "OVERLOADED",
        {"Retry-After": "5"},
    )
    DOCUMENTED.verify("GET", "/v1/games", 503, over_total.value.document("/", ""))
    counter.release("192.0.2.2")
    for address in ("192.0.2.1", "2001:db8::3"):
        with pytest.raises(Problem) as per_address:
            counter.acquire(address)
        assert (per_address.value.status, per_address.value.facts) == (429, {"limit": "2"})
        DOCUMENTED.verify("GET", "/v1/games", 429, per_address.value.document("/", ""))
    for address in ("192.0.2.1", "192.0.2.1", "2001:db8::1", "2001:db8::2"):
        counter.release(address)
    assert not counter._by_address
    counter.acquire("192.0.2.9")


def test_refused_connections_get_an_answer_up_to_a_limit_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection_limiter, "REFUSED_CONNECTIONS_PER_ADDRESS_LIMIT", 2)
    limiter = ConnectionLimiter(100, 1, TrustedProxies(parse_networks("10.0.0.0/8")))
    slots = [limiter.acquire("192.0.2.1") for _ in range(3)]
    assert [slot.problem and slot.problem.status for slot in slots] == [None, 429, 429]
    with pytest.raises(Problem):
        limiter.acquire("192.0.2.1")
    for slot in slots:
        slot.release()
    assert limiter.acquire("192.0.2.1").problem is None
    # All clients of a proxy come from its address.
    assert all(limiter.acquire("10.1.2.3").problem is None for _ in range(10))


def test_the_capacity_leaves_a_file_for_every_connection() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    others = connection_limiter.REFUSED_CONNECTIONS_LIMIT + connection_limiter.RESERVED_FILES
    try:
        # The limit that a process begins with is the machine's, and may be too low for any connection.
        resource.setrlimit(resource.RLIMIT_NOFILE, (others + 100, hard))
        assert connection_capacity(99) == 99
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (others + 100, hard)
        assert connection_capacity(101) == 101
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (others + 101, hard)
        if hard != resource.RLIM_INFINITY:
            assert connection_capacity(10 * hard) == hard - others
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (hard, hard)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def test_one_address_takes_no_slots_of_another(nats_url: str) -> None:
    async with live_gateway(nats_url, connections=(100, 2)) as (gateway, tables, _), AsyncExitStack() as stack:
        table = await tables.open(f"t{uuid4().hex[:12]}")
        for _ in range(2):
            await stack.enter_async_context(gateway.connect())
        for path in ("/v1/ws", f"/v1/tables/{table.table_id}/events"):
            async with gateway.client.get(path) as response:
                problem = await response.json(content_type=None)
                assert (response.status, problem["reason"], problem["facts"]) == (429, "OVERLOADED", {"limit": "2"})
                assert response.headers["Retry-After"] == "5"
                assert response.headers["Connection"] == "close"
                assert len(problem["trace_id"]) == 32
        async with _session_from(gateway, "127.0.0.2") as other, other.ws_connect("/v1/ws") as ws:
            await ws.send_str('{"jsonrpc":"2.0","id":1,"method":"ping"}')
            assert "result" in await ws.receive_json()
        await stack.aclose()
        await wait_until(lambda: not gateway.websockets._open)
        async with gateway.connect() as client:
            await client.result("ping")


async def test_a_connection_refused_unread_is_answered_too(nats_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limiter, "REFUSED_CONNECTIONS_LIMIT", 0)
    async with live_gateway(nats_url, connections=(1, 1)) as (gateway, _, _), gateway.connect() as client:
        async with gateway.client.get("/v1/ws") as response:
            problem = await response.json(content_type=None)
            assert (response.status, response.content_type) == (503, "application/problem+json")
            assert (response.headers["Retry-After"], problem["reason"], problem["status"]) == ("5", "OVERLOADED", 503)
        assert gateway.connection_limiter._connections._count == 1
        await client.result("ping")


async def test_the_total_limit_holds_for_every_address(nats_url: str) -> None:
    async with live_gateway(nats_url, connections=(2, 2)) as (gateway, _, _), AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(gateway.connect()) for _ in range(2)]
        async with _session_from(gateway, "127.0.0.2") as other:
            with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
                async with other.ws_connect("/v1/ws"):
                    raise AssertionError
            assert refusal.value.status == 503
            assert refusal.value.headers is not None
            assert refusal.value.headers["Retry-After"] == "5"
        for client in clients:
            await client.result("ping")


async def test_behind_a_proxy_connections_are_counted_per_client(
    nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.02)
    async with live_gateway(nats_url, connections=(100, 2), proxies="127.0.0.1") as (gateway, tables, _):
        table = await tables.open(f"t{uuid4().hex[:12]}")
        events = f"/v1/tables/{table.table_id}/events"
        async with AsyncExitStack() as stack:
            for client in ("192.0.2.1", "192.0.2.2"):
                sent = {CLIENT: client}
                await stack.enter_async_context(gateway.client.ws_connect("/v1/ws", headers=sent))
                streamed = await stack.enter_async_context(gateway.client.get(events, headers=sent))
                assert streamed.status == 200
                async with gateway.client.get(events, headers=sent) as response:
                    assert response.status == 429
        await wait_until(lambda: not gateway.connections._by_address)


@pytest.mark.parametrize("sent", [b"", b"GET /v1/ws HTTP/1.1\r\nHost: "])
async def test_a_connection_without_a_request_is_closed(
    nats_url: str, monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    monkeypatch.setattr(connection_limiter, "KEEPALIVE_TIMEOUT_S", 0.1)
    async with live_gateway(nats_url, connections=(2, 2)) as (gateway, _, _):
        client, socket = await _connect_in_time(gateway)
        # The silent connection comes after the WebSocket: when it is closed, the time has passed for both.
        assert await _read_until_closed(gateway.port, sent) == b""
        # A WebSocket may be silent for as long as its pings are answered.
        await client.result("ping")
        await socket.close()


async def test_a_late_body_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limiter, "BODY_TIMEOUT_S", 0.1)
    dispatcher = FakeDispatcher()
    async with http_gateway(dispatcher) as client:
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
        assert not dispatcher.calls
        monkeypatch.setattr(connection_limiter, "BODY_TIMEOUT_S", 60.0)
        headers = bearer_headers("ana", **{"Idempotency-Key": "k"})
        async with client.post("/v1/accounts", json={}, headers=headers) as answer:
            assert answer.status == 200


@pytest.mark.parametrize(("sent", "answered"), [(b"", True), (b"GET / HTTP/1.1\r\nHost:", False)])
async def test_a_refused_connection_is_closed_although_it_sends_no_request(
    monkeypatch: pytest.MonkeyPatch, sent: bytes, *, answered: bool
) -> None:
    timers = RecordedTimers(monkeypatch)
    limiter = ConnectionLimiter(1, 1, TrustedProxies(()))
    limiter.acquire("127.0.0.1")
    transport = RecordedTransport()
    refused = LimitedConnection(limiter, MagicMock(spec=asyncio.Protocol))
    refused.connection_made(transport)
    if sent:
        refused.data_received(sent)
    assert not transport.is_closing()
    timers.fire(connection_limiter.REFUSED_CLOSE_AFTER_S)
    assert transport.is_closing()
    # Half a request gets no answer: it could be taken for the answer to another.
    assert transport.written.startswith(b"HTTP/1.1 503 Service Unavailable\r\n") is answered


class RecordedTimers:
    """The timers that are set on the running loop, which only the test fires."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._timers: list[tuple[float, Callable[[], None]]] = []
        monkeypatch.setattr(asyncio.get_running_loop(), "call_later", self._set)

    def _set(self, delay_s: float, callback: Callable[..., None], *arguments: object, **_: object) -> MagicMock:
        self._timers.append((delay_s, partial(callback, *arguments)))
        return MagicMock(spec=asyncio.TimerHandle)

    def fire(self, delay_s: float) -> None:
        """Calls the one timer of this delay."""
        (callback,) = [callback for delay, callback in self._timers if delay == delay_s]
        callback()


class RecordedTransport(asyncio.Transport):
    """A connection from this machine that keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1)})
        self.written = b""
        self._closing = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._closing = True

    def abort(self) -> None:
        self._closing = True


async def _read_until_closed(port: int, sent: bytes) -> bytes:
    """Sends these bytes and no more, and returns what is received until the connection is closed."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    received = b""
    async with asyncio.timeout(WITHIN_S):
        with suppress(ConnectionResetError):
            received = await reader.read()
    writer.close()
    return received


async def _connect_in_time(gateway: LiveGateway) -> tuple[RpcClient, aiohttp.ClientWebSocketResponse]:
    """Connects a WebSocket, again if a busy machine lets its connection be closed before the request is sent."""
    async with asyncio.timeout(WITHIN_S):
        while True:
            with suppress(aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                socket = await gateway.client.ws_connect("/v1/ws")
                return RpcClient(socket), socket


def _session_from(gateway: LiveGateway, address: str) -> aiohttp.ClientSession:
    """A client at another address: the whole of 127.0.0.0/8 is this machine."""
    return aiohttp.ClientSession(
        f"http://127.0.0.1:{gateway.port}", connector=aiohttp.TCPConnector(local_addr=(address, 0))
    )
