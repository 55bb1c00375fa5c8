"""The platform's only source of chance, and the unbiased way from its bytes to numbers and shuffles.

The source is the operating system's generator and nothing else: it is seeded and reseeded by the kernel from hardware,
never from the time, and there is no generator of ours whose state could be lost, guessed or copied by a fork
(`903-B/2015:6.7.4`, GLI-19 3.3).
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from typing import TypeVar

from services.kit.randomness.health_tests import HealthTests
from services.kit.randomness.tape import Tape, TapeExhausted

# Fresh bytes that the start-up tests look at and throw away (SP 800-90B 4.3 wants 1,024 at least).
START_UP_SAMPLES = 1024
# What a draw takes first: more than a spin needs with any luck, less than a deck does.
FIRST_BYTES = 32
# The most that one draw takes; a shoe of eight decks uses about 1,000 bytes (G11).
DRAW_BYTES_LIMIT = 64 * 1024

T = TypeVar("T")

_log = logging.getLogger(__name__)


class SourceFailed(Exception):
    """The source gives nothing until it is restarted and passes its start-up tests: games that need it are disabled."""


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
