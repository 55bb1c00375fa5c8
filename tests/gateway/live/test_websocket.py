"""A WebSocket of the edge: what is said on it, who may say it, how long it lives and how it ends."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket
from collections.abc import AsyncIterator
from uuid import uuid4

import aiohttp
import grpc
import pytest
from google.protobuf.message import Message

from feltro.wallet.v1 import events_pb2, types_pb2, wallet_pb2
from gateway.access.rate_limiter import Limit
from gateway.backends.dispatcher import CallContext
from gateway.contracts.methods import Method
from gateway.live import close_codes, connection_limits, feeds, hub, rpc_server, websocket
from gateway.live.close_codes import CloseCode
from services.kit.logs import JsonLines
from services.wallet.outbox import facts
from tests.gateway.live_gateway import (
    UNLIMITED,
    WITHIN_S,
    FakeAuthenticator,
    FakeTables,
    JsonObject,
    LiveGateway,
    bus_client,
    ensure_wallet_stream,
    live_gateway,
    refused,
    wait_until,
)

Edge = tuple[LiveGateway, FakeTables, FakeAuthenticator]


@pytest.fixture
async def edge(nats_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Edge]:
    monkeypatch.setattr(websocket, "SWEEP_EVERY_S", 0.01)
    async with live_gateway(nats_url) as made:
        yield made


def error(answer: JsonObject) -> tuple[int, str]:
    return answer["error"]["code"], answer["error"]["data"].get("reason", "")


async def test_every_method_of_every_service_can_be_called(edge: Edge) -> None:
    live, tables, _ = edge
    tables.answers["WalletService.GetBalance"] = wallet_pb2.GetBalanceResponse(
        balance=types_pb2.Balance(account_id="a")
    )
    async with live.connect("player:ana") as client:
        result = await client.result("WalletService.GetBalance", account_id="a")
        assert result["balance"]["account_id"] == "a"
    name, request, token = tables.calls[-1]
    assert (name, request, token) == (
        "WalletService.GetBalance",
        wallet_pb2.GetBalanceRequest(account_id="a"),
        "player:ana",
    )


async def test_what_is_refused_says_why(edge: Edge) -> None:
    live, tables, _ = edge
    tables.answers["WalletService.GetBalance"] = refused("ACCOUNT_UNKNOWN", grpc.StatusCode.NOT_FOUND)
    tables.answers["WalletService.OpenAccount"] = refused("", grpc.StatusCode.INTERNAL)
    async with live.connect("player:ana") as client:
        answer = await client.call("WalletService.GetBalance", account_id="a")
        data = answer["error"]["data"]
        assert len(data.pop("trace_id")) == 32
        assert data == {"status": 404, "reason": "ACCOUNT_UNKNOWN", "domain": "table.feltro", "facts": {"fact": "1"}}
        assert answer["error"]["code"] == -32005
        hidden = await client.call("WalletService.OpenAccount")
        assert error(hidden) == (-32603, "")
        assert error(await client.call("WalletService.GetBalance", nonsense=1)) == (-32602, "INVALID")
        unknown = await client.call("Nobody.DoesThis")
        assert error(unknown) == (-32601, "METHOD_UNKNOWN")
        assert unknown["error"]["data"]["facts"] == {"method": "Nobody.DoesThis"}
        assert len((await client.call("x" * 50_000))["error"]["data"]["facts"]["method"]) == 200


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", -32700),
        ("[]", -32600),
        ("1", -32600),
        ('{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1}', -32600),
        ('{"jsonrpc":"2.0","method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":"' + "x" * 200 + '","method":"ping"}', -32600),
        ('{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"table_id":7}}', -32602),
        ('{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{"table_id":"t","from_seq":-1}}', -32602),
        ("[" + ",".join(['{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 51) + "]", -32600),
    ],
)
async def test_what_is_no_call_is_answered_with_what_is_wrong(edge: Edge, text: str, code: int) -> None:
    async with edge[0].connect() as client:
        await client.ws.send_str(text)
        said = await client.ws.receive_json()
        assert (said["jsonrpc"], said["error"]["code"]) == ("2.0", code)
        assert (await client.result("ping"))["at"].endswith("Z")


async def test_a_batch_is_answered_together_and_a_subscription_in_it_begins_after_it(edge: Edge) -> None:
    live, tables, _ = edge
    table = await tables.open(f"t{uuid4().hex[:12]}")
    async with live.connect() as client:
        await client.ws.send_json(
            [
                {"jsonrpc": "2.0", "id": "a", "method": "ping"},
                {"jsonrpc": "2.0", "id": "b", "method": "subscribe", "params": {"table_id": table.table_id}},
                {"jsonrpc": "2.0", "method": "ping"},
            ]
        )
        said = await client.ws.receive_json()
        assert [one.get("id") for one in said] == ["a", "b", None]
        table.publish()
        assert await client.next_seqs(1) == [1]


async def test_calls_of_one_connection_wait_for_each_other_only_within_a_limit(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, tables, _ = edge
    monkeypatch.setattr(websocket, "PENDING_MESSAGES_LIMIT", 3)
    answer = asyncio.Event()

    async def ask(method: Method, request: Message, context: CallContext) -> bytes:
        await answer.wait()
        return b""

    monkeypatch.setattr(tables, "dispatch", ask)
    async with live.connect("player:ana") as client:
        for number in range(4):
            await client.ws.send_json({"jsonrpc": "2.0", "id": number, "method": "WalletService.GetBalance"})
        assert error(await client.answer(3)) == (-32008, "OVERLOADED")
        answer.set()
        assert {(await client.ws.receive_json())["id"] for _ in range(3)} == {0, 1, 2}


async def test_without_a_token_only_what_is_public(edge: Edge) -> None:
    live, tables, _ = edge
    table = await tables.open(f"t{uuid4().hex[:12]}")
    async with live.connect() as client:
        assert error(await client.call("WalletService.GetBalance")) == (-32016, "TOKEN_INVALID")
        assert (await client.result("TableService.GetTable", table_id=table.table_id))["table"]["seq"] == "0"
        assert error(await client.call_with_token("authenticate", "nonsense")) == (-32016, "TOKEN_INVALID")
        assert error(await client.call_with_token("authenticate", "player:ana@999")) == (-32016, "TOKEN_EXPIRED")
        assert (await client.call_with_token("authenticate", "player:ana"))["result"]["subject"] == "ana"
        assert error(await client.call_with_token("authenticate", "player:rui"))[0] == -32602
        assert error(await client.call_with_token("refresh", "player:rui")) == (-32007, "NOT_YOURS")


@pytest.mark.parametrize("token", ["nonsense", "player:ana@999"])
async def test_a_token_in_the_header_that_does_not_hold(edge: Edge, token: str) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        async with edge[0].connect(token):
            raise AssertionError
    assert refusal.value.status == 401


async def test_a_connection_ends_with_its_token_unless_it_is_refreshed(edge: Edge) -> None:
    live, _, door = edge
    async with live.connect("player:ana@1100") as client, live.connect("player:rui@1100") as other:
        door.time = 1_050.0
        for one in (client, other):
            notice = await one.next_notification("notice")
            assert notice["kind"] == "token_expires"
            assert notice["expires_in_ms"] == 50_000
        assert "result" in await client.call_with_token("refresh", "player:ana@2000")
        for token in ("player:ana@1100", "player:rui@1100"):
            door.end(token, "TOKEN_EXPIRED")
        assert await other.wait_for_close() == CloseCode.TOKEN_EXPIRED
        assert await client.result("ping")
        door.end("player:ana@2000", "TOKEN_REVOKED")
        assert await client.wait_for_close() == CloseCode.TOKEN_REVOKED


@pytest.mark.parametrize(
    ("reason", "code"),
    [("LOGIN_NEEDED", CloseCode.LOGIN_NEEDED), ("TOKEN_REVOKED", CloseCode.TOKEN_REVOKED)],
)
async def test_a_connection_ends_when_its_player_has_to_log_in(edge: Edge, reason: str, code: CloseCode) -> None:
    live, _, door = edge
    async with live.connect("player:ana") as client, live.connect("player:rui") as other:
        await client.result("ping")
        door.end("player:ana", reason)
        assert await client.wait_for_close() == code
        await other.result("ping")


@pytest.mark.guarantee("G11")
async def test_one_who_reads_nothing_is_closed_as_too_slow(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 32 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.2)
    live, tables, _ = edge
    table = await tables.open(f"t{uuid4().hex[:12]}")
    async with live.connect() as slow:
        await slow.result("subscribe", table_id=table.table_id)
        assert slow.ws._conn is not None
        transport = slow.ws._conn.transport
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        transport.pause_reading()
        (opened,) = live.websockets._open

        def talk() -> bool:
            table.publish(padding="x" * 8_000)
            return not opened.is_open

        await wait_until(talk)
        # What was written before it reaches him, and then why it is over.
        transport.resume_reading()
        assert await slow.wait_for_close() == CloseCode.TOO_SLOW


async def test_one_who_cannot_be_shown_his_table_any_more_is_told_to_come_again(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.1)
    live, tables, _ = edge
    table = await tables.open(f"t{uuid4().hex[:12]}")
    async with live.connect() as client, live.connect() as other:
        await client.result("subscribe", table_id=table.table_id)
        # Something was missed, and nobody has a picture.
        tables.unavailable = True
        live.hub._on_gap()
        assert await client.wait_for_close() == CloseCode.TABLE_UNAVAILABLE
        tables.unavailable = False
        assert (await other.result("subscribe", table_id=table.table_id))["resumed"] is False


async def test_one_who_asks_too_much_is_refused_and_in_the_end_not_listened_to(nats_url: str) -> None:
    limits = UNLIMITED.__class__(
        player_calls=UNLIMITED.player_calls,
        operator_calls=UNLIMITED.operator_calls,
        address_calls=UNLIMITED.address_calls,
        address_tokens=UNLIMITED.address_tokens,
        connection_messages=Limit("messages on one connection", 0.001, 5),
    )
    async with live_gateway(nats_url, limits) as (live, _, _), live.connect() as client:
        for _ in range(5):
            await client.result("ping")
        answer = await client.call("ping")
        assert error(answer) == (-32008, "RATE_LIMITED")
        assert int(answer["error"]["data"]["facts"]["retry_after_ms"]) > 0
        for _ in range(websocket.REFUSED_CALLS_LIMIT):
            await client.ws.send_str('{"jsonrpc":"2.0","id":1,"method":"ping"}')
        assert await client.wait_for_close() == CloseCode.TOO_MANY_CALLS


async def test_a_player_who_opens_many_connections_may_not_ask_more(nats_url: str) -> None:
    limits = UNLIMITED.__class__(
        player_calls=Limit("calls of a player", 0.001, 3),
        operator_calls=UNLIMITED.operator_calls,
        address_calls=UNLIMITED.address_calls,
        address_tokens=UNLIMITED.address_tokens,
        connection_messages=UNLIMITED.connection_messages,
    )
    async with live_gateway(nats_url, limits) as (live, _, _):
        for _ in range(3):
            async with live.connect("player:ana") as client:
                await client.result("ping")
        async with live.connect("player:ana") as client:
            assert error(await client.call("ping")) == (-32008, "RATE_LIMITED")


async def test_one_message_may_not_be_too_large_or_binary(edge: Edge) -> None:
    live, _, _ = edge
    async with live.connect() as client:
        await client.ws.send_str("x" * (websocket.MESSAGE_BYTES_LIMIT + 1))
        assert await client.wait_for_close() == 1009
    async with live.connect() as client:
        await client.ws.send_bytes(b"x")
        assert await client.wait_for_close() == 1003


@pytest.mark.guarantee("G11")
async def test_g11_nor_when_it_asks_for_all_at_once(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "WATCHED_TABLES_LIMIT", 3)
    live, tables, _ = edge
    ids = [(await tables.open(f"t{uuid4().hex[:12]}")).table_id for _ in range(8)]
    async with live.connect() as client:
        for _ in range(2):
            # What is refused takes nobody's place for long.
            assert error(await client.call("subscribe", table_id="nowhere")) == (-32005, "TABLE_UNKNOWN")
        calls = [
            {"jsonrpc": "2.0", "id": number, "method": "subscribe", "params": {"table_id": table_id}}
            for number, table_id in enumerate(ids)
        ]
        await client.ws.send_json(calls)
        said = json.dumps(await client.answer(0))
        assert (said.count('"result"'), said.count('"OVERLOADED"')) == (3, 5)
        (opened,) = live.websockets._open
        assert (len(opened.watchers), opened.pending_subscriptions) == (3, 0)
        await client.result("unsubscribe", table_id=ids[0])
        await client.result("subscribe", table_id=ids[7])


async def test_no_connection_watches_more_tables_than_it_may(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_server, "WATCHED_TABLES_LIMIT", 2)
    live, tables, _ = edge
    ids = [f"t{uuid4().hex[:12]}" for _ in range(3)]
    async with live.connect() as client:
        for table_id in ids:
            await tables.open(table_id)
        await client.result("subscribe", table_id=ids[0])
        await client.result("subscribe", table_id=ids[1])
        await client.result("subscribe", table_id=ids[1])
        assert error(await client.call("subscribe", table_id=ids[2])) == (-32008, "OVERLOADED")
        await client.result("unsubscribe", table_id=ids[0])
        await client.result("subscribe", table_id=ids[2])
        tables.by_id[ids[1]].publish()
        assert await client.next_seqs(1) == [1]


async def test_who_does_not_answer_the_heartbeat_is_dropped(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(websocket, "CLOSE_TIMEOUT_S", 0.1)
    live, _, _ = edge
    async with live.connect(autoping=False) as silent, live.connect(autoping=True) as client:
        silent_one, answering = live.websockets._open
        listening = asyncio.create_task(client.wait_for_close())
        for _ in range(3):
            asked_at = answering._pinged_at
            live.ping_all()
            # However long a busy machine takes: he is not asked again before he could answer.
            await wait_until(lambda: asked_at < answering._pinged_at < answering._last_received_at)  # noqa: B023 - waited for right here
        assert (await silent.ws.receive()).type is aiohttp.WSMsgType.PING
        assert await silent.wait_for_close() == CloseCode.HEARTBEAT_MISSED
        await wait_until(lambda: silent_one not in live.websockets._open)
        assert list(live.websockets._open) == [answering]
        assert not listening.done()
        listening.cancel()


async def test_draining_tells_everybody_where_the_way_out_is_and_answers_what_was_asked(
    edge: Edge, monkeypatch: pytest.MonkeyPatch
) -> None:
    live, tables, _ = edge
    answer = asyncio.Event()

    async def ask(method: Method, request: Message, context: CallContext) -> bytes:
        await answer.wait()
        return b""

    monkeypatch.setattr(tables, "dispatch", ask)
    async with live.connect("player:ana") as client, live.connect() as idle:
        await client.ws.send_json({"jsonrpc": "2.0", "id": 1, "method": "WalletService.GetBalance"})
        await wait_until(lambda: any(opened.has_pending_calls for opened in live.websockets._open))
        draining = asyncio.create_task(live.websockets.drain(WITHIN_S))
        closing = asyncio.create_task(idle.wait_for_close())
        notice = await client.next_notification("notice")
        assert notice["kind"] == "draining"
        assert 0 <= notice["reconnect_after_ms"] < connection_limits.RECONNECT_SPREAD_MS
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            async with live.connect():
                raise AssertionError
        assert refusal.value.status == 503
        answer.set()
        assert "result" in await client.answer(1)
        assert await client.wait_for_close() == CloseCode.RESTARTING
        assert await closing == CloseCode.RESTARTING
        await draining
        assert not live.websockets._open


async def test_private_facts_reach_their_player_alone(edge: Edge, nats_url: str) -> None:
    live, _, _ = edge
    player_id = f"p{uuid4().hex[:12]}"
    async with bus_client(nats_url) as bus:
        await ensure_wallet_stream(bus)
        await wait_until(lambda: live.private_facts.is_listening)
        async with (
            live.connect(f"player:{player_id}") as one,
            live.connect() as later,
            live.connect("player:somebody-else") as other,
            live.connect(f"operator:{player_id}") as operator,
        ):
            await later.result("authenticate", token=f"player:{player_id}")
            for one_of_them in (one, other, operator):
                await one_of_them.result("ping")
            fact = events_pb2.PlayerFact(complaint_updated=events_pb2.ComplaintUpdated(reference="r1"))
            await bus.jetstream(timeout=WITHIN_S).publish(facts.player_subject(player_id), fact.SerializeToString())
            for told in (await one.next_notification("player"), await later.next_notification("player")):
                assert told["complaint_updated"]["reference"] == "r1"
            for untold in (other, operator):
                await untold.result("ping")
                assert untold.notifications == []


async def test_players_are_told_when_private_facts_may_have_been_missed(edge: Edge, nats_url: str) -> None:
    live, _, _ = edge
    player_id = f"p{uuid4().hex[:12]}"
    async with bus_client(nats_url) as bus:
        await ensure_wallet_stream(bus)
        await wait_until(lambda: live.private_facts.is_listening)
        async with live.connect(f"player:{player_id}") as player, live.connect() as nobody:
            for one in (player, nobody):
                await one.result("ping")
            await bus.jetstream(timeout=WITHIN_S).delete_stream(facts.STREAM)
            await ensure_wallet_stream(bus)
            notice = await player.next_notification("notice")
            assert notice["kind"] == "facts_missed"
            # What is said from now on is heard.
            await wait_until(lambda: live.private_facts.is_listening)
            fact = events_pb2.PlayerFact(complaint_updated=events_pb2.ComplaintUpdated(reference="r2"))
            await bus.jetstream(timeout=WITHIN_S).publish(facts.player_subject(player_id), fact.SerializeToString())
            assert (await player.next_notification("player"))["complaint_updated"]["reference"] == "r2"
            await nobody.result("ping")
            assert nobody.notifications == []


TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE_ID}-b7ad6b7169203331-01"


async def test_a_call_carries_its_trace_on(edge: Edge, monkeypatch: pytest.MonkeyPatch) -> None:
    live, tables, _ = edge
    asked: list[str] = []

    async def ask(method: Method, request: Message, context: CallContext) -> bytes:
        asked.append(context.traceparent)
        return b""

    monkeypatch.setattr(tables, "dispatch", ask)
    async with live.connect("player:ana") as client:
        await client.result("WalletService.GetBalance", account_id="a", _meta={"traceparent": TRACEPARENT})
        await client.result("WalletService.GetBalance", account_id="a", _meta={"traceparent": "broken"})
        await client.result("WalletService.GetBalance", account_id="a", _meta={})
        assert error(await client.call("WalletService.GetBalance", _meta="broken")) == (-32602, "INVALID")
    version, trace_id, span, flags = asked[0].split("-")
    assert (version, trace_id, flags) == ("00", TRACE_ID, "01")
    assert span != "b7ad6b7169203331"
    assert len({TRACE_ID, *(one.split("-")[1] for one in asked)}) == 3


async def test_what_is_logged_and_told_of_a_call_has_its_trace(
    edge: Edge, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    live, tables, _ = edge
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonLines())
    caplog.set_level(logging.INFO, "gateway")
    monkeypatch.setattr(logging.getLogger("gateway"), "handlers", [handler])

    async def ask(method: Method, request: Message, context: CallContext) -> bytes:
        await asyncio.sleep(0)
        if method.rpc_name == "WalletService.GetBalance":
            raise refused("ACCOUNT_UNKNOWN", grpc.StatusCode.NOT_FOUND)
        raise ValueError("nobody has thought of it")

    monkeypatch.setattr(tables, "dispatch", ask)
    async with live.connect("player:ana") as client:
        numbers = {
            "WalletService.GetBalance": "a" * 32,
            "WalletService.OpenAccount": "b" * 32,
            "subscribe": "c" * 32,
            "Nobody.DoesThis": "d" * 32,
        }
        calls = []
        for method, trace_id in numbers.items():
            params: JsonObject = {"_meta": {"traceparent": f"00-{trace_id}-b7ad6b7169203331-01"}}
            if method == "subscribe":
                params["table_id"] = "t"
            calls.append({"jsonrpc": "2.0", "id": trace_id, "method": method, "params": params})
        await client.ws.send_json(calls)
        answers = await client.ws.receive_json()
        assert {answer["error"]["data"]["trace_id"] for answer in answers} == set(numbers.values())
        assert all(answer["error"]["data"]["trace_id"] == answer["id"] for answer in answers)
        await client.ws.send_str("{")
        broken = await client.ws.receive_json()
        assert len(broken["error"]["data"]["trace_id"]) == 32
    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    told = {(line["method"], line["trace_id"]) for line in logged if line["message"] == "a call was refused"}
    assert told == {*numbers.items(), ("", broken["error"]["data"]["trace_id"])}
    failed = {(line["method"], line["trace_id"]) for line in logged if line["message"] == "a call failed"}
    assert failed == {(method, numbers[method]) for method in ("WalletService.OpenAccount", "subscribe")}


def test_every_close_code_has_its_words() -> None:
    assert set(close_codes.EXPLANATIONS) == set(CloseCode)
