"""The configurations and switches of a simulated operator, which every process knows at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.game import Game
from services.kit.table.refusals import TableRefused

WHEELS = {"804/2015": roulette_pb2.WHEEL_AMERICAN_38, "807/2015": roulette_pb2.WHEEL_FRENCH}


def configuration(
    *,
    regulation: str = "807/2015",
    individual: bool = False,
    demo: bool = False,
    window_ms: int = 5_000,
    result_shown_ms: int = 500,
    minimum_cents: int = 100,
    call_bets: bool = False,
    cancel_forbidden: bool = False,
    seats: int = 20,
    wheel: roulette_pb2.Wheel.ValueType | None = None,
) -> types_pb2.TableConfiguration:
    """Builds the configuration of a roulette table."""
    made = types_pb2.TableConfiguration(
        game="roulette",
        regulation=regulation,
        mode=wallet_types.MODE_DEMO if demo else wallet_types.MODE_REAL,
        play=wallet_types.PLAY_INDIVIDUAL if individual else wallet_types.PLAY_MULTI_PLAYER,
        betting_window_ms=window_ms,
        result_shown_ms=result_shown_ms,
        cancel_forbidden=cancel_forbidden,
        seats=seats,
    )
    rules = roulette_pb2.SpecificRules(
        wheel=wheel or WHEELS[regulation], minimum_cents=minimum_cents, call_bets=call_bets
    )
    made.rules.Pack(rules)
    return made


class InMemoryCatalogue:
    """Implements `Catalogue`."""

    def __init__(self, game: Game[Any, Any], on_change: Callable[[], None]) -> None:
        self.off_reasons: dict[str | None, str] = {}
        """Why a table is off, by placement; under None, why the whole game is."""
        self.switches: list[tuple[str | None, str]] = []
        """Every switch that the platform has set by itself."""
        self._versions: dict[str, list[VersionedRules[Any, Any]]] = {}
        self._game = game
        self._on_change = on_change

    def configure(self, placement_id: str, configuration: types_pb2.TableConfiguration) -> None:
        """Adds a version of the specific rules, which is in force at once."""
        versions = self._versions.setdefault(placement_id, [])
        version = types_pb2.ConfigurationVersion(
            table_id=placement_id, version=len(versions) + 1, configuration=configuration
        )
        versions.append(VersionedRules(version, self._game.rules(configuration)))
        self._on_change()

    def set_switch(self, placement_id: str | None, off_reason: str | None) -> None:
        """Switches a table off as the operator does, or on again if there is no reason."""
        if off_reason is None:
            self.off_reasons.pop(placement_id, None)
        else:
            self.off_reasons[placement_id] = off_reason
        self._on_change()

    def placement_ids(self) -> frozenset[str]:
        return frozenset(self._versions)

    def rules_in_force(self, placement_id: str, version: int | None = None) -> VersionedRules[Any, Any]:
        versions = self._versions.get(placement_id)
        if versions is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=placement_id)
        return versions[-1 if version is None else version - 1]

    async def rules_of_version(self, placement_id: str, version: int) -> VersionedRules[Any, Any]:
        return self.rules_in_force(placement_id, version)

    def closed_reason(self, placement_id: str) -> str | None:
        return self.off_reasons.get(None) or self.off_reasons.get(placement_id)

    def switch_off(self, placement_id: str | None, reason: str) -> None:
        self.switches.append((placement_id, reason))
        self.set_switch(placement_id, reason)
