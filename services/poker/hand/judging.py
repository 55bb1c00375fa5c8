"""Whether an action is possible now; otherwise why not, with the rule and the legal bounds."""

from __future__ import annotations

from services.poker import refusals
from services.poker.hand.betting import Legal, legal
from services.poker.hand.state import Hand, Kind, Move
from services.poker.specific_rules import Limit

_FOLD = Kind.FOLD
# Which letter of 24 sets the maximum.
_LIMIT_RULES = {
    Limit.NO_LIMIT: "24.c",
    Limit.POT_LIMIT: "24.b",
    Limit.HALF_POT: "24.a",
    Limit.FIXED_RAISES: "24.a",
}


def judge(hand: Hand, seat: int, move: Move) -> None:
    """Refuses an action that a seat may not take now. Nothing changes."""
    actor = hand.actor
    if actor < 0 or hand.deal.seats[actor] != seat:
        raise refusals.not_your_turn(seat, hand.deal.seats[actor] if actor >= 0 else None)
    if move.kind is _FOLD:
        return
    may = legal(hand)
    if may is None:
        raise AssertionError(f"it is the turn of seat {seat}, and nothing is legal")
    match move.kind:
        case Kind.CHECK if may.to_call_cents:
            why = f"there is a bet to match with {may.to_call_cents} cents"
            raise _illegal(hand, may, move, why, "34.b")
        case Kind.CALL if not may.to_call_cents:
            raise _illegal(hand, may, move, "there is nothing to match", "34.c")
        case Kind.RAISE:
            _judge_raise(hand, may, move)


def _judge_raise(hand: Hand, may: Legal, move: Move) -> None:
    if not may.can_raise:
        raise _illegal(hand, may, move, *_why_no_raise(hand))
    variant = hand.deal.rules.variant
    if move.to_cents < may.min_to_cents:
        raise refusals.below_minimum(move.to_cents, may.min_to_cents, may.max_to_cents, variant.rule("23"))
    if move.to_cents > may.max_to_cents:
        rule = variant.rule(_limiting_rule(hand, may))
        raise refusals.above_maximum(move.to_cents, may.min_to_cents, may.max_to_cents, rule)


def _limiting_rule(hand: Hand, may: Legal) -> str:
    """Returns what sets the maximum: the player's cave (37), or the table's limit (24)."""
    whole_cave = may.max_to_cents == hand.held[may.position]
    return "37" if whole_cave else _LIMIT_RULES[hand.deal.rules.limit]


def _why_no_raise(hand: Hand) -> tuple[str, str]:
    """Returns why the player in turn cannot raise, and the rule."""
    rules, actor = hand.deal.rules, hand.actor
    if hand.held[actor] <= hand.level_cents:
        return "the cave does not exceed the bet", "39"
    if rules.limit is Limit.FIXED_RAISES and hand.raises >= rules.max_raises_per_turn:
        return f"{rules.max_raises_per_turn} raises were made in this round", "38"
    if hand.acted >> actor & 1 and hand.level_cents - hand.bets[actor] < hand.increment_cents:
        return "you have acted, and the all-in that followed is no full raise", "34.d"
    return "no other player could put in more", "40"


def _illegal(hand: Hand, may: Legal, move: Move, why: str, paragraph: str) -> Exception:
    possible = [Kind.FOLD.word, Kind.CALL.word if may.to_call_cents else Kind.CHECK.word]
    if may.can_raise:
        possible.append(Kind.RAISE.word)
    return refusals.action_illegal(
        move.kind.word,
        ", ".join(possible),
        why,
        hand.deal.rules.variant.rule(paragraph),
        to_call_cents=may.to_call_cents,
        min_to_cents=may.min_to_cents,
        max_to_cents=may.max_to_cents,
    )
