"""The gateway's live side as tests meet it: real sockets and bus, and tables and tokens under the test's control."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import grpc
import nats
from aiohttp import web
from google.protobuf.message import Message
from nats.aio.client import Client as Nats
from nats.js.errors import BadRequestError

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from gateway.connections import Connections, Doorway, Entrance
from gateway.contracts import Contracts, Method
from gateway.envelope import envelope
from gateway.live import Live
from gateway.proxies import TrustedProxies, networks_of
from gateway.rates import Limit, Limits, Rates
from gateway.refusals import GatewayRefused
from gateway.visitors import NOBODY, Visitor, Visitors
from services.kit import background
from services.kit.identity import Caller
from services.kit.refusal import Refused
from services.kit.table.table_bus import TableBus, TableVoice
from services.wallet import facts
from stack.ephemeral import free_port

WITHIN_S = 60.0
CONTRACTS = Contracts()
Said = dict[str, Any]


async def until(condition: Callable[[], object]) -> None:
    """Returns when it is so."""
    async with asyncio.timeout(WITHIN_S):
        while not condition():
            await asyncio.sleep(0.005)


class Door:
    """Tokens are `<scope>:<subject>`; the test says when they expire."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self._ended: dict[str, asyncio.Future[GatewayRefused]] = {}
        self.seen_count = 0

    async def let_in(self, token: str) -> Visitor:
        if not token:
            return NOBODY
        scope, _, subject = token.partition(":")
        if not subject:
            raise GatewayRefused("TOKEN_INVALID", "The token is not authentic.")
        subject, _, expires_at = subject.partition("@")
        return Visitor(token, caller(subject, scope, float(expires_at or 10_000.0)))

    async def renew(self, visitor: Visitor, token: str) -> Visitor:
        renewed = await self.let_in(token)
        if visitor.caller is None or renewed.caller is None or visitor.caller.subject != renewed.caller.subject:
            raise GatewayRefused("NOT_YOURS", "The new token is for somebody else.")
        return renewed

    async def verify(self, _: Visitor) -> None:
        """Whoever is in may stay until the test ends it."""

    def seen(self, _: Visitor) -> None:
        self.seen_count += 1

    def current(self, visitor: Visitor) -> bool:
        return self.expires_in(visitor) > 0

    def expires_in(self, visitor: Visitor) -> float:
        return float("inf") if visitor.caller is None else visitor.caller.expires_at - self.time

    async def over(self, visitor: Visitor) -> GatewayRefused:
        return await asyncio.shield(self._ending(visitor.token))

    def end(self, token: str, reason: str) -> None:
        self._ending(token).set_result(GatewayRefused(reason, "It is over."))

    def _ending(self, token: str) -> asyncio.Future[GatewayRefused]:
        return self._ended.setdefault(token, asyncio.get_running_loop().create_future())


def caller(subject: str, scope: str, expires_at: float) -> Caller:
    return Caller(subject, frozenset({scope}), expires_at, 0.0, subject)


class Table:
    """A table and its owner's voice."""

    def __init__(self, table_id: str, voice: TableVoice) -> None:
        self.table_id = table_id
        self.voice = voice
        self.only_for: str | None = None
        self.seated: dict[str, str] = {}
        """Session by token."""

    def snapshot(self) -> types_pb2.TableSnapshot:
        return types_pb2.TableSnapshot(table_id=self.table_id, seq=self.voice.seq, phase=types_pb2.PHASE_BETTING)

    def say(self, count: int = 1, padding: str = "") -> None:
        for _ in range(count):
            self.voice.say(
                events_pb2.TableEvent(
                    bets_placed=events_pb2.BetsPlaced(
                        round_id=f"{self.voice.seq + 1}{padding}", seat=1, amount_cents=100
                    )
                )
            )

    def take(self) -> None:
        taken = events_pb2.TableEvent(table_taken=events_pb2.TableTaken(snapshot=self.snapshot()))
        taken.table_taken.snapshot.seq += 1
        self.voice.say(taken)


class Tables:
    """Answers for all tables there are."""

    def __init__(self, bus: TableBus) -> None:
        self._bus = bus
        self.all: dict[str, Table] = {}
        self.pictures = 0
        self.answers: dict[str, Message | Refused] = {}
        self.asked: list[tuple[str, Message, str]] = []
        self.away = False

    async def open(self, table_id: str) -> Table:
        table = self.all[table_id] = Table(table_id, await self._bus.open(table_id, 0, 1))
        return table

    async def ask(
        self, method: Method, request: Message, visitor: Visitor, traceparent: str = "", address: str = ""
    ) -> bytes:
        self.asked.append((method.rpc_name, request, visitor.token))
        await asyncio.sleep(0)
        if self.away:
            raise GatewayRefused("UNAVAILABLE", "No service answers for this at the moment: try again.")
        if method.rpc_name != "TableService.GetTable":
            answer = self.answers[method.rpc_name]
            if isinstance(answer, Refused):
                raise answer
            return answer.SerializeToString()
        assert isinstance(request, table_pb2.GetTableRequest)
        table = self.all.get(request.table_id)
        if table is None:
            raise refused("TABLE_UNKNOWN", grpc.StatusCode.NOT_FOUND)
        if table.only_for is not None and visitor.token != table.only_for:
            raise refused("NOT_YOURS", grpc.StatusCode.PERMISSION_DENIED)
        self.pictures += 1
        answer = table_pb2.GetTableResponse(table=table.snapshot())
        if visitor.token in table.seated:
            answer.own.CopyFrom(table_pb2.OwnSeat(seat=1, session_id=table.seated[visitor.token]))
        return answer.SerializeToString()


def refused(reason: str, code: grpc.StatusCode) -> Refused:
    refusal = Refused(reason, code, f"It is {reason}.", {"fact": "1"})
    refusal.domain = "table.feltro"
    return refusal


class Client:
    """A front-end's connection."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws
        self._numbers = 0
        self.told: list[Said] = []

    async def call(self, method: str, **params: object) -> Said:
        """The whole answer; what is told in the meantime is kept in `told`."""
        self._numbers += 1
        await self.ws.send_json({"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params})
        return await self.answer(self._numbers)

    async def result(self, method: str, **params: object) -> Said:
        answer = await self.call(method, **params)
        assert "result" in answer, answer
        result: Said = answer["result"]
        return result

    async def show(self, method: str, token: str) -> Said:
        """Calls with a token."""
        return await self.call(method, token=token)

    async def answer(self, number: object) -> Said:
        async with asyncio.timeout(WITHIN_S):
            while True:
                said = await self.ws.receive_json()
                if isinstance(said, dict) and "method" in said:
                    self.told.append(said)
                    continue
                assert isinstance(said, list) or said["id"] == number
                return cast("Said", said)

    async def next(self, method: str = "") -> Said:
        """The parameters of the next notification, of one kind."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                said = self.told.pop(0) if self.told else await self.ws.receive_json()
                if not method or said["method"] == method:
                    params: Said = said["params"]
                    return params

    async def seqs(self, count: int) -> list[int]:
        """The numbers of the next events."""
        return [int((await self.next("table"))["seq"]) for _ in range(count)]

    async def closed(self) -> int:
        """The code that the connection is closed with."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                message = await self.ws.receive()
                if message.type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR}:
                    return self.ws.close_code or 0
                if message.type is aiohttp.WSMsgType.TEXT:
                    self.told.append(json.loads(message.data))


class LiveEdge:
    """What is live of a gateway, in this process."""

    def __init__(
        self,
        bus: Nats,
        tables: Tables,
        door: Door | Visitors,
        limits: Limits,
        connections: Connections,
        proxies: TrustedProxies,
    ) -> None:
        self.connections = connections
        self._live = Live(CONTRACTS, tables, cast("Visitors", door), Rates(limits), bus, self.connections, 0.5)
        self.hub, self.facts = self._live.hub, self._live.facts
        self.sockets, self.streams = self._live.sockets, self._live.streams
        self.port = free_port()
        self.client = aiohttp.ClientSession(f"http://127.0.0.1:{self.port}", connector=aiohttp.TCPConnector(limit=0))
        application = web.Application(middlewares=[envelope])
        self.entrance = Entrance(connections.in_all, connections.per_address, proxies)
        for part in (self.entrance, proxies, self._live):
            part.add_routes(application)
        self._runner = web.AppRunner(application, shutdown_timeout=1.0)

    async def start(self) -> None:
        self.background = [asyncio.create_task(part) for part in self._live.background()]
        await self._runner.setup()
        await Doorway(self._runner, self.entrance, "127.0.0.1", self.port).start()
        await until(lambda: self.hub.listening)

    async def close(self) -> None:
        await self.client.close()
        await self._runner.cleanup()
        broken = [task for task in self.background if task.done()]
        await background.end(self.background)
        assert not broken

    def ask_for_a_sign(self) -> None:
        """It is time for everybody's heartbeat."""
        for opened in self.sockets._open:
            opened._ping_at = 0.0

    @asynccontextmanager
    async def connect(self, token: str = "", *, autoping: bool = True) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with self.client.ws_connect("/v1/ws", headers=headers, autoping=autoping) as ws:
            yield Client(ws)


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Nats]:
    async def quiet(_: Exception) -> None:
        return

    bus = await nats.connect(
        url,
        error_cb=quiet,
        connect_timeout=1,
        reconnect_time_wait=0.05,
        max_reconnect_attempts=-1,
        allow_reconnect=True,
    )
    try:
        yield bus
    finally:
        await bus.close()


async def wallet_stream(bus: Nats) -> None:
    """The wallet's stream is there."""
    try:
        await bus.jetstream(timeout=WITHIN_S).add_stream(name=facts.STREAM, subjects=facts.SUBJECTS)
    except BadRequestError:
        await bus.jetstream(timeout=WITHIN_S).stream_info(facts.STREAM)


# What tests say is no attack.
GENEROUS = Limits(
    player=Limit("calls of a player", 100_000, 100_000),
    operator=Limit("calls of an operator", 100_000, 100_000),
    address=Limit("calls without a token from one address", 100_000, 100_000),
    newcomers=Limit("tokens shown from one address", 100_000, 100_000),
    connection=Limit("messages on one connection", 100_000, 100_000),
)


@asynccontextmanager
async def live_edge(
    url: str,
    limits: Limits = GENEROUS,
    tables: Tables | None = None,
    connections: tuple[int, int] = (50_000, 50_000),
    proxies: str = "",
) -> AsyncIterator[tuple[LiveEdge, Tables, Door]]:
    """A gateway's live side, with an owner of tables on a connection of his own.

    `connections` in all, and from one address; `proxies` are the networks of those that are trusted.
    """
    async with connected(url) as bus, connected(url) as owners_bus:
        owner = TableBus(owners_bus)
        await owner.ensure_stream()
        made, door = tables or Tables(owner), Door()
        trusted = TrustedProxies(networks_of(proxies))
        edge = LiveEdge(bus, made, door, limits, Connections(*connections), trusted)
        await edge.start()
        try:
            yield edge, made, door
        finally:
            await edge.close()
            for table in made.all.values():
                await table.voice.close()
