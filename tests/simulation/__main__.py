"""`python -m tests.simulation SEED [--verbose]` tells one random story again; `--seeds N` tries many."""

from __future__ import annotations

import argparse
import sys
import time

from tests.simulation.random_run import RandomRun


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description=__doc__)
    parser.add_argument("seed", type=int, nargs="?", help="the story to tell again")
    parser.add_argument("--verbose", action="store_true", help="with everything that happens in it")
    parser.add_argument("--seeds", type=int, help="how many stories to try")
    parser.add_argument("--first", type=int, default=0, help="the first of them")
    asked = parser.parse_args()
    if asked.seeds:
        return _soak(asked.first, asked.seeds)
    if asked.seed is None:
        parser.error("a seed or --seeds is wanted")
    storm = RandomRun(asked.seed)
    found = storm.run()
    if asked.verbose:
        print("\n".join(storm.world.trace))
    print("\n".join(found) or "all is well")
    print(f"seed {asked.seed}, {len(storm.world.trace)} lines, {storm.world.trace_digest()}")
    return 1 if found else 0


def _soak(first: int, seeds: int) -> int:
    """Goes on after a failure: one bug must not hide another."""
    failed = 0
    started = time.monotonic()
    for count, seed in enumerate(range(first, first + seeds), start=1):
        found = RandomRun(seed).run()
        if found:
            failed += 1
            print(f"seed {seed}: {found[0][:200]} ({len(found)} in all)", flush=True)
        if count % 100 == 0:
            print(f"{count} stories, {failed} failed, {time.monotonic() - started:.0f} s", flush=True)
    print(f"{seeds} stories, {failed} failed, {time.monotonic() - started:.0f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
