"""Levels and their blinds (45, 46), the synchronised breaks between them, and which of them a moment belongs to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

DEFAULT_SECONDS = 600
DEFAULT_BREAK_SECONDS = 300
_BREAK_EVERY = 6


class Level(NamedTuple):
    """The blinds of a level, how long it lasts, and the break that follows it (0: none)."""

    small_blind: int
    big_blind: int
    seconds: int = DEFAULT_SECONDS
    break_seconds: int = 0
    # 46 speaks of blinds only: other than 0 it needs an approval (T-A-10), and the engine of hands has none.
    ante: int = 0


class Moment(NamedTuple):
    """Which level it is, from 1 on. During a break it is still the level that the break follows."""

    level: int
    is_break: bool
    # The second, counted from the start, at which this ends; None: the last level goes on until the end.
    ends_at_seconds: int | None


def moment(levels: Sequence[Level], seconds: int) -> Moment:
    """Returns the level or break of so many seconds after the start."""
    end = 0
    for number, level in enumerate(levels, start=1):
        end += level.seconds
        is_last = number == len(levels)
        if is_last or seconds < end:
            return Moment(number, is_break=False, ends_at_seconds=None if is_last else end)
        end += level.break_seconds
        if seconds < end:
            return Moment(number, is_break=True, ends_at_seconds=end)
    raise AssertionError("the last level has no end")


def default_levels() -> tuple[Level, ...]:
    """Returns the recommended levels: ten minutes each, blinds up by a third or a half, a break after every sixth."""
    blinds = [blind << doubled for doubled in range(12) for blind in (20, 30)]
    return tuple(
        Level(big // 2, big, break_seconds=DEFAULT_BREAK_SECONDS if number % _BREAK_EVERY == 0 else 0)
        for number, big in enumerate(blinds, start=1)
    )
