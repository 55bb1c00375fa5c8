"""`make drill`: hurts the platform by a seeded schedule while bots play, and checks every record afterwards."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import SystemRandom

from stack.settings import ROOT
from tests.drill import report
from tests.drill.drill import Drill, Plan, Result
from tests.drill.platform.disks import can_mount
from tests.drill.platform.earlier import NoSuchRelease
from tests.drill.platform.processes import NotStarted

# Beyond the time of the faults: starting, the last recovery, closing and comparing; then the drill is given up.
OVERTIME_S = 1_200.0


def main() -> int:
    """Runs one drill. Status 0: everything holds; 1: something does not; 2: the drill could not be carried out."""
    parser = argparse.ArgumentParser(prog="make drill", description=__doc__)
    parser.add_argument("--seconds", type=float, default=75.0, help="how long things are hurt (75)")
    parser.add_argument("--bots", type=int, default=30, help="how many players (30)")
    parser.add_argument("--seed", type=int, help="repeats the schedule of an earlier drill")
    parser.add_argument("--longest", type=float, default=4.0, help="how long one fault lasts at most, in seconds (4)")
    parser.add_argument("--only", default="", help="only the steps that say this, such as 'SIGKILL wallet'")
    parser.add_argument("--from", dest="earlier", default="", help="the revision that runs first, and is replaced")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "drill", help="where the record goes")
    chosen = parser.parse_args()
    if chosen.bots < 1 or chosen.seconds <= 0 or chosen.longest <= 1:
        parser.error("a drill needs a bot, some seconds, and faults of more than a second")
    seed = SystemRandom().randrange(10**9) if chosen.seed is None else chosen.seed
    without_disks = can_mount()
    if without_disks:
        print(f"No disk will be filled: {without_disks}.", flush=True)
    plan = Plan(
        seed, chosen.seconds, chosen.bots, chosen.longest, chosen.folder / str(seed), without_disks, chosen.only,
        chosen.earlier,
    )  # fmt: skip
    shutil.rmtree(plan.folder, ignore_errors=True)
    result = _run(plan)
    if result is None:
        return 2
    page = plan.folder / "report.html"
    page.write_text(report.html(result), encoding="utf-8")
    (plan.folder / "report.json").write_text(report.facts(result), encoding="utf-8")
    print(f'\n{report.summary(result)}\n\n{page}\nAgain: make drill ARGS="{report.again(result)}"')
    return 0 if result.holds else 1


def _run(plan: Plan) -> Result | None:
    home = Path(tempfile.mkdtemp(prefix="feltro-drill-"))
    # PostgreSQL's user has to reach its data in here.
    home.chmod(0o711)
    try:
        return asyncio.run(_drill(plan, home))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("The drill was interrupted.", file=sys.stderr)
        return None
    except TimeoutError:
        print("The drill did not end in time.", file=sys.stderr)
        return None
    except (NotStarted, NoSuchRelease) as failed:
        print(f"The platform did not start: {failed}", file=sys.stderr)
        return None
    finally:
        _keep_logs(home, plan.folder)
        shutil.rmtree(home, ignore_errors=True)


async def _drill(plan: Plan, home: Path) -> Result:
    began = time.monotonic()
    task = asyncio.current_task()
    if task is not None:
        # Whatever ends the drill, it takes its processes with it.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with asyncio.timeout(plan.seconds + OVERTIME_S):
        result = await Drill(plan, home).run()
    print(f"the whole drill took {time.monotonic() - began:.0f} s")
    return result


def _keep_logs(home: Path, folder: Path) -> None:
    logs = folder / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    for log in [*home.glob("*.log"), *(home / "services").glob("*.log")]:
        shutil.copy(log, logs / log.name)


if __name__ == "__main__":
    sys.exit(main())
