"""What a bench has to know of a game: the rules of its tables, what bots bet, and what they decide."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any, Generic

from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.baccarat.engine import Bets as BaccaratBets
from services.baccarat.engine import Chance
from services.baccarat.engine import Outcome as BaccaratOutcome
from services.baccarat.game import BaccaratGame, BaccaratRules
from services.blackjack import messages
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import Decision, Hand, Move, bet_name
from services.blackjack.game import BlackjackGame
from services.blackjack.messages import Bets as BlackjackBets
from services.blackjack.messages import Outcome as BlackjackOutcome
from services.blackjack.scores import value
from services.kit.cards.card import Rank
from services.kit.table.game import Bets, DealtRound, Game, Outcome, Rules
from services.kit.table.live.kinds import BankedTables, TableKind
from services.roulette.engine import Bets as RouletteBets
from services.roulette.engine import Outcome as RouletteOutcome
from services.roulette.game import RouletteGame, RouletteRules
from tests.processes import baccarat, blackjack, roulette

# As long as the platform allows, for bots close betting themselves. Results and dealing cards take no time at all.
WINDOW_MS = 600_000


class BenchGame(Generic[Bets, Outcome]):
    """A game, as benches play it."""

    def __init__(self, game: Game[Bets, Outcome], players: int) -> None:
        """`players` is how many bots play at each multi-player table."""
        self.game = game
        self.players = players

    @property
    def kind(self) -> TableKind[Bets, Outcome]:
        """What the money of a round is."""
        return BankedTables()

    @property
    def name(self) -> str:
        return self.game.name

    def configuration(self, play: wallet_types.Play.ValueType) -> types_pb2.TableConfiguration:
        """Builds the specific rules of the bench's tables."""
        raise NotImplementedError

    def bets_of(self, rules: Rules[Bets, Outcome], seat: int, chance: random.Random) -> Callable[[], Bets]:
        """Returns what makes the bets of the bot on a seat, one after the other."""
        raise NotImplementedError

    def decide(self, dealt: DealtRound[Bets, Outcome], seat: int) -> bytes:
        """Returns the decision of the bot on a seat whose turn it is."""
        raise AssertionError(f"seat {seat} decides at {self.name}")


class BenchRoulette(BenchGame[RouletteBets, RouletteOutcome]):
    """Roulette: the smallest bet, on any place."""

    def __init__(self) -> None:
        super().__init__(RouletteGame(), players=25)

    def configuration(self, play: wallet_types.Play.ValueType) -> types_pb2.TableConfiguration:
        return roulette.configuration(play=play, window_ms=WINDOW_MS, minimum_cents=2)

    def bets_of(
        self, rules: Rules[RouletteBets, RouletteOutcome], seat: int, chance: random.Random
    ) -> Callable[[], RouletteBets]:
        assert isinstance(rules, RouletteRules)
        places = list(rules.offered_places)
        return lambda: {chance.choice(places): 2}


class BenchBaccarat(BenchGame[BaccaratBets, BaccaratOutcome]):
    """Baccarat: the smallest bet on one side, and at times on a tie or a pair."""

    def __init__(self) -> None:
        super().__init__(BaccaratGame(), players=9)

    def configuration(self, play: wallet_types.Play.ValueType) -> types_pb2.TableConfiguration:
        return baccarat.configuration(play=play, window_ms=WINDOW_MS, minimum_cents=20)

    def bets_of(
        self, rules: Rules[BaccaratBets, BaccaratOutcome], seat: int, chance: random.Random
    ) -> Callable[[], BaccaratBets]:
        assert isinstance(rules, BaccaratRules)
        # Never both sides, which would have to differ (812/2015:13); the others have low maxima.
        side = Chance.PONTO if seat % 2 else Chance.BANCA
        chances = [*[side] * 7, Chance.TIE, Chance.PONTO_PAIR, Chance.BANCA_PAIR]
        return lambda: {chance.choice(chances): 20}


class BenchBlackjack(BenchGame[BlackjackBets, BlackjackOutcome]):
    """Blackjack: the smallest bet on the own place, and a fixed strategy that looks at the own hand alone."""

    def __init__(self) -> None:
        super().__init__(BlackjackGame(), players=7)

    def configuration(self, play: wallet_types.Play.ValueType) -> types_pb2.TableConfiguration:
        return blackjack.configuration(play=play, window_ms=WINDOW_MS, minimum_cents=2, maximum_cents=200)

    def bets_of(
        self, rules: Rules[BlackjackBets, BlackjackOutcome], seat: int, chance: random.Random
    ) -> Callable[[], BlackjackBets]:
        bets = {bet_name(seat): 2}
        return lambda: bets

    def decide(self, dealt: DealtRound[BlackjackBets, BlackjackOutcome], seat: int) -> bytes:
        assert isinstance(dealt, DealtBlackjack)
        turn = dealt.table.turn(dealt.round)
        assert turn is not None
        place = next(place for place in turn.places if dealt.seats[place] == seat)
        decisions = {option.decision for option in dealt.table.options(dealt.round, place)}
        if turn.hand is None:
            decision = Decision.EVEN_MONEY if Decision.EVEN_MONEY in decisions else Decision.DECLINE
        else:
            decision = _decision(dealt.round.hand(place, turn.hand), decisions)
        return messages.move_message(Move(place, decision)).SerializeToString()


def _decision(hand: Hand, possible: set[Decision]) -> Decision:
    """Splits aces and eights, doubles wherever that is possible, and draws up to 16."""
    if Decision.SPLIT in possible and (hand.cards[0].rank is Rank.ACE or value(hand.cards[0]) == Rank.EIGHT):
        return Decision.SPLIT
    if Decision.DOUBLE in possible:
        return Decision.DOUBLE
    return Decision.STAND if hand.score > 16 or Decision.DRAW not in possible else Decision.DRAW


ROULETTE = BenchRoulette()
GAMES: tuple[BenchGame[Any, Any], ...] = (ROULETTE, BenchBaccarat(), BenchBlackjack())
