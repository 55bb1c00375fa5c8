"""When a player has logged in, and which tokens are of one login.

A token that was only renewed says so by `auth_time`, when its bearer last logged in himself (RFC 9068 2.2.1): all
tokens that name the same moment are one login. One that does not name it is taken for a login of its own, unless a
connection goes on with it: see `Activity.go_on`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import jwt

from services.kit.access.identity import VERIFIED_TOKENS_LIMIT, Caller


@dataclass(frozen=True, slots=True)
class Login:
    """What a player does afterwards keeps it awake."""

    key: str
    logged_in_at: float
    has_auth_time: bool
    """Whether the token says itself when it was."""


def login_of(token: str, caller: Caller) -> Login | None:
    """The login of the bearer of an authentic token; none for machines, which do not fall asleep."""
    if caller.player_id is None:
        return None
    moment = _auth_time(token)
    if moment is None:
        return Login(caller.token_id, caller.issued_at, has_auth_time=False)
    # A moment that has not been yet would keep him awake.
    return Login(f"login {caller.subject} {moment}", min(moment, caller.issued_at), has_auth_time=True)


@lru_cache(VERIFIED_TOKENS_LIMIT)
def _auth_time(token: str) -> float | None:
    try:
        moment = jwt.decode(token, options={"verify_signature": False}).get("auth_time")
    except jwt.InvalidTokenError:
        return None
    return float(moment) if isinstance(moment, int | float) and not isinstance(moment, bool) else None
