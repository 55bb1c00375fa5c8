"""Who is at the door: reads a visitor's token and says what the gateway needs to know of him."""

from __future__ import annotations

from dataclasses import dataclass

import grpc

from gateway.desk import DOMAIN
from services.kit.identity import Caller, TokenInvalid, TokenVerifier
from services.kit.refusal import Refused


@dataclass(frozen=True, slots=True)
class Visitor:
    """One who has shown a token, or nobody in particular."""

    token: str
    caller: Caller | None

    @property
    def player_id(self) -> str | None:
        """The player he is, if he is one."""
        return self.caller.subject if self.caller is not None and "player" in self.caller.scopes else None


NOBODY = Visitor("", None)


class Visitors:
    """The door. Services check each call's token themselves; here it is checked what it opens at the gateway."""

    def __init__(self, verifier: TokenVerifier) -> None:
        self._verifier = verifier

    def admit(self, token: str) -> Visitor:
        """`Refused` with TOKEN_INVALID for a token that is not authentic. Expiry is for whoever asks: see `current`."""
        if not token:
            return NOBODY
        try:
            return Visitor(token, self._verifier.verify(token))
        except TokenInvalid as invalid:
            raise _refused("TOKEN_INVALID", str(invalid)) from None

    def current(self, visitor: Visitor) -> bool:
        """Whether his token still holds."""
        return visitor.caller is None or not visitor.caller.expired(self._verifier.now())


def _refused(reason: str, sentence: str) -> Refused:
    refused = Refused(reason, grpc.StatusCode.UNAUTHENTICATED, sentence)
    refused.domain = DOMAIN
    return refused
