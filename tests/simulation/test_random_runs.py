"""Random stories: each seed is one, told again by `python -m tests.simulation SEED --verbose`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.simulation.storms import Storm

STORIES = 240
TOGETHER = 40


@pytest.mark.guarantee("G1", "G2", "G3", "G4", "G5", "G6", "G8", "G9", "G10", "G12")
@pytest.mark.parametrize("first", range(0, STORIES, TOGETHER))
def test_whatever_happens_nothing_is_lost_doubled_or_changed(first: int) -> None:
    for seed in range(first, first + TOGETHER):
        found = Storm(seed).run()
        assert not found, f"seed {seed}:\n" + "\n".join(found)


def test_the_same_seed_tells_the_same_story() -> None:
    for seed in (3, 17, 200):
        one, other = Storm(seed), Storm(seed)
        one.run()
        other.run()
        assert one.world.trace == other.world.trace


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process_tells_the_same_story(hash_seed: str) -> None:
    here = Storm(617)
    here.run()
    told = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "617"],
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert here.world.digest() in told.stdout
