"""`make bench-edge`, fan-out: the delivery of a table's events to all watchers, beside a bare loop writing one frame.

Prints lines `ratio <name> <value>` at the end. Server and clients are processes of their own on one machine; runs of
the two sides alternate, and their medians are compared. Both have the same event loop, the same clients and frames of
the same size. `…_processor` compares the CPU time of the server for a delivery, which a busy machine changes less.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import itertools
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import nats
import psutil
import uvloop
from aiohttp import web
from google.protobuf.message import Message

from feltro.table.v1 import events_pb2, table_pb2, types_pb2
from gateway.access.authenticator import Authenticator
from gateway.access.rate_limiter import Limit, Limits, RateLimiter
from gateway.backends.dispatcher import CallContext
from gateway.contracts import json_codec
from gateway.contracts.methods import Contracts, Method
from gateway.http.connection_limiter import ConnectionCounter, connection_capacity
from gateway.live.connections.rpc_server import RpcServer
from gateway.live.connections.websocket import WebSocketServer
from gateway.live.encoding import EncodedEvent
from gateway.live.hub import Hub
from gateway.live.private_facts import PlayerConnections, PrivateFacts
from services.kit.bus.stream_keeper import StreamKeeper
from services.kit.bus.subjects import table_subject
from stack.servers import ephemeral
from stack.servers.ephemeral import free_port
from tests.gateway.live_gateway import FakeAuthenticator

TABLE = "bench"
GAME = "roulette"
WATCHERS = (100, 1_000, 5_000)
# All numbers from here have as many digits, so that all frames have the same size.
FIRST = 1_000_000
# Events under way at once: neither server nor clients wait for the other.
WINDOW = 4
CONCURRENT_CONNECTS = 200
READY_WITHIN_S = 30.0
# The pace of events while their delay is measured and not their rate.
SEND_EVERY_S = 0.1
HANDSHAKE = (
    "GET {path} HTTP/1.1\r\nHost: bench\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n{more}"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_ANSWER = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"


def event(seq: int) -> events_pb2.TableEvent:
    placed = events_pb2.TableEvent(table_id=TABLE, seq=seq)
    placed.at.FromMilliseconds(1_700_000_000_123)
    placed.bets_placed.CopyFrom(events_pb2.BetsPlaced(round_id="r" * 40, seat=17, amount_cents=2_500))
    placed.bets_placed.bets.Pack(types_pb2.LocalizedText(pt="x" * 30, en="y" * 30))
    return placed


def frame(seq: int) -> bytes:
    return EncodedEvent(seq, json_codec.encode(event(seq)), is_snapshot=False).websocket_frame


class BareServer(asyncio.Protocol):
    """The least that a fan-out can be."""

    transports: set[asyncio.Transport] = set()  # noqa: RUF012 - the one list of the one process

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if data.startswith(b"GET"):
            self._transport.write(_ANSWER)
            self.transports.add(self._transport)
            return
        payload = frame(FIRST)
        for _ in range(len(data)):
            for transport in self.transports:
                transport.write(payload)

    def connection_lost(self, _: Exception | None) -> None:
        self.transports.discard(self._transport)


class TableStub:
    """Answers for the only table."""

    async def dispatch(self, method: Method, request: Message, context: CallContext) -> bytes:
        table = types_pb2.TableSnapshot(table_id=TABLE, seq=FIRST)
        return table_pb2.GetTableResponse(table=table).SerializeToString()


async def serve_bare(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(BareServer, "127.0.0.1", port, backlog=1_000)
    await server.serve_forever()


async def serve_edge(port: int, nats_url: str) -> None:
    bus = await nats.connect(nats_url)
    limit = Limit("calls", 1e6, 1_000_000)
    rates = RateLimiter(Limits(limit, limit, limit, limit, limit))
    authenticator = cast("Authenticator", FakeAuthenticator())
    contracts = Contracts()
    players = PlayerConnections()
    hub, facts = Hub(bus, contracts, TableStub(), lambda _: GAME), PrivateFacts(bus, players)
    connections = ConnectionCounter(100_000, 100_000)
    sockets = WebSocketServer(
        RpcServer(contracts, TableStub(), authenticator, rates, hub, players), authenticator, rates, connections
    )
    application = web.Application()
    sockets.install(application)
    background = [asyncio.create_task(part) for part in (*hub.background_tasks(), facts.run(), sockets.sweep())]
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, backlog=1_000).start()
    await asyncio.gather(*background)


@dataclass(frozen=True)
class LoadOptions:
    """The load that clients make."""

    watchers: int
    seconds: float
    port: int
    server_pid: int
    """The process whose CPU time is measured."""


@dataclass
class DeliveryCount:
    """The bytes that all clients of a run have received."""

    received: int = 0
    expected: int = 0
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    sent_at: float = 0.0
    delays_s: list[float] | None = None
    """The time from sending to receiving, of each watcher and event; None if it is not measured."""

    def expect(self, more: int) -> None:
        self.expected += more

    def add(self, size: int) -> None:
        self.received += size
        if self.delays_s is not None:
            # An event fits into one packet.
            self.delays_s.append(time.perf_counter() - self.sent_at)
        if self.received >= self.expected:
            self.reached.set()


class Watcher(asyncio.Protocol):
    """A client: subscribes, and counts what it receives."""

    def __init__(self, count: DeliveryCount, handshake: bytes, subscription: bytes) -> None:
        self._count = count
        self._handshake = handshake
        self._subscription = subscription
        self._head = b""
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.transport.write(self._handshake)

    def data_received(self, data: bytes) -> None:
        if self.ready.done():
            self._count.add(len(data))
            return
        self._head += data
        if b"\r\n\r\n" not in self._head:
            return
        if self._subscription:
            self.transport.write(self._subscription)
            self._subscription = b""
        elif b"101" in self._head[:20] and (b"result" in self._head or b"\r\n\r\n" in self._head[-4:]):
            self.ready.set_result(None)


def masked(text: bytes) -> bytes:
    """A client's frame; a mask of zeros leaves the text as it is."""
    return bytes((0x81, 0x80 | len(text), 0, 0, 0, 0)) + text


def handshake(token: str = "") -> bytes:
    more = f"Authorization: Bearer {token}\r\n" if token else ""
    return HANDSHAKE.format(path="/v1/ws", more=more).encode()


async def connect(
    port: int, count: DeliveryCount, number: int, *, watch: bool, tokens: Sequence[str] = ()
) -> list[Watcher]:
    """Opens connections; `tokens`: one for each, or none."""
    openings = iter([handshake(token) for token in tokens] or itertools.repeat(handshake(), number))
    subscription = b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"table_id":"%s"}}' % TABLE.encode()
    first_frame = masked(subscription) if watch else b""
    loop = asyncio.get_running_loop()
    made: list[Watcher] = []
    for first in range(0, number, CONCURRENT_CONNECTS):
        some = await asyncio.gather(
            *(
                loop.create_connection(lambda: Watcher(count, next(openings), first_frame), "127.0.0.1", port)
                for _ in range(min(CONCURRENT_CONNECTS, number - first))
            )
        )
        made += [watcher for _, watcher in some]
        async with asyncio.timeout(READY_WITHIN_S):
            await asyncio.gather(*(watcher.ready for _, watcher in some))
    return made


async def rate(load: LoadOptions, *, watch: bool, trigger: Callable[[int], object]) -> str:
    """Deliveries a second, the server's CPU time for each in microseconds, p50 and p99 of delays in milliseconds."""
    number, seconds = load.watchers, load.seconds
    count = DeliveryCount()
    watchers = await connect(load.port, count, number, watch=watch)
    size = len(frame(FIRST)) * number
    gc.collect()
    gc.freeze()
    sent = 0
    server = psutil.Process(load.server_pid)
    before = sum(server.cpu_times()[:2])
    started = time.perf_counter()
    while time.perf_counter() - started < seconds:
        while count.expected - count.received < WINDOW * size:
            sent += 1
            count.expect(size)
            trigger(sent)
            await asyncio.sleep(0)
        # Until one of the events under way has arrived everywhere.
        arrived = count.expected - (WINDOW - 1) * size
        count.reached.clear()
        while count.received < arrived:
            await asyncio.sleep(0.0002)
    while count.received < count.expected:
        await asyncio.sleep(0.0002)
    lasted = time.perf_counter() - started
    used = sum(server.cpu_times()[:2])
    numbers = itertools.count(sent + 1)
    p50, p99 = await delays(count, size, seconds / 2, lambda: trigger(next(numbers)))
    for watcher in watchers:
        watcher.transport.abort()
    return f"{sent * number / lasted} {(used - before) * 1e6 / sent / number} {p50} {p99}"


async def delays(count: DeliveryCount, size: int, seconds: float, trigger: Callable[[], object]) -> tuple[float, float]:
    """Sends one event after the other; p50 and p99 of the time to reach a watcher, in milliseconds."""
    count.delays_s = []
    ends = time.perf_counter() + seconds
    while (began := time.perf_counter()) < ends:
        count.expect(size)
        count.reached.clear()
        count.sent_at = time.perf_counter()
        trigger()
        await count.reached.wait()
        await asyncio.sleep(max(0.0, began + SEND_EVERY_S - time.perf_counter()))
    ordered = sorted(count.delays_s)
    return ordered[len(ordered) // 2] * 1e3, ordered[int(len(ordered) * 0.99)] * 1e3


async def load_bare(load: LoadOptions) -> str:
    _, writer = await asyncio.open_connection("127.0.0.1", load.port)
    return await rate(load, watch=False, trigger=lambda _: writer.write(b"."))


async def load_edge(load: LoadOptions, nats_url: str) -> str:
    bus = await nats.connect(nats_url)
    subject = table_subject(GAME, TABLE)
    waiting: list[asyncio.Task[None]] = []

    def trigger(sent: int) -> None:
        payload = events_pb2.TableEvents(events=[event(FIRST + sent)]).SerializeToString()
        waiting.append(asyncio.ensure_future(bus.publish(subject, payload)))

    found = await rate(load, watch=True, trigger=trigger)
    await bus.close()
    return found


def wait_for(port: int) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the server does not listen")


@dataclass(frozen=True)
class RunResult:
    """The result of one run; the CPU time is the server's alone."""

    per_second: float
    processor_us: float
    p50_ms: float
    p99_ms: float


def run(side: str, number: int, seconds: float, nats_url: str) -> RunResult:
    """Runs one side once, in new processes."""
    port = free_port()
    command = [sys.executable, "-m", "tests.bench.edge_fanout"]
    server = subprocess.Popen([*command, "--serve", side, "--port", str(port), "--nats", nats_url])
    try:
        wait_for(port)
        time.sleep(0.5)
        load = [*command, "--load", side, "--port", str(port), "--nats", nats_url]
        load += ["--watchers", str(number), "--seconds", str(seconds), "--server", str(server.pid)]
        finished = subprocess.run(load, capture_output=True, check=True)
        return RunResult(*map(float, finished.stdout.split()))
    finally:
        server.kill()
        server.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watchers", type=int, action="append")
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--runs", type=int, default=3)
    for hidden in ("--serve", "--load", "--nats"):
        parser.add_argument(hidden, default="", help=argparse.SUPPRESS)
    for hidden in ("--port", "--server"):
        parser.add_argument(hidden, type=int, default=0, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.serve:
        uvloop.run(serve_bare(chosen.port) if chosen.serve == "bare" else serve_edge(chosen.port, chosen.nats))
        return 0
    if chosen.load:
        wanted = LoadOptions(chosen.watchers[0], chosen.seconds, chosen.port, chosen.server)
        load = load_bare(wanted) if chosen.load == "bare" else load_edge(wanted, chosen.nats)
        print(uvloop.run(load))
        return 0
    for name, value in bench(chosen.watchers or WATCHERS, chosen.seconds, chosen.runs).items():
        print(f"ratio {name} {value:.2f}")
    return 0


def open_files_for(connections: int) -> None:
    """Raises the limit of open files as the gateway does, also for the processes started from here."""
    capacity = connection_capacity(connections)
    if capacity < connections:
        sys.exit(f"The system allows {capacity} connections and the bench opens {connections}: raise `ulimit -Hn`.")


def bench(watchers: Sequence[int], seconds: float, runs: int) -> dict[str, float]:
    """Runs all phases on one bus."""
    open_files_for(max(watchers))
    ratios: dict[str, float] = {}
    with ephemeral.nats() as server:
        asyncio.run(_make_stream(server.url))
        for number in watchers:
            found: dict[str, list[RunResult]] = {"bare": [], "edge": []}
            for _ in range(runs):
                for side, of_side in found.items():
                    asyncio.run(_purge(server.url))
                    of_side.append(run(side, number, seconds, server.url))
                    _report(side, number, of_side[-1])
            bare, edge = (statistics.median(one.per_second for one in of_side) for of_side in found.values())
            ratios[f"fanout_{number}"] = edge / bare
            bare, edge = (statistics.median(one.processor_us for one in of_side) for of_side in found.values())
            ratios[f"fanout_{number}_processor"] = bare / edge
    return ratios


def _report(side: str, number: int, one: RunResult) -> None:
    letter = "(a)" if side == "bare" else "(b)"
    print(
        f"  {letter} {side} {number:>6} watchers {one.per_second:>10,.0f} deliveries/s, {one.processor_us:.2f} µs of"
        f" the server's CPU time each; an event arrives after p50 {one.p50_ms:.1f} ms, p99 {one.p99_ms:.1f} ms",
        flush=True,
    )


async def _make_stream(url: str) -> None:
    bus = await nats.connect(url)
    await StreamKeeper(bus).create_missing()
    await bus.close()


async def _purge(url: str) -> None:
    bus = await nats.connect(url)
    await bus.jetstream().purge_stream("FELTRO_TABLES")
    await bus.close()


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main())
