"""What a fixed strategy earns against a real shoe, exactly: every hand of the player against every hand of the bank.

Cards are what they count, 1 to 10; what an end pays comes from the engine. The hands of a split pair share one shoe:
their returns are summed, for an expectation is additive, and what is known of the other hands' second cards is taken
out by the law of total expectation. Nothing is sampled and nothing approximated.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

from services.blackjack.engine import SPECIAL_PRIZE, Hand, HandState, Place, Round, SpecificRules, Table
from services.blackjack.scores import bank_draws, is_blackjack, score
from services.kit.cards.card import Card, Rank, Suit
from tests.engine.blackjack.strategy import (
    ACE,
    BLACKJACK,
    BUST,
    SPLITS_WEIGHED,
    VALUES,
    Choice,
    Kind,
    Strategy,
    TwoCards,
    best,
    hands_with,
)

CARDS = {value: Card(Rank(value), Suit.SPADES) for value in VALUES}
BET_CENTS = 1000
# A hand of the bank for each result, and one of the player for each score above 16 and for all below.
BANK_HANDS = {
    17: (10, 7),
    18: (10, 8),
    19: (10, 9),
    20: (10, 10),
    21: (10, 5, 6),
    BLACKJACK: (10, ACE),
    BUST: (10, 6, 10),
}
PLAYER_HANDS = {16: (10, 6), 17: (10, 7), 18: (10, 8), 19: (10, 9), 20: (10, 10), 21: (10, 5, 6)}

# More than the bank can draw, of all values or of one.
CARDS_OF_BANK = 21
# How many cards of each value are in the shoe, from 1 to 10.
Left = tuple[int, ...]


class BankHand(NamedTuple):
    """Cards that the bank may have beside its up card, and in how many orders it can draw them."""

    needs: tuple[tuple[int, int], ...]
    orders: int
    result: int


def without(left: Left, value: int, count: int = 1) -> Left:
    return (*left[: value - 1], left[value - 1] - count, *left[value:])


@cache
def bank_hands(up: int) -> tuple[BankHand, ...]:
    """Returns every hand that the bank can end with, by the engine's rule of drawing."""
    orders: dict[tuple[int, ...], int] = {}

    def go_on(values: tuple[int, ...]) -> None:
        cards = [CARDS[up], *(CARDS[value] for value in values)]
        if values and not bank_draws(cards):
            kind = tuple(sorted(values))
            orders[kind] = orders.get(kind, 0) + 1
            return
        for value in VALUES:
            go_on((*values, value))

    go_on(())
    return tuple(
        BankHand(tuple((value, kind.count(value)) for value in sorted(set(kind))), count, _result_of(up, kind))
        for kind, count in orders.items()
    )


def _result_of(up: int, values: tuple[int, ...]) -> int:
    cards = [CARDS[up], *(CARDS[value] for value in values)]
    return BLACKJACK if is_blackjack(cards) else min(score(cards), BUST)


class Step(NamedTuple):
    """One more value in a hand of the bank, in a list in which every step follows the one that it goes on from."""

    before: int
    """The place of that step; the hand without cards is before the first one."""
    need: int
    """What `bank_results` multiplies by: so many cards of the value."""
    share: float
    """In how many orders of so many cards the bank ends here."""
    drawn: int
    result: int


@cache
def bank_steps(up: int) -> tuple[Step, ...]:
    """Returns the hands of the bank as one tree: those that begin with the same cards share that much of the work."""
    places: dict[tuple[tuple[int, int], ...], int] = {(): 0}
    ends = {hand.needs: hand for hand in bank_hands(up)}
    steps: list[Step] = []
    for needs, hand in sorted(ends.items()):
        for length in range(1, len(needs) + 1):
            if (path := needs[:length]) not in places:
                value, count = path[-1]
                places[path] = len(places)
                end = ends.get(path)
                share, result = (float(end.orders), end.result) if end is not None else (0.0, hand.result)
                drawn = sum(count for _, count in path)
                steps.append(Step(places[path[:-1]], (value - 1) * CARDS_OF_BANK + count, share, drawn, result))
    return tuple(steps)


@cache
def bank_results(up: int, left: Left) -> dict[int, float]:
    """Returns how likely the bank ends with each result, given all cards that are left."""
    found = dict.fromkeys(BANK_HANDS, 0.0)
    # In how many orders so many cards of a value, and of all, can be drawn.
    ways = [float(math.perm(cards, count)) for cards in left for count in range(CARDS_OF_BANK)]
    ways_of_all = [1 / math.perm(sum(left), count) for count in range(CARDS_OF_BANK)]
    favourable = [1.0]
    for before, need, share, drawn, result in bank_steps(up):
        ways_here = favourable[before] * ways[need]
        favourable.append(ways_here)
        if share:
            found[result] += share * ways_here * ways_of_all[drawn]
    return found


@cache
def net_of(player: int, result: int) -> float:
    """Returns what one unit on a hand with this score earns by the engine, against a result of the bank."""
    table = Table(SpecificRules(6, 1, 1, BET_CENTS, BET_CENTS, 2, special_prizes=False))
    cards = tuple(CARDS[value] for value in PLAYER_HANDS[max(player, 16)])
    bank = tuple(CARDS[value] for value in BANK_HANDS[result])
    hand = Hand(1, 1, cards, {"1": BET_CENTS}, HandState.STOOD)
    round_ = Round((), 0, (Place(1, BET_CENTS),), (hand,), bank, hole_shown=True, over=True)
    return table.payouts(round_)["1"] / BET_CENTS - 1


class ShoeReturn:
    """What one bet earns on average, the up card known, when it is played by a strategy."""

    def __init__(self, packs: int, strategy: Strategy) -> None:
        self._strategy = strategy
        self._rules = strategy.rules
        self._up = strategy.up
        self._left = without(tuple(packs * (16 if value == 10 else 4) for value in VALUES), self._up)
        self._drawn: dict[tuple[int, bool, Left], float] = {}

    def net(self) -> float:
        """Returns the return over all first two cards."""
        left, in_shoe = self._left, sum(self._left)
        total = 0.0
        for first in VALUES:
            for second in range(first, 11):
                pairs = left[first - 1] * (left[second - 1] - (first == second)) * (1 if first == second else 2)
                rest = without(without(left, first), second)
                for hand, part in hands_with(first, second):
                    total += pairs * part * self._dealt(hand, rest)
        return total / (in_shoe * (in_shoe - 1))

    def _dealt(self, hand: TwoCards, left: Left) -> float:
        if hand.score == 21:
            # A blackjack: 3 to 2, a tie against another (25.a).
            return 1.5 * (1 - bank_results(self._up, left)[BLACKJACK])
        choice = self._strategy.choice(hand, is_split=False)
        return self._split(hand.first) if choice is Choice.SPLIT else self._played(hand, left, choice)

    def _played(self, hand: TwoCards, left: Left, choice: Choice) -> float:
        if choice is Choice.GIVE_UP:
            return -0.5
        if choice is Choice.STAND:
            return self._standing(hand.score, left)
        third = hand.special_third if self._rules.special_prizes else 0
        special = SPECIAL_PRIZE * left[third - 1] / sum(left) / (4 if hand.kind is Kind.SUITED else 1) if third else 0.0
        if choice is Choice.DRAW:
            return self._drawing(hand.low, hand.has_ace, left) + special
        return 2 * (self._doubling(hand, left) + special)

    def _doubling(self, hand: TwoCards, left: Left) -> float:
        # An ace that had to count 1 for the double stays 1 (8.a.ii).
        keeps_ace = hand.has_ace and self._rules.double_any_score
        total = 0.0
        for third in VALUES:
            low, rest = hand.low + third, without(left, third)
            if left[third - 1]:
                net = -1.0 if low > 21 else self._standing(best(low, has_ace=keeps_ace or third == ACE), rest)
                total += left[third - 1] * net
        return total / sum(left)

    def _drawing(self, low: int, has_ace: bool, left: Left) -> float:  # noqa: FBT001
        known = self._drawn.get((low, has_ace, left))
        if known is None:
            known = 0.0
            for value in VALUES:
                if left[value - 1]:
                    known += left[value - 1] * self._after_draw(
                        low + value, has_ace or value == ACE, without(left, value)
                    )
            known /= sum(left)
            self._drawn[low, has_ace, left] = known
        return known

    def _after_draw(self, low: int, has_ace: bool, left: Left) -> float:  # noqa: FBT001
        if low > 21:
            return -1.0
        if self._strategy.draws(low, has_ace=has_ace):
            return self._drawing(low, has_ace, left)
        return self._standing(best(low, has_ace=has_ace), left)

    def _standing(self, player: int, left: Left) -> float:
        return sum(likely * net_of(player, result) for result, likely in bank_results(self._up, left).items())

    # -- split pairs --------------------------------------------------------------------------------------------------

    def _split(self, value: int) -> float:
        """Returns what a split pair earns: it is split again on every further card of its value, while it may be."""
        limit = self._rules.splits_limit or SPLITS_WEIGHED
        if value == ACE and not self._strategy.may_split_aces_again:
            limit = 1
        return self._hands(value, limit + 1, hands=2, done=0)

    def _hands(self, value: int, most: int, hands: int, done: int) -> float:
        """Returns what so many hands earn, of which those done have a second card of another value."""
        if hands == most:
            completed = done * self._hand(value, hands, done - 1, other_second=True) if done else 0.0
            return completed + (hands - done) * self._hand(value, hands, done, other_second=False)
        if done == hands:
            return hands * self._hand(value, hands, hands - 1, other_second=True)
        again = (self._left[value - 1] - hands) / (sum(self._left) - hands - done)
        return again * self._hands(value, most, hands + 1, done) + (1 - again) * self._hands(
            value, most, hands, done + 1
        )

    def _hand(self, value: int, removed: int, others: int, *, other_second: bool) -> float:
        """Returns what one split hand earns when so many cards of its value are removed.

        `others` unseen cards are known to be of another value, and so is its own second card if `other_second`. What
        holds without that knowledge is an average of what holds with the last of them known either way.
        """
        if not others:
            return self._hand_of_unknown(value, removed, other_second)
        unseen = sum(self._left) - removed - (others - 1) - other_second
        again = (self._left[value - 1] - removed) / unseen
        whole = self._hand(value, removed, others - 1, other_second=other_second)
        with_one_more = self._hand(value, removed + 1, others - 1, other_second=other_second)
        return (whole - again * with_one_more) / (1 - again)

    def _hand_of_unknown(self, value: int, removed: int, other_second: bool) -> float:  # noqa: FBT001
        left = without(self._left, value, removed)
        total, cards = 0.0, 0
        for second in VALUES:
            count = left[second - 1]
            if not count or (other_second and second == value):
                continue
            cards += count
            rest = without(left, second)
            for hand, part in hands_with(value, second):
                if value == ACE:
                    # One card only (21).
                    total += count * part * self._standing(hand.score, rest)
                else:
                    total += count * part * self._played(hand, rest, self._strategy.choice(hand, is_split=True))
        return total / cards


def expected_net(rules: SpecificRules, *, may_give_up: bool = True, may_split_aces_again: bool = True) -> float:
    """Returns what one unit earns per round with the strategy that is best under these rules."""
    total = 0.0
    for up in VALUES:
        strategy = Strategy(rules, up, may_give_up=may_give_up, may_split_aces_again=may_split_aces_again)
        total += (4 if up == 10 else 1) / 13 * ShoeReturn(rules.packs, strategy).net()
    return total
