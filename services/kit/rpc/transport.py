"""How the platform's processes connect to each other: over mutual TLS, or in plain text where it is switched off."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

DEFAULT_DOMAIN = "feltro"

ChannelOptions = Sequence[tuple[str, Any]]
# gRPC would send calls through the proxy that the environment names for addresses outside.
_DIRECT = ("grpc.enable_http_proxy", 0)
# A connection whose other end has gone without a word (its machine is down, its network is cut) stays open for a
# quarter of an hour, and every call over it waits: so both ends ask whether the other is there, and give up soon.
_ASK_EVERY_S, _ANSWER_WITHIN_S = 3, 3
KEEPALIVE: ChannelOptions = (
    ("grpc.keepalive_time_ms", _ASK_EVERY_S * 1000),
    ("grpc.keepalive_timeout_ms", _ANSWER_WITHIN_S * 1000),
    # Between calls, too; and a server takes this from its clients as often as it comes.
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.max_ping_strikes", 0),
)
# The names of a peer's certificate in gRPC's view of a connection.
_PEER_NAMES = "x509_subject_alternative_name"

_log = logging.getLogger(__name__)


class CertificatesUnusable(Exception):
    """The certificates cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Certificates:
    """What a process trusts and shows, as PEM."""

    authority: bytes
    certificate: bytes
    key: bytes


@dataclass(frozen=True, slots=True)
class CertificateFiles:
    """Where the certificates of a process are."""

    authority: Path
    """The certificate of the platform's authority (CA): every peer has to show one that it issued."""
    certificate: Path
    """The process' own, with those between it and the authority."""
    key: Path

    def read(self) -> Certificates:
        """Reads the files; raises `CertificatesUnusable` if they are unreadable or do not belong together."""
        try:
            read = Certificates(self.authority.read_bytes(), self.certificate.read_bytes(), self.key.read_bytes())
            x509.load_pem_x509_certificates(read.authority)
            own = x509.load_pem_x509_certificates(read.certificate)[0]
            key = load_pem_private_key(read.key, None)
        except (OSError, ValueError, TypeError, UnsupportedAlgorithm) as unreadable:
            files = f"{self.authority}, {self.certificate} and {self.key}"
            raise CertificatesUnusable(f"{files} are not two certificates and a key (PEM): {unreadable}") from None
        if own.public_key() != key.public_key():
            raise CertificatesUnusable(f"the key in {self.key} is not that of the certificate in {self.certificate}")
        return read


class Transport:
    """Listens and connects, always in the same way."""

    def __init__(self, files: CertificateFiles | None = None, domain: str = DEFAULT_DOMAIN) -> None:
        """Without files in plain text; the certificate of the service `wallet` has the name `wallet.<domain>`."""
        self._files = files
        self._domain = domain
        self._certificates = None if files is None else files.read()
        self._unusable = ""
        # gRPC refers to them for as long as a server listens, and does not keep them itself.
        self._server_credentials: list[grpc.ServerCredentials] = []

    @property
    def is_secure(self) -> bool:
        """Whether peers have to prove who they are."""
        return self._files is not None

    def certificates(self) -> Certificates | None:
        """Returns the certificates as the files hold them now, or the last usable ones; None in plain text."""
        if self._files is None:
            return None
        try:
            self._certificates = self._files.read()
            self._unusable = ""
        except CertificatesUnusable as unusable:
            # Files are replaced one after the other: a pair that does not match yet is read again the next time.
            if str(unusable) != self._unusable:
                _log.warning("new certificates cannot be used, and the last ones stay", extra={"error": str(unusable)})
                self._unusable = str(unusable)
        return self._certificates

    def listen(self, server: grpc.aio.Server, address: str) -> int:
        """Lets a server listen, and returns its port; every handshake reads the certificates again."""
        if self._files is None:
            return server.add_insecure_port(address)
        shown = self.certificates()

        def replacement() -> grpc.ServerCertificateConfiguration | None:
            # Nothing while the files are the same: gRPC would replace the certificates while other handshakes use them,
            # and a process to which many connect at once has crashed over that.
            nonlocal shown
            current = self.certificates()
            if current == shown:
                return None
            shown = current
            return _server_configuration(current)

        credentials = grpc.dynamic_ssl_server_credentials(
            _server_configuration(shown),
            replacement,  # type: ignore[arg-type]  # None is "as before", which the stubs leave out
            require_client_authentication=True,
        )
        self._server_credentials.append(credentials)
        return server.add_secure_port(address, credentials)

    def open_channel(self, address: str, service: str, options: ChannelOptions = ()) -> grpc.aio.Channel:
        """Opens a channel; over TLS the process at the address has to show the certificate of the service."""
        certificates = self.certificates()
        if certificates is None:
            return grpc.aio.insecure_channel(address, options=[*options, *KEEPALIVE, _DIRECT])
        if not service:
            raise ValueError("name the service that answers at the address: its certificate has to be checked")
        credentials = grpc.ssl_channel_credentials(certificates.authority, certificates.key, certificates.certificate)
        expected = ("grpc.ssl_target_name_override", self.name_of(service))
        return grpc.aio.secure_channel(address, credentials, options=[*options, *KEEPALIVE, _DIRECT, expected])

    def name_of(self, service: str) -> str:
        """Returns the name that the certificate of a service has to have."""
        return f"{service}.{self._domain}"

    def refusal_of_caller(self, context: grpc.aio.ServicerContext[Any, Any], callers: Collection[str]) -> str:
        """Says why the process that makes a call may not; empty if it may.

        `callers` are the services that may call; without any, every service of the platform may.
        """
        if self._files is None:
            return ""
        names = {name.decode() for name in context.auth_context().get(_PEER_NAMES, ())}
        if names & {self.name_of(caller) for caller in callers}:
            return ""
        if not callers and any(name.endswith(f".{self._domain}") for name in names):
            return ""
        accepted = ", ".join(self.name_of(caller) for caller in sorted(callers)) or f"any name under .{self._domain}"
        return f"The caller's certificate has to have another name here: {accepted}."


def _server_configuration(certificates: Certificates | None) -> grpc.ServerCertificateConfiguration:
    if certificates is None:
        raise CertificatesUnusable("a transport without files has no certificates")
    pair = (certificates.key, certificates.certificate)
    return grpc.ssl_server_certificate_configuration([pair], certificates.authority)


# What development and tests use unless they bring certificates.
PLAINTEXT = Transport()


class PeerChannel:
    """A channel to one process, which is opened again once the certificates have changed."""

    def __init__(self, transport: Transport, address: str, service: str, options: ChannelOptions) -> None:
        self._transport = transport
        self._address = address
        self._service = service
        self._options = options
        self._certificates = transport.certificates()
        self._channel = transport.open_channel(address, service, options)

    async def current(self) -> grpc.aio.Channel:
        """Returns the channel for the next connection; over an older one nothing more can be called."""
        certificates = self._transport.certificates()
        if certificates != self._certificates:
            await self._channel.close()
            self._certificates = certificates
            self._channel = self._transport.open_channel(self._address, self._service, self._options)
        return self._channel

    async def close(self) -> None:
        await self._channel.close()
