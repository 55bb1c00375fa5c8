"""A table as server-sent events: a snapshot and then every event, resumed where it was left, ended with a reason."""

from __future__ import annotations

import asyncio
import json
import socket
from uuid import uuid4

import aiohttp
import pytest

from gateway.live import feeds, hub
from gateway.live.close_codes import CloseCode
from gateway.live.connections import connection_limits, event_stream
from tests.gateway.live_gateway import (
    WITHIN_S,
    FakeAuthenticator,
    FakeTable,
    FakeTables,
    JsonObject,
    LiveGateway,
    wait_until,
)


@pytest.fixture
async def table(tables: FakeTables) -> FakeTable:
    return await tables.open(f"t{uuid4().hex[:12]}")


class EventStreamReader:
    """Reads an event stream as a browser's EventSource does."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response
        self.last_id = ""

    async def next(self) -> tuple[str, JsonObject]:
        """Returns the name and the data of the next event."""
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
                    content: JsonObject = json.loads(data)
                    return name, content


def path(table: FakeTable) -> str:
    return f"/v1/tables/{table.table_id}/events"


@pytest.mark.parametrize("version", [aiohttp.HttpVersion11, aiohttp.HttpVersion10])
async def test_a_stream_begins_with_a_snapshot_and_then_has_every_event(
    gateway: LiveGateway, table: FakeTable, version: aiohttp.HttpVersion
) -> None:
    table.publish(2)
    async with (
        aiohttp.ClientSession(gateway.client._base_url, version=version) as client,
        client.get(path(table)) as response,
    ):
        assert response.headers["Content-Type"] == "text/event-stream; charset=utf-8"
        assert response.headers["Cache-Control"] == "no-store"
        reader = EventStreamReader(response)
        name, content = await reader.next()
        assert (name, content["table"]["seq"], reader.last_id) == ("snapshot", "2", "2")
        table.publish(2)
        assert [(await reader.next())[1]["seq"] for _ in range(2)] == ["3", "4"]
        assert reader.last_id == "4"


async def test_a_stream_resumes_after_the_last_event_id(gateway: LiveGateway, table: FakeTable) -> None:
    table.publish(5)
    await table.publisher.flush()
    async with gateway.client.get(path(table), headers={"Last-Event-ID": "3"}) as response:
        reader = EventStreamReader(response)
        assert (await reader.next())[0] == "resumed"
        assert [(await reader.next())[1]["seq"] for _ in range(2)] == ["4", "5"]
    async with gateway.client.get(path(table), headers={"Last-Event-ID": "x"}) as response:
        assert response.status == 400
        assert (await response.json())["reason"] == "INVALID"


async def test_a_stream_is_refused_like_the_table_itself(gateway: LiveGateway, table: FakeTable) -> None:
    table.visible_to = "player:ana"
    async with gateway.client.get(path(table)) as response:
        assert response.status == 403
    async with gateway.client.get(path(table), headers={"Authorization": "Bearer nonsense"}) as response:
        assert response.status == 401
    async with gateway.client.get(path(table), headers={"Authorization": "Bearer player:ana"}) as response:
        assert response.status == 200
    async with gateway.client.get("/v1/tables/nowhere/events") as response:
        assert response.status == 404


async def test_a_stream_ends_with_its_token_and_with_the_gateway(
    gateway: LiveGateway, authenticator: FakeAuthenticator, table: FakeTable
) -> None:
    async with (
        gateway.client.get(path(table), headers={"Authorization": "Bearer player:ana"}) as own,
        gateway.client.get(path(table)) as other,
    ):
        readers = [EventStreamReader(own), EventStreamReader(other)]
        for reader in readers:
            await reader.next()
        authenticator.end("player:ana", "TOKEN_EXPIRED")
        name, content = await readers[0].next()
        assert (name, content["code"]) == ("notice", CloseCode.TOKEN_EXPIRED)
        with pytest.raises(EOFError):
            await readers[0].next()
        gateway.event_streams.drain()
        name, content = await readers[1].next()
        assert (name, content["code"]) == ("notice", CloseCode.RESTARTING)
        with pytest.raises(EOFError):
            await readers[1].next()
    async with gateway.client.get(path(table)) as response:
        assert response.status == 503


@pytest.mark.parametrize(
    ("reason", "code"),
    [("LOGIN_NEEDED", CloseCode.LOGIN_NEEDED), ("TOKEN_REVOKED", CloseCode.TOKEN_REVOKED)],
)
async def test_a_stream_ends_when_its_player_has_to_log_in(
    gateway: LiveGateway, authenticator: FakeAuthenticator, table: FakeTable, reason: str, code: CloseCode
) -> None:
    async with gateway.client.get(path(table), headers={"Authorization": "Bearer player:ana"}) as response:
        reader = EventStreamReader(response)
        assert (await reader.next())[0] == "snapshot"
        authenticator.end("player:ana", reason)
        name, content = await reader.next()
        assert (name, content["kind"], content["code"]) == ("notice", "closed", code)


async def test_a_reader_is_warned_before_their_token_expires(
    gateway: LiveGateway, authenticator: FakeAuthenticator, table: FakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.02)
    async with gateway.client.get(path(table), headers={"Authorization": "Bearer player:ana@1100"}) as response:
        reader = EventStreamReader(response)
        assert (await reader.next())[0] == "snapshot"
        table.publish()
        assert (await reader.next())[0] == "table"
        authenticator.time = 1_050.0
        name, content = await reader.next()
        assert (name, content["kind"], content["expires_in_ms"]) == ("notice", "token_expires", 50_000)
        # The warning is sent once.
        table.publish()
        assert (await reader.next())[0] == "table"


@pytest.mark.guarantee("G11")
async def test_a_slow_reader_gets_a_snapshot_and_one_that_never_reads_is_dropped(
    gateway: LiveGateway, table: FakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 32 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    # Never dropped for being late, however slow the machine is.
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 10 * WITHIN_S)
    async with gateway.client.get(path(table)) as response:
        reader = EventStreamReader(response)
        assert (await reader.next())[0] == "snapshot"
        assert response.connection is not None
        transport = response.connection.transport
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        transport.pause_reading()
        while not gateway.hub._late:
            table.publish(padding="x" * 8_000)
            await table.publisher.flush()
            await asyncio.sleep(0)
        for _ in range(feeds.KEPT_BYTES_LIMIT // 8_000 + 1):
            table.publish(padding="x" * 8_000)
        await table.publisher.flush()
        ((late,),) = gateway.hub._late.values()
        assert late.transport.get_write_buffer_size() < feeds.EVENT_BACKLOG_BYTES_LIMIT + 16 * 1024
        transport.resume_reading()
        while (event := await reader.next())[0] == "table":
            pass
        assert (event[0], event[1]["seq"]) == ("snapshot", str(table.publisher.seq))
        assert reader.last_id == event[1]["seq"]

        monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.2)
        transport.pause_reading()

        def publish_until_dropped() -> bool:
            table.publish(padding="x" * 8_000)
            return not gateway.event_streams._open

        await wait_until(publish_until_dropped)
        assert not gateway.hub._late
        assert late.transport.is_closing()
        transport.abort()


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="only Linux has it")
async def test_unacknowledged_data_ends_a_connection_soon(gateway: LiveGateway, table: FakeTable) -> None:
    async with gateway.client.get(path(table)) as response, gateway.connect() as client:
        await EventStreamReader(response).next()
        await client.result("ping")
        (stream,), (websocket,) = gateway.event_streams._open, gateway.websockets._open
        for transport in (stream.transport, websocket.transport):
            assert isinstance(transport, asyncio.Transport)
            tcp = transport.get_extra_info("socket")
            unacknowledged_ms = tcp.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)
            assert unacknowledged_ms == connection_limits.UNACKNOWLEDGED_LIMIT_S * 1000


async def test_a_closed_stream_is_forgotten(
    gateway: LiveGateway, table: FakeTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.02)
    async with gateway.client.get(path(table)) as response:
        await EventStreamReader(response).next()
    await wait_until(lambda: not gateway.event_streams._open)
    assert not gateway.hub._feeds[table.table_id].has_watchers
