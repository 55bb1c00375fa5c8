"""What a live table depends on outside itself: its host, its publisher, and the services it uses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Protocol

from feltro.table.v1 import events_pb2
from services.kit.bus.connections import Line
from services.kit.clock import Clock
from services.kit.randomness.source import Randomness
from services.kit.table.configuration.catalogue import Catalogue, VersionedRules
from services.kit.table.events.own_views import OwnViewPublisher
from services.kit.table.game import Bets, Game, Outcome
from services.kit.table.journal.entries import Journal
from services.kit.table.live.individual_ids import IndividualTableIds
from services.kit.table.live.seat_record import SeatStore
from services.kit.table.wallet.client import Wallet
from services.kit.table.wallet.table_wallet import TableWallet

if TYPE_CHECKING:
    from services.kit.table.live.kinds import TableKind


class EventPublisher(Protocol):
    """Publishes the events of one table to everybody who watches it."""

    on_overflow: Callable[[], events_pb2.TableEvent] | None
    """Builds a snapshot of the table, which replaces events that could not leave."""

    @property
    def seq(self) -> int:
        """The number of the last event published."""

    @property
    def full(self) -> bool:
        """Whether so much waits for the bus that nothing more should be published for now."""

    def publish(self, *events: events_pb2.TableEvent) -> None: ...

    async def flush(self) -> None:
        """Returns when everything published has left."""

    async def close(self) -> None:
        """Publishes nothing more."""


class TableHost(Protocol[Bets, Outcome]):
    """What a table asks of its configured table."""

    def rules_in_force(self) -> VersionedRules[Bets, Outcome]:
        """The specific rules in force now."""

    def closed_reason(self) -> str | None:
        """Why no round may open; None if one may."""

    def switch_off(self, reason: str, *, whole_game: bool) -> None:
        """Keeps every table that shares the fault from opening another round, at once; no refund waits for it (G12)."""

    async def refill_demo_account(self, player_id: str, request_id: str) -> None:
        """Gives a player of the demonstration new credits."""


@dataclass(frozen=True, slots=True)
class TableDependencies(Generic[Bets, Outcome]):
    """What one table uses."""

    host: TableHost[Bets, Outcome]
    wallet: TableWallet
    journal: Journal
    randomness: Randomness
    clock: Clock
    publisher: EventPublisher
    own_views: OwnViewPublisher
    has_cards: bool
    """Whether the game deals cards when bets have closed."""
    seats: SeatStore
    line_of: Callable[[str], Line]


@dataclass(frozen=True, slots=True)
class RuntimeDependencies(Generic[Bets, Outcome]):
    """What all tables of one process share."""

    game: Game[Bets, Outcome]
    kind: TableKind[Bets, Outcome]
    """What the money of a round is at the game's tables."""
    catalogue: Catalogue[Bets, Outcome]
    wallet: Wallet
    journal: Journal
    randomness: Randomness
    clock: Clock
    publisher_of: Callable[[str, int], Awaitable[EventPublisher]]
    """Opens the publisher of a table, for the owner of this epoch."""
    own_views: OwnViewPublisher
    seats: SeatStore
    """Where players choose their seats, for a seat is a place: who sits where."""
    individual_ids: IndividualTableIds
    """Names players' own tables."""
    line_of: Callable[[str], Line] = field(default=lambda _: Line.CONNECTED)
    """What is known of a player's line; tables with caves ask (`806/2015:73`)."""
