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
from services.kit import background
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc import relay_connection
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.relay_connection import RelayConnection
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.status import error_info, status_of
from stack.issuer import DevelopmentIssuer
from stack.servers.ephemeral import free_port

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
async def test_g11_no_answer_is_waited_for_beyond_the_time_limit(
    channel: RelayChannel, desk: Desk, tmp_path: Path
) -> None:
    """Each call has a limit of its own, and the short one is not kept waiting for the long one."""
    patient = asyncio.create_task(ask(channel, tmp_path, "a", within_s=3600.0))
    for limit_s in (0.3, 0.05):
        with pytest.raises(grpc.aio.AioRpcError) as late:
            await asyncio.wait_for(ask(channel, tmp_path, "b", within_s=limit_s), 60.0)
        assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert not patient.done()
    desk.may_answer.set()
    assert await asyncio.wait_for(patient, 60.0) == "a"
    assert channel._connection.idle
    assert not any(channel._connection._expiries.values())


@pytest.mark.guarantee("G11")
async def test_g11_calls_that_nobody_waits_for_never_leave_and_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the process is away: what its callers gave up is not sent to it when it is back."""
    monkeypatch.setattr(relay_connection, "CALLS_IN_FLIGHT_LIMIT", 3)
    connection = RelayConnection(f"127.0.0.1:{free_port()}")
    await background.cancel_and_wait([connection.run_task])
    for number in range(10):
        call = relay_pb2.Call(method="a.B/C", request=bytes([number]))
        answer = connection.send(call)
        assert not answer.done()
        connection.discard(call)
        assert len(connection._outbound) <= 3
    wanted = relay_pb2.Call(method="a.B/C", request=b"wanted")
    connection.send(wanted)
    message = relay_pb2.RelayRequest.FromString(await anext(connection._messages(0)))
    assert [call.request for call in message.calls] == [b"wanted"]
    connection.discard(wanted)
    await connection.close()


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
        while not channel._connection._broken:
            await asyncio.sleep(0.01)
    assert await ask(channel, tmp_path, "b") == "b"
    await again.stop(0)
