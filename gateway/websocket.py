"""WebSockets: how long a connection lives, what may wait on it, and how it ends."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine

from aiohttp import WebSocketError, WSCloseCode, WSMessage, WSMsgType, web
from prometheus_client import Counter, Gauge

from gateway import close_codes, endings, frames, json_codec, staying
from gateway.bearer import visitor_of
from gateway.close_codes import CloseCode
from gateway.connections import Connections
from gateway.conversation import Conversation
from gateway.feeds import Transport, Watcher
from gateway.rates import Connection, Rates
from gateway.refusals import GatewayRefused
from gateway.unread import Unread
from gateway.visitors import Visitor, Visitors
from gateway.wires import Wire, told
from services.kit.refusal import Refused

PATH = "/v1/ws"
# What is taken of one connection (G11).
MESSAGE_BYTES_LIMIT = 64 * 1024
MESSAGES_AT_ONCE = 16
# One who goes on although he was refused so often in a row is not listened to any more.
REFUSED_CALLS_LIMIT = 100
# A connection is asked so often whether somebody is there, and has as long to say so.
HEARTBEAT_S = 20.0
SWEEP_EVERY_S = 0.5
SWEPT_TOGETHER = 500
CLOSED_WITHIN_S = 5.0
LOOK_EVERY_S = 0.02

_log = logging.getLogger(__name__)
_SOCKETS = Gauge("feltro_edge_sockets", "Open WebSockets")
_CLOSED = Counter("feltro_edge_sockets_closed", "WebSockets that the gateway has closed, by code", ["code"])


class Socket:
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
        "address",
        "open",
        "opening",
        "transport",
        "visitor",
        "watching",
        "wire",
    )

    def __init__(
        self,
        ws: web.WebSocketResponse,
        transport: Transport,
        visitor: Visitor,
        address: str,
        conversation: Conversation,
        visitors: Visitors,
        allowance: Connection,
        unread: Unread,
    ) -> None:
        self.wire = Wire.FRAMES
        self.transport = transport
        self.visitor = visitor
        self.address = address
        self.watching: dict[str, Watcher] = {}
        self.opening = 0
        self.open = True
        """Whether anything may still be said."""
        self._ws = ws
        self._conversation = conversation
        self._visitors = visitors
        self._allowance = allowance
        self._unread = unread
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
        self.become(self.visitor)
        self._conversation.welcome(self)
        try:
            while await self._receive():
                pass
        finally:
            self.open = False
            self._note_end(endings.LOST)
            self._part()
            self._unread.forget(self)
            self.transport.close()
            if self.transport.get_write_buffer_size() > 0:
                # Closing waits for what is to be read, and he may never read it.
                self._loop.call_later(CLOSED_WITHIN_S, self.transport.abort)

    def tell(self, *payloads: bytes) -> None:
        if self._takes_more():
            for payload in payloads:
                self.transport.write(payload)

    def say(self, text: bytes) -> None:
        if self._takes_more():
            self._unread.say(self, frames.text(text))

    def notice(self, kind: str, **said: object) -> None:
        """Tells him something about the connection itself."""
        self.tell(told(Wire.FRAMES, "notice", json_codec.dumps({"kind": kind, **said})))

    def drop(self, watcher: Watcher, why: str) -> None:
        self._conversation.leave(self, watcher)
        self.notice("unsubscribed", table_id=watcher.feed.table_id, why=why)

    def become(self, visitor: Visitor) -> None:
        self.visitor = visitor
        self._warned = False
        if self._over is not None:
            self._over.cancel()
            self._over = None
        if visitor.caller is not None:
            self._over = asyncio.create_task(self._until_over(visitor))
            self._over.add_done_callback(self._finished)

    def end(self, code: int, words: str = "") -> None:
        """Says why, and waits a moment for the other side to close, too. Nothing is said after it."""
        if not self.open:
            return
        self.open = False
        self._closing_at = self._loop.time()
        self._note_end(endings.of_code(code))
        self._part()
        said = words or close_codes.WORDS.get(CloseCode(code), "")
        if not self.transport.is_closing():
            self.transport.write(frames.close(code, said))
        _CLOSED.labels(str(int(code))).inc()

    def cut_off(self) -> None:
        self.end(CloseCode.TOO_SLOW)
        # He would read all that waits before he read why.
        self.transport.abort()

    def attend(self, now: float) -> None:
        """From time to time: is somebody there, and may he be?"""
        if not self.open:
            if now - self._closing_at > CLOSED_WITHIN_S:
                self.transport.abort()
            return
        if now >= self._ping_at:
            if self._heard_at < self._pinged_at:
                self.end(CloseCode.UNHEARD)
                return
            self._pinged_at, self._ping_at = now, now + HEARTBEAT_S
            self.tell(frames.PING)
        if not self._warned and self.visitor.caller is not None:
            left_s = self._visitors.expires_in(self.visitor)
            if left_s <= staying.WARNED_BEFORE_S:
                self._warned = True
                why = "The token expires: `refresh` with a new one to keep this connection."
                self.notice("token_expires", in_ms=max(0, int(left_s * 1000)), why=why)

    @property
    def busy(self) -> bool:
        """Whether calls are under way."""
        return bool(self._work)

    async def _receive(self) -> bool:
        """Hears one message; false after the last one."""
        message = await self._ws.receive()
        kind = message.type
        self._heard_at = self._loop.time()
        if kind is WSMsgType.TEXT:
            if self.open:
                self._hear(message.data)
        elif kind is WSMsgType.PING:
            if self.open:
                self.tell(frames.pong(message.data))
        elif kind is WSMsgType.BINARY:
            self._hear_bytes(message.data)
        elif kind is not WSMsgType.PONG:
            self._hear_end(message)
            return False
        return True

    def _hear_end(self, message: WSMessage) -> None:
        if isinstance(message.data, WebSocketError):
            self._note_end(endings.MALFORMED)
        elif message.type is WSMsgType.CLOSE and self.open:
            self.open = False
            self._note_end(endings.CLOSED)
            # 1006 means that there was no close frame, so none may say it (RFC 6455 7.4.1); aiohttp takes it.
            code = 1002 if message.data == WSCloseCode.ABNORMAL_CLOSURE else message.data
            if not self.transport.is_closing():
                self.transport.write(frames.close(code))

    def _takes_more(self) -> bool:
        """Whether anything can be written; one who reads too slowly is not written to any more."""
        if not self.open or self.transport.is_closing():
            return False
        if self.transport.get_write_buffer_size() > staying.waiting_limit(self.visitor):
            self.end(CloseCode.TOO_SLOW)
        return self.open

    def _hear(self, text: str) -> None:
        try:
            self._allowance.message()
            if len(self._work) >= MESSAGES_AT_ONCE:
                sentence = "Too many messages wait for their answers: wait for one of them."
                raise GatewayRefused("OVERLOADED", sentence, limit=MESSAGES_AT_ONCE)
        except Refused as refused:
            self._bear(self._conversation.refuse(self, text.encode(), refused))
            return
        answering = self._conversation.answer(self, text.encode())
        if isinstance(answering, int):
            self._bear(answering)
        else:
            self._refused_in_a_row = 0
            self._begin(answering)

    def _bear(self, refused: int) -> None:
        """So many more calls were too many; one who goes on and on is not listened to any more."""
        self._refused_in_a_row += refused
        if self._refused_in_a_row > REFUSED_CALLS_LIMIT:
            self.end(CloseCode.TOO_MANY)

    def _hear_bytes(self, _: bytes) -> None:
        self.end(1003, close_codes.STANDARD_WORDS[1003])

    def _begin(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: asyncio.Task[None]) -> None:
        """Whatever has failed, he does not wait in vain, and stays no longer than he may (G12)."""
        self._work.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("a connection has failed", exc_info=error)
            self.end(CloseCode.FAILED)

    async def _until_over(self, visitor: Visitor) -> None:
        refused = await self._visitors.over(visitor)
        self.end(close_codes.of_reason(refused.reason), refused.sentence)

    def _note_end(self, cause: str) -> None:
        if not self._noted:
            self._noted = True
            endings.note("websocket", self.visitor, self.address, self.watching.values(), cause)

    def _part(self) -> None:
        self._conversation.part(self)
        if self._over is not None and self._over is not asyncio.current_task():
            self._over.cancel()
        for task in self._work:
            # A command that was sent is carried out all the same; only its answer is not waited for.
            task.cancel()


class Sockets:
    """All WebSockets of this gateway."""

    def __init__(self, conversation: Conversation, visitors: Visitors, rates: Rates, connections: Connections) -> None:
        """`connections` are those of clients, by their own addresses."""
        self._conversation = conversation
        self._visitors = visitors
        self._rates = rates
        self._connections = connections
        self._open: dict[Socket, None] = {}
        self._unread = Unread()
        self._draining = False

    def add_routes(self, application: web.Application) -> None:
        application.router.add_get(PATH, self.connect)

    async def drain(self, within_s: float) -> None:
        """Takes no more connections, tells the others to go elsewhere, and ends them when their calls are answered."""
        self._draining = True
        for opened in list(self._open):
            pause_ms = random.randrange(staying.RECONNECT_SPREAD_MS)  # noqa: S311 - spreads the connections
            why = "This gateway stops: connect again after the pause, and subscribe with `from_seq`."
            opened.notice("draining", reconnect_after_ms=pause_ms, why=why)
        await self._wait_while(lambda: any(opened.busy for opened in self._open), within_s)
        for opened in list(self._open):
            opened.end(CloseCode.RESTARTING)
        await self._wait_while(lambda: bool(self._open), min(within_s, CLOSED_WITHIN_S))

    def close(self) -> None:
        for opened in list(self._open):
            opened.transport.abort()

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """One connection, from its beginning to its end."""
        if self._draining:
            raise staying.stopping()
        address = request.remote or ""
        self._connections.enter(address)
        try:
            return await self._connect(request, address)
        finally:
            self._connections.leave(address)

    async def _connect(self, request: web.Request, address: str) -> web.StreamResponse:
        if "Authorization" in request.headers:
            self._rates.newcomer(address)
        visitor = await visitor_of(request, self._visitors)
        # Compression would cost every watcher what he saves, and a frame could not be the same for all.
        ws = web.WebSocketResponse(compress=False, autoping=False, autoclose=False, max_msg_size=MESSAGE_BYTES_LIMIT)
        await ws.prepare(request)
        transport = request.transport
        if transport is None:
            return ws
        staying.bound_waiting(transport)
        allowance = self._rates.connection()
        opened = Socket(ws, transport, visitor, address, self._conversation, self._visitors, allowance, self._unread)
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
        for _ in range(int(at_most_s / LOOK_EVERY_S)):
            if not condition():
                return
            await asyncio.sleep(LOOK_EVERY_S)

    async def sweep(self) -> None:
        """For ever: one look at all connections for all that is due: a timer for each would cost memory for nothing."""
        while True:
            await asyncio.sleep(SWEEP_EVERY_S)
            now = asyncio.get_running_loop().time()
            for number, opened in enumerate(list(self._open), 1):
                opened.attend(now)
                if number % SWEPT_TOGETHER == 0:
                    await asyncio.sleep(0)
