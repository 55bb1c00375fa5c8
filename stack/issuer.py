"""The token issuer of development, in place of the operator's: a key, its public half, and signed tokens."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from pathlib import Path

from services.kit.access.signing_key import SigningKey
from stack.data_folder import write_private

ISSUER = "feltro-development"
AUDIENCE = "feltro"
SCOPES = ("operator", "game", "player")
DEFAULT_MINUTES = 60


class NoIssuerHere(RuntimeError):
    """No run of the platform has made keys in this folder; the message says where, and what to do."""

    def __init__(self, key_file: Path) -> None:
        super().__init__(
            f"There is no {key_file}: no platform has run with this data folder, and none would accept a token from it."
            "\nStart the platform (`make run`), or set FELTRO_DATA to the data folder of the one that runs."
        )


class KeyFolder:
    """A private key, which never leaves the data folder, and its public half beside it."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self.key_file = home / "key.pem"
        self.jwks = home / "jwks.json"

    def prepare(self) -> None:
        """Makes the key on first use, and publishes its public half."""
        self._home.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not self.key_file.exists():
            write_private(self.key_file, SigningKey.make().pem())
        write_private(self.jwks, self.key().jwks().encode(), 0o644)

    def key(self) -> SigningKey:
        """Reads the key."""
        return SigningKey.read(self.key_file)


class DevelopmentIssuer:
    """Signs tokens for any player, operator or service."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._keys = KeyFolder(home)
        self.key_file = self._keys.key_file
        self.jwks = self._keys.jwks
        # The gateway's own, for players of demonstrations: in production a mounted secret.
        self.demo_keys = KeyFolder(home / "demo")

    def game_keys(self, game: str) -> KeyFolder:
        """The key with which a game's service signs its own tokens; made on first use."""
        keys = KeyFolder(self._home / "games" / game)
        keys.prepare()
        return keys

    def prepare(self) -> None:
        """Makes missing keys, and publishes the public halves."""
        self._keys.prepare()
        self.demo_keys.prepare()

    def token(self, scopes: Sequence[str], subject: str, minutes: float = DEFAULT_MINUTES) -> str:
        """Signs a token; the subject is the player's id with the scope `player`, and the game with the scope `game`."""
        self._require_keys()
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": subject, "scope": " ".join(scopes), "iat": now}
        claims |= {"exp": int(now + minutes * 60), "jti": secrets.token_hex(16)}
        if "game" in scopes:
            claims["game"] = subject
        return self._keys.key().sign(claims)

    def secret(self) -> bytes:
        """Bytes that only this platform knows, to seal cookies with."""
        self._require_keys()
        return self._keys.key().pem()

    def _require_keys(self) -> None:
        # New keys would sign tokens that nobody accepts.
        if not self._keys.key_file.exists():
            raise NoIssuerHere(self._keys.key_file)

    def service_token_file(self, game: str) -> Path:
        """Writes a token with which a game's service calls others for an hour, as an operator's issuer would."""
        path = self._home / f"{game}.token"
        write_private(path, self.token(["game"], game).encode())
        return path
