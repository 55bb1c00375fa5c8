"""Poker for chips in a simulated world, under the recommended rules of a tournament."""

from __future__ import annotations

from typing import Any

from feltro.poker.v1 import poker_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.table.chips.seam import Director
from services.poker.game import PokerGame
from services.poker.tournament.levels import Level
from services.poker.tournament.price import Price
from services.poker.tournament.specific_rules import default_rules
from services.poker.tournament_hands import TournamentHands
from services.poker.variant import Variant
from tests.simulation.caves.game import seen_cards
from tests.simulation.chips.director import Course, SmallDirector
from tests.simulation.environment.games import SimulatedGame
from tests.simulation.environment.virtual_time import Process
from tests.simulation.environment.world import World

LEVELS = (Level(50, 100), Level(100, 200))


class TournamentPoker(PokerGame):
    """Poker whose configured tables are tournaments."""

    def __init__(self, **chosen: object) -> None:
        chosen = {"levels": LEVELS, "late_reg_until_level": 0, "time_bank_seconds": 0, **chosen}
        self._rules = default_rules(Variant.HOLDEM, Price(1_000, 100), **chosen)

    def rules(self, configuration: types_pb2.TableConfiguration) -> Any:  # noqa: ANN401 - of another kind
        return TournamentHands(self._rules)


def simulated_game(course: Course, **chosen: object) -> SimulatedGame:
    """Returns poker for chips with a director that has this course played; `chosen` are rules of the tournament."""

    def director_of(world: World, process: Process) -> Any:  # noqa: ANN401 - a function
        def make(tournament_id: str) -> Director:
            return SmallDirector(tournament_id, world, process, course)

        return make

    return SimulatedGame(TournamentPoker(**chosen), lambda _: None, poker_pb2, seen_cards, director_of)


def configuration(
    *, seats: int = 6, result_shown_ms: int = 500, dealing_ms: int = 0, decision_ms: int = 10_000
) -> types_pb2.TableConfiguration:
    """Builds the configuration of a tournament's tables."""
    return types_pb2.TableConfiguration(
        game="poker",
        regulation="806/2015",
        mode=wallet_types.MODE_REAL,
        play=wallet_types.PLAY_TOURNAMENT,
        seats=seats,
        result_shown_ms=result_shown_ms,
        dealing_ms=dealing_ms,
        decision_ms=decision_ms,
    )
