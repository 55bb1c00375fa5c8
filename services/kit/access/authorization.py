"""Who may call a method: the access rule that its proto declares, applied to the bearer of a token."""

from __future__ import annotations

from google.protobuf.descriptor import MethodDescriptor

from feltro.access.v1 import access_pb2
from services.kit.access.identity import ANONYMOUS, DEMO, PLAYER, Caller, KeysUnavailable, TokenInvalid, TokenVerifier
from services.kit.refusal import Refused


class AccessRule:
    """Who may call a method, as its proto says."""

    def __init__(self, method: MethodDescriptor) -> None:
        rule = method.GetOptions().Extensions[access_pb2.access]
        self._scopes = frozenset(
            access_pb2.Scope.Name(scope).removeprefix("SCOPE_").lower() for scope in rule.scopes if scope
        )
        # A guest of a demonstration is a player: there is no account for money under their id.
        self._accepted = self._scopes | {DEMO} if PLAYER in self._scopes else self._scopes
        self._expired_accepted = rule.expired_token_accepted
        self.public: bool = rule.public

    def verify(self, caller: Caller, now: float) -> None:
        """Raises `Refused` unless the caller may call the method."""
        if not self._accepted & caller.scopes:
            needed = " or ".join(sorted(self._scopes)) or "nobody"
            raise Refused("SCOPE_MISSING", f"This call needs a token of scope {needed}.", {"needed": needed})
        if not self._expired_accepted and caller.expired(now):
            raise Refused("TOKEN_EXPIRED", "The token has expired: get a new one.")


class Guard:
    """Enforces the access rule of one method."""

    def __init__(self, method: MethodDescriptor, verifier: TokenVerifier) -> None:
        self._rule = AccessRule(method)
        self._verifier = verifier

    async def admit(self, token: str) -> Caller:
        """Returns the caller, or raises `Refused`."""
        if not token:
            if self._rule.public:
                return ANONYMOUS
            raise token_missing()
        caller = await authenticate(self._verifier, token)
        self._rule.verify(caller, self._verifier.now())
        return caller


def token_missing() -> Refused:
    """The refusal of a call that needs a token and brings none."""
    return Refused("TOKEN_INVALID", "Send a bearer token as `authorization`.")


async def authenticate(verifier: TokenVerifier, token: str) -> Caller:
    """Returns the bearer of an authentic token, or raises `Refused`."""
    try:
        return await verifier.authenticate(token)
    except TokenInvalid as invalid:
        raise Refused("TOKEN_INVALID", str(invalid)) from None
    except KeysUnavailable:
        sentence = "The keys of the tokens' issuer cannot be read: send the same request again in a moment."
        raise Refused("UNAVAILABLE", sentence) from None
