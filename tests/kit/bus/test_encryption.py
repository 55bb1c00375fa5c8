"""TLS to NATS: the server is verified, the client shows its certificate, and nothing is ever sent in the open."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.kit.bus.connection import BusClient, BusEndpoint, connect
from services.kit.bus.permissions import WALLET
from services.kit.bus.settings import BusSettings
from services.kit.bus.subjects import API_PREFIX, FACTS_STREAM
from stack.processes.child import ChildProcess
from stack.servers.ephemeral import PASSWORD, READY_TIMEOUT_S, EphemeralNats, free_port

pytestmark = pytest.mark.guarantee("G12")

TIMEOUT_S = 240.0


@dataclass(frozen=True)
class Certificate:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


Authority = tuple[x509.Certificate, ec.EllipticCurvePrivateKey]


def make_certificate(folder: Path, name: str, issuer: Authority | None = None) -> tuple[Certificate, Authority]:
    """Makes a certificate: an authority's own, or one that an authority has signed for this machine."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    signer, signing_key = issuer if issuer is not None else (None, key)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject if signer is None else signer.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
    )
    certificate = builder.sign(signing_key, hashes.SHA256())
    files = Certificate(folder / f"{name}.pem", folder / f"{name}.key")
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files, (certificate, key)


class EncryptedNats(EphemeralNats):
    """A NATS that takes clients with a certificate only."""

    def __init__(self, home: Path, port: int, server: Certificate, ca: Path) -> None:
        super().__init__(home, port)
        self._tls = (
            f'tls {{ cert_file: "{server.certificate}", key_file: "{server.key}", ca_file: "{ca}", verify: true }}\n'
        )

    def _content(self) -> str:
        return self._tls + super()._content()


@pytest.fixture
def certificates(tmp_path: Path) -> dict[str, Certificate]:
    """An authority, and what it has signed for the server and for a client; another authority."""
    own, issuer = make_certificate(tmp_path, "authority")
    made = {"authority": own, "other": make_certificate(tmp_path, "other")[0]}
    for name in ("server", "client"):
        made[name] = make_certificate(tmp_path, name, issuer)[0]
    return made


@contextmanager
def encrypted_nats(folder: Path, certificates: dict[str, Certificate]) -> Iterator[EncryptedNats]:
    home = folder / "nats"
    home.mkdir()
    server = EncryptedNats(home, free_port(), certificates["server"], certificates["authority"].certificate)
    process = ChildProcess(server.command(), log=home / "log")
    try:
        server.wait_ready(READY_TIMEOUT_S)
        yield server
    finally:
        process.stop()


def endpoint(port: int, ca: Path, client: Certificate | None) -> BusEndpoint:
    settings = BusSettings.model_validate(
        {
            "environment": "production",
            "nats_url": f"tls://127.0.0.1:{port}",
            "nats_ca": ca,
            "nats_certificate": client and client.certificate,
            "nats_key": client and client.key,
            "nats_password": PASSWORD,
        }
    )
    return settings.bus(WALLET)


async def refused(bus_endpoint: BusEndpoint) -> BaseException:
    """Returns what the first attempt to connect fails with."""
    failed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    class Client(BusClient):
        async def _select_next_server(self) -> None:
            if failed.done():
                await asyncio.Event().wait()
            await super()._select_next_server()

        async def _process_connect_init(self) -> None:
            try:
                await super()._process_connect_init()
            except BaseException as failure:
                if not failed.done():
                    failed.set_result(failure)
                raise

    client = Client()
    connecting = asyncio.create_task(connect(bus_endpoint, "a test", client=client))
    async with asyncio.timeout(TIMEOUT_S):
        failure = await failed
    connecting.cancel()
    await asyncio.gather(connecting, return_exceptions=True)
    await client.close()
    return failure


async def test_g12_a_process_with_a_certificate_works_over_tls(
    tmp_path: Path, certificates: dict[str, Certificate]
) -> None:
    with encrypted_nats(tmp_path, certificates) as server:
        ca = certificates["authority"].certificate
        bus = await connect(endpoint(server.port, ca, certificates["client"]), "a test")
        answer = await bus.request(f"{API_PREFIX}.STREAM.INFO.{FACTS_STREAM}", timeout=TIMEOUT_S)
        assert b"stream not found" in answer.data
        await bus.close()


async def test_g12_a_server_that_the_authority_has_not_signed_is_sent_nothing(
    tmp_path: Path, certificates: dict[str, Certificate]
) -> None:
    with encrypted_nats(tmp_path, certificates) as server:
        failure = await refused(endpoint(server.port, certificates["other"].certificate, certificates["client"]))
    assert isinstance(failure, ssl.SSLCertVerificationError)


@asynccontextmanager
async def open_server(received: bytearray) -> AsyncIterator[int]:
    """A server, or somebody in between, that does not offer TLS and writes down what it is sent."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id":"x","version":"2.15.0","max_payload":1048576,"auth_required":true}\r\n')
        while data := await reader.read(4096):
            received.extend(data)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()


async def test_g12_a_server_without_tls_is_sent_no_password(certificates: dict[str, Certificate]) -> None:
    received = bytearray()
    async with open_server(received) as port:
        failure = await refused(endpoint(port, certificates["authority"].certificate, None))
    assert "does not offer TLS" in str(failure)
    assert bytes(received) == b""
