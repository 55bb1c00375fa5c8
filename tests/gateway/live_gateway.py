"""The gateway's live side for tests: real sockets and bus, with tables and tokens under the test's control."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import grpc
from aiohttp import web
from google.protobuf.message import Message
from nats.aio.client import Client as Nats

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from gateway.access.authenticator import Authenticator
from gateway.access.principals import ANONYMOUS, Principal
from gateway.access.proxies import TrustedProxies, parse_networks
from gateway.access.rate_limiter import Limit, Limits, RateLimiter
from gateway.backends.dispatcher import CallContext
from gateway.contracts.methods import Contracts, Method
from gateway.contracts.refusals import GatewayRefused
from gateway.http.connection_limiter import ConnectionCounter, ConnectionLimiter, LimitedSite
from gateway.http.envelope import envelope
from gateway.live.server import LiveServer
from services.kit import background
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.rpc.status import StatusRefused
from services.kit.table.events.publisher import EventStream, TablePublisher
from stack.servers.ephemeral import free_port
from tests.processes.bus import connect_bus

WITHIN_S = 240.0
CONTRACTS = Contracts()
# The game of all tables.
GAME = "roulette"
JsonObject = dict[str, Any]


async def wait_until(condition: Callable[[], object]) -> None:
    """Returns when the condition holds."""
    async with asyncio.timeout(WITHIN_S):
        while not condition():
            await asyncio.sleep(0.005)


class FakeAuthenticator:
    """Accepts tokens of the form `<scope>:<subject>`; the test decides when they expire."""

    def __init__(self) -> None:
        self.time = 1_000.0
        self._ended: dict[str, asyncio.Future[GatewayRefused]] = {}
        self.activity_count = 0

    async def authenticate(self, token: str) -> Principal:
        if not token:
            return ANONYMOUS
        scope, _, subject = token.partition(":")
        if not subject:
            raise GatewayRefused("TOKEN_INVALID", "The token is not authentic.")
        subject, _, expires_at = subject.partition("@")
        return Principal(token, caller(subject, scope, float(expires_at or 10_000.0)))

    async def renew(self, principal: Principal, token: str) -> Principal:
        renewed = await self.authenticate(token)
        if principal.caller is None or renewed.caller is None or principal.caller.subject != renewed.caller.subject:
            raise GatewayRefused("NOT_YOURS", "The new token is for somebody else.")
        return renewed

    async def verify(self, _: Principal) -> None:
        """Nobody is refused before the test ends the token."""

    def record_activity(self, _: Principal) -> None:
        self.activity_count += 1

    def is_unexpired(self, principal: Principal) -> bool:
        return self.expires_in(principal) > 0

    def expires_in(self, principal: Principal) -> float:
        return float("inf") if principal.caller is None else principal.caller.expires_at - self.time

    async def wait_for_end(self, principal: Principal) -> GatewayRefused:
        return await asyncio.shield(self._ending(principal.token))

    def end(self, token: str, reason: str) -> None:
        self._ending(token).set_result(GatewayRefused(reason, "The token has ended."))

    def _ending(self, token: str) -> asyncio.Future[GatewayRefused]:
        return self._ended.setdefault(token, asyncio.get_running_loop().create_future())


def caller(subject: str, scope: str, expires_at: float) -> Caller:
    return Caller(subject, frozenset({scope}), expires_at, 0.0, subject)


def game_of(_: str) -> str | None:
    """The game of a table, as the directory knows it."""
    return GAME


class FakeTable:
    """A table and its owner's publisher."""

    def __init__(self, table_id: str, publisher: TablePublisher) -> None:
        self.table_id = table_id
        self.publisher = publisher
        self.visible_to: str | None = None
        self.seated: dict[str, str] = {}
        """Session ids by token."""

    def snapshot(self) -> types_pb2.TableSnapshot:
        return types_pb2.TableSnapshot(table_id=self.table_id, seq=self.publisher.seq, phase=types_pb2.PHASE_BETTING)

    def publish(self, count: int = 1, padding: str = "") -> None:
        for _ in range(count):
            self.publisher.publish(
                events_pb2.TableEvent(
                    bets_placed=events_pb2.BetsPlaced(
                        round_id=f"{self.publisher.seq + 1}{padding}", seat=1, amount_cents=100
                    )
                )
            )

    def publish_takeover(self) -> None:
        takeover = events_pb2.TableEvent(snapshot_published=events_pb2.SnapshotPublished(snapshot=self.snapshot()))
        takeover.snapshot_published.snapshot.seq += 1
        self.publisher.publish(takeover)


class FakeTables:
    """Answers the calls about all tables."""

    def __init__(self, bus: EventStream) -> None:
        self._bus = bus
        self.by_id: dict[str, FakeTable] = {}
        self.snapshot_count = 0
        self.answers: dict[str, Message | Refused] = {}
        self.calls: list[tuple[str, Message, str]] = []
        self.unavailable = False

    async def open(self, table_id: str) -> FakeTable:
        table = self.by_id[table_id] = FakeTable(table_id, await self._bus.open_publisher(table_id, 0, 1))
        return table

    async def dispatch(self, method: Method, request: Message, context: CallContext) -> bytes:
        principal = context.principal
        self.calls.append((method.rpc_name, request, principal.token))
        await asyncio.sleep(0)
        if self.unavailable:
            raise GatewayRefused("UNAVAILABLE", "No service answers for this at the moment: try again.")
        if method.rpc_name != "TableService.GetTable":
            answer = self.answers[method.rpc_name]
            if isinstance(answer, Refused):
                raise answer
            return answer.SerializeToString()
        assert isinstance(request, table_pb2.GetTableRequest)
        table = self.by_id.get(request.table_id)
        if table is None:
            raise refused("TABLE_UNKNOWN", grpc.StatusCode.NOT_FOUND)
        if table.visible_to is not None and principal.token != table.visible_to:
            raise refused("NOT_YOURS", grpc.StatusCode.PERMISSION_DENIED)
        self.snapshot_count += 1
        answer = table_pb2.GetTableResponse(table=table.snapshot())
        if principal.token in table.seated:
            answer.own_seat.CopyFrom(table_pb2.OwnSeat(seat=1, session_id=table.seated[principal.token]))
        return answer.SerializeToString()


def refused(reason: str, code: grpc.StatusCode) -> Refused:
    refusal = StatusRefused(reason, code, f"Refused: {reason}.", {"fact": "1"})
    refusal.domain = "table.feltro"
    return refusal


class RpcClient:
    """The JSON-RPC client of one WebSocket."""

    def __init__(self, ws: aiohttp.ClientWebSocketResponse) -> None:
        self.ws = ws
        self._numbers = 0
        self.notifications: list[JsonObject] = []

    async def call(self, method: str, **params: object) -> JsonObject:
        """Returns the whole answer; notifications that come before it are kept in `notifications`."""
        self._numbers += 1
        await self.ws.send_json({"jsonrpc": "2.0", "id": self._numbers, "method": method, "params": params})
        return await self.answer(self._numbers)

    async def result(self, method: str, **params: object) -> JsonObject:
        answer = await self.call(method, **params)
        assert "result" in answer, answer
        result: JsonObject = answer["result"]
        return result

    async def call_with_token(self, method: str, token: str) -> JsonObject:
        """Calls with a token."""
        return await self.call(method, token=token)

    async def answer(self, number: object) -> JsonObject:
        async with asyncio.timeout(WITHIN_S):
            while True:
                message = await self.ws.receive_json()
                if isinstance(message, dict) and "method" in message:
                    self.notifications.append(message)
                    continue
                assert isinstance(message, list) or message["id"] == number
                return cast("JsonObject", message)

    async def next_message(self) -> JsonObject:
        """Returns the next notification, whole."""
        if self.notifications:
            return self.notifications.pop(0)
        async with asyncio.timeout(WITHIN_S):
            return cast("JsonObject", await self.ws.receive_json())

    async def next_notification(self, method: str = "") -> JsonObject:
        """Returns the parameters of the next notification, or of the next of one method."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                message = await self.next_message()
                if not method or message["method"] == method:
                    params: JsonObject = message["params"]
                    return params

    async def next_open_round(self, table: JsonObject) -> str:
        """Returns the id of the round that takes bets: the one of this snapshot, or the next that opens.

        Notifications stay to be read.
        """
        if table["phase"] == "PHASE_BETTING":
            return str(table["round"]["round_id"])
        read: list[JsonObject] = []
        while not read or "round_opened" not in read[-1]["params"]:
            read.append(await self.next_message())
        self.notifications = read + self.notifications
        return str(read[-1]["params"]["round_opened"]["round"]["round_id"])

    async def next_seqs(self, count: int) -> list[int]:
        """Returns the sequence numbers of the next events."""
        return [int((await self.next_notification("table"))["seq"]) for _ in range(count)]

    async def wait_for_close(self) -> int:
        """Returns the code that the connection is closed with."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                message = await self.ws.receive()
                if message.type in {aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED, aiohttp.WSMsgType.ERROR}:
                    return self.ws.close_code or 0
                if message.type is aiohttp.WSMsgType.TEXT:
                    self.notifications.append(json.loads(message.data))


class LiveGateway:
    """The live side of a gateway, in this process."""

    def __init__(
        self,
        bus: Nats,
        tables: FakeTables,
        authenticator: FakeAuthenticator | Authenticator,
        limits: Limits,
        connections: ConnectionCounter,
        proxies: TrustedProxies,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.connections = connections
        accepting = cast("Authenticator", authenticator)
        limiter = RateLimiter(limits, clock)
        self._live = LiveServer(CONTRACTS, tables, accepting, limiter, bus, game_of, self.connections, 0.5)
        self.hub, self.private_facts, self.own_views = self._live.hub, self._live.private_facts, self._live.own_views
        self.websockets, self.event_streams = self._live.websockets, self._live.event_streams
        self.port = free_port()
        self.client = aiohttp.ClientSession(f"http://127.0.0.1:{self.port}", connector=aiohttp.TCPConnector(limit=0))
        application = web.Application(middlewares=[envelope])
        self.connection_limiter = ConnectionLimiter(connections.total_limit, connections.address_limit, proxies)
        for part in (self.connection_limiter, proxies, self._live):
            part.install(application)
        self._runner = web.AppRunner(application, shutdown_timeout=1.0)

    async def start(self) -> None:
        self.background_tasks = [asyncio.create_task(part) for part in self._live.background_tasks()]
        await self._runner.setup()
        await LimitedSite(self._runner, self.connection_limiter, "127.0.0.1", self.port).start()
        await wait_until(lambda: self.hub.is_listening)

    async def close(self) -> None:
        await self.client.close()
        await self._runner.cleanup()
        ended = [task for task in self.background_tasks if task.done()]
        await background.cancel_and_wait(self.background_tasks)
        assert not ended, "a task that never ends has ended"

    def ping_all(self) -> None:
        """Makes the heartbeats of all connections due."""
        for connection in self.websockets._open:
            connection._ping_at = 0.0

    @asynccontextmanager
    async def connect(self, token: str = "", *, autoping: bool = True) -> AsyncIterator[RpcClient]:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        async with self.client.ws_connect("/v1/ws", headers=headers, autoping=autoping) as ws:
            yield RpcClient(ws)


@asynccontextmanager
async def bus_client(url: str) -> AsyncIterator[Nats]:
    bus = await connect_bus(url)
    try:
        yield bus
    finally:
        await bus.close()


# Tests call more often than honest clients do.
UNLIMITED = Limits(
    player_calls=Limit("calls of a player", 100_000, 100_000),
    operator_calls=Limit("calls of an operator", 100_000, 100_000),
    address_calls=Limit("calls without a token from one address", 100_000, 100_000),
    address_tokens=Limit("tokens shown from one address", 100_000, 100_000),
    connection_messages=Limit("messages on one connection", 100_000, 100_000),
)


@asynccontextmanager
async def live_gateway(
    url: str,
    limits: Limits = UNLIMITED,
    tables: FakeTables | None = None,
    connections: tuple[int, int] = (50_000, 50_000),
    proxies: str = "",
    gateway_url: str = "",
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[tuple[LiveGateway, FakeTables, FakeAuthenticator]]:
    """Runs a gateway's live side, with an owner of tables on a bus connection of its own.

    `connections` are the limits in total and per address; `proxies` are the networks of trusted proxies; `gateway_url`
    is the bus as the gateway's own user comes to it, and the operator does everything without it; `clock` is the one by
    which limits on calls are counted.
    """
    async with bus_client(gateway_url or url) as bus, bus_client(url) as owner_bus:
        owner = EventStream(owner_bus, GAME)
        tables, authenticator = tables or FakeTables(owner), FakeAuthenticator()
        trusted = TrustedProxies(parse_networks(proxies))
        gateway = LiveGateway(bus, tables, authenticator, limits, ConnectionCounter(*connections), trusted, clock)
        await gateway.start()
        try:
            yield gateway, tables, authenticator
        finally:
            await gateway.close()
            for table in tables.by_id.values():
                await table.publisher.close()
