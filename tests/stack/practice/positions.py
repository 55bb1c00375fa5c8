"""Positions of the engine as a bot sees them: what the gateway would show of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from services.kit.cards.shoe import PACK
from services.poker.engine import Table
from services.poker.hand.state import CALL, CHECK, FOLD, Hand, Kind, Move
from services.poker.lineup.entry import Positions
from stack.practice.situation import Situation

BIG_BLIND = 100


def situation_of(hand: Hand) -> Situation:
    """What the player in turn knows."""
    view, actor = Table.view(hand), hand.actor
    own = Table.own_view(hand, hand.deal.seats[actor])
    assert own is not None
    assert own.legal is not None
    return Situation(
        cards=own.cards,
        board=view.board,
        big_blind=BIG_BLIND,
        pot=view.total_cents,
        to_call=own.legal.to_call_cents,
        min_to=own.legal.min_to_cents,
        max_to=own.legal.max_to_cents,
        stack=view.seats[actor].stack_cents,
        bet=view.seats[actor].bet_cents,
        opponents=sum(not seat.has_folded for seat in view.seats) - 1,
    )


def dealt(table: Table, stacks: Sequence[int], chance: Random) -> Hand:
    """A hand as it is dealt."""
    deck = chance.sample(PACK, len(PACK))
    return table.deal(Positions(tuple(range(1, len(stacks) + 1)), tuple(stacks), ()), deck)


def random_positions(table: Table, hands: int, chance: Random) -> Iterator[Hand]:
    """Every decision of hands between players with any stacks who do anything that is legal."""
    for _ in range(hands):
        stacks = [chance.choice((1, 60, 100, 150, 700, 3_000, 10_000, 25_000)) for _ in range(chance.randint(2, 10))]
        hand = dealt(table, stacks, chance)
        while not hand.is_over:
            yield hand
            hand = table.after(hand, random_move(hand, chance))


def random_move(hand: Hand, chance: Random) -> Move:
    """Any legal action, a fold less often: hands are to last."""
    may = Table.legal(hand)
    assert may is not None
    moves = [CALL if may.to_call_cents else CHECK] * 3 + [FOLD]
    if may.can_raise:
        moves += [Move(Kind.RAISE, chance.choice((may.min_to_cents, may.max_to_cents)))]
        moves += [Move(Kind.RAISE, chance.randint(may.min_to_cents, may.max_to_cents))]
    return chance.choice(moves)
