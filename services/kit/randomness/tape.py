"""Turns given entropy into unbiased numbers and shuffles: the same bytes give the same outcome for ever."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class TapeExhausted(Exception):
    """The entropy has run out before the outcome was decided."""


class Tape:
    """Reads numbers from given entropy: the same bytes always give the same numbers (`903-B/2015:6.7.2`, G10).

    By hand: to draw below n, take the fewest whole bytes that can tell n numbers apart (none for n = 1, one up to 256,
    two up to 65,536) and read them as a number, the first byte being the most significant. Of the numbers that so many
    bytes can be (256, 65,536), those below `limit`, the largest multiple of n, are used. Any other is discarded and the
    next bytes are taken; otherwise the remainder after division by n is the result. Each of the n results belongs to
    equally many numbers below `limit`, so none is likelier than another.
    """

    def __init__(self, entropy: bytes) -> None:
        self._entropy = entropy
        self._used = 0

    @property
    def used(self) -> int:
        """Bytes consumed from the start, discarded ones included."""
        return self._used

    def below(self, n: int) -> int:
        """Returns one of 0 … n - 1, all equally likely."""
        if n < 1:
            raise ValueError(f"There is no number from 0 up to but not including {n}.")
        width = _width(n)
        limit = 256**width // n * n
        entropy, at = self._entropy, self._used
        while at + width <= len(entropy):
            number = int.from_bytes(entropy[at : at + width], "big")
            at += width
            if number < limit:
                self._used = at
                return number % n
        raise self._exhausted()

    def below_each(self, n: int) -> list[int]:
        """Returns a number below n, then one below n - 1, and so on to one below 2, each read as `below` reads it.

        In one loop, because the shuffle of a shoe needs hundreds of them.
        """
        entropy, at, end = self._entropy, self._used, len(self._entropy)
        if at + _least_bytes(n) > end:
            # Entropy that cannot be enough is not begun.
            raise self._exhausted()
        numbers: list[int] = []
        for width in range(_width(n), 0, -1):
            possible = 256**width
            for size in range(min(n, possible), possible // 256, -1):
                limit = possible - possible % size
                while (number := int.from_bytes(entropy[at : at + width], "big")) >= limit:
                    at += width
                at += width
                if at > end:
                    raise self._exhausted()
                numbers.append(number % size)
        self._used = at
        return numbers

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Returns the items in a random order, all orders equally likely (Fisher and Yates).

        By hand: from the last place down to the second, draw one of the places up to and including it, and exchange the
        items of the two.
        """
        order = list(items)
        for chosen, last in zip(self.below_each(len(order)), range(len(order) - 1, 0, -1), strict=True):
            order[last], order[chosen] = order[chosen], order[last]
        return order

    def _exhausted(self) -> TapeExhausted:
        return TapeExhausted(f"{len(self._entropy)} bytes of entropy are not enough for this outcome.")


def _width(n: int) -> int:
    """Returns the fewest whole bytes that can tell n numbers apart."""
    return ((n - 1).bit_length() + 7) // 8


def _least_bytes(n: int) -> int:
    """Returns the fewest bytes that one number of each size from n down to 2 can take."""
    total, narrower = 0, 1
    while n > narrower:
        # Each size that is larger than what the bytes so far can be takes one more.
        total += n - narrower
        narrower *= 256
    return total
