"""A WebSocket client that sends too much costs little: it is refused briefly, fills no log and delays nobody."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import cast

import pytest

from gateway.access.rate_limiter import Limit, Limits
from gateway.live.close_codes import CloseCode
from gateway.live.connections import connection_limits
from gateway.live.connections.connection_limits import SendBudget
from gateway.live.connections.websocket import REFUSED_CALLS_LIMIT
from gateway.live.feeds import ClientConnection, Transport
from tests.gateway.live_gateway import UNLIMITED, JsonObject, LiveGateway, RpcClient, live_gateway, wait_until

pytestmark = pytest.mark.guarantee("G11")

FEW = 5
PLAYERS = 50
# So slow that nothing is allowed again while a test runs.
_NEVER = 0.000_1


def few(name: str) -> Limit:
    return Limit(name, _NEVER, FEW)


async def answers_to(client: RpcClient, text: str) -> list[JsonObject]:
    await client.ws.send_str(text)
    answers = await client.ws.receive_json()
    return answers if isinstance(answers, list) else [answers]


def reasons(answers: list[JsonObject]) -> list[tuple[object, str]]:
    return [(answer["id"], answer["error"]["data"]["reason"]) for answer in answers]


def call(number: int, method: str = "ping") -> str:
    return f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{{"token":"forged"}}}}'


@asynccontextmanager
async def limited_gateway(url: str, limits: Limits) -> AsyncIterator[LiveGateway]:
    async with live_gateway(url, limits) as (gateway, _, _):
        yield gateway


async def test_messages_that_are_no_call_count_as_calls_and_are_logged_once(
    nats_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gateway")
    async with (
        limited_gateway(nats_url, replace(UNLIMITED, address_calls=few("calls"))) as gateway,
        gateway.connect() as client,
    ):
        # Items without an id that are over the limit share one refusal.
        assert reasons(await answers_to(client, "[1,1,1,1,1,1,1,1]")) == [(None, "INVALID")] * FEW + [
            (None, "RATE_LIMITED")
        ]
        assert reasons(await answers_to(client, "[1,1,1]")) == [(None, "RATE_LIMITED")]
        assert reasons(await answers_to(client, "nonsense")) == [(None, "RATE_LIMITED")]
        assert reasons(await answers_to(client, f"[1,{call(1)}]")) == [(None, "RATE_LIMITED"), (1, "RATE_LIMITED")]
        # Anonymous callers of the same address are refused as well; a player is not.
        async with gateway.connect() as neighbour, gateway.connect("player:ana") as player:
            assert reasons([await neighbour.call("ping")]) == [(1, "RATE_LIMITED")]
            await player.result("ping")
    (line,) = [record for record in caplog.records if record.getMessage() == "a call was refused"]
    assert line.__dict__["count"] == FEW


async def test_every_call_of_a_batch_over_the_limit_is_answered(
    nats_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gateway")
    async with (
        limited_gateway(nats_url, replace(UNLIMITED, player_calls=few("calls"))) as gateway,
        gateway.connect("player:ana") as client,
    ):
        answers = await answers_to(client, f"[{','.join(call(number) for number in range(8))}]")
        assert {answer["id"] for answer in answers if "result" in answer} == set(range(FEW))
        assert reasons(answers[FEW:]) == [(number, "RATE_LIMITED") for number in range(FEW, 8)]
        assert int(answers[-1]["error"]["data"]["facts"]["retry_after_ms"]) > 0
        # Showing a token is still allowed.
        assert reasons(await answers_to(client, f"[{call(1)},{call(2, 'refresh')}]")) == [
            (2, "TOKEN_INVALID"),
            (1, "RATE_LIMITED"),
        ]
    assert [record.__dict__["method"] for record in caplog.records if record.getMessage() == "a call was refused"] == [
        "refresh"
    ]


async def test_shown_tokens_have_a_limit_of_their_own(nats_url: str) -> None:
    async with (
        limited_gateway(nats_url, replace(UNLIMITED, address_tokens=few("tokens"))) as gateway,
        gateway.connect() as client,
    ):
        answers = await answers_to(client, f"[{','.join(call(number, 'authenticate') for number in range(8))}]")
        shown = [(number, "TOKEN_INVALID") for number in range(FEW)]
        assert reasons(answers) == shown + [(number, "RATE_LIMITED") for number in range(FEW, 8)]
        assert "result" in (await answers_to(client, call(1)))[0]


@pytest.mark.parametrize("text", ["[1,1]", "nonsense", f"[{call(1)}]", call(1), call(1, "authenticate")])
async def test_a_client_that_goes_on_after_refusals_is_closed(nats_url: str, text: str) -> None:
    limits = replace(UNLIMITED, address_calls=few("calls"), address_tokens=few("tokens"))
    async with limited_gateway(nats_url, limits) as gateway, gateway.connect() as client:
        for _ in range(FEW + REFUSED_CALLS_LIMIT + 1):
            if client.ws.closed:
                break
            await client.ws.send_str(text)
        assert await client.wait_for_close() == CloseCode.TOO_MANY_CALLS


@pytest.mark.guarantee("G9")
async def test_g9_fifty_players_behind_one_address_authenticate_beside_a_flooding_neighbour(nats_url: str) -> None:
    """Browsers cannot show a token when they connect; the limits are the default bursts."""
    # With the default rate the neighbour would never reach its limit on a slow machine.
    limits = replace(Limits(), address_calls=replace(Limits().address_calls, per_second=_NEVER))
    async with limited_gateway(nats_url, limits) as gateway, AsyncExitStack() as stack:
        neighbour = await stack.enter_async_context(gateway.connect())
        while "result" in await neighbour.call("ping"):
            pass
        players = [await stack.enter_async_context(gateway.connect()) for _ in range(PLAYERS)]
        answers = await asyncio.gather(
            *(player.call_with_token("authenticate", f"player:p{number}") for number, player in enumerate(players))
        )
        assert [answer["result"]["subject"] for answer in answers] == [f"p{number}" for number in range(PLAYERS)]
        await asyncio.gather(*(player.result("ping") for player in players))


async def test_an_anonymous_client_may_leave_less_unsent_than_a_player(
    nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "ANONYMOUS_UNSENT_BYTES_LIMIT", -1)
    async with (
        limited_gateway(nats_url, UNLIMITED) as gateway,
        gateway.connect() as anonymous,
        gateway.connect("player:ana") as player,
    ):
        await anonymous.ws.send_str(call(1))
        assert await anonymous.wait_for_close() == CloseCode.TOO_SLOW
        await player.result("ping")


async def test_the_connection_with_most_unsent_bytes_is_dropped_first(
    nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    monkeypatch.setattr(connection_limits, "TOTAL_BYTES_LIMIT", 128 * 1024)
    monkeypatch.setattr(connection_limits, "RELIEVED_BYTES_LIMIT", 64 * 1024)
    async with limited_gateway(nats_url, UNLIMITED) as gateway, gateway.connect("player:ana") as honest:
        async with gateway.connect("player:rui") as silent:
            await wait_until(lambda: len(gateway.websockets._open) == 2)
            _, connection = gateway.websockets._open
            _stop_reading(silent)
            # Far below the limit of a single connection.
            while connection.is_open:
                await silent.ws.send_str("[" + ",".join(["1"] * 50) + "]")
                await honest.result("ping")
                assert gateway.websockets._send_budget.unsent_bytes < 256 * 1024
            await wait_until(lambda: connection not in gateway.websockets._open)
            # Otherwise leaving the context would wait for the answer to a close that cannot be sent.
            _transport(silent).abort()
        await honest.result("ping")
        assert gateway.websockets._send_budget.unsent_bytes < 64 * 1024


class SlowConnection:
    """A connection whose sent bytes stay in its buffer."""

    def __init__(self) -> None:
        self.bytes = 0
        self.aborted = False
        self.transport: Transport = self

    def get_write_buffer_size(self) -> int:
        return self.bytes

    def write(self, data: bytes) -> None:
        self.bytes += len(data)

    def is_closing(self) -> bool:
        return self.aborted

    def close(self, code: int = 0) -> None: ...

    def abort(self) -> None:
        self.aborted = True


def as_connection(slow: SlowConnection) -> ClientConnection:
    """Types the fake as what the budget takes; it has everything that the budget uses."""
    return cast("ClientConnection", slow)


def test_sent_bytes_that_left_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "TOTAL_BYTES_LIMIT", 100)
    monkeypatch.setattr(connection_limits, "RELIEVED_BYTES_LIMIT", 75)
    budget, most, some, quick = SendBudget(), SlowConnection(), SlowConnection(), SlowConnection()
    for _ in range(50):
        budget.send(as_connection(quick), b"x" * 20)
        quick.bytes = 0
    budget.send(as_connection(most), b"x" * 50)
    budget.send(as_connection(some), b"x" * 40)
    assert budget.unsent_bytes == 90
    budget.send(as_connection(quick), b"x" * 20)
    assert (most.aborted, some.aborted, quick.aborted) == (True, False, False)
    assert budget.unsent_bytes == 60
    budget.release(as_connection(some))
    budget.release(as_connection(quick))
    assert budget.unsent_bytes == 0


def _transport(client: RpcClient) -> asyncio.Transport:
    connection = client.ws._conn
    assert connection is not None
    assert isinstance(connection.transport, asyncio.Transport)
    return connection.transport


def _stop_reading(client: RpcClient) -> None:
    transport = _transport(client)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
    transport.pause_reading()
