"""A table as server-sent events: a picture and then every event, taken up where it was left, ended for a reason."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from uuid import uuid4

import aiohttp
import pytest

from gateway.live import connection_limits, event_stream, feeds, hub
from gateway.live.close_codes import CloseCode
from tests.gateway.live_gateway import (
    WITHIN_S,
    FakeAuthenticator,
    FakeTable,
    FakeTables,
    JsonObject,
    LiveGateway,
    live_gateway,
    wait_until,
)

Edge = tuple[LiveGateway, FakeTables, FakeAuthenticator]


@pytest.fixture
async def edge(nats_url: str) -> AsyncIterator[Edge]:
    async with live_gateway(nats_url) as made:
        yield made


@pytest.fixture
async def table(edge: Edge) -> FakeTable:
    return await edge[1].open(f"t{uuid4().hex[:12]}")


class EventStreamReader:
    """Reads a stream as an EventSource does."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.last_id = ""

    async def next(self) -> tuple[str, JsonObject]:
        """The next event's name and data."""
        name, data = "", ""
        async with asyncio.timeout(WITHIN_S):
            while True:
                line = (await self._response.content.readline()).decode()
                if not line:
                    raise EOFError
                field, _, value = line.rstrip("\n").partition(": ")
                if field == "id":
                    self.last_id = value
                elif field == "event":
                    name = value
                elif field == "data":
                    data = value
                elif not field and name:
                    said: JsonObject = json.loads(data)
                    return name, said


def path(table: FakeTable) -> str:
    return f"/v1/tables/{table.table_id}/events"


@pytest.mark.parametrize("version", [aiohttp.HttpVersion11, aiohttp.HttpVersion10])
async def test_a_picture_and_then_every_event(edge: Edge, table: FakeTable, version: aiohttp.HttpVersion) -> None:
    live, _, _ = edge
    table.publish(2)
    async with aiohttp.ClientSession(live.client._base_url, version=version) as client, client.get(path(table)) as got:
        assert got.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert got.headers["Cache-Control"] == "no-store"
        reader = EventStreamReader(got)
        name, said = await reader.next()
        assert (name, said["table"]["seq"], reader.last_id) == ("snapshot", "2", "2")
        table.publish(2)
        assert [(await reader.next())[1]["seq"] for _ in range(2)] == ["3", "4"]
        assert reader.last_id == "4"


async def test_taking_up_after_the_last_event(edge: Edge, table: FakeTable) -> None:
    live, _, _ = edge
    table.publish(5)
    await table.publisher.flush()
    async with live.client.get(path(table), headers={"Last-Event-ID": "3"}) as got:
        reader = EventStreamReader(got)
        assert (await reader.next())[0] == "resumed"
        assert [(await reader.next())[1]["seq"] for _ in range(2)] == ["4", "5"]
    async with live.client.get(path(table), headers={"Last-Event-ID": "x"}) as got:
        assert got.status == 400
        assert (await got.json())["reason"] == "INVALID"


async def test_who_may_not_see_the_table(edge: Edge, table: FakeTable) -> None:
    live, _, _ = edge
    table.visible_to = "player:ana"
    async with live.client.get(path(table)) as got:
        assert got.status == 403
    async with live.client.get(path(table), headers={"Authorization": "Bearer nonsense"}) as got:
        assert got.status == 401
    async with live.client.get(path(table), headers={"Authorization": "Bearer player:ana"}) as got:
        assert got.status == 200
    async with live.client.get("/v1/tables/nowhere/events") as got:
        assert got.status == 404


async def test_a_stream_ends_with_its_token_and_with_the_gateway(edge: Edge, table: FakeTable) -> None:
    live, _, door = edge
    async with (
        live.client.get(path(table), headers={"Authorization": "Bearer player:ana"}) as one,
        live.client.get(path(table)) as other,
    ):
        readers = [EventStreamReader(one), EventStreamReader(other)]
        for reader in readers:
            await reader.next()
        door.end("player:ana", "TOKEN_EXPIRED")
        name, said = await readers[0].next()
        assert (name, said["code"]) == ("notice", CloseCode.TOKEN_EXPIRED)
        with pytest.raises(EOFError):
            await readers[0].next()
        live.event_streams.drain()
        name, said = await readers[1].next()
        assert (name, said["code"]) == ("notice", CloseCode.RESTARTING)
        with pytest.raises(EOFError):
            await readers[1].next()
    async with live.client.get(path(table)) as got:
        assert got.status == 503


@pytest.mark.parametrize(
    ("reason", "code"),
    [("LOGIN_NEEDED", CloseCode.LOGIN_NEEDED), ("TOKEN_REVOKED", CloseCode.TOKEN_REVOKED)],
)
async def test_a_stream_ends_when_its_reader_has_to_log_in(
    edge: Edge, table: FakeTable, reason: str, code: CloseCode
) -> None:
    live, _, door = edge
    async with live.client.get(path(table), headers={"Authorization": "Bearer player:ana"}) as got:
        reader = EventStreamReader(got)
        assert (await reader.next())[0] == "snapshot"
        door.end("player:ana", reason)
        name, said = await reader.next()
        assert (name, said["kind"], said["code"]) == ("notice", "closed", code)


async def test_a_reader_is_told_in_time_that_his_token_expires(
    edge: Edge, table: FakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.02)
    live, _, door = edge
    async with live.client.get(path(table), headers={"Authorization": "Bearer player:ana@1100"}) as got:
        reader = EventStreamReader(got)
        assert (await reader.next())[0] == "snapshot"
        table.publish()
        assert (await reader.next())[0] == "table"
        door.time = 1_050.0
        name, said = await reader.next()
        assert (name, said["kind"], said["expires_in_ms"]) == ("notice", "token_expires", 50_000)
        # Once is enough.
        table.publish()
        assert (await reader.next())[0] == "table"


@pytest.mark.guarantee("G11")
async def test_a_reader_who_is_slow_gets_a_picture_and_one_who_never_reads_is_dropped(
    edge: Edge, table: FakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 32 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    # He is slow for as long as it takes here.
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 10 * WITHIN_S)
    live, _, _ = edge
    async with live.client.get(path(table)) as got:
        reader = EventStreamReader(got)
        assert (await reader.next())[0] == "snapshot"
        assert got.connection is not None
        transport = got.connection.transport
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        transport.pause_reading()
        while not live.hub._late:
            table.publish(padding="x" * 8_000)
            await table.publisher.flush()
            await asyncio.sleep(0)
        for _ in range(feeds.KEPT_BYTES_LIMIT // 8_000 + 1):
            table.publish(padding="x" * 8_000)
        await table.publisher.flush()
        ((late,),) = live.hub._late.values()
        assert late.transport.get_write_buffer_size() < feeds.EVENT_BACKLOG_BYTES_LIMIT + 16 * 1024
        transport.resume_reading()
        while (said := await reader.next())[0] == "table":
            pass
        assert (said[0], said[1]["seq"]) == ("snapshot", str(table.publisher.seq))
        assert reader.last_id == said[1]["seq"]

        monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.2)
        transport.pause_reading()

        def talk() -> bool:
            table.publish(padding="x" * 8_000)
            return not live.event_streams._open

        await wait_until(talk)
        assert not live.hub._late
        assert late.transport.is_closing()
        transport.abort()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has it")
async def test_one_whose_network_is_gone_is_not_spoken_to_for_long(edge: Edge, table: FakeTable) -> None:
    live, _, _ = edge
    async with live.client.get(path(table)) as got, live.connect() as client:
        await EventStreamReader(got).next()
        await client.result("ping")
        (stream,), (opened,) = live.event_streams._open, live.websockets._open
        for one in (stream, opened):
            assert isinstance(one.transport, asyncio.Transport)
            connection = one.transport.get_extra_info("socket")
            unheard_ms = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            assert unheard_ms == connection_limits.UNACKNOWLEDGED_LIMIT_S * 1000


async def test_one_who_is_gone_is_forgotten(edge: Edge, table: FakeTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.02)
    live, _, _ = edge
    async with live.client.get(path(table)) as got:
        await EventStreamReader(got).next()
    await wait_until(lambda: not live.event_streams._open)
    assert not live.hub._feeds[table.table_id].has_watchers
