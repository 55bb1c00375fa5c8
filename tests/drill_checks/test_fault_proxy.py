"""The proxy passes on, cuts, swallows for a while and delays, as the drill demands."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from stack.servers.ephemeral import free_port
from tests.drill import fault_proxy
from tests.drill.fault_proxy import FaultProxy, Network

WAITS_S = 30.0


@pytest.fixture
async def proxy() -> AsyncIterator[FaultProxy]:
    """A proxy in front of a server that answers each line with the same line."""
    received: list[bytes] = []

    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            received.append(line)
            writer.write(line)
        writer.close()

    server = await asyncio.start_server(echo, "127.0.0.1", 0)
    made = FaultProxy(free_port(), server.sockets[0].getsockname()[1])
    await made.start()
    made.received = received  # type: ignore[attr-defined]
    async with asyncio.timeout(WAITS_S):
        yield made
        await made.stop()
        server.close()


async def connect(proxy: FaultProxy) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", proxy.port)


async def test_a_fine_network_passes_on(proxy: FaultProxy) -> None:
    reader, writer = await connect(proxy)
    writer.write(b"one\n")
    assert await reader.readline() == b"one\n"
    writer.write_eof()
    assert await reader.read() == b""
    writer.close()


async def test_a_cut_ends_connections_and_refuses_new_ones(proxy: FaultProxy) -> None:
    reader, writer = await connect(proxy)
    writer.write(b"one\n")
    await reader.readline()
    proxy.be(Network.CUT)
    assert await _ends(reader)
    late, late_writer = await connect(proxy)
    assert await _ends(late)
    proxy.be(Network.FINE)
    again, again_writer = await connect(proxy)
    again_writer.write(b"two\n")
    assert await again.readline() == b"two\n"
    for each in (writer, late_writer, again_writer):
        each.close()


async def test_silence_keeps_what_is_sent_until_it_ends(proxy: FaultProxy) -> None:
    reader, writer = await connect(proxy)
    writer.write(b"one\n")
    await reader.readline()
    proxy.be(Network.SILENT)
    writer.write(b"two\n")
    answer = asyncio.create_task(reader.readline())
    new_reader, new_writer = await connect(proxy)
    new_writer.write(b"three\n")
    assert _received(proxy) == [b"one\n"]
    proxy.be(Network.FINE)
    assert await answer == b"two\n"
    assert await new_reader.readline() == b"three\n"
    writer.close()
    new_writer.close()


async def test_a_half_open_connection_delivers_requests_and_no_answers(proxy: FaultProxy) -> None:
    reader, writer = await connect(proxy)
    writer.write(b"one\n")
    await reader.readline()
    proxy.be(Network.HALF_OPEN)
    writer.write(b"two\n")
    while b"two\n" not in _received(proxy):
        await asyncio.sleep(0.01)
    answer = asyncio.create_task(reader.readline())
    await asyncio.sleep(0)
    assert not answer.done()
    proxy.be(Network.FINE)
    assert await answer == b"two\n"
    writer.close()


async def test_a_slow_network_delays(proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[float] = []
    sleep = asyncio.sleep

    async def note(seconds: float) -> None:
        delays.append(seconds)
        await sleep(0)

    monkeypatch.setattr(asyncio, "sleep", note)
    proxy.be(Network.SLOW)
    reader, writer = await connect(proxy)
    writer.write(b"one\n")
    assert await reader.readline() == b"one\n"
    assert delays.count(fault_proxy.SLOW_S) == 2
    writer.close()


def _received(proxy: FaultProxy) -> list[bytes]:
    found: list[bytes] = proxy.received  # type: ignore[attr-defined]
    return found


async def _ends(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True
