"""Bots of poker at live tables: they fill their caves, and each decides as soon as it is asked."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit.refusal import Refused
from services.kit.table.banked.commands import BetCommand
from services.kit.table.caves.table import CaveTable, CaveTables
from services.kit.table.game import DealtRound, Rules
from services.poker import messages
from services.poker.dealt_hand import DealtPoker
from services.poker.game import PokerGame
from services.poker.hand.state import CALL, CHECK, FOLD, Kind, Move
from services.poker.messages import Brought, Outcome
from tests.bench.tables.games import BenchGame
from tests.processes import poker

PLAYERS, SEED = 6, 6
CAVE_CENTS, LOW_CAVE_CENTS = poker.CAVE_MAX_CENTS, poker.CAVE_MIN_CENTS
FILL_EVERY_S = 0.5
# How often a bot bets where it could check, and folds to a bet, and raises.
BETS, FOLDS, RAISES = 0.3, 0.6, 0.1


class BenchPoker(BenchGame[Brought, Outcome]):
    """Six-handed no-limit Hold'em; random decisions from a seed."""

    def __init__(self) -> None:
        super().__init__(PokerGame(), players=PLAYERS)
        self._chance = random.Random(SEED)

    @property
    def kind(self) -> CaveTables[Brought, Outcome]:
        return CaveTables()

    def configuration(self, play: wallet_types.Play.ValueType) -> types_pb2.TableConfiguration:
        return poker.configuration(seats=PLAYERS)

    def bets_of(self, rules: Rules[Brought, Outcome], seat: int, chance: random.Random) -> Callable[[], Brought]:
        raise AssertionError(f"seat {seat} bets at {self.name} before cards are dealt")

    def decide(self, dealt: DealtRound[Brought, Outcome], seat: int) -> bytes:
        assert isinstance(dealt, DealtPoker)
        may = dealt.table.legal(dealt.hand)
        assert may is not None
        chance = self._chance.random()
        raises = chance < BETS if not may.to_call_cents else FOLDS < chance < FOLDS + RAISES
        if may.can_raise and raises:
            part = self._part()
            move = Move(Kind.RAISE, may.min_to_cents + int(part * (may.max_to_cents - may.min_to_cents)))
        elif not may.to_call_cents:
            move = CHECK
        else:
            move = FOLD if chance < FOLDS else CALL
        return messages.move_message(move).SerializeToString()

    def _part(self) -> float:
        """Returns how much of what is possible is raised: little most of the time."""
        return self._chance.random() ** 3


async def fill_caves(table: CaveTable[Brought, Outcome], players: Sequence[str]) -> None:
    """Fills every cave as it runs low; hands go on meanwhile."""
    filled = 0
    while True:
        for player in players:
            own = table.own_cave(player)
            left = 0 if own is None else own.cave_cents + own.waiting_cents
            if own is not None and left < LOW_CAVE_CENTS:
                filled += 1
                try:
                    await table.buy_in(player, BetCommand(f"{player} {filled}", b""), CAVE_CENTS - left)
                except Refused:
                    # A hand has changed what may be bought; the next look finds it.
                    continue
        await asyncio.sleep(FILL_EVERY_S)
