"""The game of a simulated world: its rules, its service, and the messages of its bets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from google.protobuf.message import Message

from feltro.roulette.v1 import roulette_pb2
from feltro.wallet.v1.types_pb2 import PLAY_POKER
from services.kit.randomness.tape import Tape
from services.kit.table.chips.seam import DirectorOf
from services.kit.table.game import DealtRound, Game, Rules, StakeOnTable
from services.kit.table.journal.entries import Drawn, Moved
from services.kit.table.server.bet_commands import BetCommands
from services.roulette.game import RouletteGame
from services.roulette.service import RouletteService

if TYPE_CHECKING:
    from tests.simulation.environment.virtual_time import Process
    from tests.simulation.environment.world import World


@dataclass(frozen=True, slots=True)
class SimulatedGame:
    """A game that is played in a simulated world, with its real service."""

    game: Game[Any, Any]
    service: Callable[[BetCommands[Any, Any]], Any]
    messages: Any
    """The module of its contract: every banked game has `Bet`, `PlaceBetsRequest` and `CancelBetsRequest`."""
    seen_cards: Callable[[DealtRound[Any, Any]], Counter[str]] = lambda _: Counter()
    """The cards of a dealt round that everybody may see."""
    director_of: Callable[[World, Process], DirectorOf] | None = None
    """Makes the directors of a process, where the game is played for chips."""

    @property
    def is_for_chips(self) -> bool:
        """Whether no money lies at its tables."""
        return self.director_of is not None

    @property
    def has_caves(self) -> bool:
        return PLAY_POKER in self.game.plays

    @property
    def name(self) -> str:
        return self.game.name

    @property
    def has_decisions(self) -> bool:
        return self.game.has_decisions


ROULETTE = SimulatedGame(RouletteGame(), RouletteService, roulette_pb2)


def is_answer(answer: object, *kinds: str) -> bool:
    """Whether something is an answer of one of these kinds, in whatever game's contract."""
    return isinstance(answer, Message) and answer.DESCRIPTOR.name in kinds


def dealt_again(rules: Rules[Any, Any], drawn: Drawn, moves: Iterable[Moved] = ()) -> DealtRound[Any, Any]:
    """Deals a round again from what is journalled of it, and applies decisions."""
    stakes = [StakeOnTable(stake.stake_id, stake.seat, rules.read_bets(stake.bets)) for stake in drawn.stakes]
    dealt = rules.deal(stakes, Tape(drawn.entropy), drawn.cards_taken)
    for moved in moves:
        dealt = dealt.after(moved.seat, moved.move, "" if moved.stake is None else moved.stake.stake_id)
    return dealt
