"""Which issuers a process trusts, one environment variable each, and the verifier of their tokens."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator
from pydantic_settings import SettingsConfigDict

from services.kit.access.identity import GAME_TOKEN_LIFETIME_LIMIT_S, TokenVerifier, TrustedIssuer
from services.kit.access.published_keys import is_url
from services.kit.settings import Environment, EnvironmentSettings


def _check_keys(value: object) -> str:
    location = str(value)
    if not is_url(location) and not Path(location).is_file():
        raise ValueError("has to be an existing file, or an http(s) address")
    return location


KeysLocation = Annotated[str, BeforeValidator(_check_keys)]


class TokenSettings(EnvironmentSettings):
    """The settings of every process that verifies tokens."""

    model_config = SettingsConfigDict(extra="ignore", frozen=True, env_ignore_empty=True, populate_by_name=True)

    # Where the operator's issuer publishes its keys (JWKS).
    issuer_jwks: KeysLocation = Field(validation_alias="FELTRO_ISSUER_JWKS")
    issuer_audience: str = Field("feltro", validation_alias="FELTRO_ISSUER_AUDIENCE", min_length=1)
    # The `iss` that its tokens must have; empty: it is not checked.
    issuer: str = Field("", validation_alias="FELTRO_ISSUER")
    # Where the gateway publishes its key for guests of demonstrations; without it there are none.
    demo_jwks: KeysLocation | None = Field(None, validation_alias="FELTRO_DEMO_JWKS")

    @model_validator(mode="after")
    def _verify_production_locations(self) -> TokenSettings:
        if self.environment is Environment.PRODUCTION:
            for name, location in self.key_locations():
                if location is not None and location.startswith("http://"):
                    raise ValueError(
                        f"{name} has to be a file or an https address where FELTRO_ENVIRONMENT is `production`:"
                        " a stranger who can change the keys on their way can be anybody"
                    )
        return self

    def key_locations(self) -> list[tuple[str, str | None]]:
        """Returns where keys are read from, each with the variable that says so."""
        return [("FELTRO_ISSUER_JWKS", self.issuer_jwks), ("FELTRO_DEMO_JWKS", self.demo_jwks)]

    def issuers(self) -> list[TrustedIssuer]:
        """Returns the issuers whose tokens this process accepts."""
        trusted = [TrustedIssuer(self.issuer_jwks, self.issuer)]
        if self.demo_jwks is not None:
            trusted.append(TrustedIssuer(self.demo_jwks, demo_only=True))
        return trusted

    def verifier(self) -> TokenVerifier:
        """Returns the verifier of these issuers' tokens."""
        limit_s = GAME_TOKEN_LIFETIME_LIMIT_S if self.environment is Environment.PRODUCTION else math.inf
        return TokenVerifier(self.issuers(), self.issuer_audience, game_token_lifetime_limit_s=limit_s)
