"""The databases of the platform, and the roles that use them."""

from __future__ import annotations

from dataclasses import dataclass

from stack.games import GAMES

WALLET_DATABASE, WALLET_ROLE = "feltro_wallet", "feltro_wallet"


@dataclass(frozen=True, slots=True)
class ServiceDatabase:
    """The database of a service, and the roles that may connect to it and to no other."""

    service: str
    name: str
    owner: str
    """The owner of the schema, for `feltro migrate` alone."""
    user: str
    """The role of the service."""


DATABASES = (
    ServiceDatabase("wallet", WALLET_DATABASE, "feltro_wallet_owner", WALLET_ROLE),
    *(ServiceDatabase(game.name, game.database, f"{game.database}_owner", game.database) for game in GAMES),
)
