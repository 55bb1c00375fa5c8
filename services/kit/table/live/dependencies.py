"""What a live table deals with outside itself: its rules, its house, its voice, and the services it stands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol

from feltro.table.v1 import events_pb2, types_pb2
from services.kit.clock import Clock
from services.kit.randomness.source import Randomness
from services.kit.table.game import Bets, Outcome, Rules
from services.kit.table.journal.entries import Journal
from services.kit.table.wallet.table_wallet import TableWallet


@dataclass(frozen=True, slots=True)
class VersionedRules(Generic[Bets, Outcome]):
    """A version of a table's specific rules, read by its game."""

    version: types_pb2.ConfigurationVersion
    rules: Rules[Bets, Outcome]

    @property
    def configuration(self) -> types_pb2.TableConfiguration:
        return self.version.configuration


class EventPublisher(Protocol):
    """How a table speaks to whoever watches it."""

    on_overflow: Callable[[], events_pb2.TableEvent] | None
    """Gives a picture of the table, in place of events that could not leave."""

    @property
    def seq(self) -> int:
        """The number of the last event said."""

    @property
    def full(self) -> bool:
        """So much waits for the bus that nothing more should be said for now."""

    def publish(self, *events: events_pb2.TableEvent) -> None: ...

    async def flush(self) -> None:
        """Returns when all that was said has left."""

    async def close(self) -> None:
        """Says nothing more."""


class TableHost(Protocol[Bets, Outcome]):
    """What a table asks of the house it stands in."""

    def rules_in_force(self) -> VersionedRules[Bets, Outcome]:
        """The specific rules in force now."""

    def closed_reason(self) -> str | None:
        """Why no round may open, if so."""

    async def switch_off(self, reason: str, *, whole_game: bool) -> None:
        """No table that shares the fault opens another round."""

    async def refill_demo_account(self, player_id: str, request_id: str) -> None:
        """New credits for a player of the demonstration."""


@dataclass(frozen=True, slots=True)
class TableDependencies(Generic[Bets, Outcome]):
    """Everything outside that a table deals with."""

    host: TableHost[Bets, Outcome]
    wallet: TableWallet
    journal: Journal
    randomness: Randomness
    clock: Clock
    publisher: EventPublisher
