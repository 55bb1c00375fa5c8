"""What the operator has laid down for the tables of a game, as the runtime asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Protocol

from feltro.table.v1 import types_pb2
from services.kit.table.game import Bets, Outcome, Rules


@dataclass(frozen=True, slots=True)
class VersionedRules(Generic[Bets, Outcome]):
    """One version of a table's specific rules, as its game reads them."""

    version: types_pb2.ConfigurationVersion
    rules: Rules[Bets, Outcome]

    @property
    def configuration(self) -> types_pb2.TableConfiguration:
        return self.version.configuration


class Catalogue(Protocol[Bets, Outcome]):
    """The specific rules and switches of the game's tables, as far as this process knows them."""

    def rules_in_force(self, placement_id: str) -> VersionedRules[Bets, Outcome]:
        """The specific rules in force now."""

    async def rules_of_version(self, placement_id: str, version: int) -> VersionedRules[Bets, Outcome]:
        """The specific rules of one version, such as the one that a round was opened under."""

    def closed_reason(self, placement_id: str) -> str | None:
        """Why the table is switched off; None if it is on."""

    def switch_off(self, placement_id: str | None, reason: str) -> None:
        """Switches one table off, or the whole game if none is named, on the platform's own account: at once."""
