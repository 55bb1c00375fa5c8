"""Random runs, one for each seed; `python -m tests.simulation SEED --verbose` repeats one."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.simulation.random_run import RandomRun

RUNS = 240
RUNS_PER_TEST = 40


@pytest.mark.guarantee("G1", "G2", "G3", "G4", "G5", "G6", "G8", "G9", "G10", "G12")
@pytest.mark.parametrize("first", range(0, RUNS, RUNS_PER_TEST))
def test_random_runs_violate_no_guarantee(first: int) -> None:
    for seed in range(first, first + RUNS_PER_TEST):
        violations = RandomRun(seed).run()
        assert not violations, f"seed {seed}:\n" + "\n".join(violations)


def test_the_same_seed_gives_the_same_run() -> None:
    for seed in (3, 17, 200):
        one, other = RandomRun(seed), RandomRun(seed)
        one.run()
        other.run()
        assert one.world.trace == other.world.trace


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process_gives_the_same_run(hash_seed: str) -> None:
    run = RandomRun(617)
    run.run()
    repeated = subprocess.run(
        [sys.executable, "-m", "tests.simulation", "617"],
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.world.trace_digest() in repeated.stdout
