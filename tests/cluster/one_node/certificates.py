"""The certificates and kubeconfigs of the cluster's own parts, made anew for each start."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFETIME = timedelta(days=2)
# Who each part is to the API server: its name, and its group.
PARTS = {
    "apiserver": ("kube-apiserver", ""),
    "kubelet-client": ("kube-apiserver-kubelet-client", "system:masters"),
    "admin": ("admin", "system:masters"),
    "controller-manager": ("system:kube-controller-manager", ""),
    "scheduler": ("system:kube-scheduler", ""),
    "proxy": ("system:kube-proxy", ""),
    "node": ("system:node:node1", "system:nodes"),
}
_PEM = serialization.Encoding.PEM
_NAMES = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "localhost", "node1")


def make(home: Path, address: str, service_address: str) -> None:
    """Writes a certificate, a key and a kubeconfig for each part, and the key of service accounts."""
    home.mkdir(parents=True)
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "one node")])
    authority = (
        _builder(issuer, issuer, key.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (home / "ca.crt").write_bytes(authority.public_bytes(_PEM))
    _write_key(home / "ca.key", key)
    for part, (name, group) in PARTS.items():
        own = ec.generate_private_key(ec.SECP256R1())
        groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group)] if group else []
        subject = x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = [x509.DNSName(dns) for dns in _NAMES]
        addresses = [x509.IPAddress(ip_address(each)) for each in ("127.0.0.1", address, service_address)]
        certificate = (
            _builder(issuer, subject, own.public_key())
            .add_extension(x509.SubjectAlternativeName([*names, *addresses]), critical=False)
            .add_extension(
                x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]),
                critical=False,
            )
            .sign(key, hashes.SHA256())
        )
        (home / f"{part}.crt").write_bytes(certificate.public_bytes(_PEM))
        _write_key(home / f"{part}.key", own)
        (home / f"{part}.kubeconfig").write_text(json.dumps(_kubeconfig(home, part, address)))
    accounts = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    _write_key(home / "accounts.key", accounts)
    form = serialization.PublicFormat.SubjectPublicKeyInfo
    (home / "accounts.pub").write_bytes(accounts.public_key().public_bytes(_PEM, form))


def _kubeconfig(home: Path, part: str, address: str) -> dict[str, object]:
    server = {"server": f"https://{address}:6443", "certificate-authority": str(home / "ca.crt")}
    user = {"client-certificate": str(home / f"{part}.crt"), "client-key": str(home / f"{part}.key")}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "one-node", "cluster": server}],
        "users": [{"name": part, "user": user}],
        "contexts": [{"name": part, "context": {"cluster": "one-node", "user": part}}],
        "current-context": part,
    }


def _builder(issuer: x509.Name, subject: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .issuer_name(issuer)
        .subject_name(subject)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - LIFETIME)
        .not_valid_after(now + LIFETIME)
    )


def _write_key(file: Path, key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> None:
    form, no_password = serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    file.touch(mode=0o600)
    file.write_bytes(key.private_bytes(_PEM, form, no_password))
