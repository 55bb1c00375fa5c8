"""Serves WebSockets: the life of each connection, its limits, and its end."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine

from aiohttp import WebSocketError, WSCloseCode, WSMessage, WSMsgType, web
from prometheus_client import Counter, Gauge

from gateway.access.authenticator import Authenticator
from gateway.access.principals import Principal
from gateway.access.rate_limiter import ConnectionAllowance, RateLimiter
from gateway.contracts.refusals import GatewayRefused
from gateway.http.connection_limiter import ConnectionCounter
from gateway.live import close_codes, frames
from gateway.live.close_codes import CloseCode
from gateway.live.connections import close_log, connection_limits, json_rpc
from gateway.live.connections.connection_limits import SendBudget
from gateway.live.connections.rpc_server import RpcServer
from gateway.live.encoding import Framing, notice
from gateway.live.feeds import Transport, Watcher
from services.kit.refusal import Refused

PATH = json_rpc.PATH
# The size of a message, and how many messages of one connection are answered at once (G11).
MESSAGE_BYTES_LIMIT = 64 * 1024
PENDING_MESSAGES_LIMIT = 16
# A connection is closed after so many calls in a row that were refused for overload.
REFUSED_CALLS_LIMIT = 100
# Each connection is pinged so often, and has as long to answer.
HEARTBEAT_S = 20.0
SWEEP_EVERY_S = 0.5
SWEEP_BATCH = 500
CLOSE_TIMEOUT_S = 5.0
DRAIN_POLL_S = 0.02

_log = logging.getLogger(__name__)
_SOCKETS = Gauge("feltro_edge_sockets", "Open WebSockets")
_UNSENT = Gauge("feltro_edge_unsent_bytes", "Bytes that wait in the buffers of WebSockets for slow clients")
_CLOSED = Counter("feltro_edge_sockets_closed", "WebSockets that the gateway has closed, by code", ["code"])


class WebSocketConnection:
    """One WebSocket of a client."""

    __slots__ = (
        "_allowance",
        "_authenticator",
        "_closing_at",
        "_end_logged",
        "_end_task",
        "_last_received_at",
        "_loop",
        "_ping_at",
        "_pinged_at",
        "_refused_in_a_row",
        "_rpc_server",
        "_send_budget",
        "_tasks",
        "_warned",
        "_ws",
        "client_address",
        "framing",
        "is_open",
        "pending_subscriptions",
        "principal",
        "transport",
        "watchers",
    )

    def __init__(
        self,
        ws: web.WebSocketResponse,
        transport: Transport,
        principal: Principal,
        client_address: str,
        rpc_server: RpcServer,
        authenticator: Authenticator,
        allowance: ConnectionAllowance,
        send_budget: SendBudget,
    ) -> None:
        self.framing = Framing.WEBSOCKET
        self.transport = transport
        self.principal = principal
        self.client_address = client_address
        self.watchers: dict[str, Watcher] = {}
        self.pending_subscriptions = 0
        self.is_open = True
        self._ws = ws
        self._rpc_server = rpc_server
        self._authenticator = authenticator
        self._allowance = allowance
        self._send_budget = send_budget
        self._refused_in_a_row = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._end_task: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._closing_at = 0.0
        self._end_logged = False
        self._warned = False
        now = self._loop.time()
        self._last_received_at = self._pinged_at = now
        self._ping_at = now + HEARTBEAT_S * random.uniform(0.5, 1.0)  # noqa: S311 - spreads the pings

    async def run(self) -> None:
        """Receives messages until the connection has ended."""
        self.set_principal(self.principal)
        self._rpc_server.register(self)
        try:
            while await self._receive():
                pass
        finally:
            self.is_open = False
            self._log_end(close_log.LOST)
            self._detach()
            self._send_budget.release(self)
            self.transport.close()
            if self.transport.get_write_buffer_size() > 0:
                # Closing waits for the client to read what is unsent, which it may never do.
                self._loop.call_later(CLOSE_TIMEOUT_S, self.transport.abort)

    def send(self, *payloads: bytes) -> None:
        if connection_limits.is_writable(self):
            for payload in payloads:
                self.transport.write(payload)

    def send_answer(self, text: bytes) -> None:
        if connection_limits.is_writable(self):
            self._send_budget.send(self, frames.text(text))

    def send_notice(self, kind: str, **facts: object) -> None:
        self.send(notice(Framing.WEBSOCKET, kind, **facts))

    def end_subscription(self, watcher: Watcher, message: str) -> None:
        self._rpc_server.stop_watching(self, watcher)
        self.send_notice("unsubscribed", table_id=watcher.feed.table_id, message=message)

    def set_principal(self, principal: Principal) -> None:
        self.principal = principal
        self._warned = False
        if self._end_task is not None:
            self._end_task.cancel()
            self._end_task = None
        if principal.caller is not None:
            self._end_task = asyncio.create_task(self._close_when_refused(principal))
            self._end_task.add_done_callback(self._on_task_done)

    def close(self, code: int, reason: str = "") -> None:
        """Sends the last frame; `check` aborts the connection if the client does not close it, too."""
        if not self.is_open:
            return
        self.is_open = False
        self._closing_at = self._loop.time()
        self._log_end(close_log.cause_of_code(code))
        self._detach()
        if not self.transport.is_closing():
            self.transport.write(frames.close(code, reason or close_codes.EXPLANATIONS.get(CloseCode(code), "")))
        _CLOSED.labels(str(int(code))).inc()

    def check(self, now: float) -> None:
        """Does what is due at a sweep: aborts a closed connection, pings an open one, warns of an expiring token."""
        if not self.is_open:
            if now - self._closing_at > CLOSE_TIMEOUT_S:
                self.transport.abort()
            return
        if now >= self._ping_at:
            if self._last_received_at < self._pinged_at:
                self.close(CloseCode.HEARTBEAT_MISSED)
                return
            self._pinged_at, self._ping_at = now, now + HEARTBEAT_S
            self.send(frames.PING)
        if not self._warned and self.principal.caller is not None:
            message = "The token expires: `refresh` with a new one to keep this connection."
            expires_in_s = self._authenticator.expires_in(self.principal)
            if (warning := connection_limits.expiry_warning(expires_in_s, message)) is not None:
                self._warned = True
                self.send_notice("token_expires", **warning)

    @property
    def has_pending_calls(self) -> bool:
        return bool(self._tasks)

    async def _receive(self) -> bool:
        """Receives one message; returns False after the last one."""
        message = await self._ws.receive()
        kind = message.type
        self._last_received_at = self._loop.time()
        if kind is WSMsgType.TEXT:
            if self.is_open:
                self._on_text(message.data)
        elif kind is WSMsgType.PING:
            if self.is_open:
                self.send(frames.pong(message.data))
        elif kind is WSMsgType.BINARY:
            self._on_bytes(message.data)
        elif kind is not WSMsgType.PONG:
            self._on_end(message)
            return False
        return True

    def _on_end(self, message: WSMessage) -> None:
        if isinstance(message.data, WebSocketError):
            self._log_end(close_log.MALFORMED)
        elif message.type is WSMsgType.CLOSE and self.is_open:
            self.is_open = False
            self._log_end(close_log.CLOSED)
            # 1006 means that there was no close frame, so a frame may not hold it (RFC 6455 7.4.1); aiohttp accepts it.
            code = 1002 if message.data == WSCloseCode.ABNORMAL_CLOSURE else message.data
            if not self.transport.is_closing():
                self.transport.write(frames.close(code))

    def _on_text(self, text: str) -> None:
        try:
            self._allowance.count_message()
            if len(self._tasks) >= PENDING_MESSAGES_LIMIT:
                sentence = "Too many messages wait for their answers: wait for one of them."
                raise GatewayRefused("OVERLOADED", sentence, limit=PENDING_MESSAGES_LIMIT)
        except Refused as refused:
            self._count_refused(self._rpc_server.refuse_message(self, text.encode(), refused))
            return
        answer = self._rpc_server.handle_message(self, text.encode())
        if isinstance(answer, int):
            self._count_refused(answer)
        else:
            self._refused_in_a_row = 0
            self._start(answer)

    def _count_refused(self, refused: int) -> None:
        """Counts consecutive refusals for overload; closes the connection above the limit."""
        self._refused_in_a_row += refused
        if self._refused_in_a_row > REFUSED_CALLS_LIMIT:
            self.close(CloseCode.TOO_MANY_CALLS)

    def _on_bytes(self, _: bytes) -> None:
        self.close(1003, close_codes.STANDARD_EXPLANATIONS[1003])

    def _start(self, answer: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(answer)
        self._tasks.add(task)
        task.add_done_callback(self._on_task_done)

    def _on_task_done(self, task: asyncio.Task[None]) -> None:
        """Closes the connection when one of its tasks fails: no call stays unanswered, no refusal unnoticed (G12)."""
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a connection has failed", exc_info=error)
            self.close(CloseCode.INTERNAL_ERROR)

    async def _close_when_refused(self, principal: Principal) -> None:
        refused = await self._authenticator.wait_for_end(principal)
        self.close(close_codes.close_code_for_reason(refused.reason), refused.sentence)

    def _log_end(self, cause: str) -> None:
        if not self._end_logged:
            self._end_logged = True
            close_log.log_close("websocket", self, self.client_address, cause)

    def _detach(self) -> None:
        self._rpc_server.unregister(self)
        if self._end_task is not None and self._end_task is not asyncio.current_task():
            self._end_task.cancel()
        for task in self._tasks:
            # A command that was passed on is carried out all the same; only its answer is dropped.
            task.cancel()


class WebSocketServer:
    """All WebSockets of this gateway."""

    def __init__(
        self,
        rpc_server: RpcServer,
        authenticator: Authenticator,
        rate_limiter: RateLimiter,
        connections: ConnectionCounter,
    ) -> None:
        """`connections` counts clients by their own addresses."""
        self._rpc_server = rpc_server
        self._authenticator = authenticator
        self._rate_limiter = rate_limiter
        self._connections = connections
        self._open: dict[WebSocketConnection, None] = {}
        self._send_budget = SendBudget()
        self._draining = False

    def install(self, application: web.Application) -> None:
        application.router.add_get(PATH, self.connect)

    async def drain(self, within_s: float) -> None:
        """Refuses new connections, tells the open ones to reconnect, and closes them when their calls are answered."""
        self._draining = True
        for connection in list(self._open):
            pause_ms = random.randrange(connection_limits.RECONNECT_SPREAD_MS)  # noqa: S311 - spreads the connections
            message = "This gateway stops: connect again after the pause, and subscribe with `from_seq`."
            connection.send_notice("draining", reconnect_after_ms=pause_ms, message=message)
        await self._wait_while(lambda: any(connection.has_pending_calls for connection in self._open), within_s)
        for connection in list(self._open):
            connection.close(CloseCode.RESTARTING)
        await self._wait_while(lambda: bool(self._open), min(within_s, CLOSE_TIMEOUT_S))

    def abort_all(self) -> None:
        for connection in list(self._open):
            connection.transport.abort()

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serves one connection from its beginning to its end."""
        async with connection_limits.admitted(
            request, self._authenticator, self._rate_limiter, self._connections, draining=self._draining
        ) as principal:
            return await self._serve(request, principal)

    async def _serve(self, request: web.Request, principal: Principal) -> web.StreamResponse:
        # With compression a frame could not be the same for all connections.
        ws = web.WebSocketResponse(compress=False, autoping=False, autoclose=False, max_msg_size=MESSAGE_BYTES_LIMIT)
        await ws.prepare(request)
        transport = request.transport
        if transport is None:
            return ws
        connection_limits.limit_send_buffer(transport)
        allowance = self._rate_limiter.connection_allowance()
        connection = WebSocketConnection(
            ws,
            transport,
            principal,
            request.remote or "",
            self._rpc_server,
            self._authenticator,
            allowance,
            self._send_budget,
        )
        self._open[connection] = None
        _SOCKETS.set(len(self._open))
        try:
            await connection.run()
        finally:
            del self._open[connection]
            _SOCKETS.set(len(self._open))
        return ws

    @staticmethod
    async def _wait_while(condition: Callable[[], bool], timeout_s: float) -> None:
        for _ in range(int(timeout_s / DRAIN_POLL_S)):
            if not condition():
                return
            await asyncio.sleep(DRAIN_POLL_S)

    async def sweep(self) -> None:
        """Checks all connections until cancelled: a timer for each would cost memory for nothing."""
        while True:
            await asyncio.sleep(SWEEP_EVERY_S)
            now = asyncio.get_running_loop().time()
            unsent = 0
            for number, connection in enumerate(list(self._open), 1):
                connection.check(now)
                unsent += connection.transport.get_write_buffer_size()
                if number % SWEEP_BATCH == 0:
                    await asyncio.sleep(0)
            _UNSENT.set(unsent)
