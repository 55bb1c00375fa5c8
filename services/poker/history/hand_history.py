"""A finished hand as text in the PHH format (Poker Hand History, https://phh.readthedocs.io), for operator and player.

Amounts are whole cents: in euros they would have fractions, which TOML makes floating-point numbers. The format's
`currency` is left out for that reason, since it names the unit of amounts; a field of ours names the currency.

A program that plays the hand again has the stacks before commission: `finishing_stacks` and `_commission` together. Odd
cents of a pot that is divided are one each for the first winners (62), where others give all of them to the first one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime, time
from typing import NamedTuple, TypeAlias

from services.kit.cards.card import Card
from services.poker.hand.state import Deal, Hand, Result
from services.poker.hand.steps import Step, StepKind, steps
from services.poker.specific_rules import Limit, SpecificRules
from services.poker.variant import Variant

_Value: TypeAlias = "str | int | time | Sequence[str] | Sequence[int]"

_UNKNOWN_CARD = "??"
# The format has two sizes of bets for a fixed limit, and its readers at most so many raises of an opening bet.
_RAISES_OF_FIXED_LIMIT = 3


class HandFacts(NamedTuple):
    """What is said about a hand and does not follow from its value."""

    hand_id: str
    table_id: str
    # When it was dealt, in UTC.
    started_at: datetime
    # Empty in a tournament, whose chips have no money value.
    currency: str
    # By position; empty where the reader may not see a name.
    players: Sequence[str]


def for_operator(begun: Hand, hand: Hand, facts: HandFacts) -> str:
    """Returns a finished hand with everybody's cards; `begun` is the hand as it was dealt."""
    return _text(begun, hand, facts, frozenset(range(len(hand.deal.seats))))


def for_player(begun: Hand, hand: Hand, facts: HandFacts, seat: int) -> str:
    """Returns a finished hand with a seat's own cards and those that were shown, and no others (34.a, A-37)."""
    own = hand.deal.seats.index(seat)
    return _text(begun, hand, facts, frozenset({own, *_result(hand).shown}))


def _text(begun: Hand, hand: Hand, facts: HandFacts, visible: frozenset[int]) -> str:
    """Writes the fields of the format; `visible` are the positions whose cards the reader may see."""
    deal, result = hand.deal, _result(hand)
    fields: dict[str, _Value] = {
        **_game(deal),
        "starting_stacks": deal.stacks,
        "actions": [*_dealing(deal, visible), *_actions(begun, hand)],
        "time": facts.started_at.time().replace(microsecond=0),
        "time_zone": "UTC",
        "day": facts.started_at.day,
        "month": facts.started_at.month,
        "year": facts.started_at.year,
        "hand": facts.hand_id,
        "seats": deal.seats,
        "seat_count": deal.rules.seats,
        "table": facts.table_id,
        "players": facts.players,
        "finishing_stacks": result.stacks,
        "winnings": _by_position(deal, [(payment.position, payment.net_cents) for payment in result.payments]),
        "time_limit": deal.rules.decision_time_s,
        "_regulation": deal.rules.variant.regulation,
        "_limit": deal.rules.limit.value,
        **({"_currency": facts.currency} if facts.currency else {}),
        "_amounts": "cents" if facts.currency else "chips",
        "_commission": _by_position(
            deal, [(payment.position, payment.commission_cents) for payment in result.payments]
        ),
    }
    return "".join(f"{name} = {_toml(value)}\n" for name, value in fields.items())


def _game(deal: Deal) -> dict[str, _Value]:
    """Returns the fields that say which game it is, and who has to bet before the cards."""
    rules = deal.rules
    blinds = [0] * len(deal.seats)
    blinds[deal.small_blind_at], blinds[deal.big_blind_at] = rules.small_blind_cents, rules.big_blind_cents
    for position in deal.posters:
        # A bet of a newcomer that does not move the first turn is written as a negative one.
        blinds[position] = -rules.big_blind_cents
    if len(blinds) == 2:
        # The format has the blinds of two players the other way round.
        blinds.reverse()
    smallest, *_, largest = (unit * rules.big_blind_cents for unit in rules.bet_units)
    sizes = {"small_bet": smallest, "big_bet": largest} if _is_fixed(rules) else {"min_bet": rules.big_blind_cents}
    return {"variant": _variant(rules), "antes": [0] * len(blinds), "blinds_or_straddles": blinds, **sizes}


def _variant(rules: SpecificRules) -> str:
    """Returns the format's code of a game, or of one that allows all that the game does.

    The format has no Omaha without a limit and none with a fixed one yet: `NO` and `FO` follow the names of the others.
    """
    if _is_fixed(rules):
        return "FT" if rules.variant is Variant.HOLDEM else "FO"
    if rules.variant is Variant.HOLDEM:
        return "NT"
    return "PO" if rules.limit in {Limit.POT_LIMIT, Limit.HALF_POT} else "NO"


def _is_fixed(rules: SpecificRules) -> bool:
    """Whether a limit is fixed as the format knows it: one size of bets before the turn, and one from then on."""
    preflop, flop, turn, river = rules.bet_units
    is_known = preflop == flop and turn == river and rules.max_raises_per_turn <= _RAISES_OF_FIXED_LIMIT
    return rules.limit is Limit.FIXED_RAISES and is_known


def _dealing(deal: Deal, visible: frozenset[int]) -> Iterator[str]:
    unknown = _UNKNOWN_CARD * deal.rules.variant.hole_cards
    for position, hole in enumerate(deal.holes):
        yield f"d dh {_player(position)} {_cards(hole) if position in visible else unknown}"


def _actions(begun: Hand, hand: Hand) -> Iterator[str]:
    """Yields what the dealer and the players did after the personal cards were dealt, in order."""
    for step in steps(begun, hand):
        if action := _action(step):
            yield action
    shown = _result(hand).shown
    if shown:
        yield from (f"{_player(position)} sm" for position in hand.live() if position not in shown)


def _action(step: Step) -> str | None:
    """Returns a step in the format's notation; None for what follows from the others, such as blinds and payments."""
    match step.kind, step.position:
        case StepKind.BOARD, None:
            return f"d db {_cards(step.cards)}"
        case StepKind.FOLD, int(position):
            return f"{_player(position)} f"
        case StepKind.CHECK | StepKind.CALL, int(position):
            return f"{_player(position)} cc"
        case StepKind.RAISE, int(position):
            return f"{_player(position)} cbr {step.to_cents}"
        case StepKind.SHOW, int(position):
            return f"{_player(position)} sm {_cards(step.cards)}"
    return None


def _player(position: int) -> str:
    return f"p{position + 1}"


def _cards(cards: Sequence[Card]) -> str:
    return "".join(card.name for card in cards)


def _by_position(deal: Deal, amounts: Sequence[tuple[int, int]]) -> list[int]:
    """Returns the sums of amounts of each position."""
    totals = [0] * len(deal.seats)
    for position, cents in amounts:
        totals[position] += cents
    return totals


def _toml(value: _Value) -> str:
    match value:
        case str():
            # TOML writes strings as JSON does, and escapes one character more.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | time():
            return str(value)
        case _:
            return f"[{', '.join(map(_toml, value))}]"


def _result(hand: Hand) -> Result:
    if hand.result is None:
        raise ValueError("The hand is not over: its history is written when it is.")
    return hand.result
