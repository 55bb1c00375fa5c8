"""Watching tables: nothing is missed and nothing comes twice, whatever breaks; a slow reader delays nobody."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from unittest.mock import MagicMock
from uuid import uuid4

import pytest
import uvloop

from feltro.table.v1 import events_pb2
from gateway.backends import archive
from gateway.live import connection_limits, feeds, hub, websocket
from gateway.live.encoding import EncodedEvent, Framing
from gateway.live.feeds import Feed, Watcher
from services.kit.bus.subjects import table_subject
from stack.processes.child import ChildProcess
from stack.servers import ephemeral
from stack.servers.ephemeral import free_port
from stack.servers.nats import EmbeddedNats
from tests.gateway.live_gateway import (
    WITHIN_S,
    FakeAuthenticator,
    FakeTable,
    FakeTables,
    LiveGateway,
    RpcClient,
    live_gateway,
    wait_until,
)

WATCHERS = 1_000


@pytest.fixture
async def edge(nats_url: str) -> AsyncIterator[tuple[LiveGateway, FakeTables, FakeAuthenticator]]:
    async with live_gateway(nats_url) as made:
        yield made


async def table_of(tables: FakeTables) -> FakeTable:
    return await tables.open(f"t{uuid4().hex[:12]}")


async def test_a_picture_and_then_every_event_once(edge: tuple[LiveGateway, FakeTables, FakeAuthenticator]) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    table.publish(3)
    async with live.connect() as client:
        opened = await client.result("subscribe", table_id=table.table_id)
        assert (opened["resumed"], opened["seq"], opened["table"]["seq"]) == (False, "3", "3")
        table.publish(20)
        assert await client.next_seqs(20) == list(range(4, 24))
        assert (await client.result("unsubscribe", table_id=table.table_id)) == {"was_subscribed": True}
        table.publish()
        await table.publisher.flush()
        assert (await client.result("subscribe", table_id=table.table_id))["seq"] == "24"
        table.publish()
        assert await client.next_seqs(1) == [25]


@pytest.mark.guarantee("G11")
async def test_g11_names_of_tables_that_are_made_up_leave_nothing_behind(
    edge: tuple[LiveGateway, FakeTables, FakeAuthenticator],
) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    async with live.connect() as client, live.connect() as other:
        await client.result("subscribe", table_id=table.table_id)
        for number in range(100):
            made_up = [
                {
                    "jsonrpc": "2.0",
                    "id": each,
                    "method": "subscribe",
                    "params": {"table_id": f"made-up-{number}-{each % 9}"},
                }
                for each in range(30)
            ]
            await other.ws.send_json(made_up)
            said = json.dumps(await other.answer(number))
            assert said.count('"TABLE_UNKNOWN"') == 30
        asked = len(tables.calls)
        for wrong in ("x" * 61, "x" * 60_000, "a.b", "a b", "*"):
            answer = await other.call("subscribe", table_id=wrong)
            assert answer["error"]["data"]["reason"] == "INVALID"
            assert answer["error"]["data"]["facts"] == {"field": "table_id"}
        assert len(tables.calls) == asked
        tables.unavailable = True
        assert (await other.call("subscribe", table_id="away"))["error"]["data"]["reason"] == "UNAVAILABLE"
        assert list(live.hub._feeds) == [table.table_id]
        table.publish()
        assert await client.next_seqs(1) == [1]


async def test_subscribing_while_much_happens(edge: tuple[LiveGateway, FakeTables, FakeAuthenticator]) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    last = 600

    async def happen() -> None:
        while table.publisher.seq < last:
            table.publish(3)
            await asyncio.sleep(0)

    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(live.connect()) for _ in range(10)]
        happening = asyncio.create_task(happen())

        async def watch(client: RpcClient) -> None:
            opened = await client.result("subscribe", table_id=table.table_id)
            wanted = list(range(int(opened["seq"]) + 1, last + 1))
            assert await client.next_seqs(len(wanted)) == wanted

        await asyncio.gather(*(watch(client) for client in clients))
        await happening


async def test_taking_up_where_one_left_off(edge: tuple[LiveGateway, FakeTables, FakeAuthenticator]) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    async with live.connect() as client:
        await client.result("subscribe", table_id=table.table_id)
        table.publish(5)
        assert await client.next_seqs(5) == [1, 2, 3, 4, 5]
    async with live.connect() as client:
        opened = await client.result("subscribe", table_id=table.table_id, from_seq="2")
        assert (opened["resumed"], opened["seq"], "table" in opened) == (True, "2", False)
        table.publish()
        assert await client.next_seqs(4) == [3, 4, 5, 6]
    async with live.connect() as client:
        opened = await client.result("subscribe", table_id=table.table_id, from_seq=99)
        assert opened["resumed"] is False
        assert opened["message"] == "The table counts otherwise now."
        assert opened["table"]["seq"] == "6"


async def test_taking_up_at_a_gateway_that_did_not_hear_it(nats_url: str) -> None:
    async with live_gateway(nats_url) as (_, tables, _):
        table = await table_of(tables)
        table.publish(40)
        await table.publisher.flush()
        async with live_gateway(nats_url, tables=tables) as (other, _, _), other.connect() as client:
            opened = await client.result("subscribe", table_id=table.table_id, from_seq=10)
            assert opened["resumed"] is True
            table.publish()
            assert await client.next_seqs(31) == list(range(11, 42))


async def test_taking_up_at_a_busy_table_at_a_gateway_that_did_not_hear_it(
    nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MESSAGES_LIMIT", 40)
    async with live_gateway(nats_url) as (_, tables, _):
        busy, other = await table_of(tables), await table_of(tables)
        for number in range(150):
            # Each is a message of its own, and the tables' messages lie between each other.
            busy.publish()
            await busy.publisher.flush()
            if number % 3:
                other.publish()
                await other.publisher.flush()
        async with live_gateway(nats_url, tables=tables) as (there, _, _):
            read = _count_reads(there.hub._archive, monkeypatch)
            async with AsyncExitStack() as stack:
                clients = [await stack.enter_async_context(there.connect()) for _ in range(20)]
                opened = await asyncio.gather(
                    *(client.result("subscribe", table_id=busy.table_id, from_seq=140) for client in clients)
                )
                assert [one["resumed"] for one in opened] == [True] * 20
                assert read == [busy.table_id]
                busy.publish()
                assert [await client.next_seqs(11) for client in clients] == [list(range(141, 152))] * 20
            async with there.connect() as client:
                shown = await client.result("subscribe", table_id=other.table_id, from_seq=5)
                assert shown["message"] == "What has happened since is not kept any more."


def _count_reads(kept: archive.Archive, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    read, lately = list[str](), kept.recent_messages

    async def counting(table_id: str) -> list[bytes]:
        read.append(table_id)
        return await lately(table_id)

    monkeypatch.setattr(kept, "recent_messages", counting)
    return read


async def test_what_is_not_kept_any_more_is_said(
    edge: tuple[LiveGateway, FakeTables, FakeAuthenticator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "KEPT_EVENTS_LIMIT", 10)
    live, tables, _ = edge
    table = await table_of(tables)
    table.publish(50)
    await table.publisher.flush()
    async with live.connect() as client:
        opened = await client.result("subscribe", table_id=table.table_id, from_seq=5)
        assert (opened["resumed"], opened["seq"]) == (False, "50")
        assert opened["message"] == "What has happened since is not kept any more."


async def test_a_new_owners_picture_is_believed_whatever_its_number(
    edge: tuple[LiveGateway, FakeTables, FakeAuthenticator],
) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    table.publish(5)
    await table.publisher.flush()
    async with live.connect() as client:
        # The former owner had counted on numbers that never left.
        table.publisher._last_number += 3
        opened = await client.result("subscribe", table_id=table.table_id)
        assert opened["seq"] == "8"
        table.publisher._last_number -= 3
        table.publish_takeover()
        table.publish(2)
        assert await client.next_seqs(3) == [6, 7, 8]


async def test_a_gap_is_mended_with_a_picture(edge: tuple[LiveGateway, FakeTables, FakeAuthenticator]) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    async with live.connect() as client, live.connect() as other:
        for one in (client, other):
            await one.result("subscribe", table_id=table.table_id)
        table.publish(2)
        assert await client.next_seqs(2) == await other.next_seqs(2) == [1, 2]
        pictures = tables.snapshot_count
        table.publisher._last_number += 5
        table.publish()
        for one in (client, other):
            snapshot = await one.next_notification("snapshot")
            assert (snapshot["seq"], snapshot["table"]["seq"]) == ("8", "8")
        assert tables.snapshot_count == pictures + 1
        table.publish()
        assert await client.next_seqs(1) == await other.next_seqs(1) == [9]


async def test_a_table_of_somebody_else_is_not_shown(edge: tuple[LiveGateway, FakeTables, FakeAuthenticator]) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    table.visible_to = "player:ana"
    async with live.connect("player:rui") as client:
        answer = await client.call("subscribe", table_id=table.table_id)
        assert answer["error"]["data"]["reason"] == "NOT_YOURS"
        assert answer["error"]["code"] == -32007
    async with live.connect("player:ana") as client:
        assert (await client.result("subscribe", table_id=table.table_id))["seq"] == "0"


async def test_a_thousand_watchers_are_told_the_same(
    edge: tuple[LiveGateway, FakeTables, FakeAuthenticator], many_files: int
) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    async with AsyncExitStack() as stack:
        clients = await asyncio.gather(*(stack.enter_async_context(live.connect()) for _ in range(WATCHERS)))
        await asyncio.gather(*(client.result("subscribe", table_id=table.table_id) for client in clients))
        table.publish(5)
        assert await asyncio.gather(*(client.next_seqs(5) for client in clients)) == [[1, 2, 3, 4, 5]] * WATCHERS


async def test_events_that_arrive_together_are_written_together(
    edge: tuple[LiveGateway, FakeTables, FakeAuthenticator], monkeypatch: pytest.MonkeyPatch
) -> None:
    live, tables, _ = edge
    table = await table_of(tables)
    async with live.connect() as client:
        await client.result("subscribe", table_id=table.table_id)
        table.publish()
        assert await client.next_seqs(1) == [1]
        (watcher,) = live.hub._feeds[table.table_id]._current[Framing.WEBSOCKET]
        transport = MagicMock(get_write_buffer_size=lambda: 0, is_closing=lambda: False)
        monkeypatch.setattr(watcher, "transport", transport)
        for seq in range(2, hub.MESSAGES_PER_TURN_LIMIT + 3):
            events = events_pb2.TableEvents(events=[events_pb2.TableEvent(table_id=table.table_id, seq=seq)])
            live.hub._on_message(table_subject(table.table_id), events.SerializeToString())
        await asyncio.sleep(0)
        written = [call.args[0] for call in transport.write.call_args_list]
    # One write for all events of one turn of the event loop, up to the limit.
    assert [payload.count(b'"method":"table"') for payload in written] == [hub.MESSAGES_PER_TURN_LIMIT, 1]


async def test_a_slow_reader_delays_nobody_and_catches_up(
    edge: tuple[LiveGateway, FakeTables, FakeAuthenticator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 64 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    # He is slow for as long as it takes here.
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 10 * WITHIN_S)
    live, tables, _ = edge
    table = await table_of(tables)
    async with live.connect() as quick, live.connect() as slow:
        for one in (quick, slow):
            await one.result("subscribe", table_id=table.table_id)
        transport = _transport(slow)
        transport.pause_reading()
        rounds = 0
        while not live.hub._late:
            table.publish(padding="x" * 8_000)
            rounds += 1
            assert await quick.next_seqs(1) == [rounds]
        # More than is kept: he gets a picture.
        for _ in range(feeds.KEPT_BYTES_LIMIT // 8_000 + 1):
            table.publish(padding="x" * 8_000)
            rounds += 1
            assert await quick.next_seqs(1) == [rounds]
        waiting = next(iter(live.hub._late[live.hub._feeds[table.table_id]])).transport.get_write_buffer_size()
        assert waiting < feeds.EVENT_BACKLOG_BYTES_LIMIT + 16 * 1024
        transport.resume_reading()
        known = 0
        while True:
            said = await slow.ws.receive_json()
            if said["method"] == "snapshot":
                assert said["params"]["seq"] == str(rounds)
                break
            assert int(said["params"]["seq"]) == known + 1
            known += 1
        assert known < rounds
        table.publish()
        assert await slow.next_seqs(1) == await quick.next_seqs(1) == [rounds + 1]


async def test_one_who_never_reads_is_dropped(
    edge: tuple[LiveGateway, FakeTables, FakeAuthenticator], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 32 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.2)
    monkeypatch.setattr(websocket, "CLOSE_TIMEOUT_S", 0.2)
    live, tables, _ = edge
    table = await table_of(tables)
    async with live.connect() as slow:
        await slow.result("subscribe", table_id=table.table_id)
        _stop_reading(slow)

        def talk() -> bool:
            table.publish(padding="x" * 8_000)
            return not live.websockets._open

        await wait_until(talk)
        assert not live.hub._late
        _transport(slow).abort()


async def test_the_bus_goes_away_and_comes_back() -> None:
    """What is said while this gateway cannot hear is heard afterwards; nothing is missing."""
    with ephemeral.nats() as server:
        proxy = await _Proxy.start(int(server.url.rpartition(":")[2]))
        async with live_gateway(server.url) as (_, tables, _):
            async with live_gateway(f"nats://127.0.0.1:{proxy.port}", tables=tables) as (live, _, _):
                table = await table_of(tables)
                async with live.connect() as client:
                    await client.result("subscribe", table_id=table.table_id)
                    table.publish(2)
                    assert await client.next_seqs(2) == [1, 2]
                    await proxy.cut()
                    await wait_until(lambda: not live.hub.is_listening)
                    table.publish(30)
                    await table.publisher.flush()
                    await proxy.mend()
                    table.publish(2)
                    assert await client.next_seqs(32) == list(range(3, 35))
            await proxy.cut()


async def test_the_bus_starts_anew_with_nothing_of_what_it_knew(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody knows what was missed: everybody gets a picture, and is told why."""
    port = free_port()
    first = _nats(tmp_path_factory, port)
    async with live_gateway(f"nats://127.0.0.1:{port}") as (live, tables, _):
        table = await table_of(tables)
        async with live.connect() as client, live.connect("player:ana") as player:
            await client.result("subscribe", table_id=table.table_id)
            table.publish(2)
            assert await client.next_seqs(2) == [1, 2]
            first.stop()
            second = _nats(tmp_path_factory, port)
            try:
                snapshot = await client.next_notification("snapshot")
                assert snapshot["message"] == "Events were missed."
                table.publish_takeover()
                table.publish(1)
                await table.publisher.flush()
                assert (await client.next_seqs(2))[-1] == table.publisher.seq
                del player
            finally:
                second.stop()


def test_one_who_vanishes_takes_nobody_with_him(nats_url: str) -> None:
    """On the loop of production, where writing to a connection that is closed fails."""

    async def vanish() -> None:
        async with live_gateway(nats_url) as (live, tables, _):
            table = await table_of(tables)
            async with live.connect() as vanishing, live.connect() as client:
                for one in (vanishing, client):
                    await one.result("subscribe", table_id=table.table_id)
                table.publish()
                assert await client.next_seqs(1) == await vanishing.next_seqs(1) == [1]
                watcher = next(iter(live.hub._feeds[table.table_id]._current[Framing.WEBSOCKET]))
                watcher.transport.abort()
                await wait_until(lambda: len(live.websockets._open) == 1)
                # As it is between the end of a connection and the moment in which it is noticed.
                live.hub._feeds[table.table_id]._current[Framing.WEBSOCKET] = {
                    watcher: None,
                    **live.hub._feeds[table.table_id]._current[Framing.WEBSOCKET],
                }
                table.publish(2)
                assert await client.next_seqs(2) == [2, 3]

    uvloop.run(vanish())


def test_a_feed_keeps_what_follows_and_forgets_what_does_not() -> None:
    late: list[Watcher] = []
    feed = Feed("t", late.append)
    feed.publish([_event(number) for number in (5, 6, 7)])
    assert [feed.covers(place) for place in (3, 4, 5, 7, 8)] == [False, True, True, True, False]
    feed.prepend([_event(number) for number in (1, 2, 3, 4, 5)])
    assert [event.seq for event in feed.events_after(0)] == [1, 2, 3, 4, 5, 6, 7]
    feed.publish([_event(6), _event(8)])
    assert [event.seq for event in feed.events_after(6)] == [7, 8]
    feed.publish([_event(3, taken=True), _event(4)])
    assert [event.seq for event in feed.events_after(0)] == [3, 4]
    feed.publish([_event(9)])
    assert [event.seq for event in feed.events_after(0)] == [9]
    assert feed.gap_count == 2


def _event(seq: int, *, taken: bool = False) -> EncodedEvent:
    return EncodedEvent(seq, json.dumps({"seq": str(seq)}).encode(), is_snapshot=taken)


def _transport(client: RpcClient) -> asyncio.Transport:
    connection = client.ws._conn
    assert connection is not None
    assert isinstance(connection.transport, asyncio.Transport)
    return connection.transport


def _stop_reading(client: RpcClient) -> asyncio.Transport:
    transport = _transport(client)
    # The system would take megabytes for him.
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
    transport.pause_reading()
    return transport


def _nats(factory: pytest.TempPathFactory, port: int) -> ChildProcess:
    home = factory.mktemp("nats")
    server = EmbeddedNats(home / "jetstream", port)
    leash = ChildProcess(server.command(), log=home / "log")
    while not server.ready():
        assert not leash.ended
    return leash


class _Proxy:
    """A way to a server that can be cut."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._server: asyncio.Server | None = None
        self._ways: set[asyncio.StreamWriter] = set()

    @classmethod
    async def start(cls, target: int) -> _Proxy:
        proxy = cls(target)
        await proxy.mend()
        return proxy

    async def mend(self) -> None:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", self.port)

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for way in list(self._ways):
            way.transport.abort()
        await self._server.wait_closed()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        their_reader, their_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._ways |= {writer, their_writer}
        await asyncio.gather(_pass(reader, their_writer), _pass(their_reader, writer))
        self._ways -= {writer, their_writer}


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while content := await reader.read(65536):
            writer.write(content)
    except OSError:
        pass
    finally:
        writer.transport.abort()
