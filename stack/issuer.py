"""The operator's token issuer, as far as development needs one: a key, its public half, and signed tokens."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from services.kit.settings import load_or_exit
from stack.folder import Folder
from stack.settings import StackSettings

ISSUER = "feltro-development"
AUDIENCE = "feltro"
SCOPES = ("operator", "game", "player")
DEFAULT_MINUTES = 60
# Longer than a platform for development is left running.
SERVICE_TOKEN_MINUTES = 60 * 24 * 400


class DevelopmentIssuer:
    """Signs tokens with a key that never leaves the data folder."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._key_file = home / "key.pem"
        self.jwks = home / "jwks.json"

    def prepare(self) -> None:
        """Make the key on first use, and publish its public half beside it."""
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self._key_file.exists():
            made = Ed25519PrivateKey.generate()
            _write(self._key_file, made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()), 0o600)
        public = jwt.algorithms.OKPAlgorithm.to_jwk(self._key().public_key(), as_dict=True)
        published = {"keys": [{**public, "kid": _key_id(public), "use": "sig", "alg": "EdDSA"}]}
        _write(self.jwks, json.dumps(published, indent=2).encode(), 0o644)

    def token(self, scopes: Sequence[str], subject: str, minutes: int = DEFAULT_MINUTES) -> str:
        """A signed token; for the scope `player` the subject is the player's id."""
        self.prepare()
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "scope": " ".join(scopes), "iat": now}
        claims |= {"exp": now + minutes * 60, "jti": secrets.token_hex(16)}
        key = self._key()
        public = jwt.algorithms.OKPAlgorithm.to_jwk(key.public_key(), as_dict=True)
        return jwt.encode(claims, key, algorithm="EdDSA", headers={"kid": _key_id(public)})

    def service_token(self, service: str) -> Path:
        """A file with the token that a game service calls others with; made anew at each start of the platform."""
        path = self._home / f"{service}.token"
        _write(path, self.token(["game"], service, SERVICE_TOKEN_MINUTES).encode(), 0o600)
        return path

    def _key(self) -> Ed25519PrivateKey:
        key = load_pem_private_key(self._key_file.read_bytes(), password=None)
        if not isinstance(key, Ed25519PrivateKey):
            raise TypeError(f"{self._key_file} holds another kind of key: remove it, and a new one is made.")
        return key


def token_command(argv: list[str]) -> int:
    """`feltro token`: print a token."""
    parser = argparse.ArgumentParser(prog="feltro token", description="Print a token of the development issuer.")
    parser.add_argument("--scope", action="append", choices=SCOPES, required=True, help="may be given more than once")
    parser.add_argument("--subject", help="who it is for; with the scope player, the player's id")
    parser.add_argument("--minutes", type=int, default=DEFAULT_MINUTES, help=f"how long it holds ({DEFAULT_MINUTES})")
    chosen = parser.parse_args(argv)
    if "player" in chosen.scope and not chosen.subject:
        parser.error("a player's token needs --subject, his player id")
    if chosen.minutes < 1:
        parser.error("--minutes must be 1 or more")
    folder = Folder(load_or_exit(StackSettings).data)
    try:
        folder.prepare()
        issued = DevelopmentIssuer(folder.issuer).token(chosen.scope, chosen.subject or "developer", chosen.minutes)
    except (RuntimeError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    print(issued)
    return 0


def _key_id(public: dict[str, str]) -> str:
    # Derived from the key: after a new key is made an old token names a key that is not published any more.
    return public["x"][:16]


def _write(path: Path, content: bytes, mode: int) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    fresh.replace(path)
