"""Defines poker for the process of a game service: its rules, its own gRPC service, and its tournaments."""

from __future__ import annotations

from services.kit.table.server.process import GameDefinition
from services.poker.directing.service import PokerTournaments
from services.poker.game import PokerGame
from services.poker.messages import Brought, Outcome
from services.poker.service import PokerService

POKER: GameDefinition[Brought, Outcome] = GameDefinition(
    game=PokerGame(),
    services=lambda commands: [PokerService(commands.caves, commands.ended_rounds)],
    tournaments=PokerTournaments,
)
