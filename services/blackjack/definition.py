"""Defines blackjack for the process of a game service: its rules and its own gRPC service."""

from __future__ import annotations

from services.blackjack.game import BlackjackGame
from services.blackjack.messages import Bets, Outcome
from services.blackjack.service import BlackjackService
from services.kit.table.server.process import GameDefinition

BLACKJACK: GameDefinition[Bets, Outcome] = GameDefinition(
    game=BlackjackGame(), services=lambda commands: [BlackjackService(commands.bets)]
)
