"""Watching tables: every event arrives once, whatever breaks, and a slow reader delays nobody."""

from __future__ import annotations

import asyncio
import json
import socket
from contextlib import AsyncExitStack
from unittest.mock import MagicMock
from uuid import uuid4

import pytest
import uvloop

from feltro.table.v1 import events_pb2
from gateway.backends import archive
from gateway.live import feeds, hub
from gateway.live.connections import connection_limits, websocket
from gateway.live.encoding import EncodedEvent, Framing
from gateway.live.feeds import Feed, Watcher
from services.kit.bus.subjects import table_subject
from stack.processes.child import ChildProcess
from stack.servers import ephemeral
from stack.servers.ephemeral import EphemeralNats, free_port
from tests.gateway.live_gateway import (
    GAME,
    WITHIN_S,
    FakeTable,
    FakeTables,
    LiveGateway,
    RpcClient,
    bus_client,
    live_gateway,
    wait_until,
)

WATCHERS = 1_000


async def open_table(tables: FakeTables) -> FakeTable:
    return await tables.open(f"t{uuid4().hex[:12]}")


async def test_a_watcher_gets_a_snapshot_and_then_every_event_once(gateway: LiveGateway, tables: FakeTables) -> None:
    table = await open_table(tables)
    table.publish(3)
    async with gateway.connect() as client:
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
async def test_g11_made_up_table_ids_leave_nothing_behind(
    gateway: LiveGateway,
    tables: FakeTables,
) -> None:
    table = await open_table(tables)
    async with gateway.connect() as client, gateway.connect() as other:
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
            answers = json.dumps(await other.answer(number))
            assert answers.count('"TABLE_UNKNOWN"') == 30
        calls = len(tables.calls)
        for wrong in ("x" * 61, "x" * 60_000, "a.b", "a b", "*"):
            answer = await other.call("subscribe", table_id=wrong)
            assert answer["error"]["data"]["reason"] == "INVALID"
            assert answer["error"]["data"]["facts"] == {"field": "table_id"}
        assert len(tables.calls) == calls
        tables.unavailable = True
        assert (await other.call("subscribe", table_id="away"))["error"]["data"]["reason"] == "UNAVAILABLE"
        assert list(gateway.hub._feeds) == [table.table_id]
        table.publish()
        assert await client.next_seqs(1) == [1]


async def test_subscribing_while_events_are_published_misses_none(gateway: LiveGateway, tables: FakeTables) -> None:
    table = await open_table(tables)
    last = 600

    async def publish_events() -> None:
        while table.publisher.seq < last:
            table.publish(3)
            await asyncio.sleep(0)

    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(gateway.connect()) for _ in range(10)]
        publishing = asyncio.create_task(publish_events())

        async def watch(client: RpcClient) -> None:
            opened = await client.result("subscribe", table_id=table.table_id)
            expected = list(range(int(opened["seq"]) + 1, last + 1))
            assert await client.next_seqs(len(expected)) == expected

        await asyncio.gather(*(watch(client) for client in clients))
        await publishing


async def test_a_watcher_resumes_after_its_last_event(gateway: LiveGateway, tables: FakeTables) -> None:
    table = await open_table(tables)
    async with gateway.connect() as client:
        await client.result("subscribe", table_id=table.table_id)
        table.publish(5)
        assert await client.next_seqs(5) == [1, 2, 3, 4, 5]
    async with gateway.connect() as client:
        opened = await client.result("subscribe", table_id=table.table_id, from_seq="2")
        assert (opened["resumed"], opened["seq"], "table" in opened) == (True, "2", False)
        table.publish()
        assert await client.next_seqs(4) == [3, 4, 5, 6]
    async with gateway.connect() as client:
        opened = await client.result("subscribe", table_id=table.table_id, from_seq=99)
        assert opened["resumed"] is False
        assert opened["message"] == "The table counts otherwise now."
        assert opened["table"]["seq"] == "6"


async def test_a_watcher_resumes_at_a_gateway_that_received_none_of_the_events(nats_url: str) -> None:
    async with live_gateway(nats_url) as (_, tables, _):
        table = await open_table(tables)
        table.publish(40)
        await table.publisher.flush()
        async with live_gateway(nats_url, tables=tables) as (other, _, _), other.connect() as client:
            opened = await client.result("subscribe", table_id=table.table_id, from_seq=10)
            assert opened["resumed"] is True
            table.publish()
            assert await client.next_seqs(31) == list(range(11, 42))


async def test_watchers_resume_together_from_one_read_of_the_archive(
    nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MESSAGES_LIMIT", 40)
    async with live_gateway(nats_url) as (_, tables, _):
        busy, other = await open_table(tables), await open_table(tables)
        for number in range(150):
            # Each is a message of its own, and the messages of both tables alternate.
            busy.publish()
            await busy.publisher.flush()
            if number % 3:
                other.publish()
                await other.publisher.flush()
        async with live_gateway(nats_url, tables=tables) as (second, _, _):
            read = _record_reads(second.hub._archive, monkeypatch)
            async with AsyncExitStack() as stack:
                clients = [await stack.enter_async_context(second.connect()) for _ in range(20)]
                opened = await asyncio.gather(
                    *(client.result("subscribe", table_id=busy.table_id, from_seq=140) for client in clients)
                )
                assert [one["resumed"] for one in opened] == [True] * 20
                assert read == [busy.table_id]
                busy.publish()
                assert [await client.next_seqs(11) for client in clients] == [list(range(141, 152))] * 20
            async with second.connect() as client:
                shown = await client.result("subscribe", table_id=other.table_id, from_seq=5)
                assert shown["message"] == "What has happened since is not kept any more."


def _record_reads(messages: archive.Archive, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    table_ids, recent_messages = list[str](), messages.recent_messages

    async def record(game: str, table_id: str) -> list[bytes]:
        table_ids.append(table_id)
        return await recent_messages(game, table_id)

    monkeypatch.setattr(messages, "recent_messages", record)
    return table_ids


async def test_a_watcher_whose_events_are_no_longer_kept_gets_a_snapshot(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "KEPT_EVENTS_LIMIT", 10)
    table = await open_table(tables)
    table.publish(50)
    await table.publisher.flush()
    async with gateway.connect() as client:
        opened = await client.result("subscribe", table_id=table.table_id, from_seq=5)
        assert (opened["resumed"], opened["seq"]) == (False, "50")
        assert opened["message"] == "What has happened since is not kept any more."


async def test_a_new_owners_snapshot_is_believed_whatever_its_number(
    gateway: LiveGateway,
    tables: FakeTables,
) -> None:
    table = await open_table(tables)
    table.publish(5)
    await table.publisher.flush()
    async with gateway.connect() as client:
        # The former owner used numbers that were never published.
        table.publisher._last_number += 3
        opened = await client.result("subscribe", table_id=table.table_id)
        assert opened["seq"] == "8"
        table.publisher._last_number -= 3
        table.publish_takeover()
        table.publish(2)
        assert await client.next_seqs(3) == [6, 7, 8]


async def test_a_gap_is_filled_by_one_snapshot_for_all(gateway: LiveGateway, tables: FakeTables) -> None:
    table = await open_table(tables)
    async with gateway.connect() as client, gateway.connect() as other:
        for one in (client, other):
            await one.result("subscribe", table_id=table.table_id)
        table.publish(2)
        assert await client.next_seqs(2) == await other.next_seqs(2) == [1, 2]
        snapshots = tables.snapshot_count
        table.publisher._last_number += 5
        table.publish()
        for one in (client, other):
            snapshot = await one.next_notification("snapshot")
            assert (snapshot["seq"], snapshot["table"]["seq"]) == ("8", "8")
        assert tables.snapshot_count == snapshots + 1
        table.publish()
        assert await client.next_seqs(1) == await other.next_seqs(1) == [9]


async def test_another_players_table_is_not_shown(gateway: LiveGateway, tables: FakeTables) -> None:
    table = await open_table(tables)
    table.visible_to = "player:ana"
    async with gateway.connect("player:rui") as client:
        answer = await client.call("subscribe", table_id=table.table_id)
        assert answer["error"]["data"]["reason"] == "NOT_YOURS"
        assert answer["error"]["code"] == -32007
    async with gateway.connect("player:ana") as client:
        assert (await client.result("subscribe", table_id=table.table_id))["seq"] == "0"


async def test_a_thousand_watchers_receive_the_same_events(
    gateway: LiveGateway, tables: FakeTables, file_limit: int
) -> None:
    table = await open_table(tables)
    async with AsyncExitStack() as stack:
        clients = await asyncio.gather(*(stack.enter_async_context(gateway.connect()) for _ in range(WATCHERS)))
        await asyncio.gather(*(client.result("subscribe", table_id=table.table_id) for client in clients))
        table.publish(5)
        assert await asyncio.gather(*(client.next_seqs(5) for client in clients)) == [[1, 2, 3, 4, 5]] * WATCHERS


async def test_events_that_arrive_together_are_written_together(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = await open_table(tables)
    async with gateway.connect() as client:
        await client.result("subscribe", table_id=table.table_id)
        table.publish()
        assert await client.next_seqs(1) == [1]
        (watcher,) = gateway.hub._feeds[table.table_id]._current[Framing.WEBSOCKET]
        transport = MagicMock(get_write_buffer_size=lambda: 0, is_closing=lambda: False)
        monkeypatch.setattr(watcher, "transport", transport)
        for seq in range(2, hub.MESSAGES_PER_TURN_LIMIT + 3):
            events = events_pb2.TableEvents(events=[events_pb2.TableEvent(table_id=table.table_id, seq=seq)])
            gateway.hub._on_message(table_subject(GAME, table.table_id), events.SerializeToString())
        await asyncio.sleep(0)
        written = [call.args[0] for call in transport.write.call_args_list]
    # One write for all events of one turn of the event loop, up to the limit.
    assert [payload.count(b'"method":"table"') for payload in written] == [hub.MESSAGES_PER_TURN_LIMIT, 1]


async def test_a_slow_reader_delays_nobody_and_catches_up(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 64 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    # Never dropped for being late, however slow the machine is.
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 10 * WITHIN_S)
    table = await open_table(tables)
    async with gateway.connect() as quick, gateway.connect() as slow:
        for one in (quick, slow):
            await one.result("subscribe", table_id=table.table_id)
        transport = _transport(slow)
        transport.pause_reading()
        events = 0
        while not gateway.hub._late:
            table.publish(padding="x" * 8_000)
            events += 1
            assert await quick.next_seqs(1) == [events]
        # More than is kept: the slow reader gets a snapshot.
        for _ in range(feeds.KEPT_BYTES_LIMIT // 8_000 + 1):
            table.publish(padding="x" * 8_000)
            events += 1
            assert await quick.next_seqs(1) == [events]
        feed = gateway.hub._feeds[table.table_id]
        watchers = [*gateway.hub._late.get(feed, ()), *(each for those in feed._current.values() for each in those)]
        assert len(watchers) == 2
        for watcher in watchers:
            assert watcher.transport.get_write_buffer_size() < feeds.EVENT_BACKLOG_BYTES_LIMIT + 16 * 1024
        transport.resume_reading()
        seen = skipped = 0
        # The system may take more for the slow reader meanwhile: then a snapshot comes before the last event, too.
        while seen < events:
            message = await slow.ws.receive_json()
            seq = int(message["params"]["seq"])
            if message["method"] == "snapshot":
                assert seq > seen
                skipped += seq - seen
            else:
                assert seq == seen + 1
            seen = seq
        assert skipped
        table.publish()
        assert await slow.next_seqs(1) == await quick.next_seqs(1) == [events + 1]


async def test_a_watcher_that_never_reads_is_dropped(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 32 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.2)
    monkeypatch.setattr(websocket, "CLOSE_TIMEOUT_S", 0.2)
    table = await open_table(tables)
    async with gateway.connect() as slow:
        await slow.result("subscribe", table_id=table.table_id)
        _stop_reading(slow)

        def publish_until_dropped() -> bool:
            table.publish(padding="x" * 8_000)
            return not gateway.websockets._open

        await wait_until(publish_until_dropped)
        assert not gateway.hub._late
        _transport(slow).abort()


@pytest.mark.guarantee("G12")
async def test_g12_a_game_shows_nothing_at_a_table_of_another_game(
    gateway: LiveGateway, tables: FakeTables, nats_url: str
) -> None:
    table = await open_table(tables)
    forged_event = events_pb2.TableEvent(
        table_id=table.table_id, seq=1, bets_placed=events_pb2.BetsPlaced(round_id="forged")
    )
    forged = events_pb2.TableEvents(events=[forged_event])
    async with gateway.connect() as client, bus_client(nats_url) as bus:
        await client.result("subscribe", table_id=table.table_id)
        publishing = bus.jetstream(timeout=WITHIN_S)
        await publishing.publish(table_subject("other_game", table.table_id), forged.SerializeToString())
        # Nothing readable at all, from the table's own game.
        await publishing.publish(table_subject("other_game", table.table_id), b"\xff\xfe")
        table.publish()
        event = await client.next_notification("table")
    assert (event["seq"], event["bets_placed"]["round_id"]) == ("1", "1")


async def test_events_published_during_a_bus_outage_arrive_after_it() -> None:
    with ephemeral.nats() as server:
        proxy = await _Proxy.start(server.port)
        async with live_gateway(server.url) as (_, tables, _):
            through_proxy = server.url.replace(str(server.port), str(proxy.port))
            async with live_gateway(through_proxy, tables=tables) as (gateway, _, _):
                table = await open_table(tables)
                async with gateway.connect() as client:
                    await client.result("subscribe", table_id=table.table_id)
                    table.publish(2)
                    assert await client.next_seqs(2) == [1, 2]
                    await proxy.cut()
                    await wait_until(lambda: not gateway.hub.is_listening)
                    table.publish(30)
                    await table.publisher.flush()
                    await proxy.restore()
                    table.publish(2)
                    assert await client.next_seqs(32) == list(range(3, 35))
            await proxy.cut()


async def test_a_bus_that_lost_its_data_gives_every_watcher_a_snapshot(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    first = _nats(tmp_path_factory, port)
    async with live_gateway(EphemeralNats(tmp_path_factory.mktemp("unused"), port).url) as (gateway, tables, _):
        table = await open_table(tables)
        async with gateway.connect() as client, gateway.connect("player:ana"):
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
            finally:
                second.stop()


def test_a_client_that_vanishes_stops_no_other_watcher(nats_url: str) -> None:
    """Runs on the event loop of production, where writing to a closed connection fails."""

    async def vanish() -> None:
        async with live_gateway(nats_url) as (gateway, tables, _):
            table = await open_table(tables)
            async with gateway.connect() as vanishing, gateway.connect() as client:
                for one in (vanishing, client):
                    await one.result("subscribe", table_id=table.table_id)
                table.publish()
                assert await client.next_seqs(1) == await vanishing.next_seqs(1) == [1]
                watcher = next(iter(gateway.hub._feeds[table.table_id]._current[Framing.WEBSOCKET]))
                watcher.transport.abort()
                await wait_until(lambda: len(gateway.websockets._open) == 1)
                # As between the end of a connection and the moment when it is noticed.
                gateway.hub._feeds[table.table_id]._current[Framing.WEBSOCKET] = {
                    watcher: None,
                    **gateway.hub._feeds[table.table_id]._current[Framing.WEBSOCKET],
                }
                table.publish(2)
                assert await client.next_seqs(2) == [2, 3]

    uvloop.run(vanish())


def test_a_feed_keeps_consecutive_events_and_forgets_those_before_a_gap() -> None:
    late: list[Watcher] = []
    feed = Feed("t", late.append)
    feed.publish([_event(number) for number in (5, 6, 7)])
    assert [feed.covers(seq) for seq in (3, 4, 5, 7, 8)] == [False, True, True, True, False]
    feed.prepend([_event(number) for number in (1, 2, 3, 4, 5)])
    assert [event.seq for event in feed.events_after(0)] == [1, 2, 3, 4, 5, 6, 7]
    feed.publish([_event(6), _event(8)])
    assert [event.seq for event in feed.events_after(6)] == [7, 8]
    feed.publish([_event(3, is_snapshot=True), _event(4)])
    assert [event.seq for event in feed.events_after(0)] == [3, 4]
    feed.publish([_event(9)])
    assert [event.seq for event in feed.events_after(0)] == [9]
    assert feed.gap_count == 2


def _event(seq: int, *, is_snapshot: bool = False) -> EncodedEvent:
    return EncodedEvent(seq, json.dumps({"seq": str(seq)}).encode(), is_snapshot=is_snapshot)


def _transport(client: RpcClient) -> asyncio.Transport:
    connection = client.ws._conn
    assert connection is not None
    assert isinstance(connection.transport, asyncio.Transport)
    return connection.transport


def _stop_reading(client: RpcClient) -> asyncio.Transport:
    transport = _transport(client)
    # Otherwise the system would buffer megabytes.
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
    transport.pause_reading()
    return transport


def _nats(factory: pytest.TempPathFactory, port: int) -> ChildProcess:
    home = factory.mktemp("nats")
    server = EphemeralNats(home, port)
    process = ChildProcess(server.command(), log=home / "log")
    while not server.ready():
        assert not process.ended
    server.create_streams()
    return process


class _Proxy:
    """Forwards connections to a server, and can cut them."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self._target = target
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    @classmethod
    async def start(cls, target: int) -> _Proxy:
        proxy = cls(target)
        await proxy.restore()
        return proxy

    async def restore(self) -> None:
        self._server = await asyncio.start_server(self._connect, "127.0.0.1", self.port)

    async def cut(self) -> None:
        assert self._server is not None
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers |= {writer, server_writer}
        await asyncio.gather(_forward(reader, server_writer), _forward(server_reader, writer))
        self._writers -= {writer, server_writer}


async def _forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while content := await reader.read(65536):
            writer.write(content)
    except OSError:
        pass
    finally:
        writer.transport.abort()
