"""The floor of a bet through the gateway: bare gRPC calls that echo their request, and a plain commit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import asyncpg
import grpc
import uvloop

from stack.servers.ephemeral import free_port
from tests.processes.databases import connect_asyncpg

SERVICE, METHOD = "bench.Echo", "Echo"
# About as much as a bet.
PAYLOAD = b"b" * 256
HOPS = 2


async def serve(port: int) -> None:
    async def echo(request: bytes, _: grpc.aio.ServicerContext[bytes, bytes]) -> bytes:
        return request

    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    handlers: dict[str, grpc.RpcMethodHandler[bytes, bytes]] = {METHOD: grpc.unary_unary_rpc_method_handler(echo)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(SERVICE, handlers),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    await server.wait_for_termination()


@contextmanager
def echo_server() -> Iterator[str]:
    """Starts a process that echoes; its address."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.edge_floor", str(port)])
    try:
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


class Floor:
    """The calls and commits of the floor."""

    def __init__(self, channel: grpc.aio.Channel, connection: asyncpg.Connection) -> None:
        self._echo: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{SERVICE}/{METHOD}")
        self._connection = connection

    async def one_hop(self, _caller: int = 0, _turn: int = 0) -> int:
        """One call."""
        await self._echo(PAYLOAD, wait_for_ready=True)
        return 1

    async def hops_and_commit(self, _caller: int, turn: int) -> int:
        """The hops to the game service and to the wallet, and the commit that makes a stake durable."""
        for _ in range(HOPS):
            await self._echo(PAYLOAD)
        await self._insert.fetch(str(turn))
        return 1

    async def prepare(self) -> None:
        await self._connection.execute(
            "CREATE TABLE IF NOT EXISTS plain_commit (no bigint GENERATED ALWAYS AS IDENTITY, at text)"
        )
        self._insert = await self._connection.prepare("INSERT INTO plain_commit (at) VALUES ($1)")
        await self.one_hop()


@asynccontextmanager
async def floor(address: str, owner_url: str) -> AsyncIterator[Floor]:
    connection = await connect_asyncpg(owner_url)
    try:
        async with grpc.aio.insecure_channel(address) as channel:
            measured = Floor(channel, connection)
            await measured.prepare()
            yield measured
    finally:
        await connection.close()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
