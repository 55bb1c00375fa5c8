"""The schedule of a drill: what is hurt, how and for how long, from a seed alone, so that a seed repeats it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random


class Hurt(StrEnum):
    """How something is hurt."""

    KILL = "SIGKILL"
    """Killed, down for a while, started again."""
    PAUSE = "SIGSTOP"
    """Suspended for a while (SIGSTOP), then resumed (SIGCONT)."""
    RESTART = "restart"
    """Stopped by SIGTERM, and started again."""
    FULL_DISK = "full disk"
    """The disk of its data is full for a while."""
    CUT = "cut"
    """Connections are reset, and new ones too."""
    SILENT = "silent"
    """Nothing arrives in either direction, and no connection ends; what was sent arrives late."""
    HALF_OPEN = "half-open"
    """Requests arrive, answers do not, until much later."""
    SLOW = "slow"
    """Everything arrives later."""


PROCESS_FAULTS = (Hurt.KILL, Hurt.PAUSE, Hurt.RESTART)
LINK_FAULTS = (Hurt.CUT, Hurt.SILENT, Hurt.HALF_OPEN, Hurt.SLOW)
SHORTEST_S = 0.3
# Faults of a pair begin within this time of each other.
APART_S = 1.5
# Before the first fault of a step, so that it comes at any moment of a round.
QUIET_S = (0.2, 2.0)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is hurt in one way."""

    target: str
    """A process, or two ends of connections: `roulette-1–wallet`."""
    how: Hurt
    seconds: float
    after_s: float = 0.0
    """Since the beginning of its step."""

    def __str__(self) -> str:
        return f"{self.how} {self.target} ({self.seconds:.1f} s)"


@dataclass(frozen=True, slots=True)
class Step:
    """One fault or a pair of them, after some quiet time."""

    number: int
    quiet_s: float
    faults: tuple[Fault, ...]

    def __str__(self) -> str:
        return " and ".join(map(str, self.faults))


@dataclass(frozen=True, slots=True)
class Targets:
    """What can be hurt."""

    processes: Sequence[str]
    links: Sequence[str]
    disks: Sequence[str]


# Steps that are looked through for those that were asked for (G11).
_LOOKED_THROUGH = 20_000


def only(steps: Iterator[Step], words: str) -> Iterator[Step]:
    """Yields the steps that say these words, such as `SIGKILL wallet`; all of them if there are no words."""
    for step in itertools.islice(steps, _LOOKED_THROUGH) if words else steps:
        if words in str(step):
            yield step


class _Deck:
    """Deals all of some things before any of them comes again, in an order by chance."""

    def __init__(self, things: Sequence[str], dice: Random) -> None:
        self._things = sorted(things)
        self._dice = dice
        self._left: list[str] = []

    def deal(self, without: frozenset[str] = frozenset()) -> str:
        if not any(each not in without for each in self._left):
            self._left += self._dice.sample(self._things, len(self._things))
        chosen = next(each for each in reversed(self._left) if each not in without)
        self._left.remove(chosen)
        return chosen


def schedule(seed: int, targets: Targets, longest_s: float) -> Iterator[Step]:
    """Yields steps without end: each round of them kills, pauses, restarts, cuts off, fills a disk, and hurts pairs."""
    dice = Random(seed)
    processes, links = _Deck(targets.processes, dice), _Deck(targets.links, dice)
    disks = _Deck(targets.disks, dice) if targets.disks else None
    link_faults = _Deck(LINK_FAULTS, dice)
    number = 0

    def on_process(how: Hurt, without: frozenset[str] = frozenset()) -> Fault:
        return Fault(processes.deal(without), how, dice.uniform(SHORTEST_S, longest_s))

    def on_link() -> Fault:
        return Fault(links.deal(), Hurt(link_faults.deal()), dice.uniform(SHORTEST_S, longest_s))

    def pair() -> tuple[Fault, ...]:
        first = on_process(dice.choice(PROCESS_FAULTS))
        if dice.random() < 0.5:
            second = on_link()
        else:
            second = on_process(dice.choice(PROCESS_FAULTS), frozenset({first.target}))
        later = Fault(second.target, second.how, second.seconds, dice.uniform(0, APART_S))
        return first, later

    while True:
        singles = [(on_process(how),) for how in PROCESS_FAULTS] + [(on_link(),), (on_link(),)]
        steps = [*singles, pair(), pair()]
        if disks is not None:
            steps.append((Fault(disks.deal(), Hurt.FULL_DISK, dice.uniform(SHORTEST_S, longest_s)),))
        dice.shuffle(steps)
        for faults in steps:
            number += 1
            yield Step(number, dice.uniform(*QUIET_S), faults)
