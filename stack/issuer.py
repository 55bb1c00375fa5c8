"""The operator's token issuer, as far as development needs one: a key, its public half, and signed tokens."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from services.kit.access.signing_key import NoSigningKey, SigningKey
from services.kit.settings import load_or_exit
from stack.data_folder import DataFolder
from stack.settings import StackSettings

ISSUER = "feltro-development"
AUDIENCE = "feltro"
SCOPES = ("operator", "game", "player")
DEFAULT_MINUTES = 60
# Longer than a platform for development is left running.
SERVICE_TOKEN_MINUTES = 60 * 24 * 400


class KeyFolder:
    """A key of the development stack, which never leaves the data folder, and its public half beside it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.key_file = home / "key.pem"
        self.jwks = home / "jwks.json"

    def prepare(self) -> None:
        """Make the key on first use, and publish its public half."""
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.key_file.exists():
            _write(self.key_file, SigningKey.make().pem(), 0o600)
        _write(self.jwks, self.key().jwks().encode(), 0o644)

    def key(self) -> SigningKey:
        return SigningKey.read(self.key_file)


class DevelopmentIssuer:
    """Signs tokens for whoever one wants to be."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._keys = KeyFolder(home)
        self.jwks = self._keys.jwks
        # The gateway's own, for visitors of demonstrations: in production a secret that is mounted.
        self.demo_keys = KeyFolder(home / "demo")

    def prepare(self) -> None:
        """Make what is missing, and publish the public halves."""
        self._keys.prepare()
        self.demo_keys.prepare()

    def token(self, scopes: Sequence[str], subject: str, minutes: float = DEFAULT_MINUTES) -> str:
        """A signed token; for the scope `player` the subject is the player's id."""
        self.prepare()
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "scope": " ".join(scopes), "iat": now}
        claims |= {"exp": int(now + minutes * 60), "jti": secrets.token_hex(16)}
        return self._keys.key().sign(claims)

    def secret(self) -> bytes:
        """What only this platform knows, for seals of its own."""
        self.prepare()
        return self._keys.key().pem()

    def service_token_file(self, service: str) -> Path:
        """A file with the token that a game service calls others with; made anew at each start of the platform."""
        path = self._home / f"{service}.token"
        _write(path, self.token(["game"], service, SERVICE_TOKEN_MINUTES).encode(), 0o600)
        return path


def token_command(argv: list[str]) -> int:
    """Prints a token of the development issuer."""
    parser = argparse.ArgumentParser(prog="feltro token", description="Print a token of the development issuer.")
    parser.add_argument("--scope", action="append", choices=SCOPES, required=True, help="may be given more than once")
    parser.add_argument("--subject", help="who it is for; with the scope player, the player's id")
    parser.add_argument("--minutes", type=int, default=DEFAULT_MINUTES, help=f"how long it holds ({DEFAULT_MINUTES})")
    chosen = parser.parse_args(argv)
    if "player" in chosen.scope and not chosen.subject:
        parser.error("a player's token needs --subject, his player id")
    if chosen.minutes < 1:
        parser.error("--minutes must be 1 or more")
    folder = DataFolder(load_or_exit(StackSettings).data)
    try:
        folder.prepare()
        issued = DevelopmentIssuer(folder.issuer).token(chosen.scope, chosen.subject or "developer", chosen.minutes)
    except (RuntimeError, OSError, NoSigningKey) as error:
        print(error, file=sys.stderr)
        return 1
    print(issued)
    return 0


def _write(path: Path, content: bytes, mode: int) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    fresh.replace(path)
