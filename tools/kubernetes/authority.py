"""A certificate authority in a folder: makes its key once, and issues the certificates that are missing."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from stack.data_folder import write_private

AUTHORITY_LIFETIME = timedelta(days=10 * 365)
CERTIFICATE_LIFETIME = timedelta(days=365)
# A clock that is a little behind must not refuse a certificate of this moment.
_CLOCK_TOLERANCE = timedelta(hours=1)

_SIGNS_CERTIFICATES = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
_PEM = serialization.Encoding.PEM


@dataclass(frozen=True, slots=True)
class IssuedCertificate:
    """A certificate and its key, as PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """One authority: `ca.crt`, `ca.key`, and two files for each certificate that it has issued."""

    def __init__(self, home: Path, name: str) -> None:
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._home = home
        if not (home / "ca.crt").exists():
            # Authorities that take turns have different names: some libraries look for one by its name alone.
            self._make(f"{name} {secrets.token_hex(4)}")
        self.certificate = (home / "ca.crt").read_bytes()
        self._subject = x509.load_pem_x509_certificate(self.certificate).subject
        key = serialization.load_pem_private_key((home / "ca.key").read_bytes(), None)
        assert isinstance(key, ec.EllipticCurvePrivateKey), "made below"  # noqa: S101
        self._key = key

    def issue(self, name: str, dns_names: Sequence[str]) -> IssuedCertificate:
        """Returns the certificate of this name, issued now if there is none; remove its files to have another."""
        certificate_file, key_file = self._home / f"{name}.crt", self._home / f"{name}.key"
        if not certificate_file.exists():
            key = ec.generate_private_key(ec.SECP256R1())
            certificate = (
                _builder(self._subject, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key.public_key())
                .add_extension(
                    x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False
                )
                .not_valid_after(datetime.now(UTC) + CERTIFICATE_LIFETIME)
                .add_extension(x509.SubjectAlternativeName([x509.DNSName(dns) for dns in dns_names]), critical=False)
                .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
                .add_extension(
                    x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
                    critical=False,
                )
                .sign(self._key, hashes.SHA256())
            )
            write_private(key_file, _pem_of(key))
            # Last: without it the pair is made again.
            write_private(certificate_file, certificate.public_bytes(_PEM))
        return IssuedCertificate(certificate_file.read_bytes(), key_file.read_bytes())

    def _make(self, name: str) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        certificate = (
            _builder(subject, subject, key.public_key())
            .not_valid_after(datetime.now(UTC) + AUTHORITY_LIFETIME)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_SIGNS_CERTIFICATES, critical=True)
            .sign(key, hashes.SHA256())
        )
        write_private(self._home / "ca.key", _pem_of(key))
        write_private(self._home / "ca.crt", certificate.public_bytes(_PEM))


def _builder(issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - _CLOCK_TOLERANCE)
        # Python 3.13 accepts no certificate without the identifiers of its key and of its authority's.
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _pem_of(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(_PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
