"""What the process of each game is made of: its rules, its own service, and settings that are its own."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from feltro.poker.v1 import poker_pb2
from services.baccarat.definition import BACCARAT
from services.baccarat.settings import BaccaratSettings
from services.blackjack.definition import BLACKJACK
from services.blackjack.settings import BlackjackSettings
from services.kit.access.identity import ANONYMOUS
from services.kit.table.refusals import TableRefused
from services.kit.table.server.process import GameDefinition
from services.kit.table.server.settings import GameSettings
from services.poker.definition import POKER
from services.poker.service import PokerService
from services.poker.settings import PokerSettings
from services.roulette.definition import ROULETTE
from services.roulette.settings import RouletteSettings
from tests.engine.blackjack import tables as blackjack
from tests.engine.roulette import tables as roulette

CONFIGURED = {
    "blackjack": blackjack.configuration(),
    "roulette": roulette.configuration(),
}
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


@pytest.mark.parametrize("name", CONFIGURED)
async def test_a_layout_is_that_of_the_rules_in_force(name: str) -> None:
    definition, _ = GAMES[name]
    rules = definition.game.rules(CONFIGURED[name])
    bets = SimpleNamespace(rules_in_force=lambda table_id, _: {"table": SimpleNamespace(rules=rules)}[table_id])
    (service,) = definition.services(cast("Any", SimpleNamespace(bets=bets)))

    shown = await cast("Any", service).get_layout(SimpleNamespace(table_id="table"), ANONYMOUS)
    assert shown == cast("Any", rules).layout()


async def test_a_presence_is_one_of_three_and_a_table_of_poker_has_its_rules() -> None:
    tournament = SimpleNamespace(rules=object())
    caves = SimpleNamespace(rules_in_force=lambda table_id, _: {"table": tournament}[table_id])
    (service,) = POKER.services(cast("Any", SimpleNamespace(caves=caves, ended_rounds=None)))
    poker = cast("PokerService", service)

    with pytest.raises(TableRefused) as refused:
        await poker.set_presence(poker_pb2.SetPresenceRequest(table_id="table"), ANONYMOUS)
    assert (refused.value.reason, refused.value.facts) == ("INVALID", {"field": "presence"})
    with pytest.raises(TableRefused, match="not one of poker"):
        await poker.get_layout(poker_pb2.GetLayoutRequest(table_id="table"), ANONYMOUS)


def test_no_two_games_share_a_variable_or_an_address() -> None:
    prefixes = {name: settings.model_config.get("env_prefix") for name, (_, settings) in GAMES.items()}
    assert prefixes == {name: f"FELTRO_{name.upper()}_" for name in GAMES}
    addresses = [
        settings.model_fields[field].default for _, settings in GAMES.values() for field in ("listen", "metrics_listen")
    ]
    assert len(set(addresses)) == 2 * len(GAMES)
