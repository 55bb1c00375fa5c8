"""A table as server-sent events, for back ends that only want to read: the same feed as every WebSocket has."""

from __future__ import annotations

import asyncio
import logging
import random

from aiohttp import HttpVersion11, hdrs, web
from prometheus_client import Gauge

from gateway import close_codes, endings, json_codec, staying
from gateway.bearer import visitor_of
from gateway.close_codes import CloseCode
from gateway.connections import Connections
from gateway.feeds import Transport, Watcher
from gateway.hub import Hub
from gateway.problems import invalid
from gateway.rates import Rates
from gateway.visitors import Visitor, Visitors
from gateway.wires import Wire, on, told

PATH = "/v1/tables/{table_id}/events"
# A line without meaning, so that whoever is between does not think the connection dead.
HEARTBEAT_S = 10.0

_log = logging.getLogger(__name__)
_STREAMS = Gauge("feltro_edge_streams", "Open streams of server-sent events")


class Stream:
    """One connection."""

    def __init__(self, wire: Wire, transport: Transport, visitor: Visitor) -> None:
        self.wire = wire
        self.transport = transport
        self.visitor = visitor
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.cause = endings.LOST
        """Why it ended; a client that goes says nothing."""

    def tell(self, *payloads: bytes) -> None:
        if self.ended.done() or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() > staying.waiting_limit(self.visitor):
            self.end(CloseCode.TOO_SLOW)
        else:
            for payload in payloads:
                self.transport.write(payload)

    def drop(self, watcher: Watcher, why: str) -> None:
        self.notice("unsubscribed", table_id=watcher.feed.table_id, why=why)
        self.end(CloseCode.UNAVAILABLE)

    def notice(self, kind: str, **said: object) -> None:
        self.tell(told(self.wire, "notice", json_codec.dumps({"kind": kind, **said})))

    def end(self, code: int) -> None:
        if not self.ended.done():
            self.cause = endings.of_code(code)
            why = close_codes.WORDS.get(CloseCode(code), "")
            said = json_codec.dumps({"kind": "closed", "code": int(code), "why": why})
            if not self.transport.is_closing():
                self.transport.write(told(self.wire, "notice", said))
            self.ended.set_result(None)


class Streams:
    """All streams of this gateway."""

    def __init__(self, hub: Hub, visitors: Visitors, rates: Rates, connections: Connections) -> None:
        """`connections` are those of clients, by their own addresses."""
        self._hub = hub
        self._visitors = visitors
        self._rates = rates
        self._connections = connections
        self._open: dict[Stream, None] = {}
        self._draining = False

    def add_routes(self, application: web.Application) -> None:
        application.router.add_get(PATH, self.connect, allow_head=False)

    def drain(self) -> None:
        """Ends all; a client comes back by itself after the pause that it was given."""
        self._draining = True
        for stream in list(self._open):
            stream.end(CloseCode.RESTARTING)

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """One stream, from its beginning to its end."""
        if self._draining:
            raise staying.stopping()
        address = request.remote or ""
        self._connections.enter(address)
        try:
            return await self._connect(request, address)
        finally:
            self._connections.leave(address)

    async def _connect(self, request: web.Request, address: str) -> web.StreamResponse:
        if hdrs.AUTHORIZATION in request.headers:
            self._rates.newcomer(address)
        visitor = await visitor_of(request, self._visitors)
        self._rates.call(visitor, address)
        opening = await self._hub.open(request.match_info["table_id"], visitor, _from_seq(request))
        headers = {hdrs.CACHE_CONTROL: "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        response.content_type = "text/event-stream"
        response.charset = "utf-8"
        wire = Wire.LINES
        if request.version >= HttpVersion11:
            wire = Wire.CHUNKS
            response.enable_chunked_encoding()
        response.force_close()
        await response.prepare(request)
        transport = request.transport
        if transport is None:
            return response
        staying.bound_waiting(transport)
        stream = Stream(wire, transport, visitor)
        retry_ms = 1_000 + random.randrange(staying.RECONNECT_SPREAD_MS)  # noqa: S311 - spreads the connections
        stream.tell(on(wire, b"retry: %d\n\n" % retry_ms))
        name = "resumed" if opening.resumed else "snapshot"
        stream.tell(told(wire, name, json_codec.dumps(opening.result()), opening.place))
        watcher = self._hub.watch(opening, stream)
        self._open[stream] = None
        _STREAMS.set(len(self._open))
        try:
            await self._until_over(stream, transport)
        finally:
            endings.note("stream", visitor, address, [watcher], stream.cause)
            self._hub.leave(watcher)
            del self._open[stream]
            _STREAMS.set(len(self._open))
            if transport.get_write_buffer_size() > 0:
                # He reads nothing: the end would never reach him.
                transport.abort()
        return response

    async def _until_over(self, stream: Stream, transport: asyncio.Transport) -> None:
        over = asyncio.create_task(self._end_when_over(stream))
        pause = on(stream.wire, b":\n\n")
        warned = False
        try:
            while not stream.ended.done() and not transport.is_closing():
                left_s = self._visitors.expires_in(stream.visitor)
                if not warned and left_s <= staying.WARNED_BEFORE_S:
                    warned = True
                    why = "The token expires: open the stream anew with another one and the `Last-Event-ID`."
                    stream.notice("token_expires", in_ms=max(0, int(left_s * 1000)), why=why)
                until_warned_s = HEARTBEAT_S if warned else left_s - staying.WARNED_BEFORE_S
                await asyncio.wait([stream.ended], timeout=min(HEARTBEAT_S, until_warned_s))
                stream.tell(pause)
        finally:
            over.cancel()

    async def _end_when_over(self, stream: Stream) -> None:
        try:
            refused = await self._visitors.over(stream.visitor)
        except Exception:  # noqa: BLE001 - nobody would know when he may stay no longer (G12)
            _log.exception("a connection has failed")
            stream.end(CloseCode.FAILED)
        else:
            stream.end(close_codes.of_reason(refused.reason))


def _from_seq(request: web.Request) -> int | None:
    said = request.headers.get("Last-Event-ID", "")
    if not said:
        return None
    if not said.isascii() or not said.isdecimal() or len(said) > 19:
        raise invalid("`Last-Event-ID` has to be the number of an event.", "Last-Event-ID")
    return int(said)
