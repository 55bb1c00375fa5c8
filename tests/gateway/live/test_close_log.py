"""Every connection that ends is logged once: whose it was, from where, and why it ended."""

from __future__ import annotations

import asyncio
import logging
from uuid import uuid4

import aiohttp
import pytest

from feltro.wallet.v1 import events_pb2, session_pb2
from gateway.live.close_codes import CloseCode
from gateway.live.connections import close_log, connection_limits, event_stream, websocket
from services.wallet.outbox import facts
from tests.gateway.live_gateway import (
    FakeAuthenticator,
    FakeTables,
    LiveGateway,
    bus_client,
    wait_until,
)

pytestmark = pytest.mark.rule("903-B/2015:6.3.6.7")


class CloseRecords:
    """The log records of connections that ended."""

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

    async def only_line(self) -> tuple[str, str, str, list[str]]:
        await wait_until(lambda: self.lines)
        (line,) = self.lines
        return line


@pytest.fixture(autouse=True)
def quick_closing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sweeps often, and waits briefly for the answer to a close."""
    monkeypatch.setattr(websocket, "SWEEP_EVERY_S", 0.01)
    monkeypatch.setattr(websocket, "CLOSE_TIMEOUT_S", 0.1)


@pytest.fixture
def close_records(caplog: pytest.LogCaptureFixture) -> CloseRecords:
    return CloseRecords(caplog)


async def wait_until_closed(gateway: LiveGateway) -> None:
    await wait_until(lambda: not gateway.websockets._open)


async def test_a_missed_heartbeat_is_the_logged_cause(
    gateway: LiveGateway, tables: FakeTables, close_records: CloseRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tables.open("french")
    async with gateway.connect("player:ana", autoping=False) as silent:
        await silent.result("subscribe", table_id="french")
        # A client that answers no pings: a short heartbeat closes it whatever the machine does.
        monkeypatch.setattr(websocket, "HEARTBEAT_S", 0.2)
        gateway.ping_all()
        assert await silent.wait_for_close() == CloseCode.HEARTBEAT_MISSED
        await wait_until_closed(gateway)
    assert close_records.lines == [("websocket", "ana", "heartbeat_missed", ["french"])]


async def test_a_slow_reader_is_the_logged_cause(
    gateway: LiveGateway, close_records: CloseRecords, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with gateway.connect("player:ana") as client:
        await client.result("ping")
        monkeypatch.setattr(connection_limits, "UNSENT_BYTES_LIMIT", -1)
        await client.ws.send_json({"jsonrpc": "2.0", "id": 9, "method": "ping"})
        assert await client.wait_for_close() == CloseCode.TOO_SLOW
        await wait_until_closed(gateway)
    assert close_records.lines == [("websocket", "ana", "too_slow", [])]


@pytest.mark.parametrize("reason", ["TOKEN_EXPIRED", "TOKEN_REVOKED", "LOGIN_NEEDED"])
async def test_the_reason_of_an_ended_token_is_the_logged_cause(
    gateway: LiveGateway, authenticator: FakeAuthenticator, close_records: CloseRecords, reason: str
) -> None:
    async with gateway.connect("player:ana") as client:
        await client.result("ping")
        authenticator.end("player:ana", reason)
        await client.wait_for_close()
        await wait_until_closed(gateway)
    assert close_records.lines == [("websocket", "ana", reason.lower(), [])]


async def test_a_lost_connection_is_told_from_a_closed_one(
    gateway: LiveGateway, tables: FakeTables, close_records: CloseRecords
) -> None:
    await tables.open("french")
    async with gateway.connect() as client:
        await client.result("authenticate", token="player:ana")  # noqa: S106
        await client.result("subscribe", table_id="french")
        transport = client.ws._response.connection.transport  # type: ignore[union-attr]
        assert transport is not None
        transport.abort()
        await wait_until_closed(gateway)
    async with gateway.connect() as client:
        await client.result("ping")
    await wait_until_closed(gateway)
    assert close_records.lines == [("websocket", "ana", "lost", ["french"]), ("websocket", "", "closed", [])]


async def test_the_log_names_the_players_sessions_at_watched_tables(
    gateway: LiveGateway, tables: FakeTables, close_records: CloseRecords
) -> None:
    for table_id in ("american", "french", "salon"):
        await tables.open(table_id)
    tables.by_id["american"].seated["player:ana"] = "s-1"
    tables.by_id["french"].seated["player:rui"] = "s-2"
    async with gateway.connect("player:ana") as client:
        for table_id in tables.by_id:
            await client.result("subscribe", table_id=table_id)
    await wait_until_closed(gateway)
    assert close_records.lines == [("websocket", "ana", "closed", ["american", "french", "salon"])]
    assert close_records.sessions == [{"american": "s-1"}]


async def test_the_log_follows_sessions_that_start_and_end_meanwhile(
    gateway: LiveGateway, tables: FakeTables, close_records: CloseRecords, nats_url: str
) -> None:
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
        await wait_until(lambda: gateway.private_facts.is_listening)
        async with gateway.connect(f"player:{player_id}") as client:
            for table_id in tables.by_id:
                await client.result("subscribe", table_id=table_id)
            for fact in (
                started("french", "s-1"),
                started("american", "s-2"),
                started("unwatched", "s-3"),
                ended("american", "s-2"),
                # The end of an earlier session, after another has started.
                ended("french", "s-0"),
            ):
                await bus.jetstream().publish(facts.player_subject(player_id), fact.SerializeToString())
                await client.next_notification("player")
        await wait_until_closed(gateway)
    assert close_records.lines == [("websocket", player_id, "closed", ["american", "french"])]
    assert close_records.sessions == [{"french": "s-1"}]


@pytest.mark.parametrize("kind", ["too large", "binary"])
async def test_a_malformed_message_is_the_logged_cause(
    gateway: LiveGateway, close_records: CloseRecords, kind: str
) -> None:
    async with gateway.connect("player:ana") as client:
        await (client.ws.send_bytes(b"1") if kind == "binary" else client.ws.send_str("x" * 100_000))
        await client.wait_for_close()
        await wait_until_closed(gateway)
    assert close_records.lines == [("websocket", "ana", "malformed", [])]


async def test_a_restart_is_the_logged_cause_when_the_gateway_stops(
    gateway: LiveGateway, close_records: CloseRecords
) -> None:
    async with gateway.connect("player:ana") as client:
        draining = asyncio.create_task(gateway.websockets.drain(1.0))
        assert await client.wait_for_close() == CloseCode.RESTARTING
        await draining
    assert close_records.lines == [("websocket", "ana", "restarting", [])]


@pytest.mark.parametrize("how", ["lost", "token"])
async def test_the_end_of_an_event_stream_is_logged(
    monkeypatch: pytest.MonkeyPatch,
    gateway: LiveGateway,
    tables: FakeTables,
    authenticator: FakeAuthenticator,
    close_records: CloseRecords,
    how: str,
) -> None:
    # A stream notices the end of its connection with its next heartbeat at the latest.
    monkeypatch.setattr(event_stream, "HEARTBEAT_S", 0.05)
    await tables.open("french")
    tables.by_id["french"].seated["player:ana"] = "s-1"
    headers = {"Authorization": "Bearer player:ana"}
    async with gateway.client.get("/v1/tables/french/events", headers=headers) as response:
        await response.content.readline()
        if how == "token":
            authenticator.end("player:ana", "TOKEN_EXPIRED")
            await response.read()
        else:
            response.close()
            table = tables.by_id["french"]
            while not close_records.lines:
                # A lost stream is noticed when an event is sent on it.
                table.publish()
                await asyncio.sleep(0.01)
    cause = "lost" if how == "lost" else "token_expired"
    assert await close_records.only_line() == ("stream", "ana", cause, ["french"])
    assert close_records.sessions == [{"french": "s-1"}]


def test_every_close_code_has_a_cause() -> None:
    assert {close_log.cause_of_code(code) for code in CloseCode} == {code.name.lower() for code in CloseCode}
    assert close_log.cause_of_code(aiohttp.WSCloseCode.UNSUPPORTED_DATA) == "malformed"
