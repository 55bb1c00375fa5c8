"""What a game with tournaments brings to its process, and what the process gives it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from feltro.table.v1 import types_pb2
from services.kit.clock import Clock
from services.kit.randomness.source import Randomness
from services.kit.rpc.methods import Service
from services.kit.table.chips.seam import Director
from services.kit.table.configuration.cache import CatalogueCache
from services.kit.table.configuration.versions import Configurations
from services.kit.table.events.own_views import OwnViewPublisher
from services.kit.table.game import Game
from services.kit.table.journal.tournament_facts import PostgresFacts
from services.kit.table.wallet.registration import TableRegistrar
from services.kit.table.wallet.tournament_wallet import TournamentMoney


@dataclass(frozen=True, slots=True)
class TournamentParts:
    """What tournaments use of their process."""

    game: Game[Any, Any]
    facts: PostgresFacts
    wallet: TournamentMoney
    own_views: OwnViewPublisher
    randomness: Randomness
    clock: Clock
    catalogue: CatalogueCache[Any, Any]
    configurations: Configurations
    registrar: TableRegistrar
    address_of: Callable[[str], str | None]
    """Says where another process runs a tournament."""


class TournamentHost(Protocol):
    """The tournaments of one process."""

    @property
    def service(self) -> Service:
        """The gRPC service that answers for them."""

    async def closed(self) -> frozenset[str]:
        """Returns the tournaments that are over: nobody runs them any more."""

    async def verify_new(self, tournament_id: str, configuration: types_pb2.TableConfiguration) -> None:
        """Refuses a new tournament for what the game asks of one beside its rules, such as other tournaments."""

    def verify_not_over(self, tournament_id: str) -> None:
        """Refuses a tournament that is known to be over, by this process or when `closed` was asked last."""

    def director_of(self, tournament_id: str) -> Director:
        """Makes the director of a tournament that this process now owns."""

    def wake(self) -> None:
        """Has every director look at the clock again."""
