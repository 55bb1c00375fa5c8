"""Sizes: a call that is too large harms no other on its stream, and calls too large together leave in parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.wallet.v1 import complaint_pb2, complaint_pb2_grpc
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.rpc.methods import CALL_BYTES_LIMIT
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.relay_handler import BATCH_LIMITS
from services.kit.rpc.server import MESSAGE_BYTES_LIMIT
from services.kit.rpc.status import error_info, status_of
from stack.issuer import DevelopmentIssuer
from tests.kit.fake_service import FakeService, serving

pytestmark = pytest.mark.guarantee("G11")

TIMEOUT_S = 240.0
LIMIT = {"limit": str(CALL_BYTES_LIMIT)}
# More than a message holds beside its text.
FRAME = 32


class FakeComplaintService(FakeService):
    """Gives answers of the requested length; those to `wait` as soon as it may."""

    descriptor = complaint_pb2.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.waiting = 0
        self.filed = 0

    async def get_complaint(self, request: complaint_pb2.GetComplaintRequest, caller: Caller) -> Message:
        del caller
        kind, _, length = request.reference.partition(" ")
        if kind != "now":
            self.waiting += 1
            await self.may_answer.wait()
        text = "a" * int(length)
        if kind == "refuse":
            raise Refused("COMPLAINT_UNKNOWN", text)
        return complaint_pb2.GetComplaintResponse(complaint=complaint_pb2.Complaint(reference=text))

    async def file_complaint(self, request: complaint_pb2.FileComplaintRequest, caller: Caller) -> Message:
        del caller
        self.filed += 1
        complaint = complaint_pb2.Complaint(reference="a" * int(request.text.partition(" ")[0]))
        return complaint_pb2.FileComplaintResponse(complaint=complaint)


@pytest_asyncio.fixture
async def service() -> FakeComplaintService:
    return FakeComplaintService()


@pytest_asyncio.fixture
async def address(service: FakeComplaintService, issuer: DevelopmentIssuer) -> AsyncIterator[str]:
    async with serving(service, issuer) as server:
        yield f"127.0.0.1:{server.port}"
        service.may_answer.set()


class ComplaintClient:
    """Calls the service, over a relay or alone."""

    def __init__(self, channel: RelayChannel | grpc.aio.Channel, token: str) -> None:
        self._stub: complaint_pb2_grpc.ComplaintServiceAsyncStub = complaint_pb2_grpc.ComplaintServiceStub(
            cast("grpc.aio.Channel", channel)
        )
        self.token = token

    async def get(self, reference: str) -> int:
        """Returns the length of the answer."""
        request = complaint_pb2.GetComplaintRequest(reference=reference)
        answer = await self._stub.GetComplaint(request, metadata=self._metadata, timeout=TIMEOUT_S)
        return len(answer.complaint.reference)

    async def file(self, text: str) -> int:
        request = complaint_pb2.FileComplaintRequest(text=text)
        answer = await self._stub.FileComplaint(request, metadata=self._metadata, timeout=TIMEOUT_S)
        return len(answer.complaint.reference)

    @property
    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.token}"),)


@pytest.fixture
def token(issuer: DevelopmentIssuer) -> str:
    return issuer.token(["operator"], "back-office")


@pytest_asyncio.fixture(params=["over a relay", "alone"])
async def client(request: pytest.FixtureRequest, address: str, token: str) -> AsyncIterator[ComplaintClient]:
    """Calls over a relay and alone: the refusals are the same."""
    channel = RelayChannel(address) if request.param == "over a relay" else grpc.aio.insecure_channel(address)
    yield ComplaintClient(channel, token)
    await channel.close()


@pytest_asyncio.fixture
async def relayed(address: str) -> AsyncIterator[RelayChannel]:
    made = RelayChannel(address)
    yield made
    await made.close()


def refusal(failed: object) -> tuple[grpc.StatusCode, str, dict[str, str]]:
    assert isinstance(failed, grpc.aio.AioRpcError), failed
    status = status_of(failed)
    info = None if status is None else error_info(status)
    return failed.code(), "" if info is None else info.reason, {} if info is None else dict(info.metadata)


async def test_g11_an_answer_that_is_too_large_is_refused_and_says_what_to_do(client: ComplaintClient) -> None:
    largest = CALL_BYTES_LIMIT - FRAME
    assert await client.get(f"now {largest}") == largest
    with pytest.raises(grpc.aio.AioRpcError, match="ask for less at once") as refused:
        await client.get(f"now {CALL_BYTES_LIMIT}")
    assert refusal(refused.value) == (grpc.StatusCode.OUT_OF_RANGE, "ANSWER_TOO_LARGE", LIMIT)


@pytest.mark.guarantee("G12")
async def test_g12_a_command_that_was_carried_out_is_not_called_refused(
    client: ComplaintClient, service: FakeComplaintService
) -> None:
    """A caller that believed it refused would send it again under another id."""
    with pytest.raises(grpc.aio.AioRpcError, match="It was done") as failed:
        await client.file(str(CALL_BYTES_LIMIT))
    assert refusal(failed.value) == (grpc.StatusCode.INTERNAL, "", {})
    assert service.filed == 1


async def test_g11_a_request_that_is_too_large_is_refused_and_says_what_to_do(
    client: ComplaintClient, service: FakeComplaintService
) -> None:
    assert await client.file("1 " + "a" * (CALL_BYTES_LIMIT - len(client.token) - 5 * FRAME)) == 1
    with pytest.raises(grpc.aio.AioRpcError, match="send less at once") as refused:
        await client.file("1 " + "a" * CALL_BYTES_LIMIT)
    assert refusal(refused.value) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID", LIMIT)
    assert service.filed == 1


async def start_calls(
    client: ComplaintClient, service: FakeComplaintService, references: list[str]
) -> list[asyncio.Task[int]]:
    """Starts calls over one stream, and returns when all are under way."""
    under_way = [asyncio.create_task(client.get(reference)) for reference in references]
    async with asyncio.timeout(TIMEOUT_S):
        while service.waiting < len(references):
            await asyncio.sleep(0)
    return under_way


async def test_g11_a_call_that_is_too_large_harms_no_other_on_its_stream(
    relayed: RelayChannel, service: FakeComplaintService, token: str
) -> None:
    client = ComplaintClient(relayed, token)
    under_way = await start_calls(client, service, ["wait 7"] * 50)
    answers = await asyncio.gather(
        *(client.get(f"now {length}") for _ in range(10) for length in (1, CALL_BYTES_LIMIT, 2)),
        client.file("1 " + "a" * MESSAGE_BYTES_LIMIT),
        client.get("now 3"),
        return_exceptions=True,
    )
    assert [answer for answer in answers if isinstance(answer, int)] == [1, 2] * 10 + [3]
    assert [refusal(answer)[1] for answer in answers if not isinstance(answer, int)] == ["ANSWER_TOO_LARGE"] * 10 + [
        "INVALID"
    ]
    service.may_answer.set()
    assert await asyncio.gather(*under_way) == [7] * 50
    assert relayed._connection._broken == 0
    assert relayed._connection.idle


async def test_g11_answers_that_are_too_large_together_leave_in_parts(
    relayed: RelayChannel, service: FakeComplaintService, token: str
) -> None:
    length = MESSAGE_BYTES_LIMIT // 10
    under_way = await start_calls(ComplaintClient(relayed, token), service, [f"wait {length}"] * 30)
    service.may_answer.set()
    assert await asyncio.gather(*under_way) == [length] * 30
    assert relayed._connection._broken == 0


async def test_g11_refusals_that_are_too_large_together_leave_in_parts(
    relayed: RelayChannel, service: FakeComplaintService, token: str
) -> None:
    length = 2 * MESSAGE_BYTES_LIMIT // BATCH_LIMITS.items
    under_way = await start_calls(ComplaintClient(relayed, token), service, [f"refuse {length}"] * BATCH_LIMITS.items)
    service.may_answer.set()
    answers = await asyncio.gather(*under_way, return_exceptions=True)
    assert {refusal(answer)[1] for answer in answers} == {"COMPLAINT_UNKNOWN"}
    assert relayed._connection._broken == 0


async def test_g11_calls_that_are_too_large_together_leave_in_parts(relayed: RelayChannel) -> None:
    """Everything in a call counts: here the tokens are large."""
    client = ComplaintClient(relayed, "a" * (2 * MESSAGE_BYTES_LIMIT // BATCH_LIMITS.items))
    answers = await asyncio.gather(*(client.get("now 1") for _ in range(BATCH_LIMITS.items)), return_exceptions=True)
    assert {refusal(answer)[1] for answer in answers} == {"TOKEN_INVALID"}
    assert relayed._connection._broken == 0


async def test_g11_the_name_of_an_unknown_method_is_repeated_only_in_part(relayed: RelayChannel, token: str) -> None:
    call = relayed.unary_unary("/" + "a" * (CALL_BYTES_LIMIT // 2), bytes, bytes)
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await call(b"", metadata=(("authorization", f"Bearer {token}"),), timeout=TIMEOUT_S)
    assert unknown.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert len(str(unknown.value.details())) < 200
