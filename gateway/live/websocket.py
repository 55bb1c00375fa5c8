"""WebSockets: how long a connection lives, what may wait on it, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine

from aiohttp import WebSocketError, WSCloseCode, WSMessage, WSMsgType, web
from prometheus_client import Counter, Gauge

from gateway.access.bearer import authenticated_principal
from gateway.access.principals import Authenticator, Principal
from gateway.access.rate_limiter import ConnectionAllowance, RateLimiter
from gateway.contracts import json_codec
from gateway.contracts.refusals import GatewayRefused
from gateway.http.connection_limiter import ConnectionCounter
from gateway.live import close_codes, close_log, connection_limits, frames
from gateway.live.close_codes import CloseCode
from gateway.live.encoding import Framing, notification
from gateway.live.feeds import Transport, Watcher
from gateway.live.rpc_server import RpcServer
from gateway.live.send_budget import SendBudget
from services.kit.refusal import Refused

PATH = "/v1/ws"
# What is taken of one connection (G11).
MESSAGE_BYTES_LIMIT = 64 * 1024
PENDING_MESSAGES_LIMIT = 16
# One who goes on although he was refused so often in a row is not listened to any more.
REFUSED_CALLS_LIMIT = 100
# A connection is asked so often whether somebody is there, and has as long to say so.
HEARTBEAT_S = 20.0
SWEEP_EVERY_S = 0.5
SWEEP_BATCH = 500
CLOSE_TIMEOUT_S = 5.0
DRAIN_POLL_S = 0.02

_log = logging.getLogger(__name__)
_SOCKETS = Gauge("feltro_edge_sockets", "Open WebSockets")
_CLOSED = Counter("feltro_edge_sockets_closed", "WebSockets that the gateway has closed, by code", ["code"])


class WebSocketConnection:
    """One connection."""

    __slots__ = (
        "_allowance",
        "_closing_at",
        "_conversation",
        "_heard_at",
        "_loop",
        "_noted",
        "_over",
        "_ping_at",
        "_pinged_at",
        "_refused_in_a_row",
        "_unread",
        "_visitors",
        "_warned",
        "_work",
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
        """Whether anything may still be said."""
        self._ws = ws
        self._conversation = rpc_server
        self._visitors = authenticator
        self._allowance = allowance
        self._unread = send_budget
        self._refused_in_a_row = 0
        self._work: set[asyncio.Task[None]] = set()
        self._over: asyncio.Task[None] | None = None
        self._loop = asyncio.get_running_loop()
        self._closing_at = 0.0
        self._noted = False
        self._warned = False
        now = self._loop.time()
        self._heard_at = self._pinged_at = now
        self._ping_at = now + HEARTBEAT_S * random.uniform(0.5, 1.0)  # noqa: S311 - spreads the pings

    async def run(self) -> None:
        """Listens until the connection has ended."""
        self.set_principal(self.principal)
        self._conversation.register(self)
        try:
            while await self._receive():
                pass
        finally:
            self.is_open = False
            self._note_end(close_log.LOST)
            self._part()
            self._unread.release(self)
            self.transport.close()
            if self.transport.get_write_buffer_size() > 0:
                # Closing waits for what is to be read, and he may never read it.
                self._loop.call_later(CLOSE_TIMEOUT_S, self.transport.abort)

    def send(self, *payloads: bytes) -> None:
        if self._takes_more():
            for payload in payloads:
                self.transport.write(payload)

    def send_answer(self, text: bytes) -> None:
        if self._takes_more():
            self._unread.send(self, frames.text(text))

    def send_notice(self, kind: str, **said: object) -> None:
        """Tells him something about the connection itself."""
        self.send(notification(Framing.WEBSOCKET, "notice", json_codec.dumps({"kind": kind, **said})))

    def end_subscription(self, watcher: Watcher, why: str) -> None:
        self._conversation.stop_watching(self, watcher)
        self.send_notice("unsubscribed", table_id=watcher.feed.table_id, why=why)

    def set_principal(self, principal: Principal) -> None:
        self.principal = principal
        self._warned = False
        if self._over is not None:
            self._over.cancel()
            self._over = None
        if principal.caller is not None:
            self._over = asyncio.create_task(self._until_over(principal))
            self._over.add_done_callback(self._finished)

    def close(self, code: int, reason: str = "") -> None:
        """Says why, and waits a moment for the other side to close, too. Nothing is said after it."""
        if not self.is_open:
            return
        self.is_open = False
        self._closing_at = self._loop.time()
        self._note_end(close_log.cause_of_code(code))
        self._part()
        said = reason or close_codes.EXPLANATIONS.get(CloseCode(code), "")
        if not self.transport.is_closing():
            self.transport.write(frames.close(code, said))
        _CLOSED.labels(str(int(code))).inc()

    def abort_slow(self) -> None:
        self.close(CloseCode.TOO_SLOW)
        # He would read all that waits before he read why.
        self.transport.abort()

    def check(self, now: float) -> None:
        """From time to time: is somebody there, and may he be?"""
        if not self.is_open:
            if now - self._closing_at > CLOSE_TIMEOUT_S:
                self.transport.abort()
            return
        if now >= self._ping_at:
            if self._heard_at < self._pinged_at:
                self.close(CloseCode.HEARTBEAT_MISSED)
                return
            self._pinged_at, self._ping_at = now, now + HEARTBEAT_S
            self.send(frames.PING)
        if not self._warned and self.principal.caller is not None:
            left_s = self._visitors.expires_in(self.principal)
            if left_s <= connection_limits.EXPIRY_WARNING_S:
                self._warned = True
                why = "The token expires: `refresh` with a new one to keep this connection."
                self.send_notice("token_expires", in_ms=max(0, int(left_s * 1000)), why=why)

    @property
    def has_pending_calls(self) -> bool:
        """Whether calls are under way."""
        return bool(self._work)

    async def _receive(self) -> bool:
        """Hears one message; false after the last one."""
        message = await self._ws.receive()
        kind = message.type
        self._heard_at = self._loop.time()
        if kind is WSMsgType.TEXT:
            if self.is_open:
                self._hear(message.data)
        elif kind is WSMsgType.PING:
            if self.is_open:
                self.send(frames.pong(message.data))
        elif kind is WSMsgType.BINARY:
            self._hear_bytes(message.data)
        elif kind is not WSMsgType.PONG:
            self._hear_end(message)
            return False
        return True

    def _hear_end(self, message: WSMessage) -> None:
        if isinstance(message.data, WebSocketError):
            self._note_end(close_log.MALFORMED)
        elif message.type is WSMsgType.CLOSE and self.is_open:
            self.is_open = False
            self._note_end(close_log.CLOSED)
            # 1006 means that there was no close frame, so none may say it (RFC 6455 7.4.1); aiohttp takes it.
            code = 1002 if message.data == WSCloseCode.ABNORMAL_CLOSURE else message.data
            if not self.transport.is_closing():
                self.transport.write(frames.close(code))

    def _takes_more(self) -> bool:
        """Whether anything can be written; one who reads too slowly is not written to any more."""
        if not self.is_open or self.transport.is_closing():
            return False
        if self.transport.get_write_buffer_size() > connection_limits.unsent_limit(self.principal):
            self.close(CloseCode.TOO_SLOW)
        return self.is_open

    def _hear(self, text: str) -> None:
        try:
            self._allowance.count_message()
            if len(self._work) >= PENDING_MESSAGES_LIMIT:
                sentence = "Too many messages wait for their answers: wait for one of them."
                raise GatewayRefused("OVERLOADED", sentence, limit=PENDING_MESSAGES_LIMIT)
        except Refused as refused:
            self._bear(self._conversation.refuse_message(self, text.encode(), refused))
            return
        answering = self._conversation.handle_message(self, text.encode())
        if isinstance(answering, int):
            self._bear(answering)
        else:
            self._refused_in_a_row = 0
            self._begin(answering)

    def _bear(self, refused: int) -> None:
        """So many more calls were too many; one who goes on and on is not listened to any more."""
        self._refused_in_a_row += refused
        if self._refused_in_a_row > REFUSED_CALLS_LIMIT:
            self.close(CloseCode.TOO_MANY_CALLS)

    def _hear_bytes(self, _: bytes) -> None:
        self.close(1003, close_codes.STANDARD_EXPLANATIONS[1003])

    def _begin(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        """Whatever has failed, he does not wait in vain, and stays no longer than he may (G12)."""
        self._work.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a connection has failed", exc_info=error)
            self.close(CloseCode.INTERNAL_ERROR)

    async def _until_over(self, visitor: Principal) -> None:
        refused = await self._visitors.wait_for_end(visitor)
        self.close(close_codes.close_code_for_reason(refused.reason), refused.sentence)

    def _note_end(self, cause: str) -> None:
        if not self._noted:
            self._noted = True
            close_log.log_close("websocket", self.principal, self.client_address, self.watchers.values(), cause)

    def _part(self) -> None:
        self._conversation.unregister(self)
        if self._over is not None and self._over is not asyncio.current_task():
            self._over.cancel()
        for task in self._work:
            # A command that was sent is carried out all the same; only its answer is not waited for.
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
        """`connections` are those of clients, by their own addresses."""
        self._conversation = rpc_server
        self._visitors = authenticator
        self._rates = rate_limiter
        self._connections = connections
        self._open: dict[WebSocketConnection, None] = {}
        self._unread = SendBudget()
        self._draining = False

    def install(self, application: web.Application) -> None:
        application.router.add_get(PATH, self.connect)

    async def drain(self, within_s: float) -> None:
        """Takes no more connections, tells the others to go elsewhere, and ends them when their calls are answered."""
        self._draining = True
        for opened in list(self._open):
            pause_ms = random.randrange(connection_limits.RECONNECT_SPREAD_MS)  # noqa: S311 - spreads the connections
            why = "This gateway stops: connect again after the pause, and subscribe with `from_seq`."
            opened.send_notice("draining", reconnect_after_ms=pause_ms, why=why)
        await self._wait_while(lambda: any(opened.has_pending_calls for opened in self._open), within_s)
        for opened in list(self._open):
            opened.close(CloseCode.RESTARTING)
        await self._wait_while(lambda: bool(self._open), min(within_s, CLOSE_TIMEOUT_S))

    def abort_all(self) -> None:
        for opened in list(self._open):
            opened.transport.abort()

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """One connection, from its beginning to its end."""
        if self._draining:
            raise connection_limits.stopping_problem()
        address = request.remote or ""
        self._connections.acquire(address)
        try:
            return await self._connect(request, address)
        finally:
            self._connections.release(address)

    async def _connect(self, request: web.Request, address: str) -> web.StreamResponse:
        if "Authorization" in request.headers:
            self._rates.count_shown_token(address)
        visitor = await authenticated_principal(request, self._visitors)
        # Compression would cost every watcher what he saves, and a frame could not be the same for all.
        ws = web.WebSocketResponse(compress=False, autoping=False, autoclose=False, max_msg_size=MESSAGE_BYTES_LIMIT)
        await ws.prepare(request)
        transport = request.transport
        if transport is None:
            return ws
        connection_limits.limit_send_buffer(transport)
        allowance = self._rates.connection_allowance()
        opened = WebSocketConnection(
            ws, transport, visitor, address, self._conversation, self._visitors, allowance, self._unread
        )
        self._open[opened] = None
        _SOCKETS.set(len(self._open))
        try:
            await opened.run()
        finally:
            del self._open[opened]
            _SOCKETS.set(len(self._open))
        return ws

    @staticmethod
    async def _wait_while(condition: Callable[[], bool], at_most_s: float) -> None:
        for _ in range(int(at_most_s / DRAIN_POLL_S)):
            if not condition():
                return
            await asyncio.sleep(DRAIN_POLL_S)

    async def sweep(self) -> None:
        """For ever: one look at all connections for all that is due: a timer for each would cost memory for nothing."""
        while True:
            await asyncio.sleep(SWEEP_EVERY_S)
            now = asyncio.get_running_loop().time()
            for number, opened in enumerate(list(self._open), 1):
                opened.check(now)
                if number % SWEEP_BATCH == 0:
                    await asyncio.sleep(0)
