"""The platform's only source of chance, and the unbiased way from its bytes to numbers and shuffles.

The source is the operating system's generator and nothing else: it is seeded and reseeded by the kernel from hardware,
never from the time, and there is no generator of ours whose state could be lost, guessed or copied by a fork
(`903-B/2015:6.7.4`, GLI-19 3.3).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from services.kit.randomness.health_tests import HealthTests

# Fresh bytes that the start-up tests look at and throw away (SP 800-90B 4.3 wants 1,024 at least).
START_UP_SAMPLES = 1024
# What a draw takes first: more than a spin needs with any luck, less than a deck does.
FIRST_BYTES = 32
# The most that one draw takes; a shoe of eight decks uses about 1,000 bytes (G11).
DRAW_BYTES_LIMIT = 64 * 1024

T = TypeVar("T")

_log = logging.getLogger(__name__)


class TapeExhausted(Exception):
    """The entropy has run out before the outcome was known."""


class SourceFailed(Exception):
    """The source gives nothing until it is restarted and passes its start-up tests: games that need it are disabled."""


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


class Randomness:
    """Entropy, drawn from the operating system when it is needed and never before, and watched as it passes.

    What the health tests see is what is handed out: nothing is kept for later. After a failure nothing is handed out
    any more (`903-B/2015:6.7.3`), and there is nothing to fall back to (G12). A source that fails at construction is
    constructed all the same, in that state: what was drawn before can still be settled.
    """

    def __init__(self, read: Callable[[int], bytes] = os.urandom) -> None:
        self._read = read
        self._health = HealthTests()
        self._failure: str | None = "Randomness has not been tested yet."
        try:
            self.restart()
        except SourceFailed:
            # `failure` tells, and so does every `take`.
            return

    @property
    def failure(self) -> str | None:
        """Why nothing is handed out, in a sentence; None while the source is sound."""
        return self._failure

    def take(self, count: int) -> bytes:
        """That many fresh bytes, or `SourceFailed`."""
        if count < 1:
            raise ValueError(f"{count} bytes of entropy cannot be taken.")
        if self._failure is not None:
            raise SourceFailed(self._failure)
        return self._tested(count)

    def restart(self) -> None:
        """Puts the source (back) into use if fresh bytes pass the start-up tests; otherwise `SourceFailed`."""
        self._health = HealthTests()
        self._tested(START_UP_SAMPLES)
        self._failure = None

    def _tested(self, count: int) -> bytes:
        try:
            entropy = self._read(count)
        except (OSError, NotImplementedError) as error:
            raise self._failed(f"the operating system gave none ({error})") from error
        if len(entropy) != count:
            raise self._failed(f"the operating system gave {len(entropy)} bytes instead of {count}")
        fault = self._health.fault(entropy)
        if fault is not None:
            raise self._failed(fault)
        return entropy

    def _failed(self, why: str) -> SourceFailed:
        self._failure = f"The source of randomness has failed and is disabled: {why}."
        _log.critical(self._failure)
        return SourceFailed(self._failure)


def draw(randomness: Randomness, function: Callable[[Tape], T], first_bytes: int = FIRST_BYTES) -> tuple[T, bytes]:
    """What the function reads from fresh entropy, and the very bytes it used: of `Tape(used)` it makes the same again.

    Where the entropy ends too soon it is continued, not replaced, so what was read so far is read again and decides the
    same: nobody draws twice (G6).
    """
    entropy = randomness.take(first_bytes)
    while True:
        tape = Tape(entropy)
        try:
            return function(tape), entropy[: tape.used]
        except TapeExhausted:
            if len(entropy) * 2 > DRAW_BYTES_LIMIT:
                raise
        entropy += randomness.take(len(entropy))
