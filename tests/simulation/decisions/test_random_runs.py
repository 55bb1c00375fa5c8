"""Random runs of blackjack, one for each seed, among many players and alone."""

from __future__ import annotations

import pytest

from tests.simulation.decisions.random_run import RandomBlackjackRun

RUNS = 100
RUNS_PER_TEST = 25


@pytest.mark.guarantee("G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "G12")
@pytest.mark.parametrize("first", range(0, RUNS, RUNS_PER_TEST))
def test_random_runs_of_blackjack_violate_no_guarantee(first: int) -> None:
    for seed in range(first, first + RUNS_PER_TEST):
        violations = RandomBlackjackRun(seed).run()
        assert not violations, f"seed {seed}:\n" + "\n".join(violations)


def test_random_runs_decide_in_every_way() -> None:
    """Players, the clock and the absence of players decide; stakes are made and paid early."""
    runs = [RandomBlackjackRun(seed) for seed in range(20)]
    for run in runs:
        run.run()
    rounds = [entries for run in runs for entries in run.world.journal.rounds.values()]
    moves = [moved for entries in rounds for moved in entries.moves]
    assert {moved.acted_by.name for moved in moves} == {"PLAYER", "CLOCK", "AWAY"}
    assert sum(moved.stake is not None for moved in moves) > 10
    assert any(entries.paid for entries in rounds)


def test_the_same_seed_gives_the_same_run() -> None:
    one, other = RandomBlackjackRun(7), RandomBlackjackRun(7)
    one.run()
    other.run()
    assert one.world.trace == other.world.trace
