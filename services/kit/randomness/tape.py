"""Turns given entropy into unbiased numbers and shuffles: the same bytes give the same outcome for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class TapeExhausted(Exception):
    """The entropy has run out before the outcome was known."""


class Tape:
    """Reads numbers from given entropy. The same bytes give the same numbers for ever (`903-B/2015:6.7.2`, G10).

    By hand: to draw below n, take the fewest whole bytes that can tell n numbers apart (none for n = 1, one up to 256,
    two up to 65,536) and read them as a number, the first byte being the most significant. Of the numbers that so many
    bytes can be (256, 65,536), `limit` of them, the largest multiple of n, are of use. A number of `limit` or above is
    thrown away and the next bytes are taken; otherwise its remainder after division by n is the result. Each of the n
    results belongs to equally many numbers below `limit`, so none is likelier than another.
    """

    def __init__(self, entropy: bytes) -> None:
        self._entropy = entropy
        self._used = 0

    @property
    def used(self) -> int:
        """Bytes consumed from the start, those thrown away included."""
        return self._used

    def below(self, n: int) -> int:
        """One of 0 … n - 1, all equally likely."""
        if n < 1:
            raise ValueError(f"There is no number from 0 up to but not including {n}.")
        width = ((n - 1).bit_length() + 7) // 8
        limit = 256**width // n * n
        entropy, at = self._entropy, self._used
        while at + width <= len(entropy):
            number = int.from_bytes(entropy[at : at + width], "big")
            at += width
            if number < limit:
                self._used = at
                return number % n
        raise TapeExhausted(f"{len(entropy)} bytes of entropy are not enough for this outcome.")

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in an order of which all are equally likely (Fisher and Yates).

        By hand: from the last place down to the second, draw one of the places up to and including it, and exchange the
        items of the two.
        """
        order = list(items)
        for last in range(len(order) - 1, 0, -1):
            chosen = self.below(last + 1)
            order[last], order[chosen] = order[chosen], order[last]
        return order
