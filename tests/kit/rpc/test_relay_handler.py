"""The server's end of a relay: the same answers as for calls made alone, many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc

from feltro.relay.v1 import relay_pb2, relay_pb2_grpc
from feltro.wallet.v1 import complaint_pb2
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.methods import Method
from services.kit.rpc.relay_handler import _Stream
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.status import error_info
from stack.issuer import DevelopmentIssuer
from tests.kit.fake_service import DOMAIN, FakeService, serving

METHOD = "feltro.wallet.v1.ComplaintService/GetComplaint"
COMMAND = "feltro.wallet.v1.ComplaintService/CloseComplaint"
# Far longer than any test waits: a stop that uses it up fails.
GRACE_S = 3600.0


class FakeComplaintService(FakeService):
    """Answers with the reference of the request as soon as it may."""

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


@pytest_asyncio.fixture
async def service() -> FakeComplaintService:
    return FakeComplaintService()


@pytest_asyncio.fixture
async def server(service: FakeComplaintService, issuer: DevelopmentIssuer) -> AsyncIterator[GrpcServer]:
    async with serving(service, issuer) as made:
        yield made


@pytest_asyncio.fixture
async def channel(server: GrpcServer) -> AsyncIterator[grpc.aio.Channel]:
    async with grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as opened:
        yield opened


@pytest_asyncio.fixture
async def stub(channel: grpc.aio.Channel) -> relay_pb2_grpc.RelayServiceAsyncStub:
    made: relay_pb2_grpc.RelayServiceAsyncStub = relay_pb2_grpc.RelayServiceStub(channel)
    return made


def call(number: int, reference: str, token: str, method: str = METHOD) -> relay_pb2.Call:
    request = complaint_pb2.GetComplaintRequest(reference=reference).SerializeToString()
    return relay_pb2.Call(call_id=number, method=method, token=token, request=request)


async def test_each_call_gets_its_own_answer_or_refusal(
    stub: relay_pb2_grpc.RelayServiceAsyncStub, service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    token = issuer.token(["operator"], "back-office")
    service.may_answer.set()
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
async def test_g3_a_command_is_carried_out_although_its_caller_goes_away(
    stub: relay_pb2_grpc.RelayServiceAsyncStub, service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    token = issuer.token(["operator"], "back-office")
    stream = stub.Relay()
    await stream.write(relay_pb2.RelayRequest(calls=[call(1, "a", token)]))
    async with asyncio.timeout(60):
        while not service.begun:
            await asyncio.sleep(0)
        stream.cancel()
        service.may_answer.set()
        while not service.done:
            await asyncio.sleep(0)
    assert service.done == ["a"]


@pytest.mark.guarantee("G11")
async def test_g11_more_calls_than_may_be_under_way_are_refused(
    stub: relay_pb2_grpc.RelayServiceAsyncStub,
    service: FakeComplaintService,
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
    service.may_answer.set()
    sent.set()
    assert {answer.call_id async for message in messages for answer in message.answers} == {0, 1}


async def test_a_stopping_server_ends_streams_that_nobody_calls_over_at_once(
    stub: relay_pb2_grpc.RelayServiceAsyncStub,
    channel: grpc.aio.Channel,
    server: GrpcServer,
    service: FakeComplaintService,
    issuer: DevelopmentIssuer,
) -> None:
    """Callers keep them open for as long as they live: a stop would always last for all of its grace."""
    service.may_answer.set()
    watch = health_pb2_grpc.HealthStub(channel).Watch(health_pb2.HealthCheckRequest())
    assert (await watch.read()).status == health_pb2.HealthCheckResponse.SERVING
    stream = stub.Relay()
    await stream.write(relay_pb2.RelayRequest(calls=[call(1, "a", issuer.token(["operator"], "back-office"))]))
    answered = await stream.read()
    assert isinstance(answered, relay_pb2.RelayResponse)
    assert [answer.call_id for answer in answered.answers] == [1]
    await asyncio.wait_for(server.stop(GRACE_S), 60)
    assert await stream.read() is grpc.aio.EOF
    assert await stream.code() is grpc.StatusCode.OK


@pytest.mark.guarantee("G9")
async def test_g9_a_stopping_server_answers_the_calls_that_have_begun_and_begins_no_others(
    stub: relay_pb2_grpc.RelayServiceAsyncStub,
    server: GrpcServer,
    service: FakeComplaintService,
    issuer: DevelopmentIssuer,
) -> None:
    token = issuer.token(["operator"], "back-office")
    stream = stub.Relay()
    await stream.write(relay_pb2.RelayRequest(calls=[call(1, "begun", token)]))
    async with asyncio.timeout(60):
        while not service.begun:
            await asyncio.sleep(0)
        stopping = asyncio.create_task(server.stop(GRACE_S))
        while not server._stopping.is_set():
            await asyncio.sleep(0)
        await stream.write(relay_pb2.RelayRequest(calls=[call(2, "too late", token)]))
        assert not stopping.done()
        service.may_answer.set()
        answers = [answer.call_id async for message in stream for answer in message.answers]
        await stopping
    assert answers == [1]
    assert service.done == ["begun"]


@pytest.mark.guarantee("G11")
async def test_g11_a_read_ends_at_its_time_limit(
    stub: relay_pb2_grpc.RelayServiceAsyncStub, service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    asked = call(1, "a", issuer.token(["operator"], "back-office"))
    # Long enough to begin with, on a busy machine too.
    asked.time_limit_ms = 2_000
    (answer,) = await asyncio.wait_for(collect(stub, asked), 60)
    assert answer.refused.code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
    assert (service.begun, service.cancelled, service.done) == (["a"], ["a"], [])


@pytest.mark.guarantee("G3", "G11")
async def test_g3_a_command_that_has_begun_is_carried_out_beyond_its_time_limit(
    service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    asked = command(1, "a", issuer.token(["operator"], "back-office"), time_limit_ms=10)
    answering = asyncio.create_task(closing(service, issuer).answer(asked.request, asked.token, "", 0.01))
    async with asyncio.timeout(60):
        while not service.begun:
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)
        assert not answering.done()
        service.may_answer.set()
        await answering
    assert (service.done, service.cancelled) == (["a"], [])


@pytest.mark.guarantee("G11")
async def test_g11_a_command_that_could_not_begin_in_time_never_begins(
    service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    stream = _Stream({COMMAND: closing(service, issuer)}, cast("grpc.aio.ServicerContext[bytes, bytes]", None))
    asked = command(1, "a", issuer.token(["operator"], "back-office"), time_limit_ms=1)
    # Received long ago: the process had too much to do.
    stream._begin(asked, asyncio.get_running_loop().time() - 1.0)
    assert await stream._answers.wait_for_items()
    (answer,) = relay_pb2.RelayResponse.FromString(stream._answers.take_batch()[0]).answers
    assert answer.refused.code == grpc.StatusCode.DEADLINE_EXCEEDED.value[0]
    assert not service.begun


def closing(service: FakeComplaintService, issuer: DevelopmentIssuer) -> Method:
    """The command `CloseComplaint`."""
    descriptor = service.descriptor.methods_by_name["CloseComplaint"]
    return Method(service, descriptor, TokenVerifier(issuer.jwks, "feltro"), DOMAIN, lambda _: None)


async def one(asked: relay_pb2.Call) -> AsyncIterator[relay_pb2.RelayRequest]:
    yield relay_pb2.RelayRequest(calls=[asked])


async def collect(stub: relay_pb2_grpc.RelayServiceAsyncStub, asked: relay_pb2.Call) -> list[relay_pb2.Answer]:
    return [answer async for message in stub.Relay(one(asked)) for answer in message.answers]


def command(number: int, reference: str, token: str, time_limit_ms: int) -> relay_pb2.Call:
    request = complaint_pb2.CloseComplaintRequest(reference=reference).SerializeToString()
    return relay_pb2.Call(call_id=number, method=COMMAND, token=token, request=request, time_limit_ms=time_limit_ms)
