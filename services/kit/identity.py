"""Who is calling: verifies the bearer token of a call against the issuer's published keys."""

import json
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jwt

# A token that was verified once is remembered until it expires; the oldest one is forgotten first (G11).
VERIFIED_TOKENS_LIMIT = 10_000
ALGORITHMS = ["EdDSA", "ES256", "RS256", "PS256"]
CLOCK_SKEW_S = 30


@dataclass(frozen=True, slots=True)
class Caller:
    """The bearer of an authentic token."""

    subject: str
    scopes: frozenset[str]
    expires_at: float

    def expired(self, now: float) -> bool:
        return now > self.expires_at + CLOCK_SKEW_S


# Who calls what is there for everybody, and does not say who he is.
NOBODY = Caller("", frozenset(), 0.0)


class TokenInvalid(Exception):
    """There is no token, or it is not one of the issuer's."""


class TokenVerifier:
    """Checks tokens against a JWKS file, which is read again when a token names a key it does not hold."""

    def __init__(self, jwks_file: Path, audience: str, wall_time: Callable[[], float] = time.time) -> None:
        self._jwks_file = jwks_file
        self._audience = audience
        self._wall_time = wall_time
        self._keys = self._read_keys()
        self._verified: OrderedDict[str, Caller] = OrderedDict()

    def now(self) -> float:
        return self._wall_time()

    def verify(self, token: str) -> Caller:
        """The token's bearer. Expiry is the callee's to judge, for some methods accept an expired token (G12)."""
        known = self._verified.get(token)
        if known is not None:
            return known
        caller = self._verify_signature(token)
        self._verified[token] = caller
        if len(self._verified) > VERIFIED_TOKENS_LIMIT:
            self._verified.popitem(last=False)
        return caller

    def _verify_signature(self, token: str) -> Caller:
        try:
            key_id = str(jwt.get_unverified_header(token).get("kid", ""))
            key = self._keys.get(key_id)
            if key is None:
                self._keys = self._read_keys()
                key = self._keys.get(key_id)
            if key is None:
                raise TokenInvalid("The token is signed with a key that the issuer does not publish.")
            claims = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._audience,
                leeway=CLOCK_SKEW_S,
                options={"require": ["exp", "sub", "aud"], "verify_exp": False},
            )
        except jwt.InvalidTokenError as invalid:
            raise TokenInvalid(f"The token is not authentic: {invalid}.") from invalid
        return Caller(str(claims["sub"]), frozenset(str(claims.get("scope", "")).split()), float(claims["exp"]))

    def _read_keys(self) -> dict[str, jwt.PyJWK]:
        published = jwt.PyJWKSet.from_dict(json.loads(self._jwks_file.read_text()))
        return {key.key_id: key for key in published.keys if key.key_id}
