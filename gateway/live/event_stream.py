"""A table as server-sent events, for back ends that only want to read: the same feed as every WebSocket has."""

from __future__ import annotations

import asyncio
import logging
import random

from aiohttp import HttpVersion11, hdrs, web
from prometheus_client import Gauge

from gateway.access.bearer import authenticated_principal
from gateway.access.principals import Authenticator, Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.contracts import json_codec
from gateway.http.connection_limiter import ConnectionCounter
from gateway.http.problems import invalid
from gateway.live import close_codes, close_log, connection_limits
from gateway.live.close_codes import CloseCode
from gateway.live.encoding import Framing, framed_lines, notification
from gateway.live.feeds import Transport, Watcher
from gateway.live.hub import Hub

PATH = "/v1/tables/{table_id}/events"
# A line without meaning, so that whoever is between does not think the connection dead.
HEARTBEAT_S = 10.0

_log = logging.getLogger(__name__)
_STREAMS = Gauge("feltro_edge_streams", "Open streams of server-sent events")


class EventStream:
    """One connection."""

    def __init__(self, framing: Framing, transport: Transport, principal: Principal) -> None:
        self.framing = framing
        self.transport = transport
        self.principal = principal
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.close_cause = close_log.LOST
        """Why it ended; a client that goes says nothing."""

    def send(self, *payloads: bytes) -> None:
        if self.closed.done() or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() > connection_limits.unsent_limit(self.principal):
            self.close(CloseCode.TOO_SLOW)
        else:
            for payload in payloads:
                self.transport.write(payload)

    def end_subscription(self, watcher: Watcher, why: str) -> None:
        self.send_notice("unsubscribed", table_id=watcher.feed.table_id, why=why)
        self.close(CloseCode.TABLE_UNAVAILABLE)

    def send_notice(self, kind: str, **said: object) -> None:
        self.send(notification(self.framing, "notice", json_codec.dumps({"kind": kind, **said})))

    def close(self, code: int) -> None:
        if not self.closed.done():
            self.close_cause = close_log.cause_of_code(code)
            why = close_codes.EXPLANATIONS.get(CloseCode(code), "")
            said = json_codec.dumps({"kind": "closed", "code": int(code), "why": why})
            if not self.transport.is_closing():
                self.transport.write(notification(self.framing, "notice", said))
            self.closed.set_result(None)


class EventStreams:
    """All streams of this gateway."""

    def __init__(
        self, hub: Hub, authenticator: Authenticator, rate_limiter: RateLimiter, connections: ConnectionCounter
    ) -> None:
        """`connections` are those of clients, by their own addresses."""
        self._hub = hub
        self._visitors = authenticator
        self._rates = rate_limiter
        self._connections = connections
        self._open: dict[EventStream, None] = {}
        self._draining = False

    def install(self, application: web.Application) -> None:
        application.router.add_get(PATH, self.connect, allow_head=False)

    def drain(self) -> None:
        """Ends all; a client comes back by itself after the pause that it was given."""
        self._draining = True
        for stream in list(self._open):
            stream.close(CloseCode.RESTARTING)

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """One stream, from its beginning to its end."""
        if self._draining:
            raise connection_limits.stopping_problem()
        address = request.remote or ""
        self._connections.acquire(address)
        try:
            return await self._connect(request, address)
        finally:
            self._connections.release(address)

    async def _connect(self, request: web.Request, address: str) -> web.StreamResponse:
        if hdrs.AUTHORIZATION in request.headers:
            self._rates.count_shown_token(address)
        visitor = await authenticated_principal(request, self._visitors)
        self._rates.count_call(visitor, address)
        opening = await self._hub.open_subscription(request.match_info["table_id"], visitor, _from_seq(request))
        headers = {hdrs.CACHE_CONTROL: "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        response.content_type = "text/event-stream"
        response.charset = "utf-8"
        wire = Framing.PLAIN_LINES
        if request.version >= HttpVersion11:
            wire = Framing.CHUNKED_LINES
            response.enable_chunked_encoding()
        response.force_close()
        await response.prepare(request)
        transport = request.transport
        if transport is None:
            return response
        connection_limits.limit_send_buffer(transport)
        stream = EventStream(wire, transport, visitor)
        retry_ms = 1_000 + random.randrange(connection_limits.RECONNECT_SPREAD_MS)  # noqa: S311 - spreads the connections
        stream.send(framed_lines(wire, b"retry: %d\n\n" % retry_ms))
        name = "resumed" if opening.resumed else "snapshot"
        stream.send(notification(wire, name, json_codec.dumps(opening.to_json()), opening.start_seq))
        watcher = self._hub.add_watcher(opening, stream)
        self._open[stream] = None
        _STREAMS.set(len(self._open))
        try:
            await self._until_over(stream, transport)
        finally:
            close_log.log_close("stream", visitor, address, [watcher], stream.close_cause)
            self._hub.remove_watcher(watcher)
            del self._open[stream]
            _STREAMS.set(len(self._open))
            if transport.get_write_buffer_size() > 0:
                # He reads nothing: the end would never reach him.
                transport.abort()
        return response

    async def _until_over(self, stream: EventStream, transport: asyncio.Transport) -> None:
        over = asyncio.create_task(self._end_when_over(stream))
        pause = framed_lines(stream.framing, b":\n\n")
        warned = False
        try:
            while not stream.closed.done() and not transport.is_closing():
                left_s = self._visitors.expires_in(stream.principal)
                if not warned and left_s <= connection_limits.EXPIRY_WARNING_S:
                    warned = True
                    why = "The token expires: open the stream anew with another one and the `Last-Event-ID`."
                    stream.send_notice("token_expires", in_ms=max(0, int(left_s * 1000)), why=why)
                until_warned_s = HEARTBEAT_S if warned else left_s - connection_limits.EXPIRY_WARNING_S
                await asyncio.wait([stream.closed], timeout=min(HEARTBEAT_S, until_warned_s))
                stream.send(pause)
        finally:
            over.cancel()

    async def _end_when_over(self, stream: EventStream) -> None:
        try:
            refused = await self._visitors.wait_for_end(stream.principal)
        except Exception:  # noqa: BLE001 - nobody would know when he may stay no longer (G12)
            _log.exception("a connection has failed")
            stream.close(CloseCode.INTERNAL_ERROR)
        else:
            stream.close(close_codes.close_code_for_reason(refused.reason))


def _from_seq(request: web.Request) -> int | None:
    said = request.headers.get("Last-Event-ID", "")
    if not said:
        return None
    if not said.isascii() or not said.isdecimal() or len(said) > 19:
        raise invalid("`Last-Event-ID` has to be the number of an event.", "Last-Event-ID")
    return int(said)
