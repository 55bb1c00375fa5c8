"""Tables, decks, scripts and refusals of poker for tests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from services.kit.cards.card import Card, cards_named
from services.kit.cards.shoe import PACK
from services.kit.table.refusals import TableRefused
from services.poker.engine import Table
from services.poker.hand.betting import legal
from services.poker.hand.state import CALL, CHECK, FOLD, Hand, Kind, Move
from services.poker.lineup.entry import Positions
from services.poker.specific_rules import HeadsUpBlinds, SpecificRules, default_rules
from services.poker.variant import Variant

HOLDEM, OMAHA = Variant.HOLDEM, Variant.OMAHA
both_variants = pytest.mark.parametrize("variant", [HOLDEM, OMAHA])


def both(*paragraphs: str) -> pytest.MarkDecorator:
    """Marks a test that proves paragraphs of both regulations."""
    return pytest.mark.rule(*(f"{book.regulation}:{each}" for book in Variant for each in paragraphs))


def rules(variant: Variant = HOLDEM, big_blind_cents: int = 100, **chosen: object) -> SpecificRules:
    """Returns the specific rules of the rulebook's vectors: blinds 50/100, no limit, 5 % of pots."""
    return default_rules(variant, big_blind_cents, **chosen)


def table(variant: Variant = HOLDEM, big_blind_cents: int = 100, **chosen: object) -> Table:
    return Table(rules(variant, big_blind_cents, **chosen))


def deck_of(holes: str, board: str, *, first: int = 0) -> tuple[Card, ...]:
    """Builds a deck that deals these cards: `AsAd KsKd` to p0 and p1, the first card of all to position `first`."""
    hands = [cards_named(" ".join(hole[at : at + 2] for at in range(0, len(hole), 2))) for hole in holes.split()]
    hands = [*hands[first:], *hands[:first]]
    dealt = [card for lap in zip(*hands, strict=True) for card in lap]
    common = cards_named(board)
    rest = [card for card in PACK if card not in {*dealt, *common}]
    if not holes:
        return (*rest, *common)
    return (*dealt, *common, *rest)


def begin(
    at: Table,
    stacks: Sequence[int],
    holes: str = "",
    board: str = "",
    *,
    posters: Sequence[int] = (),
) -> Hand:
    """Deals a hand; seats are numbered 1, 2, … by position. Without cards of their own the pack is dealt as it is."""
    seats = tuple(range(1, len(stacks) + 1))
    heads_up_button = len(stacks) == 2 and at.specific_rules.heads_up_blinds is HeadsUpBlinds.BUTTON_SMALL_BLIND
    deck = deck_of(holes, board, first=int(heads_up_button)) if holes else PACK
    return at.deal(Positions(seats, tuple(stacks), tuple(posters)), deck)


def read(hand: Hand, word: str) -> Move:
    """Reads an action of a script: `r300`, `c`, `x`, `f`, and `t` for time that has run out."""
    if word == "t":
        return Table.default(hand)
    if word[0] == "r":
        return Move(Kind.RAISE, int(word[1:]))
    return {"c": CALL, "x": CHECK, "f": FOLD}[word]


def act(hand: Hand, word: str) -> Hand:
    """Carries out one action of the player in turn, judged first."""
    assert hand.actor >= 0, f"{word}: the hand is over"
    move = read(hand, word)
    Table.judge(hand, hand.deal.seats[hand.actor], move)
    return Table.after(hand, move)


def play(hand: Hand, script: str) -> Hand:
    """Carries out a script; `|` stands where a betting round has to end, or the hand."""
    for number, part in enumerate(script.split("|")):
        if number:
            assert hand.street == number, f"| number {number}: the hand is in round {hand.street}"
        for word in part.split():
            hand = act(hand, word)
    return hand


def bounds(hand: Hand) -> tuple[int, int] | None:
    """Returns the least and the most that the player in turn may raise to; None if no raise is offered."""
    may = legal(hand)
    assert may is not None
    return (may.min_to_cents, may.max_to_cents) if may.can_raise else None


def to_call(hand: Hand) -> int:
    may = legal(hand)
    assert may is not None
    return may.to_call_cents


def paid(hand: Hand) -> tuple[tuple[int, ...], int]:
    """Returns the final stacks and the commission; every cent is in one of the two."""
    assert hand.result is not None, "the hand is not over"
    assert sum(hand.stacks) + hand.result.commission_cents == sum(hand.deal.stacks)
    return hand.stacks, hand.result.commission_cents


def pots(hand: Hand) -> list[tuple[int, tuple[int, ...]]]:
    assert hand.result is not None
    return [(pot.cents, pot.positions) for pot in hand.result.pots]


def payments(hand: Hand) -> list[tuple[int, int, int, int]]:
    """Returns the payments: the pot, the position, gross, commission."""
    assert hand.result is not None
    return [tuple(payment) for payment in hand.result.payments]  # type: ignore[misc]


def refusal_of(call: Callable[[], object]) -> TableRefused:
    with pytest.raises(TableRefused) as caught:
        call()
    return caught.value
