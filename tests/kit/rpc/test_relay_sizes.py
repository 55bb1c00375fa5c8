"""What is too large for a stream concerns its own call alone, and what is too large together goes in parts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import cast

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.wallet.v1 import complaint_pb2, complaint_pb2_grpc
from services.kit.access.identity import Caller, TokenVerifier
from services.kit.refusal import Refused
from services.kit.rpc.methods import CALL_BYTES_LIMIT
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.relay_handler import BATCH_LIMITS
from services.kit.rpc.server import MESSAGE_BYTES_LIMIT, GrpcServer
from services.kit.rpc.status import error_info, status_of
from stack.issuer import DevelopmentIssuer

pytestmark = pytest.mark.guarantee("G11")

WITHIN_S = 60.0
LIMIT = {"limit": str(CALL_BYTES_LIMIT)}
# More than what a message has beside its text.
FRAME = 32


class Desk:
    """A ComplaintService whose answers are as long as they are asked to be; `wait` is answered once it may be."""

    descriptor = complaint_pb2.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.waiting = 0
        self.filed = 0

    async def get_complaint(self, request: complaint_pb2.GetComplaintRequest, caller: Caller) -> Message:
        del caller
        what, _, length = request.reference.partition(" ")
        if what != "now":
            self.waiting += 1
            await self.may_answer.wait()
        text = "a" * int(length)
        if what == "refuse":
            raise Refused("COMPLAINT_UNKNOWN", text)
        return complaint_pb2.GetComplaintResponse(complaint=complaint_pb2.Complaint(reference=text))

    async def file_complaint(self, request: complaint_pb2.FileComplaintRequest, caller: Caller) -> Message:
        del caller
        self.filed += 1
        complaint = complaint_pb2.Complaint(reference="a" * int(request.text.partition(" ")[0]))
        return complaint_pb2.FileComplaintResponse(complaint=complaint)

    async def _nothing(self, _request: Message, _caller: Caller) -> Message:
        raise AssertionError("not called here")

    list_complaints = add_to_complaint = review_complaint = answer_complaint = close_complaint = _nothing


@pytest.fixture
def issuer(tmp_path: Path) -> DevelopmentIssuer:
    made = DevelopmentIssuer(tmp_path / "issuer")
    made.prepare()
    return made


@pytest_asyncio.fixture
async def desk() -> Desk:
    return Desk()


@pytest_asyncio.fixture
async def address(desk: Desk, issuer: DevelopmentIssuer) -> AsyncIterator[str]:
    server = GrpcServer("127.0.0.1:0", TokenVerifier(issuer.jwks, "feltro"), [desk], "wallet.feltro", lambda _: None)
    await server.start()
    yield f"127.0.0.1:{server.port}"
    desk.may_answer.set()
    await server.stop(0)


class Asker:
    """Whoever calls the desk."""

    def __init__(self, channel: RelayChannel | grpc.aio.Channel, token: str) -> None:
        self._stub: complaint_pb2_grpc.ComplaintServiceAsyncStub = complaint_pb2_grpc.ComplaintServiceStub(
            cast("grpc.aio.Channel", channel)
        )
        self.token = token

    async def get(self, reference: str) -> int:
        """How long the answer is."""
        request = complaint_pb2.GetComplaintRequest(reference=reference)
        answer = await self._stub.GetComplaint(request, metadata=self._metadata, timeout=WITHIN_S)
        return len(answer.complaint.reference)

    async def file(self, text: str) -> int:
        request = complaint_pb2.FileComplaintRequest(text=text)
        answer = await self._stub.FileComplaint(request, metadata=self._metadata, timeout=WITHIN_S)
        return len(answer.complaint.reference)

    @property
    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return (("authorization", f"Bearer {self.token}"),)


@pytest.fixture
def token(issuer: DevelopmentIssuer) -> str:
    return issuer.token(["operator"], "back-office")


@pytest_asyncio.fixture(params=["over a relay", "alone"])
async def asker(request: pytest.FixtureRequest, address: str, token: str) -> AsyncIterator[Asker]:
    """Over either way: what a call is refused for is the same."""
    channel = RelayChannel(address) if request.param == "over a relay" else grpc.aio.insecure_channel(address)
    yield Asker(channel, token)
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


async def test_an_answer_that_is_too_large_is_refused_and_says_what_to_do(asker: Asker) -> None:
    largest = CALL_BYTES_LIMIT - FRAME
    assert await asker.get(f"now {largest}") == largest
    with pytest.raises(grpc.aio.AioRpcError, match="ask for less at once") as refused:
        await asker.get(f"now {CALL_BYTES_LIMIT}")
    assert refusal(refused.value) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "ANSWER_TOO_LARGE", LIMIT)


@pytest.mark.guarantee("G12")
async def test_g12_a_command_that_was_carried_out_is_not_called_refused(asker: Asker, desk: Desk) -> None:
    """Whoever believed it refused would give it again under another name."""
    with pytest.raises(grpc.aio.AioRpcError, match="It was done") as failed:
        await asker.file(str(CALL_BYTES_LIMIT))
    assert refusal(failed.value) == (grpc.StatusCode.INTERNAL, "", {})
    assert desk.filed == 1


async def test_a_request_that_is_too_large_is_refused_and_says_what_to_do(asker: Asker, desk: Desk) -> None:
    assert await asker.file("1 " + "a" * (CALL_BYTES_LIMIT - len(asker.token) - 5 * FRAME)) == 1
    with pytest.raises(grpc.aio.AioRpcError, match="send less at once") as refused:
        await asker.file("1 " + "a" * CALL_BYTES_LIMIT)
    assert refusal(refused.value) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID", LIMIT)
    assert desk.filed == 1


async def neighbours(asker: Asker, desk: Desk, references: list[str]) -> list[asyncio.Task[int]]:
    """Calls that are under way over the same stream."""
    under_way = [asyncio.create_task(asker.get(reference)) for reference in references]
    async with asyncio.timeout(WITHIN_S):
        while desk.waiting < len(references):
            await asyncio.sleep(0)
    return under_way


async def test_neighbours_do_not_notice_what_is_too_large(relayed: RelayChannel, desk: Desk, token: str) -> None:
    asker = Asker(relayed, token)
    under_way = await neighbours(asker, desk, ["wait 7"] * 50)
    answers = await asyncio.gather(
        *(asker.get(f"now {length}") for _ in range(10) for length in (1, CALL_BYTES_LIMIT, 2)),
        asker.file("1 " + "a" * MESSAGE_BYTES_LIMIT),
        asker.get("now 3"),
        return_exceptions=True,
    )
    assert [answer for answer in answers if isinstance(answer, int)] == [1, 2] * 10 + [3]
    assert [refusal(answer)[1] for answer in answers if not isinstance(answer, int)] == ["ANSWER_TOO_LARGE"] * 10 + [
        "INVALID"
    ]
    desk.may_answer.set()
    assert await asyncio.gather(*under_way) == [7] * 50
    assert relayed._connection._broken == 0
    assert relayed._connection.idle


async def test_answers_that_are_too_large_together_leave_in_parts(
    relayed: RelayChannel, desk: Desk, token: str
) -> None:
    length = MESSAGE_BYTES_LIMIT // 10
    under_way = await neighbours(Asker(relayed, token), desk, [f"wait {length}"] * 30)
    desk.may_answer.set()
    assert await asyncio.gather(*under_way) == [length] * 30
    assert relayed._connection._broken == 0


async def test_refusals_that_are_too_large_together_leave_in_parts(
    relayed: RelayChannel, desk: Desk, token: str
) -> None:
    length = 2 * MESSAGE_BYTES_LIMIT // BATCH_LIMITS.items
    under_way = await neighbours(Asker(relayed, token), desk, [f"refuse {length}"] * BATCH_LIMITS.items)
    desk.may_answer.set()
    answers = await asyncio.gather(*under_way, return_exceptions=True)
    assert {refusal(answer)[1] for answer in answers} == {"COMPLAINT_UNKNOWN"}
    assert relayed._connection._broken == 0


async def test_calls_that_are_too_large_together_leave_in_parts(relayed: RelayChannel) -> None:
    """With all that goes along: here the tokens are what is large."""
    asker = Asker(relayed, "a" * (2 * MESSAGE_BYTES_LIMIT // BATCH_LIMITS.items))
    answers = await asyncio.gather(*(asker.get("now 1") for _ in range(BATCH_LIMITS.items)), return_exceptions=True)
    assert {refusal(answer)[1] for answer in answers} == {"TOKEN_INVALID"}
    assert relayed._connection._broken == 0


async def test_little_is_said_again_of_a_method_that_does_not_exist(relayed: RelayChannel, token: str) -> None:
    call = relayed.unary_unary("/" + "a" * (CALL_BYTES_LIMIT // 2), bytes, bytes)
    with pytest.raises(grpc.aio.AioRpcError) as unknown:
        await call(b"", metadata=(("authorization", f"Bearer {token}"),), timeout=WITHIN_S)
    assert unknown.value.code() is grpc.StatusCode.UNIMPLEMENTED
    assert len(str(unknown.value.details())) < 200
