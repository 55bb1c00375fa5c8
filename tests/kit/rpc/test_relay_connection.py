"""The caller's end of a relay: what it does when there is no answer, or too much to say at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.relay.v1 import relay_pb2
from feltro.wallet.v1 import complaint_pb2, complaint_pb2_grpc
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc import relay_handler
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.status import error_info, status_of
from stack.issuer import DevelopmentIssuer

OPERATOR = "operator"


class Desk:
    """A ComplaintService that answers when it may."""

    descriptor = complaint_pb2.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.asked = asyncio.Event()

    async def get_complaint(self, request: complaint_pb2.GetComplaintRequest, caller: Caller) -> Message:
        self.asked.set()
        await self.may_answer.wait()
        if request.reference == "missing":
            raise Refused("COMPLAINT_UNKNOWN", "There is no such complaint.", {"a": "b"})
        return complaint_pb2.GetComplaintResponse(complaint=complaint_pb2.Complaint(reference=request.reference))

    async def _nothing(self, _request: Message, _caller: Caller) -> Message:
        raise AssertionError("not called here")

    file_complaint = list_complaints = add_to_complaint = review_complaint = answer_complaint = close_complaint = (
        _nothing
    )


@pytest_asyncio.fixture
async def desk() -> Desk:
    return Desk()


@pytest_asyncio.fixture
async def server(desk: Desk, tmp_path: Path) -> AsyncIterator[GrpcServer]:
    issuer = DevelopmentIssuer(tmp_path / "issuer")
    issuer.prepare()
    made = GrpcServer("127.0.0.1:0", TokenVerifier(issuer.jwks, "feltro"), [desk], "wallet.feltro", lambda _: None)
    await made.start()
    yield made
    desk.may_answer.set()
    await made.stop(0)


@pytest_asyncio.fixture
async def channel(server: GrpcServer) -> AsyncIterator[RelayChannel]:
    made = RelayChannel(f"127.0.0.1:{server.port}")
    yield made
    await made.close()


async def ask(channel: RelayChannel, tmp_path: Path, reference: str, within_s: float = 60.0) -> str:
    stub: complaint_pb2_grpc.ComplaintServiceAsyncStub = complaint_pb2_grpc.ComplaintServiceStub(
        cast("grpc.aio.Channel", channel)
    )
    token = DevelopmentIssuer(tmp_path / "issuer").token([OPERATOR], "back-office")
    request = complaint_pb2.GetComplaintRequest(reference=reference)
    metadata = (("authorization", f"Bearer {token}"),)
    answer = await stub.GetComplaint(request, metadata=metadata, timeout=within_s)
    return str(answer.complaint.reference)


async def test_a_stub_calls_over_it_as_over_a_channel(channel: RelayChannel, desk: Desk, tmp_path: Path) -> None:
    desk.may_answer.set()
    assert await asyncio.gather(*(ask(channel, tmp_path, str(number)) for number in range(50))) == [
        str(number) for number in range(50)
    ]
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await ask(channel, tmp_path, "missing")
    status = status_of(refused.value)
    assert status is not None
    info = error_info(status)
    assert info is not None
    assert (refused.value.code(), info.reason, info.domain, dict(info.metadata)) == (
        grpc.StatusCode.NOT_FOUND,
        "COMPLAINT_UNKNOWN",
        "wallet.feltro",
        {"a": "b"},
    )


@pytest.mark.guarantee("G11")
async def test_g11_no_answer_is_waited_for_without_end(
    channel: RelayChannel, desk: Desk, server: GrpcServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Only one of the two patiences comes to its end at a time, however long the loop is held up.
    monkeypatch.setattr("services.kit.rpc.relay_connection.CALL_TIMEOUT_S", 60.0)
    with pytest.raises(grpc.aio.AioRpcError) as own:
        await ask(channel, tmp_path, "a", within_s=0.05)
    assert own.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    monkeypatch.setattr("services.kit.rpc.relay_connection.CALL_TIMEOUT_S", 0.5)
    hasty = RelayChannel(f"127.0.0.1:{server.port}")
    with pytest.raises(grpc.aio.AioRpcError) as lines:
        await ask(hasty, tmp_path, "b")
    assert lines.value.code() == grpc.StatusCode.UNAVAILABLE
    monkeypatch.setattr("services.kit.rpc.relay_connection.CALL_TIMEOUT_S", 60.0)
    desk.may_answer.set()
    for one in (channel, hasty):
        assert await ask(one, tmp_path, "c") == "c"
    await hasty.close()


async def test_a_process_that_goes_away_leaves_no_call_without_an_end(
    channel: RelayChannel, desk: Desk, server: GrpcServer, tmp_path: Path
) -> None:
    asking = asyncio.create_task(ask(channel, tmp_path, "a"))
    await desk.asked.wait()
    await server.stop(0)
    with pytest.raises(grpc.aio.AioRpcError) as gone:
        await asking
    assert gone.value.code() == grpc.StatusCode.UNAVAILABLE


async def test_the_first_call_to_a_process_that_was_started_again_is_not_lost(
    channel: RelayChannel, desk: Desk, server: GrpcServer, tmp_path: Path
) -> None:
    """What spoke over the stream that broke must not take what is said after it."""
    desk.may_answer.set()
    assert await ask(channel, tmp_path, "a") == "a"
    port = server.port
    await server.stop(0)
    again = GrpcServer(
        f"127.0.0.1:{port}",
        TokenVerifier(DevelopmentIssuer(tmp_path / "issuer").jwks, "feltro"),
        [desk],
        "wallet.feltro",
        lambda _: None,
    )
    await again.start()
    async with asyncio.timeout(60.0):
        while not channel._line._broken:
            await asyncio.sleep(0.01)
    assert await ask(channel, tmp_path, "b") == "b"
    await again.stop(0)


@pytest.mark.guarantee("G11")
def test_g11_what_leaves_together_fits_into_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = [relay_pb2.Call(call_id=number, request=b"x" * 400) for number in range(10)]
    monkeypatch.setattr(relay_handler, "BATCH_BYTES_LIMIT", 1_000)
    assert [call.call_id for call in relay_handler.first_batch(calls, lambda call: len(call.request))] == [0, 1]
    monkeypatch.setattr(relay_handler, "BATCH_BYTES_LIMIT", 1)
    assert len(relay_handler.first_batch(calls, lambda call: len(call.request))) == 1
    monkeypatch.setattr(relay_handler, "BATCH_BYTES_LIMIT", 10_000)
    monkeypatch.setattr(relay_handler, "BATCH_ITEMS_LIMIT", 3)
    assert len(relay_handler.first_batch(calls, lambda call: len(call.request))) == 3
