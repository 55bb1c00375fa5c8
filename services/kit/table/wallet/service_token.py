"""The token with which a game service calls other services: read from a file, or signed by the service itself."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from pydantic import Field, FilePath, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.access.identity import GAME
from services.kit.access.signing_key import NoSigningKey, SigningKey
from services.kit.settings import ServiceSettings

# The life of a token that a service signs for itself, and when it signs the next: a token that is sent has half of its
# life before it.
SIGNED_TOKEN_LIFETIME_S = 600
RENEW_AFTER_S = SIGNED_TOKEN_LIFETIME_S / 2

Metadata = tuple[tuple[str, str], ...]


class TokenSource(Protocol):
    """Has a valid token at any time."""

    def metadata(self) -> Metadata:
        """Returns the metadata of a call, with a token that has not expired."""


class ServiceTokenSettings(ServiceSettings):
    """Where a game's process has its token from: a file that the operator keeps fresh, or a key of its own."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    issuer_audience: str = Field("feltro", validation_alias="FELTRO_ISSUER_AUDIENCE", min_length=1)
    # A token of scope `game`, written anew before it expires.
    token_file: FilePath | None = None
    # A key (PEM, Ed25519) with which the service signs tokens of its own; the wallet knows its public half.
    signing_key: FilePath | None = None

    @model_validator(mode="after")
    def _check_token(self) -> ServiceTokenSettings:
        if (self.token_file is None) == (self.signing_key is None):
            names = self.variable_name("signing_key"), self.variable_name("token_file")
            raise ValueError(
                f"{names[0]} has to be set, or {names[1]}, and not both: the wallet is called with a token"
            )
        if self.signing_key is not None:
            try:
                SigningKey.read(self.signing_key)
            except NoSigningKey as unusable:
                raise ValueError(f"{self.variable_name('signing_key')} is unusable: {unusable}") from None
        return self

    def token_source(self, game: str) -> TokenSource:
        """Returns the source of the tokens of this game's service."""
        if self.signing_key is not None:
            return SignedToken(SigningKey.read(self.signing_key), game, self.issuer_audience)
        assert self.token_file is not None, "checked above"  # noqa: S101
        return ServiceToken(self.token_file)


class SignedToken:
    """Signs a token when the last one is half as old as it may become."""

    def __init__(self, key: SigningKey, game: str, audience: str, wall_time: Callable[[], float] = time.time) -> None:
        self._key = key
        self._game = game
        self._audience = audience
        self._wall_time = wall_time
        self._signed_at = float("-inf")
        self._metadata: Metadata = ()

    def metadata(self) -> Metadata:
        now = self._wall_time()
        # A clock that was set back makes a token of the future, which nobody accepts.
        if not self._signed_at <= now < self._signed_at + RENEW_AFTER_S:
            self._metadata, self._signed_at = (("authorization", f"Bearer {self._sign(int(now))}"),), now
        return self._metadata

    def _sign(self, now: int) -> str:
        return self._key.sign(
            {
                "aud": self._audience,
                "sub": self._game,
                "scope": GAME,
                "game": self._game,
                "iat": now,
                "exp": now + SIGNED_TOKEN_LIFETIME_S,
                "jti": secrets.token_hex(16),
            }
        )


class ServiceToken:
    """Reads the token from its file, and again whenever the file changes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read_at = 0
        self._metadata: Metadata = ()

    def metadata(self) -> Metadata:
        changed_at = self._path.stat().st_mtime_ns
        if changed_at != self._read_at:
            self._metadata = (("authorization", f"Bearer {self._path.read_text().strip()}"),)
            self._read_at = changed_at
        return self._metadata
