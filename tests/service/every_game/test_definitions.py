"""What the process of each game is made of: its rules, its own service, and settings that are its own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from services.baccarat.definition import BACCARAT
from services.baccarat.settings import BaccaratSettings
from services.blackjack.definition import BLACKJACK
from services.blackjack.settings import BlackjackSettings
from services.kit.table.server.process import GameDefinition
from services.kit.table.server.settings import GameSettings
from services.poker.definition import POKER
from services.poker.settings import PokerSettings
from services.roulette.definition import ROULETTE
from services.roulette.settings import RouletteSettings

GAMES: dict[str, tuple[GameDefinition[Any, Any], type[GameSettings]]] = {
    "baccarat": (BACCARAT, BaccaratSettings),
    "blackjack": (BLACKJACK, BlackjackSettings),
    "poker": (POKER, PokerSettings),
    "roulette": (ROULETTE, RouletteSettings),
}


@pytest.mark.parametrize("name", GAMES)
def test_a_process_serves_its_own_game_alone(name: str) -> None:
    definition, _ = GAMES[name]
    services = definition.services(cast("Any", SimpleNamespace(bets=None, caves=None, ended_rounds=None)))

    assert definition.game.name == name
    assert [each.descriptor.full_name for each in services] == [f"feltro.{name}.v1.{name.title()}Service"]
    assert (definition.tournaments is not None) is (name == "poker")


def test_no_two_games_share_a_variable_or_an_address() -> None:
    prefixes = {name: settings.model_config.get("env_prefix") for name, (_, settings) in GAMES.items()}
    assert prefixes == {name: f"FELTRO_{name.upper()}_" for name in GAMES}
    addresses = [
        settings.model_fields[field].default for _, settings in GAMES.values() for field in ("listen", "metrics_listen")
    ]
    assert len(set(addresses)) == 2 * len(GAMES)
