"""A key that signs tokens: the secret half as its owner stores it, the public half as it is published (JWKS)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

ALGORITHM = "EdDSA"


class NoSigningKey(Exception):
    """The file does not hold a key of the right kind; `str()` says which file."""


class SigningKey:
    """An Ed25519 key."""

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self._public = jwt.algorithms.OKPAlgorithm.to_jwk(private.public_key(), as_dict=True)
        # Derived from the key: once a new key is made, an old token names one that is not published any more.
        self.key_id: str = self._public["x"][:16]

    @classmethod
    def make(cls) -> SigningKey:
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def read(cls, path: Path) -> SigningKey:
        """Reads a PEM file (PKCS #8, not encrypted)."""
        try:
            private = load_pem_private_key(path.read_bytes(), password=None)
        except (OSError, ValueError, TypeError) as unusable:
            raise NoSigningKey(f"{path} holds no private key: {unusable}") from unusable
        if not isinstance(private, Ed25519PrivateKey):
            raise NoSigningKey(f"{path} holds another kind of key than Ed25519.")
        return cls(private)

    def pem(self) -> bytes:
        """Returns the secret half, as `read` reads it."""
        return self._private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def jwks(self) -> str:
        """Returns the public half, as verifiers read it."""
        published = {**self._public, "kid": self.key_id, "use": "sig", "alg": ALGORITHM}
        return json.dumps({"keys": [published]}, indent=2)

    def sign(self, claims: Mapping[str, object]) -> str:
        """Returns a token with these claims."""
        return jwt.encode(dict(claims), self._private, algorithm=ALGORITHM, headers={"kid": self.key_id})
