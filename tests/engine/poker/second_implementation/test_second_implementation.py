"""The engine beside a second implementation: every decision's bounds, every cave and the commission of random hands.

Hands are given to the second implementation as the journal has them: what seats brought, entropy, and decisions.
"""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from feltro.poker.v1 import poker_pb2
from services.kit.randomness.tape import Tape
from services.kit.table.game import StakeOnTable
from services.poker import commission
from services.poker.engine import Table
from services.poker.game import PokerRules
from services.poker.hand import settlement
from services.poker.hand.betting import Legal
from services.poker.hand.state import CALL, CHECK, FOLD, Kind, Move, Pot
from services.poker.messages import Brought, brought_message, move_message
from services.poker.specific_rules import (
    Approval,
    CommissionMode,
    HeadsUpBlinds,
    Limit,
    NoFlopNoDrop,
    SpecificRules,
)
from services.poker.variant import Variant
from tests.engine.poker.second_implementation import reference
from tests.engine.poker.second_implementation.conditions import conditions
from tests.engine.poker.tables import both, rules
from tests.engine.poker.test_differential import random_move

HANDS_PER_TEST = 250
ENTROPY_BYTES = 400


def random_rules(variant: Variant, limit: Limit, chance: Random) -> SpecificRules:
    """Returns specific rules that differ in everything that decides about cents."""
    big_blind = chance.choice((2, 20, 100, 100, 250))
    mode = chance.choice((*[CommissionMode.POT] * 5, CommissionMode.CAVE))
    in_pots = mode is CommissionMode.POT
    chosen: dict[str, object] = {}
    if limit is Limit.FIXED_RAISES:
        chosen = {"max_raises_per_turn": chance.randint(1, 4), "bet_units": chance.choice(((1, 1, 2, 2), (1, 2, 3, 5)))}
    return rules(
        variant,
        big_blind,
        small_blind_cents=chance.randint(1, big_blind),
        cave_max_cents=100_000,
        cave_min_cents=max(big_blind, 20),
        top_up_to_min_cents=max(big_blind, 20),
        limit=limit,
        seats=10,
        commission_mode=mode,
        commission_bps=chance.choice((100, 250, 333, 500)) if in_pots else 500,
        commission_cap_cents=chance.choice((None, None, 1, 30, 300)) if in_pots else None,
        commission_cap_per_hand=chance.random() < 0.5,
        no_flop_no_drop=chance.choice(list(NoFlopNoDrop)),
        heads_up_blinds=chance.choice(list(HeadsUpBlinds)),
        approvals=frozenset(Approval),
        **chosen,
    )


def random_lineup(chance: Random, big_blind: int, *, deep: bool) -> list[Brought]:
    """Returns what two to ten seats bring: any caves or deep ones, a button or none, sometimes a poster."""
    seats = chance.sample(range(1, 11), chance.choice((2, 2, 3, 3, 4, 6, 10)))
    button = chance.choice((0, *seats))
    order = [seat for seat in sorted(seats) if seat > button] + [seat for seat in sorted(seats) if seat <= button]
    poster = chance.choice(order[2:-1]) if button and len(order) > 3 and chance.random() < 0.2 else 0

    def cave() -> int:
        if deep:
            return 1_000 * big_blind + chance.randint(0, 99)
        return chance.choice((chance.randint(1, 3 * big_blind), chance.randint(1, 20 * big_blind), 100 * big_blind))

    return [Brought(seat, cave(), button, posts=seat == poster) for seat in seats]


def small_move(may: Legal, chance: Random) -> Move:
    """Returns a legal action of a careful player: rarely a fold, and raises of the least size."""
    what = chance.random()
    if what < 0.08:
        return FOLD
    if what < 0.9 or not may.can_raise:
        return CALL if may.to_call_cents else CHECK
    return Move(Kind.RAISE, may.min_to_cents)


def play_beside(variant: Variant, limit: Limit, chance: Random) -> str:
    """Plays one hand in both; returns what kind of hand it was."""
    made = random_rules(variant, limit, chance)
    game, under = PokerRules(made), conditions(made)
    # In half of the hands nobody gets all in, and the pot is charged once.
    deep = chance.random() < 0.5
    brought = random_lineup(chance, made.big_blind_cents, deep=deep)
    entropy = chance.randbytes(ENTROPY_BYTES)
    dealt = game.deal([StakeOnTable(f"{each.seat}", each.seat, each) for each in brought], Tape(entropy))
    journalled = [brought_message(each).SerializeToString() for each in brought]
    moves: list[tuple[int, bytes]] = []
    playing = reference.play(reference.dealt(under, journalled, entropy))
    answer: tuple[str, int] | None = None
    paid: reference.Paid | None = None
    try:
        while True:
            choice = next(playing) if answer is None else playing.send(answer)
            may = Table.legal(dealt.hand)
            assert may is not None, f"{choice} after {dealt.hand.moves}"
            assert choice == (dealt.hand.deal.seats[may.position], *may[1:]), dealt.hand
            move = small_move(may, chance) if deep else random_move(may, chance)
            message = move_message(move).SerializeToString()
            dealt.judge(choice.seat, message)
            dealt = dealt.after(choice.seat, message, "")
            moves.append((choice.seat, message))
            answer = reference.move_of(message)
    except StopIteration as end:
        paid = end.value
    assert dealt.hand.is_over
    assert paid is not None
    verify(game, brought, poker_pb2.Outcome.FromString(dealt.outcome.record.SerializeToString()), paid)
    # Read from the journal at once it is the same hand.
    assert reference.paid(under, journalled, entropy, moves) == paid
    if not paid.showing:
        return "uncontested"
    live = [cents for seat, cents in zip(dealt.hand.deal.seats, dealt.hand.held, strict=True) if seat in paid.showing]
    return "all in" if 0 in live else "compared"


def verify(game: PokerRules, brought: list[Brought], record: poker_pb2.Outcome, paid: reference.Paid) -> None:
    """Asserts that the record says of each seat, and of the commission, what the second implementation has paid."""
    outcome = game.read_outcome(record.SerializeToString())
    assert {each.seat: game.payout_cents(outcome, each) for each in brought} == paid.caves
    assert record.commission_cents == paid.commission == sum(each.commission_cents for each in record.payments)
    assert {seat.seat for seat in record.view.seats if seat.cards} == paid.showing
    assert sum(paid.caves.values()) + paid.commission == sum(each.cave_cents for each in brought)


def play_hands(variant: Variant, limit: Limit) -> Counter[str]:
    """Plays hands from seeds of their own, and counts the kinds."""
    hands = range(HANDS_PER_TEST)
    return Counter(play_beside(variant, limit, Random(f"{variant} {limit} {number}")) for number in hands)


@both("17.a", "18", "19", "24.a", "24.b", "24.c", "26", "27", "29", "31", "33", "36", "40", "41", "42", "50", "62")
@both("32.a", "32.b", "32.c", "32.e", "32.f", "32.g", "63.a", "63.b", "63.c")
@pytest.mark.parametrize("limit", list(Limit))
@pytest.mark.parametrize("variant", list(Variant))
def test_a_second_implementation_offers_the_same_choices_and_pays_the_same_cents(
    variant: Variant, limit: Limit
) -> None:
    kinds = play_hands(variant, limit)
    # Each way to end a hand was there often enough to be compared.
    assert min(kinds[kind] for kind in ("uncontested", "compared", "all in")) >= HANDS_PER_TEST // 20, kinds


@pytest.mark.parametrize("broken", ["layers", "split", "commission", "winners"])
def test_a_cent_in_the_wrong_place_is_found(broken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison fails when pots, odd cents, the charge of each payment or the winners are wrong on purpose."""
    if broken == "layers":
        monkeypatch.setattr(settlement, "layers", lambda cents, live: (Pot(sum(cents), tuple(live)),))
    elif broken == "split":
        split = settlement.split
        monkeypatch.setattr(settlement, "split", lambda cents, parts: split(cents, parts)[::-1])
    elif broken == "commission":
        charge = commission.of_payment
        monkeypatch.setattr(commission, "of_payment", lambda made, cents, charged=0: charge(made, cents + 19, charged))
    else:
        monkeypatch.setattr(settlement, "_winners", lambda eligible, _: eligible[:1])

    with pytest.raises(AssertionError):
        play_hands(Variant.HOLDEM, Limit.NO_LIMIT)


def test_a_decision_that_was_impossible_is_found_in_the_journal() -> None:
    under = conditions(rules())
    brought = [brought_message(Brought(seat, 1_000, 1)).SerializeToString() for seat in (1, 2)]
    too_much = poker_pb2.Move(action=poker_pb2.ACTION_RAISE, to_cents=1_001).SerializeToString()

    with pytest.raises(AssertionError):
        reference.paid(under, brought, bytes(ENTROPY_BYTES), [(2, too_much)])
