"""Random runs of poker, one for each seed."""

from __future__ import annotations

import pytest

from tests.simulation.caves.random_run import RandomPokerRun

RUNS = 100
RUNS_PER_TEST = 25


@pytest.mark.guarantee("G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G12")
@pytest.mark.parametrize("first", range(0, RUNS, RUNS_PER_TEST))
def test_random_runs_of_poker_violate_no_guarantee(first: int) -> None:
    for seed in range(first, first + RUNS_PER_TEST):
        violations = RandomPokerRun(seed).run()
        assert not violations, f"seed {seed}:\n" + "\n".join(violations)
