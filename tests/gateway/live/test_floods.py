"""Whoever says too much over WebSockets costs little: he is told so shortly, fills no log, and nobody else waits."""

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
from gateway.live import connection_limits
from gateway.live.close_codes import CloseCode
from gateway.live.connection_limits import SendBudget
from gateway.live.feeds import ClientConnection, Transport
from gateway.live.websocket import REFUSED_CALLS_LIMIT
from tests.gateway.live_gateway import UNLIMITED, JsonObject, LiveGateway, RpcClient, live_gateway, wait_until

pytestmark = pytest.mark.guarantee("G11")

FEW = 5
PLAYERS = 50
# Nothing comes back while a test runs.
_NEVER = 0.000_1


def few(name: str) -> Limit:
    return Limit(name, _NEVER, FEW)


async def said(client: RpcClient, text: str) -> list[JsonObject]:
    await client.ws.send_str(text)
    answers = await client.ws.receive_json()
    return answers if isinstance(answers, list) else [answers]


def reasons(answers: list[JsonObject]) -> list[tuple[object, str]]:
    return [(answer["id"], answer["error"]["data"]["reason"]) for answer in answers]


def call(number: int, method: str = "ping") -> str:
    return f'{{"jsonrpc":"2.0","id":{number},"method":"{method}","params":{{"token":"forged"}}}}'


@asynccontextmanager
async def edge(url: str, limits: Limits) -> AsyncIterator[LiveGateway]:
    async with live_gateway(url, limits) as (live, _, _):
        yield live


async def test_what_is_no_call_is_counted_like_one_and_logged_once(
    nats_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gateway")
    async with edge(nats_url, replace(UNLIMITED, address_calls=few("calls"))) as live, live.connect() as client:
        # What is over the limit has no number of its own to be answered by: once is enough.
        assert reasons(await said(client, "[1,1,1,1,1,1,1,1]")) == [(None, "INVALID")] * FEW + [(None, "RATE_LIMITED")]
        assert reasons(await said(client, "[1,1,1]")) == [(None, "RATE_LIMITED")]
        assert reasons(await said(client, "nonsense")) == [(None, "RATE_LIMITED")]
        assert reasons(await said(client, f"[1,{call(1)}]")) == [(None, "RATE_LIMITED"), (1, "RATE_LIMITED")]
        # Neither can a call be made any more, by anyone there who does not say who he is.
        async with live.connect() as neighbour, live.connect("player:ana") as player:
            assert reasons([await neighbour.call("ping")]) == [(1, "RATE_LIMITED")]
            await player.result("ping")
    (line,) = [record for record in caplog.records if record.getMessage() == "a call was refused"]
    assert line.__dict__["count"] == FEW


async def test_every_call_of_a_batch_that_is_too_much_is_answered(
    nats_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "gateway")
    async with (
        edge(nats_url, replace(UNLIMITED, player_calls=few("calls"))) as live,
        live.connect("player:ana") as client,
    ):
        answers = await said(client, f"[{','.join(call(number) for number in range(8))}]")
        assert {answer["id"] for answer in answers if "result" in answer} == set(range(FEW))
        assert reasons(answers[FEW:]) == [(number, "RATE_LIMITED") for number in range(FEW, 8)]
        assert int(answers[-1]["error"]["data"]["facts"]["retry_after_ms"]) > 0
        # Who he is he may still say.
        assert reasons(await said(client, f"[{call(1)},{call(2, 'refresh')}]")) == [
            (2, "TOKEN_INVALID"),
            (1, "RATE_LIMITED"),
        ]
    assert [record.__dict__["method"] for record in caplog.records if record.getMessage() == "a call was refused"] == [
        "refresh"
    ]


async def test_tokens_that_are_shown_are_counted_for_themselves(nats_url: str) -> None:
    async with edge(nats_url, replace(UNLIMITED, address_tokens=few("tokens"))) as live, live.connect() as client:
        answers = await said(client, f"[{','.join(call(number, 'authenticate') for number in range(8))}]")
        shown = [(number, "TOKEN_INVALID") for number in range(FEW)]
        assert reasons(answers) == shown + [(number, "RATE_LIMITED") for number in range(FEW, 8)]
        assert "result" in (await said(client, call(1)))[0]


@pytest.mark.parametrize("text", ["[1,1]", "nonsense", f"[{call(1)}]", call(1), call(1, "authenticate")])
async def test_who_goes_on_is_not_listened_to_any_more(nats_url: str, text: str) -> None:
    limits = replace(UNLIMITED, address_calls=few("calls"), address_tokens=few("tokens"))
    async with edge(nats_url, limits) as live, live.connect() as client:
        for _ in range(FEW + REFUSED_CALLS_LIMIT + 1):
            if client.ws.closed:
                break
            await client.ws.send_str(text)
        assert await client.wait_for_close() == CloseCode.TOO_MANY_CALLS


@pytest.mark.guarantee("G9")
async def test_g9_fifty_players_behind_one_address_get_in_whatever_a_neighbour_asks(nats_url: str) -> None:
    """As browsers do, which cannot show their tokens when they connect; with the limits that are set by default."""
    async with edge(nats_url, Limits()) as live, AsyncExitStack() as stack:
        neighbour = await stack.enter_async_context(live.connect())
        while "result" in await neighbour.call("ping"):
            pass
        players = [await stack.enter_async_context(live.connect()) for _ in range(PLAYERS)]
        told = await asyncio.gather(
            *(player.call_with_token("authenticate", f"player:p{number}") for number, player in enumerate(players))
        )
        assert [answer["result"]["subject"] for answer in told] == [f"p{number}" for number in range(PLAYERS)]
        await asyncio.gather(*(player.result("ping") for player in players))


async def test_a_stranger_may_let_less_wait_than_a_player(nats_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "ANONYMOUS_UNSENT_BYTES_LIMIT", -1)
    async with edge(nats_url, UNLIMITED) as live, live.connect() as stranger, live.connect("player:ana") as player:
        await stranger.ws.send_str(call(1))
        assert await stranger.wait_for_close() == CloseCode.TOO_SLOW
        await player.result("ping")


async def test_of_all_who_do_not_read_those_go_for_whom_most_waits(
    nats_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection_limits, "SEND_BUFFER_BYTES", 16 * 1024)
    monkeypatch.setattr(connection_limits, "TOTAL_BYTES_LIMIT", 128 * 1024)
    monkeypatch.setattr(connection_limits, "RELIEVED_BYTES_LIMIT", 64 * 1024)
    async with edge(nats_url, UNLIMITED) as live, live.connect("player:ana") as honest:
        async with live.connect("player:rui") as silent:
            await wait_until(lambda: len(live.websockets._open) == 2)
            _, opened = live.websockets._open
            _stop_reading(silent)
            # Far below what may wait for one.
            while opened.is_open:
                await silent.ws.send_str("[" + ",".join(["1"] * 50) + "]")
                await honest.result("ping")
                assert live.websockets._send_budget.unsent_bytes < 256 * 1024
            await wait_until(lambda: opened not in live.websockets._open)
        await honest.result("ping")
        assert live.websockets._send_budget.unsent_bytes < 64 * 1024


class SlowConnection:
    """A connection of which so much has not left yet."""

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
    """What the budget uses of a connection is there."""
    return cast("ClientConnection", slow)


def test_what_has_been_read_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection_limits, "TOTAL_BYTES_LIMIT", 100)
    monkeypatch.setattr(connection_limits, "RELIEVED_BYTES_LIMIT", 75)
    answers, most, some, quick = SendBudget(), SlowConnection(), SlowConnection(), SlowConnection()
    for _ in range(50):
        answers.send(as_connection(quick), b"x" * 20)
        # He reads.
        quick.bytes = 0
    answers.send(as_connection(most), b"x" * 50)
    answers.send(as_connection(some), b"x" * 40)
    assert answers.unsent_bytes == 90
    answers.send(as_connection(quick), b"x" * 20)
    assert (most.aborted, some.aborted, quick.aborted) == (True, False, False)
    assert answers.unsent_bytes == 60
    answers.release(as_connection(some))
    answers.release(as_connection(quick))
    assert answers.unsent_bytes == 0


def _stop_reading(client: RpcClient) -> None:
    connection = client.ws._conn
    assert connection is not None
    transport = connection.transport
    assert isinstance(transport, asyncio.Transport)
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * 1024)
    transport.pause_reading()
