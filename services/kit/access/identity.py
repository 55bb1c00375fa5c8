"""Who is calling: verifies the bearer token of a call against the keys that its issuer publishes."""

from __future__ import annotations

import hashlib
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt

from services.kit.access.published_keys import ALGORITHMS, PublishedKeys

# A token that was verified once is remembered for as long as its key is published; the one that was used longest ago is
# forgotten first (G11). More than a gateway has connections, or each that comes back would cost a signature.
VERIFIED_TOKENS_LIMIT = 60_000
TOKEN_CHARACTERS_LIMIT = 8 * 1024
SUBJECT_CHARACTERS_LIMIT = 128
CLOCK_SKEW_S = 30

PLAYER, DEMO, OPERATOR, GAME = "player", "demo", "operator", "game"
# What SCOPE_PLAYER in the protos stands for. For the ids of `demo` no account for money is ever opened.
PLAYER_SCOPES = frozenset({PLAYER, DEMO})
DEMO_ID_PREFIX = "demo-"
_DEMO_ID = re.compile(r"demo-[a-z0-9]{8,40}")


@dataclass(frozen=True, slots=True)
class Caller:
    """The bearer of an authentic token."""

    subject: str
    scopes: frozenset[str]
    expires_at: float
    issued_at: float = 0.0
    """0 where the token does not say."""
    token_id: str = ""
    """Stands for this very token: its `jti`, or a digest of it."""

    def expired(self, now: float) -> bool:
        return now > self.expires_at + CLOCK_SKEW_S

    @property
    def player_id(self) -> str | None:
        """The player he is, if he is one."""
        return self.subject if self.scopes & PLAYER_SCOPES else None


# Who calls what is there for everybody, and does not say who he is.
ANONYMOUS = Caller("", frozenset(), 0.0)


class TokenInvalid(Exception):
    """There is no token, or it is not one of the issuer's."""


class _KeyUnknown(TokenInvalid):
    """Perhaps the issuer has a new one."""


class KeysUnavailable(Exception):
    """It cannot be told whether the token is authentic: the issuer's keys are not known (G12)."""


@dataclass(frozen=True, slots=True)
class TrustedIssuer:
    """Somebody who issues tokens."""

    keys_location: str
    """The path or the address of his keys."""
    issuer: str = ""
    """What his tokens have to say as `iss`; empty if that is not looked at."""
    demo_only: bool = False
    """He lets visitors in to try, and can make nobody anything else."""


class _Issuer:
    """A source and its keys."""

    def __init__(self, source: TrustedIssuer, elapsed: Callable[[], float]) -> None:
        self.source = source
        self.published = PublishedKeys(source.keys_location, elapsed)


class TokenVerifier:
    """Checks tokens against the keys that are published at this moment, or were shortly before."""

    def __init__(
        self,
        issuers: Path | Sequence[TrustedIssuer],
        audience: str,
        wall_time: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """A path is one issuer's JWKS file. Where two sources name a key alike, it is the first one's."""
        given = [TrustedIssuer(str(issuers))] if isinstance(issuers, Path) else issuers
        self._issuers = [_Issuer(source, monotonic) for source in given]
        self._audience = audience
        self._wall_time = wall_time
        self._elapsed = monotonic
        self._look_at = self._next_look()
        self._keys: list[Mapping[str, jwt.PyJWK]] = []
        self._verified: OrderedDict[str, Caller] = OrderedDict()

    def now(self) -> float:
        return self._wall_time()

    def has_verified(self, token: str) -> bool:
        """Whether the token was verified before, as far as is remembered."""
        return token in self._verified

    async def authenticate(self, token: str) -> Caller:
        """The token's bearer, by keys that are looked up if need be."""
        if self._elapsed() >= self._look_at:
            for issuer in self._issuers:
                await issuer.published.refresh_if_due()
            self._look_at = self._next_look()
        known = self._verified.get(token)
        if known is not None and self._keys_are_the_same():
            self._verified.move_to_end(token)
            return known
        try:
            return self.verify(token)
        except _KeyUnknown:
            for issuer in self._issuers:
                await issuer.published.refresh_now()
        try:
            return self.verify(token)
        except _KeyUnknown:
            if any(issuer.published.expired for issuer in self._issuers):
                raise KeysUnavailable from None
            raise

    def verify(self, token: str) -> Caller:
        """The token's bearer, by keys that are known.

        Expiry is the callee's to judge, for some methods accept an expired token (G12).
        """
        if not self._keys_are_the_same():
            # Whoever was let in by a key that is not published any more is not let in again.
            self._keys = [issuer.published.keys for issuer in self._issuers]
            self._verified.clear()
        known = self._verified.get(token)
        if known is not None:
            self._verified.move_to_end(token)
            return known
        caller = self._verify_signature(token)
        self._verified[token] = caller
        if len(self._verified) > VERIFIED_TOKENS_LIMIT:
            self._verified.popitem(last=False)
        return caller

    def _keys_are_the_same(self) -> bool:
        known = self._keys
        if len(known) != len(self._issuers):
            return False
        return all(keys is issuer.published.keys for keys, issuer in zip(known, self._issuers, strict=True))

    def _next_look(self) -> float:
        return min((issuer.published.next_refresh_at() for issuer in self._issuers), default=math.inf)

    def _verify_signature(self, token: str) -> Caller:
        if len(token) > TOKEN_CHARACTERS_LIMIT:
            raise TokenInvalid(f"The token has more than {TOKEN_CHARACTERS_LIMIT} characters.")
        if not token.isascii():
            raise TokenInvalid("The token has characters that no token has.")
        try:
            source, key = self._key(str(jwt.get_unverified_header(token).get("kid", "")))
            claims = jwt.decode(
                token,
                key,
                algorithms=list(ALGORITHMS),
                audience=self._audience,
                issuer=source.issuer or None,
                # Times are judged by our own clock, below.
                options={
                    "require": ["exp", "sub", "aud"],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.InvalidTokenError as invalid:
            raise TokenInvalid(f"The token is not authentic: {invalid}.") from invalid
        return self._caller(source, token, claims)

    def _key(self, key_id: str) -> tuple[TrustedIssuer, jwt.PyJWK]:
        for issuer in self._issuers:
            key = issuer.published.keys.get(key_id)
            if key is not None:
                return issuer.source, key
        raise _KeyUnknown("The token is signed with a key that the issuer does not publish.")

    def _caller(self, source: TrustedIssuer, token: str, claims: Mapping[str, Any]) -> Caller:
        subject, said = claims["sub"], claims.get("scope", "")
        if not isinstance(said, str) or not 0 < len(subject) <= SUBJECT_CHARACTERS_LIMIT:
            raise TokenInvalid("The token does not say in words who it is for and what he may do.")
        scopes = frozenset(said.split())
        if source.demo_only and scopes != {DEMO}:
            raise TokenInvalid("The token's issuer may let in visitors of demonstrations and nobody else.")
        if DEMO in scopes and (scopes != {DEMO} or _DEMO_ID.fullmatch(subject) is None):
            raise TokenInvalid("The scope `demo` stands alone, and its bearer's id begins with `demo-`.")
        latest = self._wall_time() + CLOCK_SKEW_S
        issued_at = _moment(claims, "iat")
        if issued_at > latest or _moment(claims, "nbf") > latest:
            raise TokenInvalid("The token is not valid yet.")
        token_id = claims.get("jti") or hashlib.sha256(token.encode()).hexdigest()
        return Caller(subject, scopes, _moment(claims, "exp"), issued_at, str(token_id))


def _moment(claims: Mapping[str, Any], name: str) -> float:
    """A time in seconds; 0 if the token has none of this name."""
    value = claims.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        raise TokenInvalid(f"The token's `{name}` is no time.")
    return float(value)
