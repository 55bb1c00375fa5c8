"""`python -m tests.simulation SEED [--game blackjack] [--verbose]` repeats a random run; `--seeds N` tries many."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

from tests.simulation.caves.random_run import RandomPokerRun
from tests.simulation.decisions.random_run import RandomBlackjackRun
from tests.simulation.random_run import RandomRun
from tests.simulation.table_limits.macau import RandomMacauRun

_RUNS: dict[str, Callable[[int], RandomRun]] = {
    "roulette": RandomRun,
    "blackjack": RandomBlackjackRun,
    "macau": RandomMacauRun,
    "poker": RandomPokerRun,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seed", type=int, nargs="?", help="the run to repeat")
    parser.add_argument("--verbose", action="store_true", help="print everything that happens in it")
    parser.add_argument("--seeds", type=int, help="how many runs to try")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first run")
    parser.add_argument("--game", choices=_RUNS, default="roulette", help="what is played")
    arguments = parser.parse_args()
    random_run = _RUNS[arguments.game]
    if arguments.seeds:
        return _soak(random_run, arguments.first, arguments.seeds)
    if arguments.seed is None:
        parser.error("name a seed or --seeds")
    run = random_run(arguments.seed)
    violations = run.run()
    if arguments.verbose:
        print("\n".join(run.world.trace))
    print("\n".join(violations) or "no guarantee is violated")
    print(f"seed {arguments.seed}, {len(run.world.trace)} lines, {run.world.trace_digest()}")
    return 1 if violations else 0


def _soak(random_run: Callable[[int], RandomRun], first: int, seeds: int) -> int:
    """Tries many runs, and goes on after a failure: one bug must not hide another."""
    failed = 0
    started = time.monotonic()
    for count, seed in enumerate(range(first, first + seeds), start=1):
        violations = random_run(seed).run()
        if violations:
            failed += 1
            print(f"seed {seed}: {violations[0][:200]} ({len(violations)} in all)", flush=True)
        if count % 100 == 0:
            print(f"{count} runs, {failed} failed, {time.monotonic() - started:.0f} s", flush=True)
    print(f"{seeds} runs, {failed} failed, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
