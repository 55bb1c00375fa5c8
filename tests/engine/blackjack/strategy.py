"""The best strategy against an endless shoe, by recursion: what the rulebook's expected returns are computed with.

A player who follows it looks at their own hand and the bank's up card alone. Cards are what they count, 1 to 10, and a
hand is its total with aces as 1 and whether it has an ace; suits matter for the special prizes only (25.i).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from services.blackjack.engine import SPECIAL_PRIZE, SpecificRules

VALUES = range(1, 11)
LIKELY = {value: (4 if value == 10 else 1) / 13 for value in VALUES}
ACE = 1
# How the bank's hand can end beside the scores 17 to 21.
BLACKJACK, BUST = 0, 22
# Where splits are not limited, more of them than this change nothing that is printed.
SPLITS_WEIGHED = 6


class Kind(Enum):
    """What two cards can become with a third one (25.i)."""

    PLAIN = "plain"
    SEVENS = "two sevens"
    SUITED = "two of 6, 7 and 8 of one suit"


class Choice(Enum):
    """What is decided on two cards."""

    DRAW = "draw"
    STAND = "stand"
    DOUBLE = "double"
    SPLIT = "split"
    GIVE_UP = "give up"


@dataclass(frozen=True, slots=True)
class TwoCards:
    """Two cards by what they count, the lower first."""

    first: int
    second: int
    kind: Kind = Kind.PLAIN

    @property
    def low(self) -> int:
        return self.first + self.second

    @property
    def has_ace(self) -> bool:
        return self.first == ACE

    @property
    def score(self) -> int:
        return best(self.low, has_ace=self.has_ace)

    @property
    def special_third(self) -> int:
        """The value that makes them a special hand; 0 if none does."""
        return 0 if self.kind is Kind.PLAIN else 21 - self.low


def best(low: int, *, has_ace: bool) -> int:
    """Returns the score: an ace counts 11 where that fits."""
    return low + 10 if has_ace and low <= 11 else low


def hands_with(first: int, second: int) -> Iterator[tuple[TwoCards, float]]:
    """Yields the hands that two values make, each with its part: one second card in four has the suit of the first."""
    low, high = min(first, second), max(first, second)
    if first == second == 7:
        yield TwoCards(7, 7, Kind.SEVENS), 1.0
    elif low >= 6 and high <= 8 and low != high:
        yield TwoCards(low, high, Kind.SUITED), 0.25
        yield TwoCards(low, high), 0.75
    else:
        yield TwoCards(low, high), 1.0


def may_double(rules: SpecificRules, hand: TwoCards) -> bool:
    """Whether two cards may be doubled (15.b, 16.a)."""
    return rules.double_any_score or bool({hand.score, hand.low} & {9, 10, 11})


class Strategy:
    """The decisions that earn most against an endless shoe, for one up card."""

    def __init__(
        self, rules: SpecificRules, up: int, *, may_give_up: bool = True, may_split_aces_again: bool = True
    ) -> None:
        self.rules = rules
        self.up = up
        self.may_give_up = may_give_up and up != ACE
        self.may_split_aces_again = may_split_aces_again
        self._bank = _bank_results(up)
        self._standing = {score: self._standing_worth(score) for score in range(4, 22)}
        self._drawing: dict[tuple[int, bool], float] = {}
        self._pending: dict[tuple[int, int, int], float] = {}

    def draws(self, low: int, *, has_ace: bool) -> bool:
        """Whether a hand of three or more cards draws another."""
        score = best(low, has_ace=has_ace)
        return score <= 11 or (score < 21 and self._drawing_worth(low, has_ace=has_ace) > self._standing[score])

    def choice(self, hand: TwoCards, *, is_split: bool) -> Choice:
        """What is decided on two cards; a pair is split again after a split wherever it is split at first."""
        worth = self._worth(hand, is_split=is_split)
        if hand.first == hand.second and not is_split:
            limit = self.rules.splits_limit or SPLITS_WEIGHED
            worth[Choice.SPLIT] = self._pending_worth(hand.first, 2, min(limit, SPLITS_WEIGHED) - 1)
        return max(worth, key=worth.__getitem__)

    def _pending_worth(self, value: int, hands: int, splits_left: int) -> float:
        """Returns what so many hands of one card are worth that still get their second."""
        if not hands:
            return 0.0
        known = self._pending.get((value, hands, splits_left))
        if known is None:
            rest = self._pending_worth(value, hands - 1, splits_left)
            known = 0.0
            for second in VALUES:
                if second == value and splits_left and (value != ACE or self.may_split_aces_again):
                    known += LIKELY[second] * self._pending_worth(value, hands + 1, splits_left - 1)
                    continue
                for hand, part in hands_with(value, second):
                    known += LIKELY[second] * part * (self._split_hand_worth(hand, value) + rest)
            self._pending[value, hands, splits_left] = known
        return known

    def _split_hand_worth(self, hand: TwoCards, value: int) -> float:
        # Split aces receive one card only (21).
        return self._standing[hand.score] if value == ACE else max(self._worth(hand, is_split=True).values())

    def _worth(self, hand: TwoCards, *, is_split: bool) -> dict[Choice, float]:
        """Returns what each decision is worth, splits apart."""
        if hand.score == 21:
            return {Choice.STAND: self._standing[21]}
        special = self._special_worth(hand)
        worth = {Choice.DRAW: self._drawing_worth(hand.low, has_ace=hand.has_ace) + special}
        if hand.score > 11:
            worth[Choice.STAND] = self._standing[hand.score]
        if may_double(self.rules, hand):
            worth[Choice.DOUBLE] = 2 * (self._doubling_worth(hand) + special)
        if self.may_give_up and not is_split:
            worth[Choice.GIVE_UP] = -0.5
        return worth

    def _special_worth(self, hand: TwoCards) -> float:
        if not self.rules.special_prizes or not hand.special_third:
            return 0.0
        return SPECIAL_PRIZE * LIKELY[hand.special_third] * (0.25 if hand.kind is Kind.SUITED else 1.0)

    def _doubling_worth(self, hand: TwoCards) -> float:
        keeps_ace = hand.has_ace and self.rules.double_any_score
        total = 0.0
        for third in VALUES:
            low = hand.low + third
            total += LIKELY[third] * (
                -1.0 if low > 21 else self._standing[best(low, has_ace=keeps_ace or third == ACE)]
            )
        return total

    def _drawing_worth(self, low: int, *, has_ace: bool) -> float:
        known = self._drawing.get((low, has_ace))
        if known is None:
            known = sum(LIKELY[value] * self._after_draw(low + value, has_ace or value == ACE) for value in VALUES)
            self._drawing[low, has_ace] = known
        return known

    def _after_draw(self, low: int, has_ace: bool) -> float:  # noqa: FBT001
        if low > 21:
            return -1.0
        if self.draws(low, has_ace=has_ace):
            return self._drawing_worth(low, has_ace=has_ace)
        return self._standing[best(low, has_ace=has_ace)]

    def _standing_worth(self, score: int) -> float:
        """Returns what a hand with this score earns against the bank, whose blackjack beats every 21 (18)."""
        return sum(
            likely * (1 if result == BUST or BLACKJACK < result < score else 0 if result == score else -1)
            for result, likely in self._bank.items()
        )


def _bank_results(up: int) -> dict[int, float]:
    """Returns how likely the bank ends with each result."""
    found: dict[int, float] = {}

    def go_on(low: int, has_ace: bool, cards: int, likely: float) -> None:  # noqa: FBT001
        score = best(low, has_ace=has_ace)
        if cards > 1 and score >= 17:
            result = BLACKJACK if cards == 2 and score == 21 else min(score, BUST)
            found[result] = found.get(result, 0.0) + likely
            return
        for value in VALUES:
            go_on(low + value, has_ace or value == ACE, cards + 1, likely * LIKELY[value])

    go_on(up, up == ACE, 1, 1.0)
    return found
