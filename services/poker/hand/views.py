"""What everybody may see of a hand, and what one seat alone may see and do (2.d, 34.a, 36, 59)."""

from __future__ import annotations

from dataclasses import dataclass
from operator import sub

from services.kit.cards.card import Card
from services.poker.evaluation.strength import Strength
from services.poker.hand.betting import Legal, legal
from services.poker.hand.settlement import layers
from services.poker.hand.state import Hand, Payment, Pot, Street


@dataclass(frozen=True, slots=True)
class SeatView:
    """A dealt-in seat as everybody sees it."""

    seat: int
    stack_cents: int
    bet_cents: int
    has_folded: bool
    is_all_in: bool
    # What the seat has turned up (59), and the best combination of it; empty and None where it has not.
    cards: tuple[Card, ...]
    strength: Strength | None


@dataclass(frozen=True, slots=True)
class View:
    """A hand as everybody sees it; the seats are by position."""

    street: Street
    board: tuple[Card, ...]
    seats: tuple[SeatView, ...]
    button: int
    small_blind: int
    big_blind: int
    # What lies in the middle by layers, the bets of this round not counted; and all of it together.
    pots: tuple[Pot, ...]
    total_cents: int
    # Whose turn it is and within which bounds, which the table shows to all.
    turn: Legal | None
    payments: tuple[Payment, ...]
    # In which order the cards are turned up.
    shown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OwnView:
    """What one seat alone sees: its cards, folded ones too, and what it may do when it is its turn."""

    cards: tuple[Card, ...]
    legal: Legal | None


def view(hand: Hand) -> View:
    """Returns what everybody may see: nothing here depends on a card that is not shown (G7)."""
    deal, result = hand.deal, hand.result
    shown = frozenset(result.shown) if result else frozenset()
    stacks = hand.stacks
    evaluate = deal.rules.variant.evaluate
    seats = tuple(
        SeatView(
            seat=seat,
            stack_cents=stacks[position],
            bet_cents=hand.bets[position],
            has_folded=not hand.in_hand >> position & 1,
            is_all_in=bool(hand.in_hand >> position & 1) and hand.held[position] == hand.bets[position],
            cards=deal.holes[position] if position in shown else (),
            strength=evaluate(deal.holes[position], deal.board) if position in shown else None,
        )
        for position, seat in enumerate(deal.seats)
    )
    return View(
        street=Street(hand.street),
        board=hand.board,
        seats=seats,
        button=deal.seats[-1],
        small_blind=deal.seats[deal.small_blind_at],
        big_blind=deal.seats[deal.big_blind_at],
        pots=result.pots if result else collected_pots(hand),
        total_cents=hand.pot_cents,
        turn=legal(hand),
        payments=result.payments if result else (),
        shown=result.shown if result else (),
    )


def own_view(hand: Hand, seat: int) -> OwnView | None:
    """Returns what a seat alone may see; None if it was not dealt in."""
    position = hand.deal.position(seat)
    if position is None:
        return None
    return OwnView(hand.deal.holes[position], legal(hand) if position == hand.actor else None)


def collected_pots(hand: Hand) -> tuple[Pot, ...]:
    """Returns the pots of the rounds that are over; empty before the first one is."""
    collected = tuple(map(sub, hand.deal.stacks, hand.held))
    return layers(collected, tuple(hand.live())) if any(collected) else ()
