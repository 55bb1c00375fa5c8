"""What roulette adds to the process that every game service is."""

from __future__ import annotations

from services.kit.table.server.process import GameDefinition
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame
from services.roulette.service import RouletteService

ROULETTE: GameDefinition[Bets, Outcome] = GameDefinition(
    game=RouletteGame(), services=lambda hall, journal: [RouletteService(hall, journal)]
)
