"""Late watchers catch up with a snapshot, whatever becomes of other late watchers."""

from __future__ import annotations

import asyncio
import socket
from uuid import uuid4

import pytest
from google.protobuf.message import Message

from feltro.table.v1 import events_pb2
from gateway.access.principals import ANONYMOUS, Principal
from gateway.contracts import json_codec
from gateway.live import feeds, hub
from gateway.live.close_codes import CloseCode
from gateway.live.connections import connection_limits
from gateway.live.encoding import EncodedEvent, Framing
from gateway.live.feeds import Feed, Transport, Watcher
from tests.gateway.live_gateway import (
    FakeTable,
    FakeTables,
    LiveGateway,
    RpcClient,
    wait_until,
)


async def two_tables(tables: FakeTables) -> list[FakeTable]:
    return [await tables.open(f"t{uuid4().hex[:12]}") for _ in range(2)]


async def expect_catch_up(gateway: LiveGateway, client: RpcClient, table: FakeTable) -> None:
    """Fails unless a watcher gets a snapshot after a gap."""
    await client.result("subscribe", table_id=table.table_id)
    gateway.hub._on_gap()
    assert (await client.next_notification("snapshot"))["table_id"] == table.table_id
    table.publish()
    assert await client.next_seqs(1) == [table.publisher.seq]


async def test_an_outage_closes_watchers_of_two_tables_and_breaks_nothing_else(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = await two_tables(tables)
    async with gateway.connect() as one, gateway.connect() as other, gateway.connect() as honest:
        for client in (one, other):
            for table in both:
                await client.result("subscribe", table_id=table.table_id)
        monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.1)
        # The bus has lost messages, and no service can be asked for a snapshot.
        tables.unavailable = True
        gateway.hub._on_gap()
        for client in (one, other):
            assert await client.wait_for_close() == CloseCode.TABLE_UNAVAILABLE
        assert not gateway.hub._late
        tables.unavailable = False
        monkeypatch.undo()
        await expect_catch_up(gateway, honest, both[0])


@pytest.mark.guarantee("G9")
async def test_g9_a_watcher_that_reads_nothing_keeps_nobody_else_from_catching_up(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 32 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    both = await two_tables(tables)
    async with gateway.connect() as attacker, gateway.connect() as honest:
        for table in both:
            await attacker.result("subscribe", table_id=table.table_id)
        connection = attacker.ws._conn
        assert connection is not None
        transport = connection.transport
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        transport.pause_reading()

        def publish_until_late() -> bool:
            for table in both:
                table.publish(padding="x" * 8_000)
            return len(gateway.hub._late) == 2

        await wait_until(publish_until_late)
        monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.1)
        await wait_until(lambda: not gateway.hub._late)
        monkeypatch.undo()
        await expect_catch_up(gateway, honest, both[0])
        transport.abort()


async def test_a_table_whose_snapshot_fails_affects_no_other_table(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = await two_tables(tables)
    async with gateway.connect() as client, gateway.connect() as honest:
        await client.result("subscribe", table_id=one.table_id)
        with monkeypatch.context() as broken:
            broken.setattr(hub, "LATE_TIMEOUT_S", 0.1)
            broken.setattr(hub.Hub, "_send_snapshot", lambda *_: 1 / 0)
            gateway.hub._on_gap()
            assert await client.wait_for_close() == CloseCode.TABLE_UNAVAILABLE
        assert "a table cannot be shown" in caplog.text
        await expect_catch_up(gateway, honest, other)


class ClosingConnection:
    """A connection that ends as soon as anything is sent on it."""

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
    """A connection that keeps what it is sent."""

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
    """A transport with nothing unsent."""

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
def test_g11_a_connection_that_ends_while_events_are_sent_watches_no_more(place: int) -> None:
    late: list[Watcher] = []
    feed = Feed("t", late.append)
    feed.publish([EncodedEvent(1, b"{}", is_snapshot=False), EncodedEvent(2, b"{}", is_snapshot=False)])
    connection = ClosingConnection(feed)
    connection.watcher = Watcher(connection, feed, place)
    feed.add_watcher(connection.watcher)
    feed.publish([EncodedEvent(3, b"{}", is_snapshot=False), EncodedEvent(4, b"{}", is_snapshot=False)])
    assert not feed.has_watchers
    assert not late


@pytest.mark.guarantee("G11")
@pytest.mark.parametrize("framing", list(Framing))
def test_g11_resuming_watchers_share_one_copy_of_the_events(framing: Framing) -> None:
    feed = Feed("t", lambda _: None)
    feed.publish(EncodedEvent(seq, b'{"seq":%d}' % seq, is_snapshot=False) for seq in range(1, 9))
    connections = [RecordingConnection(framing) for _ in range(3)]
    for connection in connections:
        feed.add_watcher(Watcher(connection, feed, 2))
    assert [len(connection.sent) for connection in connections] == [6] * 3
    for number in range(6):
        assert len({id(connection.sent[number]) for connection in connections}) == 1


async def test_an_event_that_cannot_be_encoded_is_replaced_by_a_snapshot(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, _ = await two_tables(tables)
    async with gateway.connect() as client:
        await client.result("subscribe", table_id=table.table_id)
        encode = json_codec.encode

        def fail_once(message: Message) -> bytes:
            if isinstance(message, events_pb2.TableEvent) and message.seq == 3:
                raise RuntimeError("a bug")
            return encode(message)

        with monkeypatch.context() as broken:
            broken.setattr(json_codec, "encode", fail_once)
            # They may arrive in one message: then the events before it are received, and not sent either.
            table.publish(4)
            await table.publisher.flush()
            assert int((await client.next_notification("snapshot"))["seq"]) >= 3
        table.publish()
        while (await client.next_seqs(1)) != [5]:
            pass
