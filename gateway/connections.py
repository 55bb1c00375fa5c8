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

from gateway import json_codec
from gateway.http_line import HttpLine
from gateway.problems import PROBLEM, Problem
from gateway.proxies import TrustedProxies
from gateway.rates import neighbourhood
from gateway.reasons import TOO_MANY_CONNECTIONS
from services.kit import trace

# So many more are heard before they are refused; those beyond them are told without being heard.
REFUSED_LIMIT = 1_000
REFUSED_PER_ADDRESS_LIMIT = 100
REFUSED_FOR_S = 5.0
RETRY_AFTER_S = 5
# Half-open, or asking nothing: longer than proxies keep theirs, which is a minute with most.
SILENT_FOR_S = 75.0
# From the head of a request to the end of its body.
BODY_WITHIN_S = 20.0
# Accepted by the system and not yet by us.
BACKLOG = 4_096
# What else the process opens: services, the bus, logs.
OTHER_FILES = 256
# Whoever supervises the process has to be answered above all.
ALIVE_PATH = "/healthz"

_OPEN = prometheus_client.Gauge("feltro_edge_connections", "Open connections, those being refused included")
_REFUSED = prometheus_client.Counter("feltro_edge_connections_refused", "Connections that were one too many", ["why"])
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class _BodyLate(TimeoutError):
    """The rest of a request's body did not come."""


class Connections:
    """Those that are open."""

    def __init__(self, in_all: int, per_address: int) -> None:
        self.in_all = in_all
        self.per_address = per_address
        self._count = 0
        self._by_address: Counter[str] = Counter()

    def enter(self, address: str) -> None:
        """One more, or a `Problem`. No address is one that is not counted for itself."""
        if self._count >= self.in_all:
            _REFUSED.labels("in all").inc()
            raise _too_many(
                TOO_MANY_CONNECTIONS[0], "Too many connections are open here: try again in a moment.", self.in_all
            )
        place = neighbourhood(address)
        if place and self._by_address[place] >= self.per_address:
            _REFUSED.labels("per address").inc()
            sentence = "Too many connections are open from this address: close one, or try again in a moment."
            raise _too_many(429, sentence, self.per_address)
        self._count += 1
        if place:
            self._by_address[place] += 1

    def leave(self, address: str) -> None:
        self._count -= 1
        place = neighbourhood(address)
        if place:
            self._by_address[place] -= 1
            if not self._by_address[place]:
                # Everybody who ever came would be remembered.
                del self._by_address[place]


class Entrance:
    """All connections of the process, whatever they are for."""

    def __init__(self, in_all: int, per_address: int, proxies: TrustedProxies) -> None:
        self._connections = Connections(in_all, per_address)
        self._refused = Connections(REFUSED_LIMIT, REFUSED_PER_ADDRESS_LIMIT)
        self._proxies = proxies

    def add_routes(self, application: web.Application) -> None:
        """It has none: it stands before all others'."""
        application.middlewares.append(_refuse)
        application.on_response_prepare.append(_close_refused)

    def enter(self, address: str) -> Place:
        """A place for a connection, perhaps only to be refused in; a `Problem` if there is none even for that."""
        where = "" if self._proxies.trusts(address) else address
        try:
            self._connections.enter(where)
        except Problem as too_many:
            try:
                self._refused.enter(where)
            except Problem:
                raise too_many from None
            return Place(self._refused, where, too_many)
        return Place(self._connections, where, None)


class Place:
    """What a connection has until it is closed."""

    __slots__ = ("_counted", "_where", "problem")

    def __init__(self, counted: Connections, where: str, problem: Problem | None) -> None:
        self._counted = counted
        self._where = where
        self.problem = problem
        """Why it is refused, if it is."""
        _OPEN.inc()

    def give_up(self) -> None:
        self._counted.leave(self._where)
        _OPEN.dec()


class Line(asyncio.Protocol):
    """One connection: HTTP's own protocol does the work, if there is a place for it."""

    __slots__ = ("_entrance", "_heard", "_http", "place")

    def __init__(self, entrance: Entrance, http: asyncio.Protocol) -> None:
        self._entrance = entrance
        self._http = http
        self.place: Place | None = None
        self._heard = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = transport.get_extra_info("peername")
        # Those of uvloop are transports without being of this class.
        open_one = cast("asyncio.Transport", transport)
        try:
            self.place = self._entrance.enter(str(peer[0]) if isinstance(peer, tuple) else "")
        except Problem as too_many:
            open_one.write(_unheard(too_many))
            open_one.close()
            return
        if self.place.problem is not None:
            asyncio.get_running_loop().call_later(REFUSED_FOR_S, self._let_go, open_one, self.place.problem)
        self._http.connection_made(transport)

    def _let_go(self, open_one: asyncio.Transport, problem: Problem) -> None:
        if not self._heard and not open_one.is_closing():
            open_one.write(_unheard(problem))
            open_one.close()
        else:
            open_one.abort()

    def data_received(self, data: bytes) -> None:
        self._heard = True
        if self.place is not None:
            self._http.data_received(data)

    def eof_received(self) -> bool | None:
        return None if self.place is None else self._http.eof_received()

    def pause_writing(self) -> None:
        if self.place is not None:
            self._http.pause_writing()

    def resume_writing(self) -> None:
        if self.place is not None:
            self._http.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        if self.place is not None:
            self.place.give_up()
            self._http.connection_lost(exc)


class Doorway(web.BaseSite):
    """Where the gateway listens."""

    def __init__(self, runner: web.BaseRunner, entrance: Entrance, host: str, port: int) -> None:
        super().__init__(runner, backlog=BACKLOG)
        self._entrance = entrance
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
            lambda: Line(self._entrance, HttpLine(http, SILENT_FOR_S)), self._host, self._port, backlog=self._backlog
        )


def room_for(wanted: int) -> int:
    """As many connections as are wanted, or as the system allows this process: it has a file for each."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    files = wanted + REFUSED_LIMIT + OTHER_FILES
    if hard != resource.RLIM_INFINITY:
        files = min(files, hard)
    if soft != resource.RLIM_INFINITY and soft < files:
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
    return max(1, files - REFUSED_LIMIT - OTHER_FILES)


@web.middleware
async def _refuse(request: web.Request, handler: _Handler) -> web.StreamResponse:
    problem = _problem(request)
    if problem is not None and request.path != ALIVE_PATH:
        raise problem
    if request.content.is_eof():
        return await handler(request)
    # Most bodies come with their head; nobody waits for ever for the rest of one.
    waiting = asyncio.get_running_loop().call_later(BODY_WITHIN_S, _give_up_on, request)
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
    return line.place.problem if isinstance(line, Line) and line.place is not None else None


def _unheard(problem: Problem) -> bytes:
    """The whole answer, to whatever he may ask."""
    body = json_codec.dumps(problem.document("/", trace.begin().trace_id))
    headers = {**problem.headers, hdrs.CONTENT_TYPE: PROBLEM, hdrs.CONTENT_LENGTH: str(len(body))}
    lines = [f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}", f"{hdrs.CONNECTION}: close"]
    head = [*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(head).encode() + body


def _too_many(status: int, sentence: str, limit: int) -> Problem:
    headers: dict[str, str] = {hdrs.RETRY_AFTER: str(RETRY_AFTER_S)}
    return Problem(status, sentence, TOO_MANY_CONNECTIONS[1], facts={"limit": str(limit)}, headers=headers)
