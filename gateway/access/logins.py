"""When a player logged in, and which tokens belong to one login.

A renewed token keeps its `auth_time`, when the player last logged in (RFC 9068 2.2.1): all tokens of a player with the
same `auth_time` are one login. A token without one is a login of its own, unless a connection is renewed with it: see
`Activity.carry_over`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import jwt

from services.kit.access.identity import VERIFIED_TOKENS_LIMIT, Caller


@dataclass(frozen=True, slots=True)
class Login:
    """One login of a player, which ends after too long without activity."""

    key: str
    logged_in_at: float
    has_auth_time: bool
    """Whether the token says when the player logged in."""


def login_of(token: str, caller: Caller) -> Login | None:
    """Returns the login of an authentic token; None for operators, whose programs do not become idle."""
    if caller.player_id is None:
        return None
    auth_time = _auth_time(token)
    if auth_time is None:
        return Login(caller.token_id, caller.issued_at, has_auth_time=False)
    # A time in the future would keep the login from becoming idle.
    return Login(f"login {caller.subject} {auth_time}", min(auth_time, caller.issued_at), has_auth_time=True)


@lru_cache(VERIFIED_TOKENS_LIMIT)
def _auth_time(token: str) -> float | None:
    try:
        auth_time = jwt.decode(token, options={"verify_signature": False}).get("auth_time")
    except jwt.InvalidTokenError:
        return None
    return float(auth_time) if isinstance(auth_time, int | float) and not isinstance(auth_time, bool) else None
