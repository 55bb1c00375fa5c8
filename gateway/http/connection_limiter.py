"""How many connections there may be at once, in all and from one address: more are refused before they cost anything.

A connection counts from the moment in which it is accepted, long before it asks for anything, so that one who only
opens them is refused as well (G11). Behind a trusted proxy all have its address: there the WebSockets and streams of
each client are counted once more, by the address that the proxy names.
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
from services.kit import trace

# So many more are heard before they are refused; those beyond them are told without being heard.
REFUSED_CONNECTIONS_LIMIT = 1_000
REFUSED_CONNECTIONS_PER_ADDRESS_LIMIT = 100
REFUSED_CLOSE_AFTER_S = 5.0
RETRY_AFTER_S = 5
# Half-open, or asking nothing: longer than proxies keep theirs, which is a minute with most.
KEEPALIVE_TIMEOUT_S = 75.0
# From the head of a request to the end of its body.
BODY_TIMEOUT_S = 20.0
# Accepted by the system and not yet by us.
BACKLOG = 4_096
# What else the process opens: services, the bus, logs.
RESERVED_FILES = 256
# Whoever supervises the process has to be answered above all.
LIVENESS_PATH = "/healthz"

_OPEN = prometheus_client.Gauge("feltro_edge_connections", "Open connections, those being refused included")
_REFUSED = prometheus_client.Counter("feltro_edge_connections_refused", "Connections that were one too many", ["why"])
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class _BodyLate(TimeoutError):
    """The rest of a request's body did not come."""


class ConnectionCounter:
    """Those that are open."""

    def __init__(self, total_limit: int, address_limit: int) -> None:
        self.total_limit = total_limit
        self.address_limit = address_limit
        self._count = 0
        self._by_address: Counter[str] = Counter()

    def acquire(self, address: str) -> None:
        """One more, or a `Problem`. No address is one that is not counted for itself."""
        if self._count >= self.total_limit:
            _REFUSED.labels("in all").inc()
            raise _too_many(
                TOO_MANY_CONNECTIONS[0], "Too many connections are open here: try again in a moment.", self.total_limit
            )
        place = subscriber_network(address)
        if place and self._by_address[place] >= self.address_limit:
            _REFUSED.labels("per address").inc()
            sentence = "Too many connections are open from this address: close one, or try again in a moment."
            raise _too_many(429, sentence, self.address_limit)
        self._count += 1
        if place:
            self._by_address[place] += 1

    def release(self, address: str) -> None:
        self._count -= 1
        place = subscriber_network(address)
        if place:
            self._by_address[place] -= 1
            if not self._by_address[place]:
                # Everybody who ever came would be remembered.
                del self._by_address[place]


class ConnectionLimiter:
    """All connections of the process, whatever they are for."""

    def __init__(self, total_limit: int, address_limit: int, proxies: TrustedProxies) -> None:
        self._connections = ConnectionCounter(total_limit, address_limit)
        self._refused = ConnectionCounter(REFUSED_CONNECTIONS_LIMIT, REFUSED_CONNECTIONS_PER_ADDRESS_LIMIT)
        self._proxies = proxies

    def install(self, application: web.Application) -> None:
        """It has none: it stands before all others'."""
        application.middlewares.append(_refuse)
        application.on_response_prepare.append(_close_refused)

    def acquire(self, address: str) -> ConnectionSlot:
        """A place for a connection, perhaps only to be refused in; a `Problem` if there is none even for that."""
        where = "" if self._proxies.trusts(address) else address
        try:
            self._connections.acquire(where)
        except Problem as too_many:
            try:
                self._refused.acquire(where)
            except Problem:
                raise too_many from None
            return ConnectionSlot(self._refused, where, too_many)
        return ConnectionSlot(self._connections, where, None)


class ConnectionSlot:
    """What a connection has until it is closed."""

    __slots__ = ("_counted", "_where", "problem")

    def __init__(self, counter: ConnectionCounter, address: str, problem: Problem | None) -> None:
        self._counted = counter
        self._where = address
        self.problem = problem
        """Why it is refused, if it is."""
        _OPEN.inc()

    def release(self) -> None:
        self._counted.release(self._where)
        _OPEN.dec()


class LimitedConnection(asyncio.Protocol):
    """One connection: HTTP's own protocol does the work, if there is a place for it."""

    __slots__ = ("_entrance", "_heard", "_http", "slot")

    def __init__(self, limiter: ConnectionLimiter, http: asyncio.Protocol) -> None:
        self._entrance = limiter
        self._http = http
        self.slot: ConnectionSlot | None = None
        self._heard = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        # Those of uvloop are transports without being of this class.
        open_one = cast("asyncio.Transport", transport)
        try:
            self.slot = self._entrance.acquire(str(peer[0]) if isinstance(peer, tuple) else "")
        except Problem as too_many:
            open_one.write(_unheard(too_many))
            open_one.close()
            return
        if self.slot.problem is not None:
            asyncio.get_running_loop().call_later(REFUSED_CLOSE_AFTER_S, self._let_go, open_one, self.slot.problem)
        self._http.connection_made(transport)

    def _let_go(self, open_one: asyncio.Transport, problem: Problem) -> None:
        if not self._heard and not open_one.is_closing():
            open_one.write(_unheard(problem))
            open_one.close()
        else:
            open_one.abort()

    def data_received(self, data: bytes) -> None:
        self._heard = True
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
    """Where the gateway listens."""

    def __init__(self, runner: web.BaseRunner, limiter: ConnectionLimiter, host: str, port: int) -> None:
        super().__init__(runner, backlog=BACKLOG)
        self._entrance = limiter
        self._host = host
        self._port = port

    @property
    def name(self) -> str:
        return f"http://{self._host}:{self._port}"

    async def start(self) -> None:
        await super().start()
        # A site cannot be made before its runner has a server.
        http = cast("web.Server", self._runner.server)
        self._server = await asyncio.get_running_loop().create_server(
            lambda: LimitedConnection(self._entrance, HttpConnection(http, KEEPALIVE_TIMEOUT_S)),
            self._host,
            self._port,
            backlog=self._backlog,
        )


def connection_capacity(wanted: int) -> int:
    """As many connections as are wanted, or as the system allows this process: it has a file for each."""
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
    # Most bodies come with their head; nobody waits for ever for the rest of one.
    waiting = asyncio.get_running_loop().call_later(BODY_TIMEOUT_S, _give_up_on, request)
    try:
        return await handler(request)
    except _BodyLate:
        raise web.HTTPRequestTimeout from None
    finally:
        waiting.cancel()


def _give_up_on(request: web.Request) -> None:
    if not request.content.is_eof():
        request.content.set_exception(_BodyLate())


async def _close_refused(request: web.Request, response: web.StreamResponse) -> None:
    if _problem(request) is not None:
        response.headers[hdrs.CONNECTION] = "close"
        response.force_close()


def _problem(request: web.Request) -> Problem | None:
    line = None if request.transport is None else request.transport.get_protocol()
    return line.slot.problem if isinstance(line, LimitedConnection) and line.slot is not None else None


def _unheard(problem: Problem) -> bytes:
    """The whole answer, to whatever he may ask."""
    body = json_codec.dumps(problem.document("/", trace.start_span().trace_id))
    headers = {**problem.headers, hdrs.CONTENT_TYPE: PROBLEM_CONTENT_TYPE, hdrs.CONTENT_LENGTH: str(len(body))}
    lines = [f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}", f"{hdrs.CONNECTION}: close"]
    head = [*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(head).encode() + body


def _too_many(status: int, sentence: str, limit: int) -> Problem:
    headers: dict[str, str] = {hdrs.RETRY_AFTER: str(RETRY_AFTER_S)}
    return Problem(status, sentence, TOO_MANY_CONNECTIONS[1], facts={"limit": str(limit)}, headers=headers)
