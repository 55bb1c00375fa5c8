"""Decides whether the history of an account is linearizable: whether one order explains every balance that was told.

Each operation takes effect at one moment between its call and its answer (Herlihy and Wing). The search is that of
Wing and Gong with the memory of Lowe: an order that was tried once with the same balance is not tried again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# Orders that are tried for one account before the search is given up (G11).
STATES_LIMIT = 500_000
# Operations that are named where no order can go on.
NAMED_LIMIT = 6


@dataclass(frozen=True, slots=True)
class Operation:
    """A command or a reading of one account: when it can have taken effect, what it moves, and what it told."""

    name: str
    invoked: float
    responded: float = math.inf
    """Until when it has taken effect; infinite if nobody was told."""
    free_cents: int = 0
    locked_cents: int = 0
    told: tuple[int, int] | None = None
    """The free and locked money after it, as its answer said."""
    refused_below: int = 0
    """Of a refusal for want of funds: the free money was less than this."""
    optional: bool = False
    """Whether it may never have taken effect: nobody was told that it did."""

    def fits(self, free_cents: int, locked_cents: int) -> bool:
        """Whether it can take effect on this balance (G2 included)."""
        if self.refused_below:
            return free_cents < self.refused_below
        after = (free_cents + self.free_cents, locked_cents + self.locked_cents)
        return min(after) >= 0 and self.told in {None, after}


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A history that no order explains."""

    sentence: str
    operations: tuple[Operation, ...]
    """Those that could have been next where the longest order ends."""


def contradiction(history: Sequence[Operation]) -> Contradiction | None:
    """Returns why no order of a history explains it; None if one does. The account begins empty."""
    return _Search(sorted(history, key=lambda operation: (operation.invoked, operation.responded))).run()


class _Search:
    """The orders of one history, tried in depth."""

    def __init__(self, operations: list[Operation]) -> None:
        self._operations = operations
        self._required = sum(1 << number for number, each in enumerate(operations) if not each.optional)
        self._longest = (0, 0, 0)

    def run(self) -> Contradiction | None:
        # Done operations as bits, the first one that is not done, and the balance.
        waiting = [(0, 0, 0, 0)]
        tried = {(0, 0, 0)}
        while waiting:
            done, first, free, locked = waiting.pop()
            if done & self._required == self._required:
                return None
            if len(tried) > STATES_LIMIT:
                return self._contradiction(f"no order was found within {STATES_LIMIT} attempts")
            if done.bit_count() > self._longest[0].bit_count():
                self._longest = (done, free, locked)
            while done >> first & 1:
                first += 1
            following = []
            for number in self._possible(done, first):
                each = self._operations[number]
                if not each.fits(free, locked):
                    continue
                after = (done | 1 << number, free + each.free_cents, locked + each.locked_cents)
                if after not in tried:
                    tried.add(after)
                    following.append((each.told is None, number, after))
            # The last one is tried next: first what is known to have been seen, then what was called first.
            following.sort(key=lambda candidate: candidate[:2], reverse=True)
            waiting += [(after[0], first, after[1], after[2]) for _, _, after in following]
        return self._contradiction("no order explains the balances that were told")

    def _possible(self, done: int, first: int) -> list[int]:
        """The operations that may be next: none that is left was answered before they were called."""
        found: list[int] = []
        answered = math.inf
        for number in range(first, len(self._operations)):
            each = self._operations[number]
            if each.invoked > answered:
                break
            if not done >> number & 1:
                found.append(number)
                answered = min(answered, each.responded)
        return found

    def _contradiction(self, sentence: str) -> Contradiction:
        done, free, locked = self._longest
        first = next((number for number in range(len(self._operations)) if not done >> number & 1), 0)
        stuck = [self._operations[number] for number in self._possible(done, first)]
        where = f"after {done.bit_count()} of {len(self._operations)} operations, with {free} free and {locked} locked"
        return Contradiction(f"{sentence}: {where}", tuple(stuck[:NAMED_LIMIT]))
