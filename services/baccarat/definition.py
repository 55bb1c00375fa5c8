"""Defines baccarat for the process of a game service: its rules and its own gRPC service."""

from __future__ import annotations

from services.baccarat.engine import Bets, Outcome
from services.baccarat.game import BaccaratGame
from services.baccarat.service import BaccaratService
from services.kit.table.server.process import GameDefinition

BACCARAT: GameDefinition[Bets, Outcome] = GameDefinition(
    game=BaccaratGame(), services=lambda commands: [BaccaratService(commands.bets)]
)
