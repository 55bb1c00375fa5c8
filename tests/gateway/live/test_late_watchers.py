"""Those who are late are mended whatever becomes of others who are late: nobody's end takes the mending with him."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from google.protobuf.message import Message

from feltro.table.v1 import events_pb2
from gateway.access.principals import ANONYMOUS, Principal
from gateway.contracts import json_codec
from gateway.live import connection_limits, feeds, hub
from gateway.live.close_codes import CloseCode
from gateway.live.encoding import EncodedEvent, Framing
from gateway.live.feeds import Feed, Transport, Watcher
from tests.gateway.live_gateway import (
    FakeAuthenticator,
    FakeTable,
    FakeTables,
    LiveGateway,
    RpcClient,
    live_gateway,
    wait_until,
)

Edge = tuple[LiveGateway, FakeTables, FakeAuthenticator]


@pytest.fixture
async def edge(nats_url: str) -> AsyncIterator[Edge]:
    """When it closes it looks whether anything that runs for ever has ended."""
    async with live_gateway(nats_url) as made:
        yield made


async def two_tables(tables: FakeTables) -> list[FakeTable]:
    return [await tables.open(f"t{uuid4().hex[:12]}") for _ in range(2)]


async def is_mended(live: LiveGateway, client: RpcClient, table: FakeTable) -> None:
    """One who watches is told when something was missed."""
    await client.result("subscribe", table_id=table.table_id)
    live.hub._on_gap()
    assert (await client.next_notification("snapshot"))["table_id"] == table.table_id
    table.publish()
    assert await client.next_seqs(1) == [table.publisher.seq]


async def test_an_outage_ends_one_who_watches_two_tables_and_nothing_else(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, tables, _ = edge
    both = await two_tables(tables)
    async with live.connect() as lobby, live.connect() as stream, live.connect() as honest:
        for one in (lobby, stream):
            for table in both:
                await one.result("subscribe", table_id=table.table_id)
        monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.1)
        # The bus has lost messages, and nobody can be asked for a picture.
        tables.unavailable = True
        live.hub._on_gap()
        for one in (lobby, stream):
            assert await one.wait_for_close() == CloseCode.TABLE_UNAVAILABLE
        assert not live.hub._late
        tables.unavailable = False
        monkeypatch.undo()
        await is_mended(live, honest, both[0])


@pytest.mark.guarantee("G9")
async def test_g9_one_who_reads_nothing_of_two_tables_takes_the_mending_from_nobody(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 32 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    live, tables, _ = edge
    both = await two_tables(tables)
    async with live.connect() as attacker, live.connect() as honest:
        for table in both:
            await attacker.result("subscribe", table_id=table.table_id)
        connection = attacker.ws._conn
        assert connection is not None
        transport = connection.transport
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        transport.pause_reading()

        def talk() -> bool:
            for table in both:
                table.publish(padding="x" * 8_000)
            return len(live.hub._late) == 2

        await wait_until(talk)
        monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.1)
        await wait_until(lambda: not live.hub._late)
        monkeypatch.undo()
        await is_mended(live, honest, both[0])
        transport.abort()


async def test_a_table_that_cannot_be_shown_for_an_unknown_reason_is_one_tables_matter(
    edge: Edge, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    live, tables, _ = edge
    one, other = await two_tables(tables)
    async with live.connect() as client, live.connect() as honest:
        await client.result("subscribe", table_id=one.table_id)
        with monkeypatch.context() as broken:
            broken.setattr(hub, "LATE_TIMEOUT_S", 0.1)
            broken.setattr(hub.Hub, "_send_snapshot", lambda *_: 1 / 0)
            live.hub._on_gap()
            assert await client.wait_for_close() == CloseCode.TABLE_UNAVAILABLE
        assert "a table cannot be shown" in caplog.text
        await is_mended(live, honest, other)


class ClosingConnection:
    """A connection that whatever it is told is too much for."""

    framing = Framing.WEBSOCKET
    transport: Transport
    principal: Principal = ANONYMOUS
    is_open = True

    def __init__(self, feed: Feed) -> None:
        self.transport = EmptyTransport()
        self.watchers: dict[str, Watcher] = {}
        self._feed = feed
        self.watcher: Watcher | None = None

    def send(self, *_: bytes) -> None:
        assert self.watcher is not None
        self._feed.remove_watcher(self.watcher)

    def end_subscription(self, watcher: Watcher, message: str) -> None:
        raise AssertionError(watcher, message)

    def close(self, code: int) -> None:
        raise AssertionError(code)


class RecordingConnection:
    """A connection that keeps what it is told."""

    transport: Transport
    principal: Principal = ANONYMOUS
    is_open = True

    def __init__(self, framing: Framing) -> None:
        self.framing = framing
        self.transport = EmptyTransport()
        self.watchers: dict[str, Watcher] = {}
        self.sent: list[bytes] = []

    def send(self, *payloads: bytes) -> None:
        self.sent += payloads

    def end_subscription(self, watcher: Watcher, message: str) -> None:
        raise AssertionError(watcher, message)

    def close(self, code: int) -> None:
        raise AssertionError(code)


class EmptyTransport:
    """A transport on which nothing waits."""

    def write(self, data: bytes) -> None:
        raise AssertionError(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def is_closing(self) -> bool:
        return False

    def close(self) -> None: ...

    def abort(self) -> None: ...


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("place", [1, 3], ids=["behind", "ahead"])
def test_g11_one_whose_connection_ends_while_he_is_told_is_watching_no_more(place: int) -> None:
    late: list[Watcher] = []
    feed = Feed("t", late.append)
    feed.publish([EncodedEvent(1, b"{}", is_snapshot=False), EncodedEvent(2, b"{}", is_snapshot=False)])
    outlet = ClosingConnection(feed)
    outlet.watcher = Watcher(outlet, feed, place)
    feed.add_watcher(outlet.watcher)
    feed.publish([EncodedEvent(3, b"{}", is_snapshot=False), EncodedEvent(4, b"{}", is_snapshot=False)])
    assert not feed.has_watchers
    assert not late


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("wire", list(Framing))
def test_g11_many_who_come_back_hold_one_copy_of_what_they_missed(wire: Framing) -> None:
    feed = Feed("t", lambda _: None)
    feed.publish(EncodedEvent(seq, b'{"seq":%d}' % seq, is_snapshot=False) for seq in range(1, 9))
    outlets = [RecordingConnection(wire) for _ in range(3)]
    for outlet in outlets:
        feed.add_watcher(Watcher(outlet, feed, 2))
    assert [len(outlet.sent) for outlet in outlets] == [6] * 3
    for number in range(6):
        assert len({id(outlet.sent[number]) for outlet in outlets}) == 1


async def test_an_event_that_cannot_be_told_is_made_up_for_by_a_picture(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, tables, _ = edge
    table, _ = await two_tables(tables)
    async with live.connect() as client:
        await client.result("subscribe", table_id=table.table_id)
        encode = json_codec.encode

        def once(message: Message) -> bytes:
            if isinstance(message, events_pb2.TableEvent) and message.seq == 3:
                raise RuntimeError("a bug")
            return encode(message)

        with monkeypatch.context() as broken:
            broken.setattr(json_codec, "encode", once)
            # They may come in one message: then what comes before it is heard, and not told.
            table.publish(4)
            await table.publisher.flush()
            assert int((await client.next_notification("snapshot"))["seq"]) >= 3
        table.publish()
        while (await client.next_seqs(1)) != [5]:
            pass
