"""Limits how many connections are open at once, in total and per address, before they cost anything (G11).

A connection counts from the moment that it is accepted, long before its first request, so that a client that only opens
connections is refused as well. Behind a trusted proxy all connections have the proxy's address: WebSockets and event
streams are therefore counted once more, by the client's address that the proxy names.
"""

from __future__ import annotations

import asyncio
import resource
from collections import Counter
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import cast

import prometheus_client
from aiohttp import hdrs, web

from gateway.access.proxies import TrustedProxies
from gateway.access.rate_limiter import subscriber_network
from gateway.contracts import json_codec
from gateway.contracts.reasons import TOO_MANY_CONNECTIONS
from gateway.http.connection import HttpConnection
from gateway.http.problems import PROBLEM_CONTENT_TYPE, Problem
from gateway.http.security_headers import DATA_HEADERS
from services.kit.telemetry import trace

# So many more connections may send a request before they are refused; those beyond are refused without reading it.
REFUSED_CONNECTIONS_LIMIT = 1_000
REFUSED_CONNECTIONS_PER_ADDRESS_LIMIT = 100
REFUSED_CLOSE_AFTER_S = 5.0
RETRY_AFTER_S = 5
# For half-open and idle connections: longer than proxies keep theirs, which is a minute with most.
KEEPALIVE_TIMEOUT_S = 75.0
# From the head of a request to the end of its body.
BODY_TIMEOUT_S = 20.0
# Connections that the system has accepted and the gateway has not yet.
BACKLOG = 4_096
# For the other files that the process opens: services, the bus, logs.
RESERVED_FILES = 256
# The supervisor of the process has to be answered, however many connections there are.
LIVENESS_PATH = "/healthz"

_OPEN = prometheus_client.Gauge("feltro_edge_connections", "Open connections, those being refused included")
_REFUSED = prometheus_client.Counter("feltro_edge_connections_refused", "Connections refused, by the limit", ["limit"])
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class _BodyLate(TimeoutError):
    """The rest of a request's body did not arrive in time."""


class ConnectionCounter:
    """Counts open connections, in total and per address."""

    def __init__(self, total_limit: int, address_limit: int) -> None:
        self.total_limit = total_limit
        self.address_limit = address_limit
        self._count = 0
        self._by_address: Counter[str] = Counter()

    def acquire(self, address: str) -> None:
        """Counts one more connection, or raises a `Problem`; an empty address is counted in total only."""
        if self._count >= self.total_limit:
            _REFUSED.labels("total").inc()
            raise _too_many(
                TOO_MANY_CONNECTIONS[0], "Too many connections are open here: try again in a moment.", self.total_limit
            )
        network = subscriber_network(address)
        if network and self._by_address[network] >= self.address_limit:
            _REFUSED.labels("per_address").inc()
            sentence = "Too many connections are open from this address: close one, or try again in a moment."
            raise _too_many(429, sentence, self.address_limit)
        self._count += 1
        if network:
            self._by_address[network] += 1

    def release(self, address: str) -> None:
        self._count -= 1
        network = subscriber_network(address)
        if network:
            self._by_address[network] -= 1
            if not self._by_address[network]:
                # Without this every address that ever connected would be remembered (G11).
                del self._by_address[network]


class ConnectionLimiter:
    """Admits or refuses each connection of the process."""

    def __init__(self, total_limit: int, address_limit: int, proxies: TrustedProxies) -> None:
        self._connections = ConnectionCounter(total_limit, address_limit)
        self._refused = ConnectionCounter(REFUSED_CONNECTIONS_LIMIT, REFUSED_CONNECTIONS_PER_ADDRESS_LIMIT)
        self._proxies = proxies

    def install(self, application: web.Application) -> None:
        """Adds no routes, but a middleware before all others: it refuses requests on refused connections."""
        application.middlewares.append(_refuse)
        application.on_response_prepare.append(_close_after_refusal)

    def acquire(self, address: str) -> ConnectionSlot:
        """Returns a slot, perhaps only to be refused in; raises a `Problem` if there is none even for that."""
        counted_address = "" if self._proxies.trusts(address) else address
        try:
            self._connections.acquire(counted_address)
        except Problem as too_many:
            try:
                self._refused.acquire(counted_address)
            except Problem:
                raise too_many from None
            return ConnectionSlot(self._refused, counted_address, too_many)
        return ConnectionSlot(self._connections, counted_address, None)


class ConnectionSlot:
    """A connection's place in a counter, until it is closed."""

    __slots__ = ("_address", "_counter", "problem")

    def __init__(self, counter: ConnectionCounter, address: str, problem: Problem | None) -> None:
        self._counter = counter
        self._address = address
        self.problem = problem
        """Why it is refused, if it is."""
        _OPEN.inc()

    def release(self) -> None:
        self._counter.release(self._address)
        _OPEN.dec()


class LimitedConnection(asyncio.Protocol):
    """One connection: takes a slot, and passes everything on to HTTP's own protocol."""

    __slots__ = ("_has_received", "_http", "_limiter", "slot")

    def __init__(self, limiter: ConnectionLimiter, http: asyncio.Protocol) -> None:
        self._limiter = limiter
        self._http = http
        self.slot: ConnectionSlot | None = None
        self._has_received = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        # uvloop's transports are no subclasses of asyncio's.
        open_transport = cast("asyncio.Transport", transport)
        try:
            self.slot = self._limiter.acquire(str(peer[0]) if isinstance(peer, tuple) else "")
        except Problem as too_many:
            open_transport.write(_http_answer(too_many))
            open_transport.close()
            return
        if self.slot.problem is not None:
            asyncio.get_running_loop().call_later(
                REFUSED_CLOSE_AFTER_S, self._close_refused, open_transport, self.slot.problem
            )
        self._http.connection_made(transport)

    def _close_refused(self, open_transport: asyncio.Transport, problem: Problem) -> None:
        if not self._has_received and not open_transport.is_closing():
            open_transport.write(_http_answer(problem))
            open_transport.close()
        else:
            open_transport.abort()

    def data_received(self, data: bytes) -> None:
        self._has_received = True
        if self.slot is not None:
            self._http.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self.slot is None else self._http.eof_received()

    def pause_writing(self) -> None:
        if self.slot is not None:
            self._http.pause_writing()

    def resume_writing(self) -> None:
        if self.slot is not None:
            self._http.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.slot is not None:
            self.slot.release()
            self._http.connection_lost(exc)


class LimitedSite(web.BaseSite):
    """The address that the gateway listens at."""

    def __init__(self, runner: web.BaseRunner, limiter: ConnectionLimiter, host: str, port: int) -> None:
        super().__init__(runner, backlog=BACKLOG)
        self._limiter = limiter
        self._host = host
        self._port = port

    @property
    def name(self) -> str:
        return f"http://{self._host}:{self._port}"

    async def start(self) -> None:
        await super().start()
        http = cast("web.Server", self._runner.server)
        self._server = await asyncio.get_running_loop().create_server(
            lambda: LimitedConnection(self._limiter, HttpConnection(http, KEEPALIVE_TIMEOUT_S)),
            self._host,
            self._port,
            backlog=self._backlog,
        )


def connection_capacity(wanted: int) -> int:
    """Returns how many connections the process may open: as many as wanted, or as its limit of files allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted + REFUSED_CONNECTIONS_LIMIT + RESERVED_FILES
    if hard != resource.RLIM_INFINITY:
        files = min(files, hard)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(1, files - REFUSED_CONNECTIONS_LIMIT - RESERVED_FILES)


@web.middleware
async def _refuse(request: web.Request, handler: _Handler) -> web.StreamResponse:
    problem = _problem(request)
    if problem is not None and request.path != LIVENESS_PATH:
        raise problem
    if request.content.is_eof():
        return await handler(request)
    # Most bodies arrive with their head.
    timeout = asyncio.get_running_loop().call_later(BODY_TIMEOUT_S, _abandon_body, request)
    try:
        return await handler(request)
    except _BodyLate:
        raise web.HTTPRequestTimeout from None
    finally:
        timeout.cancel()


def _abandon_body(request: web.Request) -> None:
    if not request.content.is_eof():
        request.content.set_exception(_BodyLate())


async def _close_after_refusal(request: web.Request, response: web.StreamResponse) -> None:
    if _problem(request) is not None:
        response.headers[hdrs.CONNECTION] = "close"
        response.force_close()


def _problem(request: web.Request) -> Problem | None:
    protocol = None if request.transport is None else request.transport.get_protocol()
    return protocol.slot.problem if isinstance(protocol, LimitedConnection) and protocol.slot is not None else None


def _http_answer(problem: Problem) -> bytes:
    """Returns a whole answer, which does for any request."""
    body = json_codec.dumps(problem.document("/", trace.trace_id_of(trace.begin("refused connection"))))
    content: dict[str, str] = {hdrs.CONTENT_TYPE: PROBLEM_CONTENT_TYPE, hdrs.CONTENT_LENGTH: str(len(body))}
    headers = {**DATA_HEADERS, **problem.headers, **content}
    lines = [f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}", f"{hdrs.CONNECTION}: close"]
    head = [*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(head).encode() + body


def _too_many(status: int, sentence: str, limit: int) -> Problem:
    headers: dict[str, str] = {hdrs.RETRY_AFTER: str(RETRY_AFTER_S)}
    return Problem(status, sentence, TOO_MANY_CONNECTIONS[1], facts={"limit": str(limit)}, headers=headers)
