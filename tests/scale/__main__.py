"""`make test-scale`: a tournament of many bots at the real services, killed at seeded moments, every record checked.

PostgreSQL, NATS, the wallet and two replicas of poker run on this machine. The bots push or fold, the clock of the
tables is moved ahead as fast as they decide, and the process that runs the tournament is killed during registration, at
the start, in play, at balancing, hand-for-hand and at a payment. At the end hands, places, prizes, balances, pool and
ledger are compared with each other and with a reference of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from random import SystemRandom

from stack.settings import ROOT
from tests.scale.tournament import Plan, Result, TournamentRun

PLAYERS, KILLS = 1_000, 7
FEWEST_PLAYERS = 20


def main() -> int:
    """Runs one tournament. Status 0: everything holds; 1: something does not; 2: it could not be carried out."""
    parser = argparse.ArgumentParser(prog="make test-scale", description=__doc__)
    parser.add_argument("--players", type=int, default=PLAYERS, help=f"how many bots ({PLAYERS})")
    parser.add_argument("--kills", type=int, default=KILLS, help=f"how often the owner is killed ({KILLS})")
    parser.add_argument("--seed", type=int, help="of the bots and of the kills; by chance, and printed")
    chosen = parser.parse_args()
    if chosen.players < FEWEST_PLAYERS or chosen.kills < 0:
        parser.error(f"{FEWEST_PLAYERS} players are the fewest that fill three tables")
    seed = SystemRandom().randrange(10**9) if chosen.seed is None else chosen.seed
    home = Path(tempfile.mkdtemp(prefix="feltro-scale-"))
    home.chmod(0o700)
    try:
        result = asyncio.run(_run(Plan(chosen.players, chosen.kills, seed), home))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("The run was interrupted.", file=sys.stderr)
        return 2
    except TimeoutError:
        print("The tournament did not end in time.", file=sys.stderr)
        return 2
    finally:
        _keep_logs(home, ROOT / "build" / "scale" / str(seed))
        shutil.rmtree(home, ignore_errors=True)
    print(_report(result))
    return 0 if result.holds else 1


async def _run(plan: Plan, home: Path) -> Result:
    task = asyncio.current_task()
    if task is not None:
        # Whatever ends the run, it takes its processes with it.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await TournamentRun(plan, home).run()


def _keep_logs(home: Path, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for log in home.glob("*.log"):
        shutil.copy(log, folder / log.name)
    print(f"The logs of the processes are in {folder}.")


def _report(result: Result) -> str:
    """Returns what was measured, and every check."""
    plan, seconds = result.plan, result.seconds
    play, registration = seconds["play"], seconds["registration"]
    lines = [
        "",
        f"{plan.players} players, {result.entries} entries, {result.facts} facts, {result.moves} moves between tables",
        f"registration: {registration:.1f} s, {plan.players / registration:.0f} a second",
        f"play: {play:.1f} s, {result.hands} hands ({result.hands / play:.1f} a second)",
        f"decisions: {result.decisions} ({result.decisions / play:.0f} a second)",
        f"checks: {seconds['checks']:.1f} s",
        "CPU time of all: " + ", ".join(f"{who} {cpu_s:.0f} s" for who, cpu_s in sorted(result.cpu_s.items())),
    ]
    lines += [
        f"  {each.kill}: answered after {each.answered_after_s:.1f} s, went on after {each.went_on_after_s:.1f} s"
        for each in result.takeovers
    ]
    if len(result.takeovers) < plan.kills:
        lines.append(f"  {plan.kills - len(result.takeovers)} kills found no moment: the tournament never came there")
    for check in result.checks:
        verdict = "holds" if check.holds else f"{check.violations} found"
        lines.append(f"{verdict:>10}  {check.name}: {check.looked_at} {check.unit}{check.note and f' ({check.note})'}")
        lines += [f"              {sentence}" for sentence in check.sentences]
        lines += [f"              | {line}" for line in check.around]
    lines.append(f'Again: make test-scale ARGS="--players {plan.players} --kills {plan.kills} --seed {plan.seed}"')
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
