"""A certificate authority for tests of mutual TLS, and the certificates that it issues."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from services.kit.rpc.transport import CertificateFiles, Transport

_VALID_FOR = timedelta(days=2)
_AUTHORITY_USAGE = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    **dict.fromkeys(
        (
            "digital_signature",
            "content_commitment",
            "key_encipherment",
            "data_encipherment",
            "key_agreement",
            "encipher_only",
            "decipher_only",
        ),
        False,
    ),
)


class CertificateAuthority:
    """Issues certificates, each into a folder of its own."""

    def __init__(self, home: Path) -> None:
        home.mkdir(parents=True, exist_ok=True)
        self._home = home
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"authority {home.name}")])
        certificate = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_AUTHORITY_USAGE, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.file = home / "ca.pem"
        self.file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))

    def issue(self, name: str, folder: str = "", also: Iterable[str] = ()) -> CertificateFiles:
        """Issues a certificate for a name such as `wallet.feltro`, and others; another one replaces it."""
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = (
            self._builder(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key.public_key())
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(each) for each in (name, *also)]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        home = self._home / (folder or name)
        home.mkdir(exist_ok=True)
        files = CertificateFiles(home / "ca.pem", home / "certificate.pem", home / "key.pem")
        files.authority.write_bytes(self.file.read_bytes())
        files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        encoding, no_password = serialization.Encoding.PEM, serialization.NoEncryption()
        files.key.write_bytes(key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, no_password))
        return files

    def transport(self, service: str) -> Transport:
        """Returns the transport of a process of this service."""
        return Transport(self.issue(f"{service}.feltro"))

    def variables(self, service: str) -> dict[str, str]:
        """Returns the settings of a process of this service."""
        files = self.issue(f"{service}.feltro")
        return {
            "FELTRO_GRPC_TLS_CA": str(files.authority),
            "FELTRO_GRPC_TLS_CERTIFICATE": str(files.certificate),
            "FELTRO_GRPC_TLS_KEY": str(files.key),
        }

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            # Python 3.13 and newer refuse a certificate that does not name its authority's key.
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .not_valid_before(now - _VALID_FOR)
            .not_valid_after(now + _VALID_FOR)
        )
