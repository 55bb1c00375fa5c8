"""The principal of a call: a player, an operator, a guest of a demonstration, or nobody."""

from __future__ import annotations

from dataclasses import dataclass

from gateway.access.logins import Login
from services.kit.access.identity import Caller


@dataclass(frozen=True, slots=True)
class Principal:
    """The bearer of a verified token, or nobody where no token was shown."""

    token: str
    caller: Caller | None
    login: Login | None = None
    """A player's login; None for others."""

    @property
    def player_id(self) -> str | None:
        """The player's id; a guest of a demonstration has one, too."""
        return None if self.caller is None else self.caller.player_id


ANONYMOUS = Principal("", None)
