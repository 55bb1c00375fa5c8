"""Relayed calls: the same answers as calls made alone, many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.relay.v1 import relay_pb2, relay_pb2_grpc
from feltro.wallet.v1 import complaint_pb2
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.methods import Method
from services.kit.rpc.relay_handler import _Stream
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.status import error_info
from stack.issuer import DevelopmentIssuer

METHOD = "feltro.wallet.v1.ComplaintService/GetComplaint"
COMMAND = "feltro.wallet.v1.ComplaintService/CloseComplaint"


class Desk:
    """A ComplaintService that answers with the reference it is asked for, once it may."""

    descriptor = complaint_pb2.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.begun: list[str] = []
        self.done: list[str] = []
        self.cancelled: list[str] = []

    async def get_complaint(self, request: complaint_pb2.GetComplaintRequest, caller: Caller) -> Message:
        await self._work(request.reference)
        if request.reference == "missing":
            raise Refused("COMPLAINT_UNKNOWN", "There is no such complaint.", {"reference": "missing"})
        return complaint_pb2.GetComplaintResponse(complaint=complaint_pb2.Complaint(reference=request.reference))

    async def close_complaint(self, request: complaint_pb2.CloseComplaintRequest, caller: Caller) -> Message:
        await self._work(request.reference)
        return complaint_pb2.CloseComplaintResponse()

    async def _work(self, reference: str) -> None:
        self.begun.append(reference)
        try:
            await self.may_answer.wait()
        except asyncio.CancelledError:
            self.cancelled.append(reference)
            raise
        self.done.append(reference)

    async def _nothing(self, _request: Message, _caller: Caller) -> Message:
        raise AssertionError("not called here")

    file_complaint = list_complaints = add_to_complaint = review_complaint = answer_complaint = _nothing


@pytest.fixture
def issuer(tmp_path: Path) -> DevelopmentIssuer:
    made = DevelopmentIssuer(tmp_path / "issuer")
    made.prepare()
    return made


@pytest_asyncio.fixture
async def desk() -> Desk:
    return Desk()


@pytest_asyncio.fixture
async def stub(desk: Desk, issuer: DevelopmentIssuer) -> AsyncIterator[relay_pb2_grpc.RelayServiceAsyncStub]:
    server = GrpcServer("127.0.0.1:0", TokenVerifier(issuer.jwks, "feltro"), [desk], "wallet.feltro", lambda _: None)
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as channel:
        made: relay_pb2_grpc.RelayServiceAsyncStub = relay_pb2_grpc.RelayServiceStub(channel)
        yield made
    await server.stop(0)


def call(number: int, reference: str, token: str, method: str = METHOD) -> relay_pb2.Call:
    request = complaint_pb2.GetComplaintRequest(reference=reference).SerializeToString()
    return relay_pb2.Call(call_id=number, method=method, token=token, request=request)


async def test_each_call_gets_its_own_answer_or_refusal(
    stub: relay_pb2_grpc.RelayServiceAsyncStub, desk: Desk, issuer: DevelopmentIssuer
) -> None:
    token = issuer.token(["operator"], "back-office")
    desk.may_answer.set()
    calls = [
        call(1, "a", token),
        call(2, "missing", token),
        call(3, "b", "no token"),
        call(4, "c", token, "feltro.wallet.v1.ComplaintService/Forget"),
        call(5, "d", issuer.token(["game"], "games")),
    ]

    async def requests() -> AsyncIterator[relay_pb2.RelayRequest]:
        yield relay_pb2.RelayRequest(calls=calls[:3])
        yield relay_pb2.RelayRequest(calls=calls[3:])

    answers = {answer.call_id: answer async for message in stub.Relay(requests()) for answer in message.answers}
    assert complaint_pb2.GetComplaintResponse.FromString(answers[1].response).complaint.reference == "a"
    info = error_info(answers[2].refused)
    assert info is not None
    assert (info.reason, info.domain, dict(info.metadata)) == (
        "COMPLAINT_UNKNOWN",
        "wallet.feltro",
        {"reference": "missing"},
    )
    reasons = {number: error_info(answers[number].refused) for number in (3, 5)}
    assert {number: info and info.reason for number, info in reasons.items()} == {
        3: "TOKEN_INVALID",
        5: "SCOPE_MISSING",
    }
    assert answers[4].refused.code == grpc.StatusCode.UNIMPLEMENTED.value[0]
    assert len(answers) == len(calls)


@pytest.mark.guarantee("G3")
async def test_a_caller_that_goes_away_does_not_undo_what_it_asked_for(
    stub: relay_pb2_grpc.RelayServiceAsyncStub, desk: Desk, issuer: DevelopmentIssuer
) -> None:
    token = issuer.token(["operator"], "back-office")
    stream = stub.Relay()
    await stream.write(relay_pb2.RelayRequest(calls=[call(1, "a", token)]))
    async with asyncio.timeout(60):
        while not desk.begun:
            await asyncio.sleep(0)
        stream.cancel()
        desk.may_answer.set()
        while not desk.done:
            await asyncio.sleep(0)
    assert desk.done == ["a"]


@pytest.mark.guarantee("G11")
async def test_g11_more_calls_than_may_be_under_way_are_refused(
    stub: relay_pb2_grpc.RelayServiceAsyncStub,
    desk: Desk,
    issuer: DevelopmentIssuer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("services.kit.rpc.relay_handler.CALLS_IN_FLIGHT_LIMIT", 2)
    token = issuer.token(["operator"], "back-office")
    sent = asyncio.Event()

    async def requests() -> AsyncIterator[relay_pb2.RelayRequest]:
        yield relay_pb2.RelayRequest(calls=[call(number, "a", token) for number in range(3)])
        await sent.wait()

    messages = aiter(stub.Relay(requests()))
    (refused,) = (await anext(messages)).answers
    assert refused.refused.code == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    desk.may_answer.set()
    sent.set()
    assert {answer.call_id async for message in messages for answer in message.answers} == {0, 1}


@pytest.mark.guarantee("G11")
async def test_g11_a_read_ends_at_its_time_limit(
    stub: relay_pb2_grpc.RelayServiceAsyncStub, desk: Desk, issuer: DevelopmentIssuer
) -> None:
    asked = call(1, "a", issuer.token(["operator"], "back-office"))
    asked.time_limit_ms = 50
    (answer,) = await asyncio.wait_for(collect(stub, asked), 60)
    assert answer.refused.code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
    assert (desk.begun, desk.cancelled, desk.done) == (["a"], ["a"], [])


@pytest.mark.guarantee("G3", "G11")
async def test_g3_a_command_that_has_begun_is_carried_out_beyond_its_time_limit(
    desk: Desk, issuer: DevelopmentIssuer
) -> None:
    asked = command(1, "a", issuer.token(["operator"], "back-office"), time_limit_ms=10)
    answering = asyncio.create_task(closing(desk, issuer).answer(asked.request, asked.token, "", 0.01))
    async with asyncio.timeout(60):
        while not desk.begun:
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)
        assert not answering.done()
        desk.may_answer.set()
        await answering
    assert (desk.done, desk.cancelled) == (["a"], [])


@pytest.mark.guarantee("G11")
async def test_g11_a_command_that_could_not_begin_in_time_never_begins(desk: Desk, issuer: DevelopmentIssuer) -> None:
    stream = _Stream({COMMAND: closing(desk, issuer)}, cast("grpc.aio.ServicerContext[bytes, bytes]", None))
    asked = command(1, "a", issuer.token(["operator"], "back-office"), time_limit_ms=1)
    # Received long ago: the process had too much to do.
    stream._begin(asked, asyncio.get_running_loop().time() - 1.0)
    assert await stream._answers.wait_for_items()
    (answer,) = relay_pb2.RelayResponse.FromString(stream._answers.take_batch()[0]).answers
    assert answer.refused.code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
    assert not desk.begun


def closing(desk: Desk, issuer: DevelopmentIssuer) -> Method:
    """The command `CloseComplaint`."""
    descriptor = desk.descriptor.methods_by_name["CloseComplaint"]
    return Method(desk, descriptor, TokenVerifier(issuer.jwks, "feltro"), "wallet.feltro", lambda _: None)


async def one(asked: relay_pb2.Call) -> AsyncIterator[relay_pb2.RelayRequest]:
    yield relay_pb2.RelayRequest(calls=[asked])


async def collect(stub: relay_pb2_grpc.RelayServiceAsyncStub, asked: relay_pb2.Call) -> list[relay_pb2.Answer]:
    return [answer async for message in stub.Relay(one(asked)) for answer in message.answers]


def command(number: int, reference: str, token: str, time_limit_ms: int) -> relay_pb2.Call:
    request = complaint_pb2.CloseComplaintRequest(reference=reference).SerializeToString()
    return relay_pb2.Call(call_id=number, method=COMMAND, token=token, request=request, time_limit_ms=time_limit_ms)
