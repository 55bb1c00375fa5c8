"""What roulette adds to the process that every game service is."""

from __future__ import annotations

from services.kit.table.process import Offer
from services.roulette.engine import Bets, Outcome
from services.roulette.game import RouletteGame
from services.roulette.roulette_service import RouletteService

ROULETTE: Offer[Bets, Outcome] = Offer(
    game=RouletteGame(), services=lambda hall, journal: [RouletteService(hall, journal)]
)
