"""Serves a table as server-sent events, for back ends that only read: the same feed that WebSockets have."""

from __future__ import annotations

import asyncio
import logging
import random

from aiohttp import HttpVersion11, hdrs, web
from prometheus_client import Gauge

from gateway.access.authenticator import Authenticator
from gateway.access.principals import Principal
from gateway.access.rate_limiter import RateLimiter
from gateway.contracts import json_codec
from gateway.http.connection_limiter import ConnectionCounter
from gateway.http.problems import invalid
from gateway.live import close_codes
from gateway.live.close_codes import CloseCode
from gateway.live.connections import close_log, connection_limits
from gateway.live.encoding import Framing, framed_lines, notice, notification
from gateway.live.feeds import Transport, Watcher
from gateway.live.hub import Hub
from gateway.live.private_facts import PlayerConnections

PATH = "/v1/tables/{table_id}/events"
# An empty comment is sent so often, so that proxies do not take the connection for dead.
HEARTBEAT_S = 10.0

_log = logging.getLogger(__name__)
_STREAMS = Gauge("feltro_edge_streams", "Open streams of server-sent events")


class EventStream:
    """One stream."""

    def __init__(self, framing: Framing, transport: Transport, principal: Principal) -> None:
        self.framing = framing
        self.transport = transport
        self.principal = principal
        self.watchers: dict[str, Watcher] = {}
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.close_cause = close_log.LOST
        """Why it ended; a client that disconnects gives no cause."""

    @property
    def is_open(self) -> bool:
        return not self.closed.done()

    def send(self, *payloads: bytes) -> None:
        if connection_limits.is_writable(self):
            for payload in payloads:
                self.transport.write(payload)

    def end_subscription(self, watcher: Watcher, message: str) -> None:
        self.send_notice("unsubscribed", table_id=watcher.feed.table_id, message=message)
        self.close(CloseCode.TABLE_UNAVAILABLE)

    def send_notice(self, kind: str, **facts: object) -> None:
        self.send(notice(self.framing, kind, **facts))

    def close(self, code: int) -> None:
        if not self.closed.done():
            self.close_cause = close_log.cause_of_code(code)
            if not self.transport.is_closing():
                message = close_codes.EXPLANATIONS.get(CloseCode(code), "")
                self.transport.write(notice(self.framing, "closed", code=int(code), message=message))
            self.closed.set_result(None)


class EventStreams:
    """All event streams of this gateway."""

    def __init__(
        self,
        hub: Hub,
        authenticator: Authenticator,
        rate_limiter: RateLimiter,
        connections: ConnectionCounter,
        players: PlayerConnections,
    ) -> None:
        """`connections` counts clients by their own addresses; `players` are those who have streams here."""
        self._hub = hub
        self._authenticator = authenticator
        self._rate_limiter = rate_limiter
        self._connections = connections
        self._players = players
        self._open: dict[EventStream, None] = {}
        self._draining = False

    def install(self, application: web.Application) -> None:
        application.router.add_get(PATH, self.connect, allow_head=False)

    def drain(self) -> None:
        """Closes all streams; a client reconnects after the pause that it was given."""
        self._draining = True
        for stream in list(self._open):
            stream.close(CloseCode.RESTARTING)

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serves one stream from its beginning to its end."""
        async with connection_limits.admitted(
            request, self._authenticator, self._rate_limiter, self._connections, draining=self._draining
        ) as principal:
            return await self._serve(request, principal)

    async def _serve(self, request: web.Request, principal: Principal) -> web.StreamResponse:
        address = request.remote or ""
        self._rate_limiter.count_call(principal, address)
        table_id = request.match_info["table_id"]
        subscription = await self._hub.open_subscription(table_id, principal, _from_seq(request))
        headers = {hdrs.CACHE_CONTROL: "no-store", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        response.content_type = "text/event-stream"
        response.charset = "utf-8"
        framing = Framing.PLAIN_LINES
        if request.version >= HttpVersion11:
            framing = Framing.CHUNKED_LINES
            response.enable_chunked_encoding()
        response.force_close()
        await response.prepare(request)
        transport = request.transport
        if transport is None:
            return response
        connection_limits.limit_send_buffer(transport)
        stream = EventStream(framing, transport, principal)
        retry_ms = 1_000 + random.randrange(connection_limits.RECONNECT_SPREAD_MS)  # noqa: S311 - spreads the connections
        stream.send(framed_lines(framing, b"retry: %d\n\n" % retry_ms))
        name = "resumed" if subscription.resumed else "snapshot"
        stream.send(notification(framing, name, json_codec.dumps(subscription.to_json()), subscription.start_seq))
        watcher = stream.watchers[table_id] = self._hub.add_watcher(subscription, stream)
        self._players.add(stream)
        self._open[stream] = None
        _STREAMS.set(len(self._open))
        try:
            await self._keep_alive(stream, transport)
        finally:
            close_log.log_close("stream", stream, address, stream.close_cause)
            self._hub.remove_watcher(watcher)
            self._players.remove(stream)
            del self._open[stream]
            _STREAMS.set(len(self._open))
            if transport.get_write_buffer_size() > 0:
                # The client does not read: the end of the stream would never reach it.
                transport.abort()
        return response

    async def _keep_alive(self, stream: EventStream, transport: asyncio.Transport) -> None:
        """Sends heartbeats and the warning of an expiring token, until the stream ends."""
        ending = asyncio.create_task(self._close_when_refused(stream))
        heartbeat = framed_lines(stream.framing, b":\n\n")
        warned = False
        try:
            while not stream.closed.done() and not transport.is_closing():
                expires_in_s = self._authenticator.expires_in(stream.principal)
                message = "The token expires: open the stream anew with another one and the `Last-Event-ID`."
                if not warned and (warning := connection_limits.expiry_warning(expires_in_s, message)) is not None:
                    warned = True
                    stream.send_notice("token_expires", **warning)
                until_warning_s = HEARTBEAT_S if warned else expires_in_s - connection_limits.EXPIRY_WARNING_S
                await asyncio.wait([stream.closed], timeout=min(HEARTBEAT_S, until_warning_s))
                stream.send(heartbeat)
        finally:
            ending.cancel()

    async def _close_when_refused(self, stream: EventStream) -> None:
        try:
            refused = await self._authenticator.wait_for_end(stream.principal)
        except Exception:  # noqa: BLE001 - without this task the stream would never be refused (G12)
            _log.exception("a connection has failed")
            stream.close(CloseCode.INTERNAL_ERROR)
        else:
            stream.close(close_codes.close_code_for_reason(refused.reason))


def _from_seq(request: web.Request) -> int | None:
    text = request.headers.get("Last-Event-ID", "")
    if not text:
        return None
    if not text.isascii() or not text.isdecimal() or len(text) > 19:
        raise invalid("`Last-Event-ID` has to be the number of an event.", "Last-Event-ID")
    return int(text)
