"""Poker under one table's rules, the one door of the engine: dealing, deciding, what each may see, what a hand pays.

Pure: no I/O, no clock, no randomness of its own: a hand is dealt from a deck whose whole order is given. The rooms
behind it are `hand/` (one hand), `lineup/` (seats, button and blinds between hands), `evaluation/` (whose cards win).
"""

from __future__ import annotations

from collections.abc import Sequence

from services.kit.cards.card import Card
from services.poker.hand import betting, judging, views
from services.poker.hand.betting import Legal
from services.poker.hand.state import Hand, Move
from services.poker.hand.steps import Step, steps
from services.poker.hand.views import OwnView, View
from services.poker.lineup.entry import Positions
from services.poker.specific_rules import SpecificRules, verify


class Table:
    """The game under one table's rules, which are verified first."""

    def __init__(self, rules: SpecificRules) -> None:
        self.specific_rules = verify(rules)

    def deal(self, positions: Positions, deck: Sequence[Card]) -> Hand:
        """Posts the blinds of those who are dealt in, and deals from a shuffled deck."""
        return betting.deal(self.specific_rules, positions.seats, positions.stacks, deck, posters=positions.posters)

    @staticmethod
    def legal(hand: Hand) -> Legal | None:
        """Returns what the player in turn may do; None when the hand is over."""
        return betting.legal(hand)

    @staticmethod
    def default(hand: Hand) -> Move:
        """Returns what is done for a player whose time is over (45)."""
        return betting.default(hand)

    @staticmethod
    def judge(hand: Hand, seat: int, move: Move) -> None:
        """Refuses what a seat may not do now, with the legal bounds. Nothing changes."""
        judging.judge(hand, seat, move)

    @staticmethod
    def after(hand: Hand, move: Move) -> Hand:
        """Returns the hand after an action that was judged, up to the next decision or to its end."""
        return betting.after(hand, move)

    @staticmethod
    def view(hand: Hand) -> View:
        """Returns what everybody may see."""
        return views.view(hand)

    @staticmethod
    def own_view(hand: Hand, seat: int) -> OwnView | None:
        """Returns what a seat alone may see and do; None if it was not dealt in."""
        return views.own_view(hand, seat)

    @staticmethod
    def steps(begun: Hand, hand: Hand) -> tuple[Step, ...]:
        """Returns all that has happened in a hand so far, in order; `begun` is the hand as it was dealt."""
        return steps(begun, hand)

    @staticmethod
    def void_stacks(hand: Hand) -> tuple[int, ...]:
        """Returns what each has after a void hand: each bet goes back to its player, folded or not (72)."""
        return hand.deal.stacks
