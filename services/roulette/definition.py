"""Defines roulette for the process of a game service: its rules and its own gRPC service."""

from __future__ import annotations

from services.kit.table.server.process import GameDefinition
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame
from services.roulette.service import RouletteService

ROULETTE: GameDefinition[Bets, Outcome] = GameDefinition(
    game=RouletteGame(), services=lambda commands: [RouletteService(commands.bets)]
)
