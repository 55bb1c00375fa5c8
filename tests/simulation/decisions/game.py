"""Blackjack in a simulated world: its tables, and shoes whose first cards a test has chosen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from feltro.blackjack.v1 import blackjack_pb2
from feltro.table.v1 import types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.blackjack import dealt_round, specific_rules
from services.blackjack.dealt_round import DealtBlackjack
from services.blackjack.engine import SpecificRules
from services.blackjack.game import BlackjackGame, BlackjackRules
from services.blackjack.messages import Bets
from services.blackjack.service import BlackjackService
from services.kit.cards.card import Card, cards_named
from services.kit.cards.shoe import shuffled_shoe
from services.kit.randomness.tape import Tape
from services.kit.table.game import DealtRound, StakeOnTable
from tests.simulation.environment.games import SimulatedGame


class RiggedBlackjack(BlackjackGame):
    """Blackjack whose shoes all begin with the same cards; the others follow from the entropy, as always."""

    def __init__(self, first_cards: str = "") -> None:
        self._first_cards = cards_named(first_cards)

    def rules(self, configuration: types_pb2.TableConfiguration) -> BlackjackRules:
        return _RiggedRules(specific_rules.read(configuration), self._first_cards)


class _RiggedRules(BlackjackRules):
    def __init__(self, rules: SpecificRules, first_cards: Sequence[Card]) -> None:
        super().__init__(rules)
        self._first_cards = first_cards

    def deal(self, stakes: Sequence[StakeOnTable[Bets]], tape: Tape, cards_taken: int = 0) -> DealtBlackjack:
        shuffled = shuffled_shoe(self.table.specific_rules.packs, tape)
        return dealt_round.deal(self.table, stakes, (*self._first_cards, *shuffled)[cards_taken:])


def blackjack(first_cards: str = "") -> SimulatedGame:
    """Returns blackjack, every shoe of which begins with these cards."""
    return SimulatedGame(RiggedBlackjack(first_cards), BlackjackService, blackjack_pb2, seen_cards)


def configuration(
    *,
    individual: bool = False,
    window_ms: int = 3_000,
    result_shown_ms: int = 500,
    dealing_ms: int = 0,
    decision_ms: int = 10_000,
    open_hand_hours: int = 24,
    places_per_player: int = 2,
    insurance: bool = True,
    cut_card: int = 0,
) -> types_pb2.TableConfiguration:
    """Builds the configuration of a blackjack table."""
    made = types_pb2.TableConfiguration(
        game="blackjack",
        regulation="805/2015",
        mode=wallet_types.MODE_REAL,
        play=wallet_types.PLAY_INDIVIDUAL if individual else wallet_types.PLAY_MULTI_PLAYER,
        betting_window_ms=window_ms,
        result_shown_ms=result_shown_ms,
        seats=5,
        dealing_ms=dealing_ms,
        decision_ms=decision_ms,
        open_hand_hours=open_hand_hours,
    )
    rules = blackjack_pb2.SpecificRules(
        packs=4,
        places=5,
        places_per_player=places_per_player,
        minimum_cents=100,
        maximum_cents=10_000,
        without_insurance=not insurance,
        cut_card=cut_card,
    )
    made.rules.Pack(rules)
    return made


def seen_cards(dealt: DealtRound[Any, Any]) -> Counter[str]:
    """Returns the cards that lie face up: those that have left the shoe, without the hole card while it is hidden."""
    assert isinstance(dealt, DealtBlackjack)
    seen = Counter(card.name for card in dealt.round.shoe[: dealt.round.dealt])
    if not dealt.round.hole_shown:
        seen[dealt.round.bank[1].name] -= 1
    return +seen
