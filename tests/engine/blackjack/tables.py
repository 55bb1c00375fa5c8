"""Tables, rounds and refusals of blackjack for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pytest

from services.blackjack.engine import Decision, Move, Round, SpecificRules, Table
from services.kit.cards.card import cards_named
from services.kit.cards.shoe import packs
from services.kit.table.refusals import TableRefused

DEFAULT = SpecificRules(
    packs=6, places=7, places_per_player=1, minimum_cents=500, maximum_cents=50_000, step_cents=2, splits_limit=3
)
TABLE = Table(DEFAULT)
BET = 1000


def dealt(player: str, bank: str, drawn: str = "", *, bet: int = BET, table: Table = TABLE) -> Round:
    """Deals to place 1 alone: the player's two cards, the bank's two, and then those that are drawn, in order."""
    (first, second), (up, hole) = cards_named(player), cards_named(bank)
    return table.deal({1: bet}, (first, up, second, hole, *cards_named(drawn), *packs(table.specific_rules.packs)))


def play(table: Table, round_: Round, decisions: Sequence[str | Move]) -> Round:
    """Carries out decisions in their order, each judged first; a text is a decision of the place whose turn it is."""
    for each in decisions:
        turn = table.turn(round_)
        assert turn is not None, f"{each}: the round is decided"
        move = Move(turn.places[0], Decision(each)) if isinstance(each, str) else each
        table.judge(round_, move)
        round_ = table.after(round_, move)
    return round_


def insure(cents: int, place: int = 1) -> Move:
    return Move(place, Decision.INSURE, cents)


def options(table: Table, round_: Round, place: int = 1) -> dict[str, int]:
    """Returns the decisions that are possible, each with what it costs."""
    return {option.decision.value: option.cost_cents for option in table.options(round_, place)}


def staked(round_: Round) -> int:
    """Returns all money that the round holds or held, insurance included."""
    hands = sum(hand.staked_cents for hand in round_.hands)
    return hands + sum(place.insurance_cents for place in round_.places)


def paid(table: Table, round_: Round) -> int:
    """Returns what the whole round pays."""
    payouts: Mapping[str, int] = table.payouts(round_)
    return sum(payouts.values())


def refusal_of(call: Callable[[], object]) -> TableRefused:
    with pytest.raises(TableRefused) as caught:
        call()
    return caught.value
