"""`python -m tests.service.roulette_crash --minutes N`: kills processes for N minutes, then compares all records."""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from random import Random, SystemRandom
from typing import Any

from tests.service.baccarat_crash.games import BACCARAT
from tests.service.blackjack_crash.games import BLACKJACK
from tests.service.roulette_crash.crash_run import start_crash_run
from tests.service.roulette_crash.games import ROULETTE, CrashGame
from tests.service.roulette_crash.random_kills import RandomKills

GAMES: dict[str, CrashGame[Any]] = {game.name: game for game in (ROULETTE, BACCARAT, BLACKJACK)}


async def _soak(minutes: float, seed: int, game: CrashGame[Any]) -> None:
    print(f"--seed {seed} --game {game.name}")
    dice = Random(seed)
    async with start_crash_run(dice, game=game) as crash_run:
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
    parser.add_argument("--game", choices=GAMES, default=ROULETTE.name, help="which one is played (roulette)")
    chosen = parser.parse_args()
    seed = SystemRandom().randrange(10**9) if chosen.seed is None else chosen.seed
    asyncio.run(_soak(chosen.minutes, seed, GAMES[chosen.game]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
