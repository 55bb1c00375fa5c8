"""Who is at the door: reads a visitor's token, says whether it still opens anything, and when it will no longer."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from gateway.access.activity import RECHECK_AFTER_S, Activity
from gateway.access.logins import Login, login_of
from gateway.access.revocations import NOTES_KEPT_S, Revocations
from gateway.contracts import refusals
from gateway.contracts.refusals import GatewayRefused
from services.kit.access.authorization import authenticate
from services.kit.access.identity import CLOCK_SKEW_S, GAME, Caller, TokenVerifier
from services.kit.refusal import Refused


@dataclass(frozen=True, slots=True)
class Principal:
    """One who has shown a token, or nobody in particular."""

    token: str
    caller: Caller | None
    login: Login | None = None
    """When he logged in, if he is a player."""

    @property
    def player_id(self) -> str | None:
        """The player he is, if he is one; a visitor of a demonstration is one."""
        return None if self.caller is None else self.caller.player_id


ANONYMOUS = Principal("", None)


class Authenticator:
    """The door. Services check each call's token themselves; here it is checked what only gateways know of it."""

    def __init__(self, verifier: TokenVerifier, revocations: Revocations, activity: Activity) -> None:
        self._verifier = verifier
        self._revocations = revocations
        self._activity = activity

    def was_verified(self, token: str) -> bool:
        """Whether the token was verified before, so that to do it again costs nothing."""
        return self._verifier.has_verified(token)

    async def authenticate(self, token: str) -> Principal:
        """The bearer, whose program connects: that alone is nothing that he does.

        Refused with TOKEN_INVALID, TOKEN_REVOKED, LOGIN_NEEDED, or UNAVAILABLE where one of these cannot be told.
        Whether the token has expired is for whoever asks, for some methods accept it: see `current`.
        """
        visitor = await self.identify(token)
        await self._activity.verify(visitor.login)
        return visitor

    async def identify(self, token: str) -> Principal:
        """The bearer of a token that is authentic and was not taken back; it is no sign of life of his."""
        if not token:
            return ANONYMOUS
        try:
            caller = await authenticate(self._verifier, token)
        except Refused as refused:
            raise GatewayRefused(refused.reason, refused.sentence) from None
        # Game services speak with each other inside: one of their tokens that comes in here was stolen.
        if GAME in caller.scopes:
            raise GatewayRefused("TOKEN_INVALID", "The token is for services of the platform, and opens nothing here.")
        # Of one that does not say its age, or is too old, nobody could tell whether it was taken back.
        if not caller.issued_at:
            raise GatewayRefused("TOKEN_INVALID", "The token does not say when it was issued: `iat`.")
        if self._verifier.now() - caller.issued_at > NOTES_KEPT_S:
            days = NOTES_KEPT_S // 86400
            raise GatewayRefused("TOKEN_EXPIRED", f"The token is older than {days} days: get a new one.")
        self._revocations.verify(caller)
        return Principal(token, caller, login_of(token, caller))

    async def verify(self, principal: Principal) -> None:
        """Whether one who was recognised, perhaps long ago, may ask for anything; refused as by `let_in`.

        For every call: nothing is waited for while he is awake.
        """
        if principal.caller is not None:
            self._revocations.verify(principal.caller)
        await self._activity.verify(principal.login)

    async def renew(self, principal: Principal, token: str) -> Principal:
        """The same person with a new token, for a connection that stays."""
        renewed = await self.identify(token)
        if principal.caller is None or renewed.caller is None or not _same(principal.caller, renewed.caller):
            raise GatewayRefused("NOT_YOURS", "The new token is for somebody else: open another connection with it.")
        if not self.is_unexpired(renewed):
            raise refusals.token_expired()
        await self._activity.carry_over(principal.login, renewed.login)
        return renewed

    def now(self) -> float:
        return self._verifier.now()

    def record_activity(self, principal: Principal) -> None:
        """He does something: he asks for something that is not about the connection alone."""
        self._activity.record(principal.login)

    def is_unexpired(self, principal: Principal) -> bool:
        """Whether his token has not expired."""
        return principal.caller is None or not principal.caller.expired(self._verifier.now())

    def expires_in(self, principal: Principal) -> float:
        """After how many seconds his token opens nothing any more; never for nobody in particular."""
        if principal.caller is None:
            return float("inf")
        return principal.caller.expires_at + CLOCK_SKEW_S - self._verifier.now()

    async def wait_for_end(self, principal: Principal) -> GatewayRefused:
        """Returns when a connection of his has to end, and why: TOKEN_EXPIRED, TOKEN_REVOKED or LOGIN_NEEDED."""
        caller = principal.caller
        if caller is None:
            never: asyncio.Future[GatewayRefused] = asyncio.get_running_loop().create_future()
            return await never
        with self._revocations.watch(caller) as revoked:
            while True:
                wait_s = min(self.expires_in(principal), self._activity.seconds_until_idle(principal.login))
                # A clock that is set, and a day that is longer than a timer should be, are looked at again.
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
                    # It cannot be told: his next call is refused all the same, and a connection alone does no harm.
                    await asyncio.wait([revoked], timeout=RECHECK_AFTER_S)


def _same(one: Caller, other: Caller) -> bool:
    return one.subject == other.subject and one.scopes == other.scopes
