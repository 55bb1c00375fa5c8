"""The caller behind a bearer token, verified against the keys that the token's issuer publishes."""

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

# Verified tokens are cached for as long as their key is published, the least recently used one is dropped first (G11).
# More than a gateway has connections, or every client that comes back would cost a signature.
VERIFIED_TOKENS_LIMIT = 60_000
TOKEN_CHARACTERS_LIMIT = 8 * 1024
SUBJECT_CHARACTERS_LIMIT = 128
CLOCK_SKEW_S = 30
# The longest life of a token of scope `game` that production accepts: a stolen one places no bets after this. Settling
# and refunding accept an expired token (G12), so what it can pay is bounded elsewhere: to one game's tables, and by the
# wallet's limits of payouts.
GAME_TOKEN_LIFETIME_LIMIT_S = 3600

PLAYER, DEMO, OPERATOR, GAME = "player", "demo", "operator", "game"
# The scopes that SCOPE_PLAYER in the protos stands for. No account for money is ever opened for an id of `demo`.
PLAYER_SCOPES = frozenset({PLAYER, DEMO})
DEMO_ID_PREFIX = "demo-"
_DEMO_ID = re.compile(r"demo-[a-z0-9]{8,40}")
_GAME_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Caller:
    """The bearer of an authentic token."""

    subject: str
    scopes: frozenset[str]
    expires_at: float
    issued_at: float = 0.0
    """0 if the token has no `iat`."""
    token_id: str = ""
    """Names this one token: its `jti`, or a digest of it."""
    game: str = ""
    """The game whose tables a token of scope `game` acts on; empty for any other token."""

    def expired(self, now: float) -> bool:
        return now > self.expires_at + CLOCK_SKEW_S

    @property
    def player_id(self) -> str | None:
        """The player's id, if the caller is a player."""
        return self.subject if self.scopes & PLAYER_SCOPES else None


# Calls a public method without a token.
ANONYMOUS = Caller("", frozenset(), 0.0)


class TokenInvalid(Exception):
    """There is no token, or no trusted issuer has signed it."""


class _KeyUnknown(TokenInvalid):
    """The issuer may have published a new key."""


class KeysUnavailable(Exception):
    """The issuer's keys cannot be read, so no token of theirs is accepted (G12)."""


@dataclass(frozen=True, slots=True)
class TrustedIssuer:
    """An issuer whose tokens are accepted."""

    keys_location: str
    """The path or the address of the issuer's keys."""
    issuer: str = ""
    """The `iss` that tokens must have; empty if it is not checked."""
    demo_only: bool = False
    """The issuer's tokens are good for demonstrations only."""
    game: str = ""
    """The issuer is the service of this game: its tokens are good for the game's tables only."""


class _Issuer:
    """A trusted issuer and the keys it publishes."""

    def __init__(self, source: TrustedIssuer, monotonic: Callable[[], float]) -> None:
        self.source = source
        self.published = PublishedKeys(source.keys_location, monotonic)


class TokenVerifier:
    """Verifies tokens against the keys that are published now, or were until recently."""

    def __init__(
        self,
        issuers: Path | Sequence[TrustedIssuer],
        audience: str,
        wall_time: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        game_token_lifetime_limit_s: float = math.inf,
    ) -> None:
        """A path is one issuer's JWKS file. A key id that two issuers use belongs to the first."""
        sources = [TrustedIssuer(str(issuers))] if isinstance(issuers, Path) else issuers
        self._issuers = [_Issuer(source, monotonic) for source in sources]
        self._audience = audience
        self._game_token_lifetime_limit_s = game_token_lifetime_limit_s
        self._wall_time = wall_time
        self._monotonic = monotonic
        self._refresh_at = self._next_refresh()
        self._keys: list[Mapping[str, jwt.PyJWK]] = []
        self._verified: OrderedDict[str, Caller] = OrderedDict()

    def now(self) -> float:
        return self._wall_time()

    def has_verified(self, token: str) -> bool:
        """Whether the token was verified before and is still cached."""
        return token in self._verified

    async def authenticate(self, token: str) -> Caller:
        """Returns the token's bearer; reads the issuers' keys again if they are due or a key is unknown."""
        if self._monotonic() >= self._refresh_at:
            for issuer in self._issuers:
                await issuer.published.refresh_if_due()
            self._refresh_at = self._next_refresh()
        cached = self._verified.get(token)
        if cached is not None and self._keys_are_unchanged():
            self._verified.move_to_end(token)
            return cached
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
        """Returns the token's bearer, by the keys that were read last.

        Expiry is for the access rule to judge, because some methods accept an expired token (G12).
        """
        if not self._keys_are_unchanged():
            # A token whose key is not published any more must not be accepted from the cache.
            self._keys = [issuer.published.keys for issuer in self._issuers]
            self._verified.clear()
        cached = self._verified.get(token)
        if cached is not None:
            self._verified.move_to_end(token)
            return cached
        caller = self._verify_signature(token)
        self._verified[token] = caller
        if len(self._verified) > VERIFIED_TOKENS_LIMIT:
            self._verified.popitem(last=False)
        return caller

    def _keys_are_unchanged(self) -> bool:
        if len(self._keys) != len(self._issuers):
            return False
        return all(keys is issuer.published.keys for keys, issuer in zip(self._keys, self._issuers, strict=True))

    def _next_refresh(self) -> float:
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
                # Times are checked against this verifier's own clock, below.
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
        subject, scope = claims["sub"], claims.get("scope", "")
        if not isinstance(scope, str) or not 0 < len(subject) <= SUBJECT_CHARACTERS_LIMIT:
            raise TokenInvalid("The token does not say in words who its bearer is and what the bearer may do.")
        scopes = frozenset(scope.split())
        if source.demo_only and scopes != {DEMO}:
            raise TokenInvalid("The token's issuer may let in guests of demonstrations and nobody else.")
        if source.game and scopes != {GAME}:
            raise TokenInvalid(f"The token's issuer is the service of {source.game} and may act for its tables only.")
        if DEMO in scopes and (scopes != {DEMO} or _DEMO_ID.fullmatch(subject) is None):
            raise TokenInvalid("The scope `demo` stands alone, and its bearer's id begins with `demo-`.")
        latest = self._wall_time() + CLOCK_SKEW_S
        issued_at = _moment(claims, "iat")
        if issued_at > latest or _moment(claims, "nbf") > latest:
            raise TokenInvalid("The token is not valid yet.")
        token_id = claims.get("jti") or hashlib.sha256(token.encode()).hexdigest()
        expires_at = _moment(claims, "exp")
        game = self._game(source, claims, expires_at - issued_at) if GAME in scopes else ""
        return Caller(subject, scopes, expires_at, issued_at, str(token_id), game)

    def _game(self, source: TrustedIssuer, claims: Mapping[str, Any], lifetime_s: float) -> str:
        """Returns the game that a token of scope `game` is bound to; a token that names none acts on no table (G12)."""
        if claims["scope"].split() != [GAME]:
            raise TokenInvalid("The scope `game` stands alone: a game's service is no operator and no player.")
        game = claims.get("game")
        if not isinstance(game, str) or _GAME_NAME.fullmatch(game) is None:
            raise TokenInvalid("A token of scope `game` names its game in the claim `game`.")
        if source.game and game != source.game:
            raise TokenInvalid(f"The token's issuer is the service of {source.game} and may not act for another game.")
        if lifetime_s > self._game_token_lifetime_limit_s:
            raise TokenInvalid(
                "A token of scope `game` has to expire"
                f" {self._game_token_lifetime_limit_s:.0f} s after it was issued (`iat`) at the latest."
            )
        return game


def _moment(claims: Mapping[str, Any], name: str) -> float:
    """Reads a time in seconds; 0 if the token has no such claim."""
    value = claims.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        raise TokenInvalid(f"The token's `{name}` is no time.")
    return float(value)
