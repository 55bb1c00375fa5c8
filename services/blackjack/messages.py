"""Translates rounds, decisions and bets between the engine and the messages of `feltro.blackjack.v1`.

What is face down is never in a message: the bank's second card is an empty name until the rules show it (B4, G7).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from feltro.blackjack.v1 import blackjack_pb2
from services.blackjack.engine import Decision, Hand, HandState, Move, Offer, Option, Place, Round, Turn
from services.blackjack.scores import is_blackjack, is_soft, score
from services.kit.table.refusals import invalid

# The bets of one player: cents by the name of the stake, as `Bet.place` in blackjack.proto says. Never changed.
Bets = Mapping[str, int]

# What a card that lies face down is called.
FACE_DOWN = ""

_DECISIONS = {decision: blackjack_pb2.Decision.Value(decision.word) for decision in Decision}
_DECISION_OF_NUMBER = {number: decision for decision, number in _DECISIONS.items()}
_HAND_STATES = {state: blackjack_pb2.HandState.Value(f"HAND_STATE_{state.name}") for state in HandState}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a round ended: everything that it showed, and what every stake paid."""

    record: blackjack_pb2.Outcome
    # By the name of the stake: what was staked, and what it paid.
    paid: Mapping[str, tuple[int, int]]

    @classmethod
    def of(cls, record: blackjack_pb2.Outcome) -> Outcome:
        return cls(record, {result.place: (result.amount_cents, result.payout_cents) for result in record.results})


# -- decisions --------------------------------------------------------------------------------------------------------


def read_move(message: bytes, places: int) -> Move:
    """Reads a player's decision; refuses what no hand of this table could be asked."""
    move = blackjack_pb2.Move()
    try:
        move.ParseFromString(message)
    except DecodeError:
        raise invalid("move", f"has to be a `{move.DESCRIPTOR.full_name}`") from None
    decision = _DECISION_OF_NUMBER.get(move.decision)
    if decision is None:
        raise invalid("move.decision", f"has to be one of {', '.join(each.word for each in Decision)}")
    if not 1 <= move.place <= places:
        raise invalid("move.place", f"has to be a place of the table, 1 to {places}")
    return Move(move.place, decision, move.insurance_cents)


def move_message(move: Move) -> blackjack_pb2.Move:
    return blackjack_pb2.Move(
        place=move.place, decision=_DECISIONS[move.decision], insurance_cents=move.insurance_cents
    )


def own_view_message(options: Iterable[tuple[int, Option]]) -> blackjack_pb2.OwnView:
    """Builds the decisions of one player, each with its place."""
    message = blackjack_pb2.OwnView()
    for place, option in options:
        message.options.add(place=place, decision=_DECISIONS[option.decision], cost_cents=option.cost_cents)
    return message


# -- bets -------------------------------------------------------------------------------------------------------------


def bets_message(bets: Bets) -> blackjack_pb2.Bets:
    message = blackjack_pb2.Bets()
    for name, cents in bets.items():
        message.bets.add(place=name, amount_cents=cents)
    return message


def result_message(name: str, cents: int, payout_cents: int) -> blackjack_pb2.BetResult:
    return blackjack_pb2.BetResult(
        place=name, amount_cents=cents, payout_cents=payout_cents, prize_cents=max(payout_cents - cents, 0)
    )


# -- the table --------------------------------------------------------------------------------------------------------


def view_message(round_: Round, turn: Turn | None, seats: Mapping[int, int]) -> blackjack_pb2.View:
    """Builds what everybody may see; `seats` says who plays each place."""
    view = blackjack_pb2.View(
        hands=_hand_messages(round_, seats), bank=_bank_message(round_), offers=_offer_messages(round_, seats)
    )
    if turn is not None and turn.hand is not None:
        view.place, view.hand = turn.places[0], turn.hand
    return view


def outcome_message(round_: Round, payouts: Mapping[str, int], seats: Mapping[int, int]) -> blackjack_pb2.Outcome:
    """Builds the record of a round that has ended."""
    return blackjack_pb2.Outcome(
        hands=_hand_messages(round_, seats),
        bank=_bank_message(round_),
        offers=_offer_messages(round_, seats),
        results=[result_message(name, cents, payouts[name]) for name, cents in round_.stakes.items()],
    )


def _hand_messages(round_: Round, seats: Mapping[int, int]) -> list[blackjack_pb2.Hand]:
    return [_hand_message(hand, seats[hand.place]) for hand in round_.hands]


def _hand_message(hand: Hand, seat: int) -> blackjack_pb2.Hand:
    return blackjack_pb2.Hand(
        place=hand.place,
        number=hand.number,
        seat=seat,
        cards=[card.name for card in hand.cards],
        score=hand.score,
        soft=hand.is_soft,
        blackjack=hand.is_blackjack,
        staked_cents=hand.staked_cents,
        state=blackjack_pb2.HandState.ValueType(_HAND_STATES[hand.state]),
        doubled=hand.is_doubled,
        split=hand.is_split,
    )


def _bank_message(round_: Round) -> blackjack_pb2.BankHand:
    shown = round_.shown_bank
    return blackjack_pb2.BankHand(
        cards=[card.name for card in shown] + ([] if round_.hole_shown else [FACE_DOWN]),
        score=score(shown),
        soft=is_soft(shown),
        blackjack=is_blackjack(shown),
        hole_shown=round_.hole_shown,
    )


def _offer_messages(round_: Round, seats: Mapping[int, int]) -> list[blackjack_pb2.PlaceOffer]:
    offered = (place for place in round_.places if place.offer is not Offer.NONE)
    return [_offer_message(place, round_, seats[place.number]) for place in offered]


def _offer_message(place: Place, round_: Round, seat: int) -> blackjack_pb2.PlaceOffer:
    return blackjack_pb2.PlaceOffer(
        place=place.number,
        seat=seat,
        even_money=round_.hand(place.number, 1).is_blackjack,
        open=place.offer is Offer.OPEN,
        insurance_cents=place.insurance_cents,
        taken=place.offer is Offer.TAKEN,
    )
