"""The platform's only source of randomness, tested while it is read.

It is the operating system's generator and nothing else: the kernel seeds and reseeds it from hardware, never from the
time, and there is no generator of our own whose state could be lost, guessed or copied by a fork (`903-B/2015:6.7.4`,
GLI-19 3.3).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import TypeVar

from services.kit.randomness.health_tests import HealthTests
from services.kit.randomness.tape import Tape, TapeExhausted

# Fresh bytes that the start-up tests read and discard (SP 800-90B 4.3 requires 1,024 at least).
START_UP_SAMPLES = 1024
# What a draw takes first: more than a spin nearly ever needs, less than a deck does.
FIRST_BYTES = 32
# The most that one draw takes; a shoe of eight decks uses about 1,000 bytes (G11).
DRAW_BYTES_LIMIT = 64 * 1024

T = TypeVar("T")

_log = logging.getLogger(__name__)


class SourceFailed(Exception):
    """The source returns nothing until a restart passes its start-up tests: games that need it are disabled."""


class Randomness:
    """Entropy from the operating system, read when it is needed and never before, and tested on its way.

    The tested bytes are the returned ones: nothing is kept for later. After a failure nothing is returned any more
    (`903-B/2015:6.7.3`), and nothing replaces the source (G12). A source that fails at construction is constructed all
    the same, in that state: what was drawn before can still be settled.
    """

    def __init__(self, read: Callable[[int], bytes] = os.urandom) -> None:
        self._read = read
        self._health = HealthTests()
        self._failure: str | None = "Randomness has not been tested yet."
        try:
            self.restart()
        except SourceFailed:
            # `failure` says so, and every `take` raises it.
            return

    @property
    def failure(self) -> str | None:
        """Why nothing is returned, in a sentence; None while the source is sound."""
        return self._failure

    def take(self, count: int) -> bytes:
        """Returns that many fresh bytes, or raises `SourceFailed`."""
        if count < 1:
            raise ValueError(f"{count} bytes of entropy cannot be taken.")
        if self._failure is not None:
            raise SourceFailed(self._failure)
        return self._tested(count)

    def restart(self) -> None:
        """Puts the source (back) into use if fresh bytes pass the start-up tests; otherwise raises `SourceFailed`."""
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
    """Returns what the function reads from fresh entropy, and the bytes it used: `Tape(used)` gives the same again.

    Entropy that ends too soon is continued, not replaced, so the function reads the same beginning again and decides
    the same: nothing is drawn twice (G6).
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
