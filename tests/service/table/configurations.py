"""Configurations of a game that exists in tests only, and a clock that a test moves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.game import Rules
from services.kit.table.refusals import rule_violated

NOON = datetime(2026, 11, 2, 12, 0, 0, 250_000, tzinfo=UTC)


@dataclass
class ManualClock:
    """A clock that stands still until a test moves it."""

    at: datetime = NOON

    def now(self) -> datetime:
        return self.at

    def advance(self, **time: float) -> datetime:
        self.at += timedelta(**time)
        return self.at


class _AnyBets:
    """Rules of which nothing is asked but the largest stake and the largest payout."""

    largest_stake_cents = 1_000
    largest_payout_limit_cents = 36_000


class EvenSeatsGame:
    """A game whose one rule is that the number of seats is even."""

    name = "roulette"
    plays = frozenset({wallet_types.PLAY_INDIVIDUAL, wallet_types.PLAY_MULTI_PLAYER})
    has_cards = False
    has_decisions = False

    def rules(self, configuration: types_pb2.TableConfiguration) -> Rules[Any, Any]:
        if configuration.seats % 2:
            raise rule_violated("seats", "even", "0/2015:1", "Seats come in pairs.")
        return cast("Rules[Any, Any]", _AnyBets())

    def rules_text(self, configuration: types_pb2.TableConfiguration, language: str) -> str:
        return f"{configuration.name.pt} ({language})"


async def register_anything(
    table_id: str, configuration: types_pb2.TableConfiguration, largest_payout_cents: int
) -> None:
    """Stands for a wallet at which no other game has a table."""


def configuration(seats: int = 10, **changes: object) -> types_pb2.TableConfiguration:
    rules: dict[str, Any] = {
        "game": "roulette",
        "regulation": "804/2015",
        "mode": wallet_types.MODE_REAL,
        "play": wallet_types.PLAY_MULTI_PLAYER,
        "name": types_pb2.LocalizedText(pt="Mesa 1", en="Table 1"),
        "betting_window_ms": 20_000,
        "seats": seats,
    }
    rules.update(changes)
    return types_pb2.TableConfiguration(**rules)
