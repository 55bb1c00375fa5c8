"""Mutual TLS between processes: who may call whom, and certificates that change while processes run."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest
from google.protobuf.message import Message
from grpc_health.v1 import health_pb2, health_pb2_grpc

from feltro.relay.v1 import relay_pb2
from feltro.wallet.v1 import complaint_pb2
from services.kit.access.identity import Caller
from services.kit.rpc.relay_connection import NoAnswer, PeerUntrusted, RelayConnection
from services.kit.rpc.transport import PLAINTEXT, CertificatesUnusable, PeerChannel, Transport
from stack.issuer import DevelopmentIssuer
from tests.kit.fake_service import FakeService, serving
from tests.processes.certificates import CertificateAuthority

METHOD = "feltro.wallet.v1.ComplaintService/GetComplaint"
WITHIN_S = 240.0


class FakeComplaintService(FakeService):
    """Answers GetComplaint, and keeps who called."""

    descriptor = complaint_pb2.DESCRIPTOR.services_by_name["ComplaintService"]

    def __init__(self) -> None:
        self.callers: list[str] = []

    async def get_complaint(self, _request: complaint_pb2.GetComplaintRequest, caller: Caller) -> Message:
        self.callers.append(caller.subject)
        return complaint_pb2.GetComplaintResponse(complaint=complaint_pb2.Complaint(reference="a"))


@pytest.fixture
def authority(tmp_path: Path) -> CertificateAuthority:
    return CertificateAuthority(tmp_path / "platform")


@pytest.fixture
def other_authority(tmp_path: Path) -> CertificateAuthority:
    return CertificateAuthority(tmp_path / "other")


@asynccontextmanager
async def wallet(
    transport: Transport, issuer: DevelopmentIssuer, callers: Collection[str] = ()
) -> AsyncIterator[tuple[str, FakeComplaintService]]:
    """Serves a wallet; its address, and what it was asked."""
    service = FakeComplaintService()
    async with serving(service, issuer, transport=transport, callers=callers) as server:
        yield f"127.0.0.1:{server.port}", service


async def relay_call(address: str, issuer: DevelopmentIssuer, transport: Transport, service: str = "wallet") -> str:
    connection = RelayConnection(address, service, transport)
    try:
        token = issuer.token(["operator"], "maria")
        answer = await connection.send(relay_pb2.Call(method=METHOD, token=token), WITHIN_S)
        return complaint_pb2.GetComplaintResponse.FromString(answer).complaint.reference
    finally:
        await connection.close()


async def unary_call(address: str, issuer: DevelopmentIssuer, transport: Transport) -> grpc.StatusCode:
    async with transport.open_channel(address, "wallet") as channel:
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{METHOD}")
        metadata = (("authorization", f"Bearer {issuer.token(['operator'], 'maria')}"),)
        try:
            await call(b"", metadata=metadata, timeout=WITHIN_S)
        except grpc.aio.AioRpcError as failed:
            return failed.code()
        return grpc.StatusCode.OK


async def test_processes_of_one_authority_call_each_other(
    authority: CertificateAuthority, issuer: DevelopmentIssuer
) -> None:
    async with wallet(authority.transport("wallet"), issuer) as (address, _):
        for service in ("gateway", "roulette"):
            assert await relay_call(address, issuer, authority.transport(service)) == "a"
            assert await unary_call(address, issuer, authority.transport(service)) is grpc.StatusCode.OK


@pytest.mark.guarantee("G12")
async def test_g12_nothing_is_sent_to_a_process_that_does_not_prove_which_service_it_is(
    authority: CertificateAuthority, other_authority: CertificateAuthority, issuer: DevelopmentIssuer
) -> None:
    gateway = authority.transport("gateway")
    for impostor in (PLAINTEXT, other_authority.transport("wallet"), authority.transport("poker")):
        async with wallet(impostor, issuer) as (address, service):
            with pytest.raises(PeerUntrusted):
                await relay_call(address, issuer, gateway)
            assert service.callers == []


@pytest.mark.guarantee("G12")
async def test_g12_a_process_without_a_certificate_of_the_platform_is_not_answered(
    authority: CertificateAuthority, other_authority: CertificateAuthority, issuer: DevelopmentIssuer
) -> None:
    stranger = other_authority.issue("gateway.feltro")
    # It knows the platform's authority, as anybody may.
    shutil.copy(authority.file, stranger.authority)
    async with wallet(authority.transport("wallet"), issuer) as (address, service):
        for transport in (PLAINTEXT, Transport(stranger), other_authority.transport("gateway")):
            with pytest.raises(NoAnswer):
                await relay_call(address, issuer, transport)
            assert await unary_call(address, issuer, transport) is grpc.StatusCode.UNAVAILABLE
        assert service.callers == []


@pytest.mark.guarantee("G12")
async def test_g12_a_service_answers_the_callers_that_it_names_and_no_other(
    authority: CertificateAuthority, issuer: DevelopmentIssuer
) -> None:
    async with wallet(authority.transport("wallet"), issuer, callers=["gateway"]) as (address, service):
        assert await relay_call(address, issuer, authority.transport("gateway")) == "a"
        with pytest.raises(NoAnswer, match=r"PERMISSION_DENIED.*gateway\.feltro"):
            await relay_call(address, issuer, authority.transport("poker"))
        assert await unary_call(address, issuer, authority.transport("poker")) is grpc.StatusCode.PERMISSION_DENIED
        assert len(service.callers) == 1
    outsider = Transport(authority.issue("laptop.example"))
    async with wallet(authority.transport("wallet"), issuer) as (address, service):
        assert await unary_call(address, issuer, outsider) is grpc.StatusCode.PERMISSION_DENIED
        assert service.callers == []


async def test_new_certificates_are_used_without_a_restart(
    authority: CertificateAuthority, other_authority: CertificateAuthority, issuer: DevelopmentIssuer
) -> None:
    """The platform moves to another authority: both ends show certificates of it for their next connection."""
    server_files, client_files = authority.issue("wallet.feltro"), authority.issue("gateway.feltro")
    client = Transport(client_files)
    async with wallet(Transport(server_files), issuer) as (address, _):
        channel = PeerChannel(client, address, "wallet", ())
        first = await channel.current()
        await first.channel_ready()
        for files, name in ((server_files, "wallet.feltro"), (client_files, "gateway.feltro")):
            issued = other_authority.issue(name)
            for old, new in (
                (files.authority, issued.authority),
                (files.certificate, issued.certificate),
                (files.key, issued.key),
            ):
                shutil.copy(new, old)
        second = await channel.current()
        assert second is not first
        check = health_pb2_grpc.HealthStub(second).Check(health_pb2.HealthCheckRequest(), timeout=WITHIN_S)
        assert (await check).status == health_pb2.HealthCheckResponse.SERVING
        assert await channel.current() is second
        await channel.close()
        assert await relay_call(address, issuer, client) == "a"
        with pytest.raises(NoAnswer):
            await relay_call(address, issuer, authority.transport("gateway"))


async def test_half_replaced_certificates_change_nothing(
    authority: CertificateAuthority, issuer: DevelopmentIssuer, caplog: pytest.LogCaptureFixture
) -> None:
    files = authority.issue("wallet.feltro")
    transport = Transport(files)
    async with wallet(transport, issuer) as (address, _):
        shutil.copy(authority.issue("wallet.feltro", "renewed").certificate, files.certificate)
        for _again in range(2):
            assert await relay_call(address, issuer, authority.transport("gateway")) == "a"
    assert caplog.text.count("new certificates cannot be used, and the last ones stay") == 1


@pytest.mark.parametrize("spoilt", ["authority", "certificate", "key"])
def test_certificates_that_do_not_belong_together_are_refused(authority: CertificateAuthority, spoilt: str) -> None:
    files = authority.issue("wallet.feltro")
    getattr(files, spoilt).write_text("no PEM")
    with pytest.raises(CertificatesUnusable):
        files.read()
    other = authority.issue("wallet.feltro", "other")
    shutil.copy(other.key, files.key)
    shutil.copy(authority.issue("wallet.feltro", "third").certificate, files.certificate)
    shutil.copy(authority.file, files.authority)
    with pytest.raises(CertificatesUnusable, match="not that of the certificate"):
        files.read()


def test_over_tls_a_call_names_the_service_that_has_to_answer(authority: CertificateAuthority) -> None:
    with pytest.raises(ValueError, match="name the service"):
        authority.transport("gateway").open_channel("127.0.0.1:1", "")
