"""One id leads from the client's call through every line that is logged on its behalf, and no further."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.relay.v1 import relay_pb2, relay_pb2_grpc
from feltro.wallet.v1 import session_pb2, session_pb2_grpc
from services.kit import trace
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.logs import JsonLines
from services.kit.rpc.server import GrpcServer
from services.kit.table.wallet.grpc_client import GrpcWallet
from stack.issuer import DevelopmentIssuer

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
        HEADER + "\n",
        "01" + HEADER[2:] + "-" + "x" * 300,
    ],
)
def test_what_is_not_well_formed_is_no_trace(header: str) -> None:
    assert trace.parse(header) is None
    assert len(trace.start_span(header).trace_id) == 32


def test_a_trace_is_carried_on_under_a_step_of_our_own() -> None:
    begun = trace.start_span(HEADER)
    assert begun.trace_id == TRACE_ID
    assert begun.span_id != "00f067aa0ba902b7"
    assert trace.parse(begun.header) is not None
    # A later version of the standard may say more.
    later = trace.parse("01" + HEADER[2:] + "-more")
    assert later is not None
    assert later.header == HEADER


def test_it_is_current_within_and_not_after() -> None:
    assert trace.traceparent() == ""
    with trace.start_span(HEADER) as outer:
        assert trace.trace_id() == TRACE_ID
        with trace.start_span() as inner:
            assert trace.current() is inner
        assert trace.traceparent() == outer.header
    assert trace.current() is None


def _line() -> dict[str, object]:
    record = logging.makeLogRecord({"name": "test", "msg": "something happened", "levelno": logging.INFO})
    line: dict[str, object] = json.loads(JsonLines().format(record))
    return line


def test_every_line_says_which_call_it_is_about() -> None:
    assert "trace_id" not in _line()
    with trace.start_span(HEADER):
        assert _line()["trace_id"] == TRACE_ID


async def test_what_outlives_a_call_is_no_part_of_it() -> None:
    over = asyncio.Event()

    async def outlive() -> tuple[str, str]:
        before = trace.trace_id()
        await over.wait()
        return before, trace.trace_id()

    with trace.start_span(HEADER):
        outliving = asyncio.create_task(outlive())
        await asyncio.sleep(0)
    over.set()
    assert await outliving == (TRACE_ID, "")


class Desk:
    """A SessionService that notes in which trace it is asked, and by what metadata it would go on."""

    descriptor = session_pb2.DESCRIPTOR.services_by_name["SessionService"]

    def __init__(self) -> None:
        self.traces: list[str] = []

    async def get_session(self, request: session_pb2.GetSessionRequest, caller: Caller) -> Message:
        # Others are asked meanwhile.
        await asyncio.sleep(0.01)
        self.traces.append(trace.trace_id())
        return session_pb2.GetSessionResponse(session=session_pb2.Session(session_id=request.session_id))

    async def _nothing(self, _request: Message, _caller: Caller) -> Message:
        self.traces.append(trace.trace_id())
        return session_pb2.AnnounceRoundResponse()

    start_session = end_session = end_player_sessions = record_activity = list_sessions = _nothing
    list_table_sessions = announce_round = set_inactivity_policy = list_inactivity_policy_changes = _nothing
    advance_session_clock = apply_specific_rules = _nothing


@pytest.fixture
def issuer(tmp_path: Path) -> DevelopmentIssuer:
    made = DevelopmentIssuer(tmp_path / "issuer")
    made.prepare()
    return made


@pytest_asyncio.fixture
async def desk() -> Desk:
    return Desk()


@pytest_asyncio.fixture
async def channel(desk: Desk, issuer: DevelopmentIssuer) -> AsyncIterator[grpc.aio.Channel]:
    server = GrpcServer("127.0.0.1:0", TokenVerifier(issuer.jwks, "feltro"), [desk], "wallet.feltro", lambda _: None)
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        yield channel
    await server.stop(0)


async def test_a_call_alone_and_calls_together_bring_their_traces(
    channel: grpc.aio.Channel, desk: Desk, issuer: DevelopmentIssuer
) -> None:
    token = issuer.token(["operator"], "back-office")
    stub: session_pb2_grpc.SessionServiceAsyncStub = session_pb2_grpc.SessionServiceStub(channel)
    request = session_pb2.GetSessionRequest(session_id="s")
    bearer = ("authorization", f"Bearer {token}")
    await stub.GetSession(request, metadata=(bearer, ("traceparent", HEADER)))
    await stub.GetSession(request, metadata=(bearer, ("traceparent", "nonsense")))
    await stub.GetSession(request, metadata=(bearer,))
    assert desk.traces == [TRACE_ID, "", ""]

    desk.traces.clear()
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
    assert sorted(desk.traces) == sorted(ids)


async def test_what_one_player_causes_reaches_the_ledger_in_his_trace(
    channel: grpc.aio.Channel, desk: Desk, issuer: DevelopmentIssuer
) -> None:
    token = issuer.token(["game"], "roulette")
    wallet = GrpcWallet(channel, lambda: (("authorization", f"Bearer {token}"),))
    with trace.start_span(HEADER):
        await wallet.get_session(session_pb2.GetSessionRequest(session_id="s"))
        # What a table does for all who sit there is nobody's.
        await wallet.announce_round(session_pb2.AnnounceRoundRequest(round_id="r"))
    await wallet.get_session(session_pb2.GetSessionRequest(session_id="s"))
    assert desk.traces == [TRACE_ID, "", ""]
