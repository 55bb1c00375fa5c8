"""`python -m tests.service.roulette_crash --minutes N`: kills processes for N minutes, then compares all records."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from random import Random, SystemRandom

from tests.service.roulette_crash.crash_run import start_crash_run
from tests.service.roulette_crash.random_kills import RandomKills


async def _soak(minutes: float, seed: int) -> None:
    print(f"--seed {seed}")
    dice = Random(seed)
    async with start_crash_run(dice) as crash_run:
        kills = RandomKills(crash_run, dice)
        ends_at = time.monotonic() + minutes * 60
        while time.monotonic() < ends_at:
            await kills.kill_and_restart()
        await crash_run.wait_until_all_bet()
        await crash_run.close()
    print(f"{crash_run.bet_log.unanswered} calls repeated, {dict(crash_run.bet_log.refusals)}")
    print(f"longest wait {crash_run.bet_log.longest_wait_s:.1f} s")
    print(f"unexpected exits: {crash_run.processes.unexpected_exits}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.service.roulette_crash", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0, help="how long to kill (5)")
    parser.add_argument("--seed", type=int, help="the seed of an earlier run")
    chosen = parser.parse_args()
    asyncio.run(_soak(chosen.minutes, SystemRandom().randrange(10**9) if chosen.seed is None else chosen.seed))
    return 0


if __name__ == "__main__":
    sys.exit(main())
