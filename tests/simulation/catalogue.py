"""What the operator has laid down: versions of specific rules, and switches. Every process hears at once."""

from __future__ import annotations

from collections.abc import Callable

from feltro.roulette.v1 import roulette_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.refusals import TableRefused
from services.kit.table.surroundings import Configured
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame

WHEELS = {"804/2015": roulette_pb2.WHEEL_AMERICAN_38, "807/2015": roulette_pb2.WHEEL_FRENCH}


def configuration(
    *,
    regulation: str = "807/2015",
    individual: bool = False,
    demo: bool = False,
    window_ms: int = 5_000,
    result_shown_ms: int = 500,
    minimum_cents: int = 100,
    take_back_forbidden: bool = False,
    seats: int = 20,
) -> types_pb2.TableConfiguration:
    """A table of roulette."""
    made = types_pb2.TableConfiguration(
        game="roulette",
        regulation=regulation,
        mode=wallet_types.MODE_DEMO if demo else wallet_types.MODE_REAL,
        play=wallet_types.PLAY_INDIVIDUAL if individual else wallet_types.PLAY_MULTI_PLAYER,
        betting_window_ms=window_ms,
        result_shown_ms=result_shown_ms,
        take_back_forbidden=take_back_forbidden,
        seats=seats,
    )
    made.rules.Pack(roulette_pb2.SpecificRules(wheel=WHEELS[regulation], minimum_cents=minimum_cents))
    return made


class KnownCatalogue:
    """Implements `Catalogue`."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.switched_off: dict[str | None, str] = {}
        """Houses, or None for all of them, and why."""
        self.switches: list[tuple[str | None, str]] = []
        """Every switch that the platform itself has set."""
        self._versions: dict[str, list[Configured[Bets, Outcome]]] = {}
        self._changed = changed

    def configure(self, house_id: str, made: types_pb2.TableConfiguration) -> None:
        versions = self._versions.setdefault(house_id, [])
        version = types_pb2.ConfigurationVersion(table_id=house_id, version=len(versions) + 1, configuration=made)
        versions.append(Configured(version, RouletteGame().rules(made)))
        self._changed()

    def switch(self, house_id: str | None, why_off: str | None) -> None:
        """The operator's hand."""
        if why_off is None:
            self.switched_off.pop(house_id, None)
        else:
            self.switched_off[house_id] = why_off
        self._changed()

    def house_ids(self) -> frozenset[str]:
        return frozenset(self._versions)

    def configured(self, house_id: str, version: int | None = None) -> Configured[Bets, Outcome]:
        versions = self._versions.get(house_id)
        if versions is None:
            raise TableRefused("TABLE_UNKNOWN", "There is no such table.", table_id=house_id)
        return versions[-1 if version is None else version - 1]

    async def version(self, house_id: str, version: int) -> Configured[Bets, Outcome]:
        return self.configured(house_id, version)

    def closed_because(self, house_id: str) -> str | None:
        return self.switched_off.get(None) or self.switched_off.get(house_id)

    async def switch_off(self, house_id: str | None, reason: str) -> None:
        self.switches.append((house_id, reason))
        self.switch(house_id, reason)
