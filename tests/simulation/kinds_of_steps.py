"""The kinds of steps that an owner takes in a script: what it asks, is answered, or publishes.

Of each kind the first and the last are taken, which are in different hands, for a fault before the step and after it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import pytest

from tests.simulation.environment.games import SimulatedGame
from tests.simulation.environment.world import World
from tests.simulation.test_faults_at_every_step import Script, run_script

# What lines of a run's trace say of a step: asked, answered, published.
_KINDS = re.compile(r"(asks \w+ \w+)|'s (\w+) .*(: done)|published at \S+ \d+(: \w+)")


def steps_by_kind(script: Script, game: SimulatedGame) -> tuple[dict[str, list[int]], World]:
    """Runs a script without a fault, and returns the steps of each kind and the world that it leaves."""
    steps: dict[str, list[int]] = {}
    add_to_trace = World.add_to_trace

    def note(world: World, what: str) -> None:
        add_to_trace(world, what)
        found = _KINDS.search(what)
        if found and world.replicas and not world.faults_ended:
            kind = " ".join(filter(None, found.groups()))
            steps.setdefault(kind, []).append(world.replicas[0].process.steps)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(World, "add_to_trace", note)
        world = run_script(script, step=None, game=game)
    return steps, world


def around_each_kind(steps: Mapping[str, Sequence[int]]) -> list[int]:
    """Returns the steps around which a fault comes."""
    return sorted({at for each in steps.values() for at in (each[0], each[0] + 1, each[-1], each[-1] + 1)})


def after_each_question(steps: Mapping[str, Sequence[int]]) -> list[int]:
    """Returns the steps right after something is asked, of each kind the first and the last."""
    return sorted({at + 1 for kind, each in steps.items() if kind.startswith("asks") for at in (each[0], each[-1])})
