"""The gateway's WebSocket: calls and notifications, who may make them, how long it lives and how it ends."""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket
from uuid import uuid4

import aiohttp
import grpc
import pytest
from google.protobuf.message import Message

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import events_pb2, types_pb2, wallet_pb2
from gateway.access.rate_limiter import Limit
from gateway.backends.dispatcher import CallContext
from gateway.contracts.methods import Method
from gateway.live import close_codes, feeds, hub
from gateway.live.close_codes import CloseCode
from gateway.live.connections import connection_limits, rpc_server, websocket
from services.kit.bus.subjects import FACTS_STREAM
from services.kit.telemetry.logs import JsonLines
from services.wallet.outbox import facts
from tests.gateway.live_gateway import (
    UNLIMITED,
    WITHIN_S,
    FakeAuthenticator,
    FakeTables,
    JsonObject,
    LiveGateway,
    bus_client,
    live_gateway,
    refused,
    wait_until,
)
from tests.processes.bus import recreate_stream


@pytest.fixture(autouse=True)
def quick_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at all connections often: heartbeats and tokens are seen to by sweeps."""
    monkeypatch.setattr(websocket, "SWEEP_EVERY_S", 0.01)


def error(answer: JsonObject) -> tuple[int, str]:
    return answer["error"]["code"], answer["error"]["data"].get("reason", "")


async def test_a_call_reaches_its_service_with_request_and_token(gateway: LiveGateway, tables: FakeTables) -> None:
    tables.answers["WalletService.GetBalance"] = wallet_pb2.GetBalanceResponse(
        balance=types_pb2.Balance(account_id="a")
    )
    async with gateway.connect("player:ana") as client:
        result = await client.result("WalletService.GetBalance", account_id="a")
        assert result["balance"]["account_id"] == "a"
    name, request, token = tables.calls[-1]
    assert (name, request, token) == (
        "WalletService.GetBalance",
        wallet_pb2.GetBalanceRequest(account_id="a"),
        "player:ana",
    )


async def test_a_decision_goes_to_the_table_with_the_games_own_message(
    gateway: LiveGateway, tables: FakeTables
) -> None:
    tables.answers["TableService.Act"] = table_pb2.ActResponse(
        round_id="t.7", position=5, staked_cents=300, stake_id="s"
    )
    decision = {"@type": "type.googleapis.com/feltro.blackjack.v1.Move", "place": 3, "decision": "DECISION_DOUBLE"}
    params = {"request_id": "k1", "table_id": "t", "round_id": "t.7", "turn": 4, "move": decision}
    async with gateway.connect("player:ana") as client:
        result = await client.result("TableService.Act", **params)
        assert result == {"round_id": "t.7", "position": 5, "staked_cents": "300", "stake_id": "s"}
        unnamed = await client.call("TableService.Act", **{**params, "request_id": ""})
        assert error(unnamed) == (-32602, "INVALID")
    async with gateway.connect() as client:
        assert error(await client.call("TableService.Act", **params)) == (-32016, "TOKEN_INVALID")
    ((_, request, token),) = tables.calls
    assert isinstance(request, table_pb2.ActRequest)
    move = blackjack_pb2.Move()
    assert request.move.Unpack(move)
    assert (move.place, move.decision, request.turn, token) == (3, blackjack_pb2.DECISION_DOUBLE, 4, "player:ana")


async def test_an_error_holds_the_problem_document_that_rest_answers_with(
    gateway: LiveGateway, tables: FakeTables
) -> None:
    tables.answers["WalletService.GetBalance"] = refused("ACCOUNT_UNKNOWN", grpc.StatusCode.NOT_FOUND)
    tables.answers["WalletService.OpenAccount"] = refused("", grpc.StatusCode.INTERNAL)
    async with gateway.connect("player:ana") as client:
        answer = await client.call("WalletService.GetBalance", account_id="a")
        data = answer["error"]["data"]
        assert len(data.pop("trace_id")) == 32
        assert data == {
            "type": "/problems/ACCOUNT_UNKNOWN",
            "title": "Account unknown",
            "status": 404,
            "detail": answer["error"]["message"],
            "instance": "/v1/ws",
            "reason": "ACCOUNT_UNKNOWN",
            "domain": "table.feltro",
            "facts": {"fact": "1"},
        }
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
async def test_a_malformed_call_is_answered_with_its_error_code(gateway: LiveGateway, text: str, code: int) -> None:
    async with gateway.connect() as client:
        await client.ws.send_str(text)
        answer = await client.ws.receive_json()
        assert (answer["jsonrpc"], answer["error"]["code"]) == ("2.0", code)
        assert (await client.result("ping"))["at"].endswith("Z")


async def test_a_subscription_in_a_batch_begins_after_the_batchs_answer(
    gateway: LiveGateway, tables: FakeTables
) -> None:
    table = await tables.open(f"t{uuid4().hex[:12]}")
    async with gateway.connect() as client:
        await client.ws.send_json(
            [
                {"jsonrpc": "2.0", "id": "a", "method": "ping"},
                {"jsonrpc": "2.0", "id": "b", "method": "subscribe", "params": {"table_id": table.table_id}},
                {"jsonrpc": "2.0", "method": "ping"},
            ]
        )
        answers = await client.ws.receive_json()
        assert [answer.get("id") for answer in answers] == ["a", "b", None]
        table.publish()
        assert await client.next_seqs(1) == [1]


async def test_calls_of_one_connection_wait_up_to_a_limit(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "PENDING_MESSAGES_LIMIT", 3)
    released = asyncio.Event()

    async def dispatch(method: Method, request: Message, context: CallContext) -> bytes:
        await released.wait()
        return b""

    monkeypatch.setattr(tables, "dispatch", dispatch)
    async with gateway.connect("player:ana") as client:
        for number in range(4):
            await client.ws.send_json({"jsonrpc": "2.0", "id": number, "method": "WalletService.GetBalance"})
        assert error(await client.answer(3)) == (-32008, "OVERLOADED")
        released.set()
        assert {(await client.ws.receive_json())["id"] for _ in range(3)} == {0, 1, 2}


async def test_without_a_token_only_public_methods_are_allowed(gateway: LiveGateway, tables: FakeTables) -> None:
    table = await tables.open(f"t{uuid4().hex[:12]}")
    async with gateway.connect() as client:
        assert error(await client.call("WalletService.GetBalance")) == (-32016, "TOKEN_INVALID")
        assert (await client.result("TableService.GetTable", table_id=table.table_id))["table"]["seq"] == "0"
        assert error(await client.call_with_token("authenticate", "nonsense")) == (-32016, "TOKEN_INVALID")
        assert error(await client.call_with_token("authenticate", "player:ana@999")) == (-32016, "TOKEN_EXPIRED")
        assert (await client.call_with_token("authenticate", "player:ana"))["result"]["subject"] == "ana"
        assert error(await client.call_with_token("authenticate", "player:rui"))[0] == -32602
        assert error(await client.call_with_token("refresh", "player:rui")) == (-32007, "NOT_YOURS")


@pytest.mark.parametrize("token", ["nonsense", "player:ana@999"])
async def test_an_invalid_token_in_the_header_refuses_the_handshake(gateway: LiveGateway, token: str) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
        async with gateway.connect(token):
            raise AssertionError
    assert refusal.value.status == 401


async def test_a_connection_ends_with_its_token_unless_it_is_refreshed(
    gateway: LiveGateway, authenticator: FakeAuthenticator
) -> None:
    async with gateway.connect("player:ana@1100") as client, gateway.connect("player:rui@1100") as other:
        authenticator.time = 1_050.0
        for one in (client, other):
            notice = await one.next_notification("notice")
            assert notice["kind"] == "token_expires"
            assert notice["expires_in_ms"] == 50_000
        assert "result" in await client.call_with_token("refresh", "player:ana@2000")
        for token in ("player:ana@1100", "player:rui@1100"):
            authenticator.end(token, "TOKEN_EXPIRED")
        assert await other.wait_for_close() == CloseCode.TOKEN_EXPIRED
        assert await client.result("ping")
        authenticator.end("player:ana@2000", "TOKEN_REVOKED")
        assert await client.wait_for_close() == CloseCode.TOKEN_REVOKED


@pytest.mark.parametrize(
    ("reason", "code"),
    [("LOGIN_NEEDED", CloseCode.LOGIN_NEEDED), ("TOKEN_REVOKED", CloseCode.TOKEN_REVOKED)],
)
async def test_a_connection_ends_when_its_player_has_to_log_in(
    gateway: LiveGateway, authenticator: FakeAuthenticator, reason: str, code: CloseCode
) -> None:
    async with gateway.connect("player:ana") as client, gateway.connect("player:rui") as other:
        await client.result("ping")
        authenticator.end("player:ana", reason)
        assert await client.wait_for_close() == code
        await other.result("ping")


@pytest.mark.guarantee("G11")
async def test_a_client_that_reads_nothing_is_closed_as_too_slow(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "EVENT_BACKLOG_BYTES_LIMIT", 32 * 1024)
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.2)
    table = await tables.open(f"t{uuid4().hex[:12]}")
    async with gateway.connect() as slow:
        await slow.result("subscribe", table_id=table.table_id)
        assert slow.ws._conn is not None
        transport = slow.ws._conn.transport
        assert isinstance(transport, asyncio.Transport)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
        transport.pause_reading()
        (connection,) = gateway.websockets._open

        def publish_until_closed() -> bool:
            table.publish(padding="x" * 8_000)
            return not connection.is_open

        await wait_until(publish_until_closed)
        # The client receives what was written before, and then the close with its code.
        transport.resume_reading()
        assert await slow.wait_for_close() == CloseCode.TOO_SLOW


async def test_a_watcher_is_closed_when_its_table_cannot_be_shown_any_more(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "LATE_TIMEOUT_S", 0.1)
    table = await tables.open(f"t{uuid4().hex[:12]}")
    async with gateway.connect() as client, gateway.connect() as other:
        await client.result("subscribe", table_id=table.table_id)
        # Events were missed, and no service can give a snapshot.
        tables.unavailable = True
        gateway.hub._on_gap()
        assert await client.wait_for_close() == CloseCode.TABLE_UNAVAILABLE
        tables.unavailable = False
        assert (await other.result("subscribe", table_id=table.table_id))["resumed"] is False


@pytest.mark.guarantee("G12")
async def test_g12_a_call_that_gives_a_name_twice_is_refused(gateway: LiveGateway) -> None:
    """The others of its batch are answered, and its own answer has its id unless that is what it gives twice."""
    calls = (
        '{"jsonrpc":"2.0","id":7,"method":"WalletService.Deposit","params":{"amount_cents":100,"amount_cents":200}}',
        '{"jsonrpc":"2.0","id":"8","method":"ping","params":{"a":[{"b":{},"c":1,"b":{}}]}}',
        '{"jsonrpc":"2.0","id":9,"id":10,"method":"ping"}',
        '{"jsonrpc":"2.0","id":11,"method":"ping","params":{"a":":"}}',
    )
    refused = {7: "amount_cents", "8": "a[0].b", None: "id"}
    async with gateway.connect("player:ana") as client:
        await client.ws.send_str(f"[{','.join(calls)}]")
        answers = {answer["id"]: answer for answer in await client.ws.receive_json()}
        assert "result" in answers.pop(11)
        assert {number: answer["error"]["data"]["facts"]["field"] for number, answer in answers.items()} == refused
        for call, (number, field) in zip(calls, refused.items(), strict=False):
            await client.ws.send_str(call)
            answer = await client.ws.receive_json()
            assert (answer["id"], answer["error"]["data"]["facts"]) == (number, {"field": field})


async def test_a_client_over_the_limit_is_refused_and_in_the_end_closed(nats_url: str) -> None:
    limits = UNLIMITED.__class__(
        player_calls=UNLIMITED.player_calls,
        operator_calls=UNLIMITED.operator_calls,
        address_calls=UNLIMITED.address_calls,
        address_tokens=UNLIMITED.address_tokens,
        connection_messages=Limit("messages on one connection", 0.001, 5),
    )
    async with live_gateway(nats_url, limits) as (gateway, _, _), gateway.connect() as client:
        for _ in range(5):
            await client.result("ping")
        answer = await client.call("ping")
        assert error(answer) == (-32008, "RATE_LIMITED")
        assert int(answer["error"]["data"]["facts"]["retry_after_ms"]) > 0
        for _ in range(websocket.REFUSED_CALLS_LIMIT):
            await client.ws.send_str('{"jsonrpc":"2.0","id":1,"method":"ping"}')
        assert await client.wait_for_close() == CloseCode.TOO_MANY_CALLS


async def test_a_players_connections_share_one_limit_of_calls(nats_url: str) -> None:
    limits = UNLIMITED.__class__(
        player_calls=Limit("calls of a player", 0.001, 3),
        operator_calls=UNLIMITED.operator_calls,
        address_calls=UNLIMITED.address_calls,
        address_tokens=UNLIMITED.address_tokens,
        connection_messages=UNLIMITED.connection_messages,
    )
    async with live_gateway(nats_url, limits) as (gateway, _, _):
        for _ in range(3):
            async with gateway.connect("player:ana") as client:
                await client.result("ping")
        async with gateway.connect("player:ana") as client:
            assert error(await client.call("ping")) == (-32008, "RATE_LIMITED")


async def test_a_message_that_is_too_large_or_binary_closes_the_connection(gateway: LiveGateway) -> None:
    async with gateway.connect() as client:
        await client.ws.send_str("x" * (websocket.MESSAGE_BYTES_LIMIT + 1))
        assert await client.wait_for_close() == 1009
    async with gateway.connect() as client:
        await client.ws.send_bytes(b"x")
        assert await client.wait_for_close() == 1003


@pytest.mark.guarantee("G11")
async def test_g11_a_batch_of_subscriptions_keeps_the_limit_of_watched_tables(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc_server, "WATCHED_TABLES_LIMIT", 3)
    ids = [(await tables.open(f"t{uuid4().hex[:12]}")).table_id for _ in range(8)]
    async with gateway.connect() as client:
        for _ in range(2):
            # A refused subscription does not count.
            assert error(await client.call("subscribe", table_id="nowhere")) == (-32005, "TABLE_UNKNOWN")
        calls = [
            {"jsonrpc": "2.0", "id": number, "method": "subscribe", "params": {"table_id": table_id}}
            for number, table_id in enumerate(ids)
        ]
        await client.ws.send_json(calls)
        answers = json.dumps(await client.answer(0))
        assert (answers.count('"result"'), answers.count('"reason": "TOO_MANY_TABLES"')) == (3, 5)
        (connection,) = gateway.websockets._open
        assert (len(connection.watchers), connection.pending_subscriptions) == (3, 0)
        await client.result("unsubscribe", table_id=ids[0])
        await client.result("subscribe", table_id=ids[7])


async def test_a_connection_watches_up_to_a_limit_of_tables(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rpc_server, "WATCHED_TABLES_LIMIT", 2)
    ids = [f"t{uuid4().hex[:12]}" for _ in range(3)]
    async with gateway.connect() as client:
        for table_id in ids:
            await tables.open(table_id)
        await client.result("subscribe", table_id=ids[0])
        await client.result("subscribe", table_id=ids[1])
        await client.result("subscribe", table_id=ids[1])
        assert error(await client.call("subscribe", table_id=ids[2])) == (-32009, "TOO_MANY_TABLES")
        await client.result("unsubscribe", table_id=ids[0])
        await client.result("subscribe", table_id=ids[2])
        tables.by_id[ids[1]].publish()
        assert await client.next_seqs(1) == [1]


async def test_a_client_that_answers_no_heartbeat_is_dropped(
    gateway: LiveGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(websocket, "CLOSE_TIMEOUT_S", 0.1)
    async with gateway.connect(autoping=False) as silent, gateway.connect(autoping=True) as client:
        silent_connection, answering = gateway.websockets._open
        listening = asyncio.create_task(client.wait_for_close())
        for _ in range(3):
            pinged_at = answering._pinged_at
            gateway.ping_all()
            # The next ping waits for the answer, however long a busy machine takes.
            await wait_until(lambda: pinged_at < answering._pinged_at < answering._last_received_at)  # noqa: B023 - waited for right here
        assert (await silent.ws.receive()).type is aiohttp.WSMsgType.PING
        assert await silent.wait_for_close() == CloseCode.HEARTBEAT_MISSED
        await wait_until(lambda: silent_connection not in gateway.websockets._open)
        assert list(gateway.websockets._open) == [answering]
        assert not listening.done()
        listening.cancel()


async def test_draining_notifies_all_clients_and_answers_pending_calls(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    released = asyncio.Event()

    async def dispatch(method: Method, request: Message, context: CallContext) -> bytes:
        await released.wait()
        return b""

    monkeypatch.setattr(tables, "dispatch", dispatch)
    async with gateway.connect("player:ana") as client, gateway.connect() as idle:
        await client.ws.send_json({"jsonrpc": "2.0", "id": 1, "method": "WalletService.GetBalance"})
        await wait_until(lambda: any(connection.has_pending_calls for connection in gateway.websockets._open))
        draining = asyncio.create_task(gateway.websockets.drain(WITHIN_S))
        closing = asyncio.create_task(idle.wait_for_close())
        notice = await client.next_notification("notice")
        assert notice["kind"] == "draining"
        assert 0 <= notice["reconnect_after_ms"] < connection_limits.RECONNECT_SPREAD_MS
        with pytest.raises(aiohttp.WSServerHandshakeError) as refusal:
            async with gateway.connect():
                raise AssertionError
        assert refusal.value.status == 503
        released.set()
        assert "result" in await client.answer(1)
        assert await client.wait_for_close() == CloseCode.RESTARTING
        assert await closing == CloseCode.RESTARTING
        await draining
        assert not gateway.websockets._open


async def test_private_facts_reach_their_player_only(gateway: LiveGateway, nats_url: str) -> None:
    player_id = f"p{uuid4().hex[:12]}"
    async with bus_client(nats_url) as bus:
        await wait_until(lambda: gateway.private_facts.is_listening)
        async with (
            gateway.connect(f"player:{player_id}") as player,
            gateway.connect() as later,
            gateway.connect("player:somebody-else") as other,
            gateway.connect(f"operator:{player_id}") as operator,
        ):
            await later.result("authenticate", token=f"player:{player_id}")
            for client in (player, other, operator):
                await client.result("ping")
            fact = events_pb2.PlayerFact(complaint_updated=events_pb2.ComplaintUpdated(reference="r1"))
            await bus.jetstream(timeout=WITHIN_S).publish(facts.player_subject(player_id), fact.SerializeToString())
            for client in (player, later):
                received = await client.next_notification("player")
                assert received["complaint_updated"]["reference"] == "r1"
            for client in (other, operator):
                await client.result("ping")
                assert client.notifications == []


@pytest.mark.parametrize("garbage", [b"\xff\xfe not a message", b"", b"{}"])
async def test_a_private_fact_that_cannot_be_read_stops_no_other(
    gateway: LiveGateway, nats_url: str, garbage: bytes
) -> None:
    player_id = f"p{uuid4().hex[:12]}"
    async with bus_client(nats_url) as bus:
        await wait_until(lambda: gateway.private_facts.is_listening)
        async with gateway.connect(f"player:{player_id}") as player:
            await player.result("ping")
            fact = events_pb2.PlayerFact(complaint_updated=events_pb2.ComplaintUpdated(reference="r1"))
            for payload in (garbage, fact.SerializeToString()):
                await bus.jetstream(timeout=WITHIN_S).publish(facts.player_subject(player_id), payload)
            while "complaint_updated" not in (received := await player.next_notification("player")):
                continue
            assert received["complaint_updated"]["reference"] == "r1"
    assert gateway.private_facts.is_listening


async def test_players_are_notified_when_private_facts_may_have_been_missed(
    gateway: LiveGateway, nats_url: str
) -> None:
    player_id = f"p{uuid4().hex[:12]}"
    async with bus_client(nats_url) as bus:
        await wait_until(lambda: gateway.private_facts.is_listening)
        async with gateway.connect(f"player:{player_id}") as player, gateway.connect() as anonymous:
            for client in (player, anonymous):
                await client.result("ping")
            await recreate_stream(bus, FACTS_STREAM)
            notice = await player.next_notification("notice")
            assert notice["kind"] == "facts_missed"
            # Facts published from now on are received.
            await wait_until(lambda: gateway.private_facts.is_listening)
            fact = events_pb2.PlayerFact(complaint_updated=events_pb2.ComplaintUpdated(reference="r2"))
            await bus.jetstream(timeout=WITHIN_S).publish(facts.player_subject(player_id), fact.SerializeToString())
            assert (await player.next_notification("player"))["complaint_updated"]["reference"] == "r2"
            await anonymous.result("ping")
            assert anonymous.notifications == []


TRACE_ID = "0af7651916cd43dd8448eb211c80319c"
TRACEPARENT = f"00-{TRACE_ID}-b7ad6b7169203331-01"


async def test_a_call_passes_its_trace_on(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch
) -> None:
    traceparents: list[str] = []

    async def dispatch(method: Method, request: Message, context: CallContext) -> bytes:
        traceparents.append(context.traceparent)
        return b""

    monkeypatch.setattr(tables, "dispatch", dispatch)
    async with gateway.connect("player:ana") as client:
        await client.result("WalletService.GetBalance", account_id="a", _meta={"traceparent": TRACEPARENT})
        await client.result("WalletService.GetBalance", account_id="a", _meta={"traceparent": "broken"})
        await client.result("WalletService.GetBalance", account_id="a", _meta={})
        assert error(await client.call("WalletService.GetBalance", _meta="broken")) == (-32602, "INVALID")
    version, trace_id, span, flags = traceparents[0].split("-")
    assert (version, trace_id, flags) == ("00", TRACE_ID, "01")
    assert span != "b7ad6b7169203331"
    assert len({TRACE_ID, *(traceparent.split("-")[1] for traceparent in traceparents)}) == 3


async def test_log_records_and_answers_of_a_call_carry_its_trace(
    gateway: LiveGateway, tables: FakeTables, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(JsonLines())
    caplog.set_level(logging.INFO, "gateway")
    monkeypatch.setattr(logging.getLogger("gateway"), "handlers", [handler])

    async def dispatch(method: Method, request: Message, context: CallContext) -> bytes:
        await asyncio.sleep(0)
        if method.rpc_name == "WalletService.GetBalance":
            raise refused("ACCOUNT_UNKNOWN", grpc.StatusCode.NOT_FOUND)
        raise ValueError("a bug")

    monkeypatch.setattr(tables, "dispatch", dispatch)
    async with gateway.connect("player:ana") as client:
        trace_ids = {
            "WalletService.GetBalance": "a" * 32,
            "WalletService.OpenAccount": "b" * 32,
            "subscribe": "c" * 32,
            "Nobody.DoesThis": "d" * 32,
        }
        calls = []
        for method, trace_id in trace_ids.items():
            params: JsonObject = {"_meta": {"traceparent": f"00-{trace_id}-b7ad6b7169203331-01"}}
            if method == "subscribe":
                params["table_id"] = "t"
            calls.append({"jsonrpc": "2.0", "id": trace_id, "method": method, "params": params})
        await client.ws.send_json(calls)
        answers = await client.ws.receive_json()
        assert {answer["error"]["data"]["trace_id"] for answer in answers} == set(trace_ids.values())
        assert all(answer["error"]["data"]["trace_id"] == answer["id"] for answer in answers)
        await client.ws.send_str("{")
        broken = await client.ws.receive_json()
        assert len(broken["error"]["data"]["trace_id"]) == 32
    logged = [json.loads(line) for line in lines.getvalue().splitlines()]
    refused_calls = {(line["method"], line["trace_id"]) for line in logged if line["message"] == "a call was refused"}
    assert refused_calls == {*trace_ids.items(), ("", broken["error"]["data"]["trace_id"])}
    failed_calls = {(line["method"], line["trace_id"]) for line in logged if line["message"] == "a call failed"}
    assert failed_calls == {(method, trace_ids[method]) for method in ("WalletService.OpenAccount", "subscribe")}


def test_every_close_code_has_an_explanation() -> None:
    assert set(close_codes.EXPLANATIONS) == set(CloseCode)
