"""The gRPC server: access rules come from the protos, failures become refusals, a missing method stops the start."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from feltro.wallet.v1 import complaint_pb2, complaint_pb2_grpc
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.methods import MethodNotImplemented
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.status import error_info, status_of
from stack.issuer import DevelopmentIssuer
from tests.kit.fake_service import DOMAIN, FakeService, serving


class DatabaseAway(Exception):
    """A failure to which callers can react."""


class FakeComplaintService(FakeService):
    """Answers GetComplaint as the test says."""

    descriptor = complaint_pb2.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self) -> None:
        self.act: Callable[[Caller], Message] = lambda _: complaint_pb2.GetComplaintResponse()

    async def get_complaint(self, _request: complaint_pb2.GetComplaintRequest, caller: Caller) -> Message:
        return self.act(caller)


def refusal_for(failed: Exception) -> Refused | None:
    if isinstance(failed, DatabaseAway):
        return Refused("UNAVAILABLE", "It is away: try again.")
    return None


@pytest.fixture
def service() -> FakeComplaintService:
    return FakeComplaintService()


@pytest_asyncio.fixture
async def channel(service: FakeComplaintService, issuer: DevelopmentIssuer) -> AsyncIterator[grpc.aio.Channel]:
    async with (
        serving(service, issuer, refusal_for=refusal_for) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as opened,
    ):
        yield opened


@pytest.fixture
def stub(channel: grpc.aio.Channel) -> complaint_pb2_grpc.ComplaintServiceAsyncStub:
    made: complaint_pb2_grpc.ComplaintServiceAsyncStub = complaint_pb2_grpc.ComplaintServiceStub(channel)
    return made


def bearer(issuer: DevelopmentIssuer, *scopes: str, minutes: int = 5) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {issuer.token(scopes, 'ana', minutes)}"),)


async def refusal(call: object) -> tuple[grpc.StatusCode, str]:
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await call  # type: ignore[misc]
    status = status_of(failed.value)
    info = None if status is None else error_info(status)
    assert info is None or info.domain == DOMAIN
    return failed.value.code(), "" if info is None else info.reason


async def test_access_is_read_from_the_proto(
    stub: complaint_pb2_grpc.ComplaintServiceAsyncStub, issuer: DevelopmentIssuer, service: FakeComplaintService
) -> None:
    request = complaint_pb2.GetComplaintRequest()
    seen: list[Caller] = []

    def record(caller: Caller) -> Message:
        seen.append(caller)
        return complaint_pb2.GetComplaintResponse()

    service.act = record
    await stub.GetComplaint(request, metadata=bearer(issuer, "player"))
    assert (seen[0].subject, set(seen[0].scopes)) == ("ana", {"player"})
    unauthenticated, denied = grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED
    assert await refusal(stub.GetComplaint(request)) == (unauthenticated, "TOKEN_INVALID")
    assert await refusal(stub.GetComplaint(request, metadata=bearer(issuer, "game"))) == (denied, "SCOPE_MISSING")
    expired = bearer(issuer, "player", minutes=-10)
    assert await refusal(stub.GetComplaint(request, metadata=expired)) == (unauthenticated, "TOKEN_EXPIRED")
    basic = (("authorization", "Basic YW5h"),)
    assert await refusal(stub.GetComplaint(request, metadata=basic)) == (unauthenticated, "TOKEN_INVALID")
    assert len(seen) == 1


async def test_a_failure_that_passes_is_refused_and_a_fault_reveals_nothing(
    stub: complaint_pb2_grpc.ComplaintServiceAsyncStub, issuer: DevelopmentIssuer, service: FakeComplaintService
) -> None:
    def fail_with(error: Exception) -> Callable[[Caller], Message]:
        def act(_caller: Caller) -> Message:
            raise error

        return act

    request, metadata = complaint_pb2.GetComplaintRequest(), bearer(issuer, "operator")
    service.act = fail_with(DatabaseAway())
    assert await refusal(stub.GetComplaint(request, metadata=metadata)) == (grpc.StatusCode.UNAVAILABLE, "UNAVAILABLE")
    service.act = fail_with(RuntimeError("a fault, with a card in it"))
    with pytest.raises(grpc.aio.AioRpcError) as failed:
        await stub.GetComplaint(request, metadata=metadata)
    assert failed.value.code() is grpc.StatusCode.INTERNAL
    # G7: the error is in the log, not in the answer.
    assert "card" not in (failed.value.details() or "")


async def test_a_request_that_cannot_be_decoded_is_refused(
    channel: grpc.aio.Channel, issuer: DevelopmentIssuer
) -> None:
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(
        "/feltro.wallet.v1.ComplaintService/GetComplaint"
    )
    answer = call(b"\xff\xff\xff", metadata=bearer(issuer, "operator"))
    assert await refusal(answer) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID")


async def test_health_checks_are_answered_without_a_token(channel: grpc.aio.Channel) -> None:
    health = health_pb2_grpc.HealthStub(channel)
    for service in ("", "feltro.wallet.v1.ComplaintService"):
        answer = await health.Check(health_pb2.HealthCheckRequest(service=service))
        assert answer.status == health_pb2.HealthCheckResponse.SERVING


async def _reflected_services(channel: grpc.aio.Channel) -> list[str]:
    reflection = reflection_pb2_grpc.ServerReflectionStub(channel)
    stream = reflection.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")]))
    return [service.name async for answer in stream for service in answer.list_services_response.service]


@pytest.mark.guarantee("G12")
async def test_g12_methods_are_listed_only_where_the_process_is_told_to(
    channel: grpc.aio.Channel, service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await _reflected_services(channel)
    assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
    async with (
        serving(service, issuer, reflection=True) as server,
        grpc.aio.insecure_channel(f"127.0.0.1:{server.port}") as opened,
    ):
        assert "feltro.wallet.v1.ComplaintService" in await _reflected_services(opened)


async def test_a_service_that_lacks_a_declared_method_does_not_start(issuer: DevelopmentIssuer) -> None:
    class IncompleteService:
        descriptor = FakeComplaintService.descriptor

    with pytest.raises(MethodNotImplemented, match="FileComplaint"):
        GrpcServer("127.0.0.1:0", TokenVerifier(issuer.jwks, "feltro"), [IncompleteService()], DOMAIN, refusal_for)
