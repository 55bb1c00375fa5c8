"""What has happened in a hand, step by step and in order: for events, the last hand (65), history and export."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from enum import StrEnum
from operator import sub
from typing import NamedTuple

from services.kit.cards.card import Card
from services.poker.hand.betting import after
from services.poker.hand.state import BOARD_CARDS, Hand, Kind, Move, Street


class StepKind(StrEnum):
    """The kinds of steps."""

    POST = "post"  # a blind, or the voluntary post of a newcomer
    FOLD = "fold"
    CHECK = "check"
    CALL = "call"
    RAISE = "raise"
    GIVE_BACK = "give back"  # what nobody has matched (40)
    SHOW = "show"
    BOARD = "board"
    PAY = "pay"


class Step(NamedTuple):
    """One thing that happened, with nothing that not everybody may see."""

    kind: StepKind
    street: Street
    # Whom it is about; None for common cards.
    position: int | None = None
    # What was moved: into the pot, back, or out of it after the commission.
    cents: int = 0
    # What the player's bet in the round has become.
    to_cents: int = 0
    commission_cents: int = 0
    # Which pot was paid: 0 is the main pot.
    pot: int = 0
    cards: tuple[Card, ...] = ()


_ACTIONS = {kind: StepKind(kind.value) for kind in Kind}


def steps(begun: Hand, hand: Hand) -> tuple[Step, ...]:
    """Returns all steps of a hand so far; `begun` is the same hand as it was dealt."""
    return tuple(_steps(begun, hand.moves))


def _steps(begun: Hand, moves: Sequence[Move]) -> Iterator[Step]:
    posted = yield from _posts(begun)
    if begun.is_over:
        yield from _end_of_round(Street.PREFLOP, posted, begun)
    now = begun
    for move in moves:
        street = Street(now.street)
        bet = now.bets[now.actor]
        to = bet
        if move.kind is Kind.CALL:
            to = min(now.level_cents, now.held[now.actor])
        elif move.kind is Kind.RAISE:
            to = move.to_cents
        yield Step(_ACTIONS[move.kind], street, now.actor, to - bet, to)
        put_in = list(now.contributions)
        put_in[now.actor] += to - bet
        now = after(now, move)
        if now.is_over or now.street != street:
            yield from _end_of_round(street, put_in, now)


def _posts(begun: Hand) -> Generator[Step, None, list[int]]:
    """Yields the blinds and the voluntary posts (48); returns what each player has posted."""
    deal = begun.deal
    rules = deal.rules
    posted = [0] * len(deal.seats)
    amounts = {deal.small_blind_at: rules.small_blind_cents, deal.big_blind_at: rules.big_blind_cents}
    amounts |= dict.fromkeys(deal.posters, rules.big_blind_cents)
    for position, cents in amounts.items():
        posted[position] = min(cents, deal.stacks[position])
        yield Step(StepKind.POST, Street.PREFLOP, position, posted[position], posted[position])
    return posted


def _end_of_round(street: Street, put_in: Sequence[int], now: Hand) -> Iterator[Step]:
    """Yields what follows a betting round by itself: what goes back, cards that are shown or dealt, payments."""
    for position, cents in enumerate(map(sub, put_in, now.contributions)):
        if cents:
            yield Step(StepKind.GIVE_BACK, street, position, cents)
    result = now.result
    shows = []
    if result is not None:
        deal = now.deal
        shows = [Step(StepKind.SHOW, street, at, cards=deal.holes[at]) for at in result.shown]
    # Cards are turned up when no decision is left, before the common cards that are missing.
    yield from shows
    for coming in range(street + 1, now.street + 1):
        yield Step(StepKind.BOARD, Street(coming), cards=now.deal.board[BOARD_CARDS[coming - 1] : BOARD_CARDS[coming]])
    for pot, position, gross_cents, commission_cents in result.payments if result else ():
        net_cents = gross_cents - commission_cents
        yield Step(StepKind.PAY, Street(now.street), position, net_cents, commission_cents=commission_cents, pot=pot)
