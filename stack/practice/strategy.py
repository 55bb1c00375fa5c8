"""What a bot does in its turn: bets good hands, gives up bad ones, bluffs a little. Pure: chance comes in from outside.

Hands are judged by how often they beat one of which nothing is known (`strength`). What is needed grows with the
price, with the number of opponents, and with every raise. All numbers of this file are such strengths, unless they say
otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2
from random import Random

from services.poker.hand.state import CALL, CHECK, FOLD, Kind, Move
from stack.practice.situation import Situation
from stack.practice.strength import strength

# With so few big blinds there is nothing to play for later: all in, or out.
SHORT_STACK_BLINDS = 8
SHORT_STACK_PUSHES, PER_BLIND_LEFT = 0.49, 0.01

# Before the flop: to match the big blind, more for each time that it was doubled, less where one opponent is left.
CALLS_BLIND, PER_DOUBLING, ALONE = 0.505, 0.045, 0.06
# The best hands are worth any bet.
WORTH_EVERYTHING = 0.74
# Half a blind buys the rest of it.
CHEAP, LESS_WHERE_CHEAP = 0.5, 0.05
RAISES_BLIND = 0.085

# On the flop and later: to stay in for nothing, and for all of the pot; for each further opponent; after an own bet.
CALLS_BET, PER_POT, PER_OPPONENT, RAISED = 0.44, 0.4, 0.04, 0.06
RAISES_BET = 0.24
BETS = 0.62

# Who has to put in so much of the stack cannot give up any more: all of it, with a hand that is worth it.
COMMITTED, ALL_IN = 0.4, 0.84
# The parts of the pot by which a bot raises.
LEAST_PART, MOST_PART = 0.4, 0.85


@dataclass(frozen=True, slots=True)
class Style:
    """How a bot differs from others."""

    looseness: float = 0.0
    """By how much it overrates its hands."""
    aggression: float = 0.55
    """How often it raises what is worth a raise."""
    bluffing: float = 0.08
    """How often it bets what is worth nothing."""


USUAL = Style()


def decide(view: Situation, chance: Random, style: Style = USUAL) -> Move:
    """Returns what to do in a turn; always one of the legal actions, and never a fold where a check is free."""
    return move_with(strength(view.cards, view.board, chance) + style.looseness, view, chance, style)


def move_with(hand: float, view: Situation, chance: Random, style: Style) -> Move:
    """Returns what to do with a hand of this strength."""
    if not view.board and view.stack + view.bet <= SHORT_STACK_BLINDS * view.big_blind:
        return _with_short_stack(view, hand)
    if view.board and not view.to_call:
        return _unbet(view, hand, chance, style)
    needed = _needed_after_flop(view) if view.board else _needed_before_flop(view)
    raises = needed + (RAISES_BET if view.board else RAISES_BLIND)
    if hand > raises and chance.random() < style.aggression:
        return _raise_by_part(view, hand, chance) or _stay_in(view)
    if hand > needed or not view.to_call:
        return _stay_in(view)
    if view.opponents == 1 and chance.random() < style.bluffing / 4:
        return _raise_by_part(view, hand, chance) or FOLD
    return FOLD


def _with_short_stack(view: Situation, hand: float) -> Move:
    """All in with the better hands, the more of them the fewer blinds are left; out with the others."""
    left = (view.stack + view.bet) / view.big_blind
    if view.level > view.big_blind:
        wanted = _needed_before_flop(view)
    else:
        wanted = SHORT_STACK_PUSHES + PER_BLIND_LEFT * (left + view.opponents)
    if hand > wanted:
        return _raise_to(view, view.max_to) or _stay_in(view)
    return FOLD if view.to_call else CHECK


def _unbet(view: Situation, hand: float, chance: Random, style: Style) -> Move:
    wants = style.aggression + 0.2 if hand > BETS + PER_OPPONENT * (view.opponents - 1) else style.bluffing
    if chance.random() < wants:
        return _raise_by_part(view, hand, chance) or CHECK
    return CHECK


def _needed_before_flop(view: Situation) -> float:
    """What a hand needs to stay in for the present bet."""
    doubled = log2(max(1.0, view.level / view.big_blind))
    cheap = doubled == 0 and view.to_call <= CHEAP * view.big_blind
    alone = ALONE if view.opponents == 1 else 0.0
    needed = min(CALLS_BLIND + PER_DOUBLING * doubled, WORTH_EVERYTHING)
    return needed - alone - (LESS_WHERE_CHEAP if cheap else 0.0)


def _needed_after_flop(view: Situation) -> float:
    price = view.to_call / max(1, view.pot)
    raised = RAISED if view.bet else 0.0
    return CALLS_BET + PER_POT * min(1.0, price) + PER_OPPONENT * (view.opponents - 1) + raised


def _raise_by_part(view: Situation, hand: float, chance: Random) -> Move | None:
    """Raises by a part of the pot; nothing where that would take most of the stack and the hand is not worth it."""
    to = view.level + (view.pot + view.to_call) * chance.uniform(LEAST_PART, MOST_PART)
    if max(to, view.min_to) - view.bet >= view.stack * COMMITTED:
        return _raise_to(view, view.max_to) if hand > ALL_IN else None
    unit = max(1, view.big_blind // 2)
    return _raise_to(view, round(to / unit) * unit)


def _raise_to(view: Situation, to: int) -> Move | None:
    return Move(Kind.RAISE, min(max(to, view.min_to), view.max_to)) if view.max_to else None


def _stay_in(view: Situation) -> Move:
    return CALL if view.to_call else CHECK
