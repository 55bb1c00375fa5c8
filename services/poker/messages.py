"""Translates hands and decisions between the engine and the messages of `feltro.poker.v1`.

A card that was not turned up is in no message but its owner's (G7).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from google.protobuf.message import DecodeError

from feltro.poker.v1 import poker_pb2
from services.kit.table.caves.rules import HandResult, SeatResult
from services.kit.table.refusals import invalid
from services.poker.hand import betting, views
from services.poker.hand.state import Hand, Kind, Move
from services.poker.hand.views import SeatView

_ACTIONS = {kind: poker_pb2.Action.Value(kind.word) for kind in Kind}
_KINDS = {number: kind for kind, number in _ACTIONS.items()}


@dataclass(frozen=True, slots=True)
class Brought:
    """What a seat brings to a hand: its cave, and where the button is (0: it is drawn by lot)."""

    seat: int
    cave_cents: int
    button: int
    # Whether a newcomer posts a big blind to enter before it is due.
    posts: bool = False
    # In a tournament: which of its hands it is, at which level, and what is left of the player's time bank.
    hand: int = 0
    level: int = 0
    time_bank_ms: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a hand ended: everything that it has shown, and what it moved."""

    record: poker_pb2.Outcome
    result: HandResult

    @classmethod
    def of(cls, record: poker_pb2.Outcome) -> Outcome:
        seats = {each.seat: SeatResult(each.staked_cents, each.won_cents) for each in record.results}
        return cls(record, HandResult(seats, record.commission_cents))


def brought_message(brought: Brought) -> poker_pb2.SeatInHand:
    return poker_pb2.SeatInHand(
        seat=brought.seat,
        cave_cents=brought.cave_cents,
        button=brought.button,
        posts=brought.posts,
        hand_no=brought.hand,
        level=brought.level,
        time_bank_ms=brought.time_bank_ms,
    )


def read_brought(message: bytes) -> Brought:
    read = poker_pb2.SeatInHand.FromString(message)
    return Brought(
        read.seat, read.cave_cents, read.button, read.posts, read.hand_no, read.level, read.time_bank_ms
    )  # fmt: skip


def read_move(message: bytes) -> Move:
    """Reads a player's decision; refuses what no hand could be asked."""
    read = poker_pb2.Move()
    try:
        read.ParseFromString(message)
    except DecodeError:
        raise invalid("move", f"has to be a `{read.DESCRIPTOR.full_name}`") from None
    kind = _KINDS.get(read.action)
    if kind is None:
        raise invalid("move.action", f"has to be one of {', '.join(each.word for each in Kind)}")
    if kind is not Kind.RAISE and read.to_cents:
        raise invalid("move.to_cents", "has to be 0 for anything but a raise")
    return Move(kind, read.to_cents)


def move_message(move: Move) -> poker_pb2.Move:
    return poker_pb2.Move(action=_ACTIONS[move.kind], to_cents=move.to_cents)


def view_message(hand: Hand) -> poker_pb2.View:
    """Builds what everybody may see."""
    view = views.view(hand)
    return poker_pb2.View(
        street=poker_pb2.Street.ValueType(view.street + 1),
        board=[card.name for card in view.board],
        seats=[_seat_message(each) for each in view.seats],
        button=view.button,
        small_blind=view.small_blind,
        big_blind=view.big_blind,
        pots=[poker_pb2.Pot(cents=pot.cents, seats=[hand.deal.seats[at] for at in pot.positions]) for pot in view.pots],
        total_cents=view.total_cents,
        legal=_legal_message(hand),
    )


def _seat_message(seat: SeatView) -> poker_pb2.SeatView:
    strength = seat.strength
    return poker_pb2.SeatView(
        seat=seat.seat,
        stack_cents=seat.stack_cents,
        bet_cents=seat.bet_cents,
        folded=seat.has_folded,
        all_in=seat.is_all_in,
        cards=[card.name for card in seat.cards],
        combination=poker_pb2.Combination.ValueType(0 if strength is None else strength.combination),
        best_cards=[] if strength is None else [card.name for card in strength.cards],
    )


def _legal_message(hand: Hand) -> poker_pb2.Legal | None:
    legal = betting.legal(hand)
    if legal is None:
        return None
    return poker_pb2.Legal(
        seat=hand.deal.seats[legal.position],
        to_call_cents=legal.to_call_cents,
        min_to_cents=legal.min_to_cents,
        max_to_cents=legal.max_to_cents,
    )


def own_view_message(hand: Hand, seat: int) -> poker_pb2.OwnView | None:
    """Builds what a seat alone sees; None if it was not dealt in."""
    own = views.own_view(hand, seat)
    if own is None:
        return None
    return poker_pb2.OwnView(
        cards=[card.name for card in own.cards], legal=None if own.legal is None else _legal_message(hand)
    )


def outcome_message(hand: Hand, view: poker_pb2.View) -> poker_pb2.Outcome:
    """Builds the record of a hand that is over; `view` is what everybody may see of it."""
    result = hand.result
    if result is None:
        raise AssertionError("a hand that goes on has no record")
    seats, contributions = hand.deal.seats, _staked(hand)
    won: dict[int, int] = dict.fromkeys(range(len(seats)), 0)
    for payment in result.payments:
        won[payment.position] += payment.net_cents
    return poker_pb2.Outcome(
        view=view,
        payments=[
            poker_pb2.Payment(
                pot=payment.pot,
                seat=seats[payment.position],
                gross_cents=payment.gross_cents,
                commission_cents=payment.commission_cents,
            )
            for payment in result.payments
        ],
        results=[
            poker_pb2.SeatResult(seat=seat, staked_cents=contributions[at], won_cents=won[at])
            for at, seat in enumerate(seats)
        ],
        commission_cents=result.commission_cents,
    )


def _staked(hand: Hand) -> Mapping[int, int]:
    """Returns what each position has put into the pots of a hand that is over, what came back not counted (A-30)."""
    result = hand.result
    if result is None:
        raise AssertionError("a hand that goes on has moved nothing")
    paid = dict.fromkeys(range(len(hand.deal.seats)), 0)
    for payment in result.payments:
        paid[payment.position] += payment.net_cents
    return {at: hand.deal.stacks[at] + paid[at] - result.stacks[at] for at in paid}


def seat_result_message(outcome: Outcome, brought: Brought) -> poker_pb2.SeatResult:
    """Builds what a hand was for one seat."""
    result = outcome.result.seats[brought.seat]
    return poker_pb2.SeatResult(seat=brought.seat, staked_cents=result.staked_cents, won_cents=result.won_cents)
