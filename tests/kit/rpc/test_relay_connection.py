"""The caller's end of a relay: calls get their answers, and come to an end where there is none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import cast

import grpc
import pytest
import pytest_asyncio
from google.protobuf.message import Message

from feltro.relay.v1 import relay_pb2
from feltro.wallet.v1 import complaint_pb2, complaint_pb2_grpc
from services.kit import background
from services.kit.access.identity import Caller
from services.kit.refusal import Refused
from services.kit.rpc import relay_connection
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.rpc.relay_connection import RelayConnection
from services.kit.rpc.server import GrpcServer
from services.kit.rpc.status import error_info, status_of
from stack.issuer import DevelopmentIssuer
from stack.servers.ephemeral import free_port
from tests.kit.fake_service import FakeService, serving

OPERATOR = "operator"


class FakeComplaintService(FakeService):
    """Answers GetComplaint as soon as it may."""

    descriptor = complaint_pb2.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.called = asyncio.Event()

    async def get_complaint(self, request: complaint_pb2.GetComplaintRequest, caller: Caller) -> Message:
        self.called.set()
        await self.may_answer.wait()
        if request.reference == "missing":
            raise Refused("COMPLAINT_UNKNOWN", "There is no such complaint.", {"a": "b"})
        return complaint_pb2.GetComplaintResponse(complaint=complaint_pb2.Complaint(reference=request.reference))


@pytest_asyncio.fixture
async def service() -> FakeComplaintService:
    return FakeComplaintService()


@pytest_asyncio.fixture
async def server(service: FakeComplaintService, issuer: DevelopmentIssuer) -> AsyncIterator[GrpcServer]:
    async with serving(service, issuer) as made:
        yield made
        service.may_answer.set()


@pytest_asyncio.fixture
async def channel(server: GrpcServer) -> AsyncIterator[RelayChannel]:
    made = RelayChannel(f"127.0.0.1:{server.port}")
    yield made
    await made.close()


async def get(channel: RelayChannel, issuer: DevelopmentIssuer, reference: str, within_s: float = 60.0) -> str:
    stub: complaint_pb2_grpc.ComplaintServiceAsyncStub = complaint_pb2_grpc.ComplaintServiceStub(
        cast("grpc.aio.Channel", channel)
    )
    token = issuer.token([OPERATOR], "back-office")
    request = complaint_pb2.GetComplaintRequest(reference=reference)
    metadata = (("authorization", f"Bearer {token}"),)
    answer = await stub.GetComplaint(request, metadata=metadata, timeout=within_s)
    return str(answer.complaint.reference)


async def test_a_stub_calls_over_a_relay_as_over_a_channel(
    channel: RelayChannel, service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    service.may_answer.set()
    assert await asyncio.gather(*(get(channel, issuer, str(number)) for number in range(50))) == [
        str(number) for number in range(50)
    ]
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await get(channel, issuer, "missing")
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
    channel: RelayChannel, service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    """Each call has a limit of its own, and the short one is not kept waiting for the long one."""
    patient = asyncio.create_task(get(channel, issuer, "a", within_s=3600.0))
    for limit_s in (0.3, 0.05):
        with pytest.raises(grpc.aio.AioRpcError) as late:
            await asyncio.wait_for(get(channel, issuer, "b", within_s=limit_s), 60.0)
        assert late.value.code() == grpc.StatusCode.DEADLINE_EXCEEDED
    assert not patient.done()
    service.may_answer.set()
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


async def test_a_process_that_goes_away_leaves_no_call_waiting(
    channel: RelayChannel, service: FakeComplaintService, server: GrpcServer, issuer: DevelopmentIssuer
) -> None:
    calling = asyncio.create_task(get(channel, issuer, "a"))
    await service.called.wait()
    await server.stop(0)
    with pytest.raises(grpc.aio.AioRpcError) as gone:
        await calling
    assert gone.value.code() == grpc.StatusCode.UNAVAILABLE


async def test_a_caller_learns_at_once_that_a_process_stops_and_its_next_call_goes_to_the_next_one(
    channel: RelayChannel, service: FakeComplaintService, server: GrpcServer, issuer: DevelopmentIssuer
) -> None:
    """The process has all the time it wants to stop, and nothing under way: nobody waits for it."""
    service.may_answer.set()
    assert await get(channel, issuer, "a") == "a"
    port = server.port
    await asyncio.wait_for(server.stop(3600.0), 60.0)
    async with serving(service, issuer, port), asyncio.timeout(60.0):
        while not channel._connection._broken:
            await asyncio.sleep(0.01)
        assert await get(channel, issuer, "b") == "b"


async def test_the_first_call_to_a_restarted_process_is_not_lost(
    channel: RelayChannel, service: FakeComplaintService, server: GrpcServer, issuer: DevelopmentIssuer
) -> None:
    """The broken stream must not take calls that were made after it broke."""
    service.may_answer.set()
    assert await get(channel, issuer, "a") == "a"
    port = server.port
    await server.stop(0)
    async with serving(service, issuer, port), asyncio.timeout(60.0):
        while not channel._connection._broken:
            await asyncio.sleep(0.01)
        assert await get(channel, issuer, "b") == "b"


class SilentNetwork:
    """Carries connections to a server, until they are cut: then nothing arrives any more, and nothing is closed."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._carrying: list[asyncio.Task[None]] = []
        self._writers: list[asyncio.StreamWriter] = []

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, to_server = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers += [to_server, writer]
        for source, target in ((reader, to_server), (answers, writer)):
            self._carrying.append(asyncio.create_task(self._copy(source, target)))

    async def cut(self) -> None:
        """Cuts what is connected; later connections are carried."""
        await background.cancel_and_wait(self._carrying)
        self._carrying.clear()

    async def close(self) -> None:
        await self.cut()
        for writer in self._writers:
            writer.close()

    async def _copy(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            target.write(data)
            await target.drain()


@pytest.mark.slow
async def test_a_network_that_fell_silent_is_noticed_and_the_next_call_goes_over_another_connection(
    server: GrpcServer, service: FakeComplaintService, issuer: DevelopmentIssuer
) -> None:
    network = SilentNetwork(server.port)
    listener = await asyncio.start_server(network.carry, "127.0.0.1", 0)
    channel = RelayChannel(f"127.0.0.1:{listener.sockets[0].getsockname()[1]}")
    service.may_answer.set()
    try:
        assert await get(channel, issuer, "first") == "first"
        await network.cut()
        # Long before the call's own limit, and before the system gives the connection up.
        with pytest.raises(grpc.aio.AioRpcError) as failed:
            await get(channel, issuer, "lost", within_s=600.0)
        assert failed.value.code() is grpc.StatusCode.UNAVAILABLE
        assert await get(channel, issuer, "next") == "next"
    finally:
        await channel.close()
        listener.close()
        await network.close()
