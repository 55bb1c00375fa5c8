"""Connections that end are on record, once each, with who, from where and why."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from uuid import uuid4

import aiohttp
import pytest

from feltro.wallet.v1 import events_pb2, session_pb2
from gateway.live import close_log, connection_limits, websocket
from gateway.live.close_codes import CloseCode
from services.wallet.outbox import facts
from tests.gateway.live_gateway import (
    FakeAuthenticator,
    FakeTables,
    LiveGateway,
    bus_client,
    ensure_wallet_stream,
    live_gateway,
    wait_until,
)

pytestmark = pytest.mark.rule("903-B/2015:6.3.6.7")

Edge = tuple[LiveGateway, FakeTables, FakeAuthenticator]


class CloseRecords:
    """What was logged of ends."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        self._caplog = caplog
        caplog.set_level(logging.INFO, close_log.__name__)

    @property
    def lines(self) -> list[tuple[str, str, str, list[str]]]:
        found = [record.__dict__ for record in self._caplog.records if record.name == close_log.__name__]
        assert all(line["address"] == "127.0.0.1" for line in found)
        return [(line["kind"], line["subject"], line["cause"], line["tables"]) for line in found]

    @property
    def sessions(self) -> list[dict[str, str]]:
        return [record.__dict__["sessions"] for record in self._caplog.records if record.name == close_log.__name__]

    async def only(self) -> tuple[str, str, str, list[str]]:
        await wait_until(lambda: self.lines)
        (line,) = self.lines
        return line


@pytest.fixture
async def edge(nats_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Edge]:
    monkeypatch.setattr(websocket, "SWEEP_EVERY_S", 0.01)
    monkeypatch.setattr(websocket, "CLOSE_TIMEOUT_S", 0.1)
    async with live_gateway(nats_url) as made:
        yield made


@pytest.fixture
def record(caplog: pytest.LogCaptureFixture) -> CloseRecords:
    return CloseRecords(caplog)


async def gone(live: LiveGateway) -> None:
    await wait_until(lambda: not live.websockets._open)


async def test_a_heartbeat_that_was_missed(edge: Edge, record: CloseRecords, monkeypatch: pytest.MonkeyPatch) -> None:
    live, tables, _ = edge
    await tables.open("french")
    async with live.connect("player:ana", autoping=False) as silent:
        await silent.result("subscribe", table_id="french")
        # From here on he has nothing to say, however quick he is asked.
        monkeypatch.setattr(websocket, "HEARTBEAT_S", 0.2)
        live.ping_all()
        assert await silent.wait_for_close() == CloseCode.HEARTBEAT_MISSED
        await gone(live)
    assert record.lines == [("websocket", "ana", "heartbeat_missed", ["french"])]


async def test_one_who_reads_too_slowly(edge: Edge, record: CloseRecords, monkeypatch: pytest.MonkeyPatch) -> None:
    live, _, _ = edge
    async with live.connect("player:ana") as client:
        await client.result("ping")
        monkeypatch.setattr(connection_limits, "UNSENT_BYTES_LIMIT", -1)
        await client.ws.send_json({"jsonrpc": "2.0", "id": 9, "method": "ping"})
        assert await client.wait_for_close() == CloseCode.TOO_SLOW
        await gone(live)
    assert record.lines == [("websocket", "ana", "too_slow", [])]


@pytest.mark.parametrize("reason", ["TOKEN_EXPIRED", "TOKEN_REVOKED", "LOGIN_NEEDED"])
async def test_a_token_that_ends(edge: Edge, record: CloseRecords, reason: str) -> None:
    live, _, door = edge
    async with live.connect("player:ana") as client:
        await client.result("ping")
        door.end("player:ana", reason)
        await client.wait_for_close()
        await gone(live)
    assert record.lines == [("websocket", "ana", reason.lower(), [])]


async def test_a_client_that_is_gone_and_one_that_says_goodbye(edge: Edge, record: CloseRecords) -> None:
    live, tables, _ = edge
    await tables.open("french")
    async with live.connect() as client:
        await client.result("authenticate", token="player:ana")  # noqa: S106
        await client.result("subscribe", table_id="french")
        transport = client.ws._response.connection.transport  # type: ignore[union-attr]
        assert transport is not None
        transport.abort()
        await gone(live)
    async with live.connect() as client:
        await client.result("ping")
    await gone(live)
    assert record.lines == [("websocket", "ana", "lost", ["french"]), ("websocket", "", "closed", [])]


async def test_the_sessions_of_one_who_sits_at_tables_that_he_watches(edge: Edge, record: CloseRecords) -> None:
    live, tables, _ = edge
    for table_id in ("american", "french", "salon"):
        await tables.open(table_id)
    tables.by_id["american"].seated["player:ana"] = "s-1"
    tables.by_id["french"].seated["player:rui"] = "s-2"
    async with live.connect("player:ana") as client:
        for table_id in tables.by_id:
            await client.result("subscribe", table_id=table_id)
    await gone(live)
    assert record.lines == [("websocket", "ana", "closed", ["american", "french", "salon"])]
    assert record.sessions == [{"american": "s-1"}]


async def test_a_session_that_starts_or_ends_while_he_watches(edge: Edge, record: CloseRecords, nats_url: str) -> None:
    live, tables, _ = edge
    player_id = f"p{uuid4().hex[:12]}"
    for table_id in ("american", "french"):
        await tables.open(table_id)

    def session(table_id: str, session_id: str) -> session_pb2.Session:
        return session_pb2.Session(table_id=table_id, session_id=session_id)

    def started(table_id: str, session_id: str) -> events_pb2.PlayerFact:
        return events_pb2.PlayerFact(session_started=events_pb2.SessionStarted(session=session(table_id, session_id)))

    def ended(table_id: str, session_id: str) -> events_pb2.PlayerFact:
        return events_pb2.PlayerFact(session_ended=events_pb2.SessionEnded(session=session(table_id, session_id)))

    async with bus_client(nats_url) as bus:
        await ensure_wallet_stream(bus)
        await wait_until(lambda: live.private_facts.is_listening)
        async with live.connect(f"player:{player_id}") as client:
            for table_id in tables.by_id:
                await client.result("subscribe", table_id=table_id)
            for fact in (
                started("french", "s-1"),
                started("american", "s-2"),
                started("unwatched", "s-3"),
                ended("american", "s-2"),
                # Of one that has another session by now.
                ended("french", "s-0"),
            ):
                await bus.jetstream().publish(facts.player_subject(player_id), fact.SerializeToString())
                await client.next_notification("player")
        await gone(live)
    assert record.lines == [("websocket", player_id, "closed", ["american", "french"])]
    assert record.sessions == [{"french": "s-1"}]


@pytest.mark.parametrize("what", ["too large", "binary"])
async def test_what_could_not_be_understood(edge: Edge, record: CloseRecords, what: str) -> None:
    live, _, _ = edge
    async with live.connect("player:ana") as client:
        await (client.ws.send_bytes(b"1") if what == "binary" else client.ws.send_str("x" * 100_000))
        await client.wait_for_close()
        await gone(live)
    assert record.lines == [("websocket", "ana", "malformed", [])]


async def test_all_of_them_when_the_gateway_stops(edge: Edge, record: CloseRecords) -> None:
    live, _, _ = edge
    async with live.connect("player:ana") as client:
        draining = asyncio.create_task(live.websockets.drain(1.0))
        assert await client.wait_for_close() == CloseCode.RESTARTING
        await draining
    assert record.lines == [("websocket", "ana", "restarting", [])]


@pytest.mark.parametrize("how", ["gone", "token"])
async def test_a_stream_of_events(edge: Edge, record: CloseRecords, how: str) -> None:
    live, tables, door = edge
    await tables.open("french")
    tables.by_id["french"].seated["player:ana"] = "s-1"
    headers = {"Authorization": "Bearer player:ana"}
    async with live.client.get("/v1/tables/french/events", headers=headers) as response:
        await response.content.readline()
        if how == "token":
            door.end("player:ana", "TOKEN_EXPIRED")
            await response.read()
        else:
            response.close()
            table = tables.by_id["french"]
            while not record.lines:
                # It is noticed when something is to be told.
                table.publish()
                await asyncio.sleep(0.01)
    cause = "lost" if how == "gone" else "token_expired"
    assert await record.only() == ("stream", "ana", cause, ["french"])
    assert record.sessions == [{"french": "s-1"}]


def test_every_code_of_ours_has_a_cause() -> None:
    assert {close_log.cause_of_code(code) for code in CloseCode} == {code.name.lower() for code in CloseCode}
    assert close_log.cause_of_code(aiohttp.WSCloseCode.UNSUPPORTED_DATA) == "malformed"
