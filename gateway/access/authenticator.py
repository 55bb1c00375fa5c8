"""Turns tokens into principals, and says how long each may go on."""

from __future__ import annotations

import asyncio

from gateway.access.activity import RECHECK_AFTER_S, Activity
from gateway.access.logins import login_of
from gateway.access.principals import ANONYMOUS, Principal
from gateway.access.revocations import Revocations
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.authorization import authenticate
from services.kit.access.identity import CLOCK_SKEW_S, GAME, Caller, TokenVerifier
from services.kit.bus.streams import REVOCATIONS_KEPT_S
from services.kit.refusal import Refused


class Authenticator:
    """Verifies tokens. Services verify each call's token too; revocations and activity are known to gateways only."""

    def __init__(self, verifier: TokenVerifier, revocations: Revocations, activity: Activity) -> None:
        self._verifier = verifier
        self._revocations = revocations
        self._activity = activity

    def was_verified(self, token: str) -> bool:
        """Whether the token was verified before, so that verifying it again costs nothing."""
        return self._verifier.has_verified(token)

    async def authenticate(self, token: str) -> Principal:
        """Returns the bearer of a token, and records no activity: connecting is not something that the player does.

        Refused with TOKEN_INVALID, TOKEN_REVOKED, LOGIN_NEEDED, or UNAVAILABLE where one of these cannot be known.
        The caller checks whether the token has expired (`is_unexpired`), for some methods accept expired tokens.
        """
        principal = await self.identify(token)
        await self._activity.verify(principal.login)
        return principal

    async def identify(self, token: str) -> Principal:
        """Returns the bearer of a token that is authentic and was not revoked; records no activity."""
        if not token:
            return ANONYMOUS
        try:
            caller = await authenticate(self._verifier, token)
        except Refused as refused:
            raise GatewayRefused(refused.reason, refused.sentence) from None
        # Services call each other inside the platform: one of their tokens that comes from outside was stolen.
        if GAME in caller.scopes:
            raise GatewayRefused("TOKEN_INVALID", "The token is for services of the platform, and opens nothing here.")
        # Revocations are kept for so long: an older token, or one of unknown age, may have been revoked (G12).
        if not caller.issued_at:
            raise GatewayRefused("TOKEN_INVALID", "The token does not say when it was issued: `iat`.")
        if self._verifier.now() - caller.issued_at > REVOCATIONS_KEPT_S:
            days = REVOCATIONS_KEPT_S // 86400
            raise GatewayRefused("TOKEN_EXPIRED", f"The token is older than {days} days: get a new one.")
        self._revocations.verify(caller)
        return Principal(token, caller, login_of(token, caller))

    async def verify(self, principal: Principal) -> None:
        """Verifies that a principal, identified perhaps long ago, may still call; refused as by `authenticate`.

        Done for every call: it waits for nothing while the player is active.
        """
        if principal.caller is not None:
            self._revocations.verify(principal.caller)
        await self._activity.verify(principal.login)

    async def renew(self, principal: Principal, token: str) -> Principal:
        """Returns the same principal with a newer token, for a connection that stays open."""
        renewed = await self.identify(token)
        if principal.caller is None or renewed.caller is None or not _is_same(principal.caller, renewed.caller):
            raise GatewayRefused("NOT_YOURS", "The new token is for somebody else: open another connection with it.")
        if not self.is_unexpired(renewed):
            raise refusals.token_expired()
        await self._activity.carry_over(principal.login, renewed.login)
        return renewed

    def now(self) -> float:
        return self._verifier.now()

    def record_activity(self, principal: Principal) -> None:
        """Records that the principal did something: made a call that is not about the connection alone."""
        self._activity.record(principal.login)

    def is_unexpired(self, principal: Principal) -> bool:
        """Whether the principal's token has not expired; always true without a token."""
        return principal.caller is None or not principal.caller.expired(self._verifier.now())

    def expires_in(self, principal: Principal) -> float:
        """Returns in how many seconds the principal's token expires; infinity without a token."""
        if principal.caller is None:
            return float("inf")
        return principal.caller.expires_at + CLOCK_SKEW_S - self._verifier.now()

    async def wait_for_end(self, principal: Principal) -> GatewayRefused:
        """Waits until the principal's connections must end; returns TOKEN_EXPIRED, TOKEN_REVOKED or LOGIN_NEEDED."""
        caller = principal.caller
        if caller is None:
            never: asyncio.Future[GatewayRefused] = asyncio.get_running_loop().create_future()
            return await never
        with self._revocations.watch(caller) as revoked:
            while True:
                wait_s = min(self.expires_in(principal), self._activity.seconds_until_idle(principal.login))
                # At least once a minute: the wall clock may be set.
                await asyncio.wait([revoked], timeout=min(max(wait_s, 0.01), 60.0))
                if revoked.done():
                    return revoked.result()
                if self.expires_in(principal) <= 0:
                    return refusals.token_expired()
                try:
                    await self._activity.verify(principal.login)
                except GatewayRefused as refused:
                    if refused.reason == "LOGIN_NEEDED":
                        return refused
                    # Unknown while the bus is away. A connection alone does no harm: the next call is refused.
                    await asyncio.wait([revoked], timeout=RECHECK_AFTER_S)


def _is_same(one: Caller, other: Caller) -> bool:
    return one.subject == other.subject and one.scopes == other.scopes
