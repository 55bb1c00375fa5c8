"""Traces: one id leads from the client's call through every log line on its behalf, and no further."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.relay.v1 import relay_pb2, relay_pb2_grpc
from feltro.table.v1 import table_pb2
from feltro.wallet.v1 import session_pb2, session_pb2_grpc
from services.kit.access.identity import Caller
from services.kit.table.wallet.grpc_client import GrpcWallet
from services.kit.telemetry import trace
from services.kit.telemetry.logs import AboutCall, JsonLines, note_player
from stack.issuer import DevelopmentIssuer
from tests.kit.fake_service import FakeService, serving

TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736"
HEADER = f"00-{TRACE_ID}-00f067aa0ba902b7-01"


@pytest.mark.parametrize(
    "header",
    [
        "",
        "00",
        HEADER.upper(),
        HEADER + "-more",
        HEADER.replace(TRACE_ID, "0" * 32),
        HEADER.replace("00f067aa0ba902b7", "0" * 16),
        "ff" + HEADER[2:],
        "01" + HEADER[2:] + "-" + "x" * 600,
    ],
)
def test_a_malformed_header_begins_a_new_trace(header: str) -> None:
    assert trace.parse(header) is None
    began = trace.trace_id_of(trace.begin("a call", header))
    assert len(began) == 32
    assert began != TRACE_ID


def test_a_trace_continues_under_a_span_of_its_own() -> None:
    span = trace.begin("a call", HEADER)
    version, trace_id, span_id, flags = trace.header_of(span).split("-")
    assert (version, trace_id, flags) == ("00", TRACE_ID, "01")
    assert span_id != "00f067aa0ba902b7"
    assert trace.trace_id_of(trace.begin("its child", trace.header_of(span))) == TRACE_ID
    # A later version of the standard may have more fields.
    assert trace.trace_id_of(trace.begin("a call", "01" + HEADER[2:] + "-more")) == TRACE_ID


def test_a_trace_is_current_inside_and_not_after() -> None:
    assert trace.traceparent() == ""
    with trace.start_span("outer", HEADER) as outer:
        assert trace.trace_id() == TRACE_ID
        with trace.start_span("inner") as inner:
            assert trace.current() is inner
        assert trace.traceparent() == trace.header_of(outer)
        with trace.continued("nonsense"):
            assert trace.current() is None
    assert trace.current() is None


def logged_line() -> dict[str, object]:
    record = logging.makeLogRecord({"name": "test", "msg": "something happened", "levelno": logging.INFO})
    line: dict[str, object] = json.loads(JsonLines().format(record))
    return line


def test_every_log_line_carries_the_trace_of_its_call() -> None:
    assert "trace_id" not in logged_line()
    with trace.start_span("a call", HEADER):
        assert logged_line()["trace_id"] == TRACE_ID


def test_every_log_line_says_which_player_table_and_round_its_call_is_about() -> None:
    with AboutCall() as about:
        about.request = table_pb2.ActRequest(table_id="salon", round_id="salon.7", request_id="r")
        note_player("ana")
        line = logged_line()
        assert (line["player_id"], line["table_id"], line["round_id"]) == ("ana", "salon", "salon.7")
        # Whatever a client has put there: a token is no id.
        about.request = table_pb2.ActRequest(table_id="salon", round_id="e" * 300)
        assert logged_line().keys() & {"table_id", "round_id"} == {"table_id"}
    assert "player_id" not in logged_line()


async def test_a_task_that_outlives_its_call_is_no_part_of_it() -> None:
    ended = asyncio.Event()

    async def outlive() -> tuple[str, str]:
        before = trace.trace_id()
        await ended.wait()
        return before, trace.trace_id()

    with trace.start_span("a call", HEADER):
        outliving = asyncio.create_task(outlive())
        await asyncio.sleep(0)
    ended.set()
    assert await outliving == (TRACE_ID, "")


class FakeSessionService(FakeService):
    """Records the trace of each call."""

    descriptor = session_pb2.DESCRIPTOR.services_by_name["SessionService"]

    def __init__(self) -> None:
        self.traces: list[str] = []

    async def get_session(self, request: session_pb2.GetSessionRequest, caller: Caller) -> Message:
        # Other calls come in between.
        await asyncio.sleep(0.01)
        self.traces.append(trace.trace_id())
        return session_pb2.GetSessionResponse(session=session_pb2.Session(session_id=request.session_id))

    async def announce_round(self, request: session_pb2.AnnounceRoundRequest, caller: Caller) -> Message:
        self.traces.append(trace.trace_id())
        return session_pb2.AnnounceRoundResponse()


@pytest_asyncio.fixture
async def service() -> FakeSessionService:
    return FakeSessionService()


@pytest_asyncio.fixture
async def channel(service: FakeSessionService, issuer: DevelopmentIssuer) -> AsyncIterator[grpc.aio.Channel]:
    async with (
        serving(service, issuer) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as opened,
    ):
        yield opened


async def test_calls_carry_their_traces_alone_and_over_a_relay(
    channel: grpc.aio.Channel, service: FakeSessionService, issuer: DevelopmentIssuer
) -> None:
    token = issuer.token(["operator"], "back-office")
    stub: session_pb2_grpc.SessionServiceAsyncStub = session_pb2_grpc.SessionServiceStub(channel)
    request = session_pb2.GetSessionRequest(session_id="s")
    bearer = ("authorization", f"Bearer {token}")
    await stub.GetSession(request, metadata=(bearer, ("traceparent", HEADER)))
    await stub.GetSession(request, metadata=(bearer, ("traceparent", "nonsense")))
    await stub.GetSession(request, metadata=(bearer,))
    assert service.traces == [TRACE_ID, "", ""]

    service.traces.clear()
    ids = [uuid4().hex for _ in range(20)]
    calls = [
        relay_pb2.Call(
            call_id=number,
            method="feltro.wallet.v1.SessionService/GetSession",
            token=token,
            request=request.SerializeToString(),
            traceparent=f"00-{trace_id}-00f067aa0ba902b7-01",
        )
        for number, trace_id in enumerate(ids)
    ]

    async def requests() -> AsyncIterator[relay_pb2.RelayRequest]:
        yield relay_pb2.RelayRequest(calls=calls)

    relay: relay_pb2_grpc.RelayServiceAsyncStub = relay_pb2_grpc.RelayServiceStub(channel)
    answers = [answer async for message in relay.Relay(requests()) for answer in message.answers]
    assert len(answers) == 20
    assert sorted(service.traces) == sorted(ids)


async def test_a_players_call_reaches_the_ledger_in_its_trace(
    channel: grpc.aio.Channel, service: FakeSessionService, issuer: DevelopmentIssuer
) -> None:
    token = issuer.token(["game"], "roulette")
    wallet = GrpcWallet(channel, lambda: (("authorization", f"Bearer {token}"),))
    with trace.start_span("a call", HEADER):
        await wallet.get_session(session_pb2.GetSessionRequest(session_id="s"))
        # What a table does for all its players belongs to no call.
        await wallet.announce_round(session_pb2.AnnounceRoundRequest(round_id="r"))
    await wallet.get_session(session_pb2.GetSessionRequest(session_id="s"))
    assert service.traces == [TRACE_ID, "", ""]
