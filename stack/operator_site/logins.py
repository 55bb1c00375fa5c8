"""Logins as signed cookies, which stay valid over a restart and are stored nowhere."""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from collections.abc import Callable

from services.kit.access.identity import DEMO_ID_PREFIX

LIFETIME_S = 12 * 3600
NAME_CHARACTERS_LIMIT = 32
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{NAME_CHARACTERS_LIMIT}}}")


def is_valid_name(name: str) -> bool:
    """Whether a player may have this name; `demo-` begins the ids of players of demonstrations."""
    return _NAME.fullmatch(name) is not None and not name.startswith(DEMO_ID_PREFIX)


class LoginCookies:
    """Issues and reads cookies: a name, an expiry and a seal."""

    def __init__(self, secret: bytes, wall_time: Callable[[], float] = time.time) -> None:
        self._secret = hashlib.blake2b(secret, digest_size=32, person=b"feltro logins").digest()
        self._wall_time = wall_time

    def issue(self, name: str) -> str:
        """The cookie of a player who has just logged in."""
        content = f"{name}.{int(self._wall_time()) + LIFETIME_S}"
        return f"{content}.{self._seal(content)}"

    def player_of(self, cookie: str) -> str | None:
        """The player of a cookie; None if it is forged or has expired."""
        content, _, seal = cookie.rpartition(".")
        if not hmac.compare_digest(seal.encode(), self._seal(content).encode()):
            return None
        name, _, until = content.rpartition(".")
        return name if int(until) > self._wall_time() else None

    def _seal(self, content: str) -> str:
        return hmac.new(self._secret, content.encode(), hashlib.sha256).hexdigest()
