"""The connection to NATS: a dead one is noticed although no socket was closed, and it comes back by itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from urllib.parse import urlsplit

import nats.errors
import pytest
import pytest_asyncio

from services.kit.bus import connection
from services.kit.bus.connection import BusClient, BusEndpoint, connect, require_connection

# For what takes moments, however busy the machine is.
TIMEOUT_S = 240.0


class SilencingProxy:
    """Passes bytes on in both directions until it is silent: then it swallows them, and closes nothing."""

    def __init__(self, host: str, port: int, credentials: str) -> None:
        self._credentials = credentials
        self.is_silent = False
        self.swallowed = 0
        self._target = host, port
        self._writers: list[asyncio.StreamWriter] = []

    async def start(self) -> str:
        """Returns the address at which it listens."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()
        return f"nats://{self._credentials}@{host}:{port}"

    async def stop(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.close()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        target_reader, target_writer = await asyncio.open_connection(*self._target)
        self._writers += [writer, target_writer]
        await asyncio.gather(self._pass_on(reader, target_writer), self._pass_on(target_reader, writer))

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while received := await reader.read(64 * 1024):
                if self.is_silent:
                    self.swallowed += len(received)
                else:
                    writer.write(received)
        writer.close()


@pytest_asyncio.fixture
async def proxy(nats_url: str) -> AsyncIterator[SilencingProxy]:
    address = urlsplit(nats_url)
    made = SilencingProxy(str(address.hostname), address.port or 4222, address.netloc.rpartition("@")[0])
    yield made
    await made.stop()


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not condition():
            await asyncio.sleep(0.01)


def test_g9_a_dead_connection_counts_as_dead_within_seconds() -> None:
    assert connection.PING_INTERVAL_S * (connection.UNANSWERED_PINGS_LIMIT + 1) <= 6


@pytest.mark.guarantee("G9")
async def test_g9_a_connection_that_died_silently_is_noticed_and_made_anew(
    proxy: SilencingProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """NATS's own default notices after minutes: the test would run into its time limit."""
    monkeypatch.setattr(connection, "PING_INTERVAL_S", 0.1)
    monkeypatch.setattr(connection, "CONNECT_TIMEOUT_S", 0.5)
    url = await proxy.start()
    bus = await connect(BusEndpoint(url), "a test")
    received: list[bytes] = []
    try:
        subscription = await bus.subscribe(bus.new_inbox())
        proxy.is_silent = True
        await until(lambda: not bus.is_connected)
        assert proxy.swallowed
        with pytest.raises(nats.errors.ConnectionReconnectingError):
            require_connection(bus)
        proxy.is_silent = False
        await until(lambda: bus.is_connected)
        require_connection(bus)
        async with asyncio.timeout(TIMEOUT_S):
            while not received:
                # With so short an interval a busy machine may lose the new connection, too.
                with suppress(nats.errors.Error):
                    await bus.publish(subscription.subject, b"again")
                    received.append((await subscription.next_msg(timeout=1.0)).data)
    finally:
        await bus.close()
    assert received == [b"again"]


async def test_a_client_that_exists_already_is_connected(nats_url: str) -> None:
    client = BusClient()
    with pytest.raises(nats.errors.ConnectionReconnectingError):
        require_connection(client)
    assert await connect(BusEndpoint(nats_url), "a test", client=client) is client
    require_connection(client)
    await client.close()


async def test_a_flush_that_is_given_up_leaves_the_connection_in_order(nats_url: str) -> None:
    """The answer to its ping comes afterwards, and nobody waits for it."""
    bus = await connect(BusEndpoint(nats_url), "test")
    try:
        flushing = asyncio.create_task(bus.flush())
        while not bus._pongs:  # Until the ping is on its way.
            await asyncio.sleep(0)
        flushing.cancel()
        await asyncio.wait([flushing])

        for _ in range(3):
            await bus.flush()
            await bus.jetstream().account_info()
    finally:
        await bus.close()
