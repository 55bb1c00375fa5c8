"""Draws, examines, and writes the report. Succeeds only if everything that was requested was examined and is sound."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from services.kit.randomness.source import Randomness
from tools.rng_report import dieharder, table_draws
from tools.rng_report.examination import Plan, SampleExaminer
from tools.rng_report.load import Load, LoadFailed, parse_command, table_bench
from tools.rng_report.report import Conditions, markdown, verdict
from tools.rng_report.samples import DRAW_KINDS

EXIT_STATUSES = {"PASSED": 0, "FAILED": 1, "INCOMPLETE": 2}
SEQUENCES = 64
BITS = 2**19
THOROUGH_SEQUENCES = 100
THOROUGH_BITS = 2**20
# The bench starts servers and seats thousands of bots before its tables play.
WARM_UP_S = 60.0


def arguments(argv: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tools.rng_report", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("build/rng-report.md"), help="where the report goes")
    parser.add_argument("--sequences", type=int, help=f"sequences of each kind (default: {SEQUENCES})")
    parser.add_argument("--bits", type=int, help=f"bits in a sequence, a multiple of 8 (default: {BITS})")
    parser.add_argument(
        "--thorough",
        action="store_true",
        help=f"{THOROUGH_SEQUENCES} sequences of {THOROUGH_BITS} bits and every good test of dieharder (hours)",
    )
    parser.add_argument("--all", action="store_true", help="every good test of dieharder on the raw bytes")
    parser.add_argument(
        "--no-dieharder", action="store_true", help="leave dieharder out; the report is incomplete then"
    )
    parser.add_argument("--under-load", action="store_true", help="once more while tables are played")
    parser.add_argument("--load-command", help="what plays them (default: tests.bench.table)")
    parser.add_argument("--load-warm-up", type=float, default=WARM_UP_S, help="seconds before drawing begins")
    parser.add_argument("--draws", type=Path, help="a file to which tables under load append the entropy they draw")
    given = parser.parse_args(argv)
    given.sequences = given.sequences or (THOROUGH_SEQUENCES if given.thorough else SEQUENCES)
    given.bits = given.bits or (THOROUGH_BITS if given.thorough else BITS)
    if given.bits % 8 or given.bits < 128 or given.sequences < 1:
        parser.error("--bits is a multiple of 8 from 128 on, --sequences at least 1")
    if (given.load_command or given.draws) and not given.under_load:
        parser.error("--load-command and --draws belong to --under-load")
    return given


def log_progress(step: str) -> None:
    print(f"{datetime.now(UTC):%H:%M:%S} {step}", flush=True)


def install_dieharder() -> None:
    """Installs Debian's package where we may; Unavailable otherwise."""
    try:
        dieharder.version()
    except dieharder.Unavailable:
        if os.geteuid() != 0:
            raise
        log_progress(dieharder.INSTALL)
        for command in (["apt-get", "update"], dieharder.INSTALL.split()):
            subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        dieharder.version()


@contextmanager
def running(load: Load) -> Iterator[None]:
    try:
        load.start()
        yield
    finally:
        load.stop()


def examine(conditions: Conditions, plan: Plan, pool: Executor, check_conditions: Callable[[], None]) -> None:
    """Examines all ways of drawing."""
    examiner = SampleExaminer(plan, pool, check_conditions, log_progress)
    for kind in DRAW_KINDS:
        conditions.sections.append(examiner.examine(kind))


def examine_under_load(given: argparse.Namespace, plan: Plan, pool: Executor) -> Conditions:
    """Examines all ways of drawing while a command keeps the platform busy."""
    conditions = Conditions("While tables are played", "")
    with tempfile.TemporaryDirectory() as folder:
        draws: Path = given.draws or Path(folder) / "draws"
        try:
            load = Load(
                parse_command(given.load_command) if given.load_command else table_bench(draws), given.load_warm_up
            )
            conditions.circumstances = f"All of it was drawn and examined while `{' '.join(load.command)}` was running."
            with running(load):
                examine(conditions, plan, pool, load.check)
        except LoadFailed as error:
            # The samples drawn before belong to no known conditions.
            conditions.sections.clear()
            conditions.circumstances = "Nothing was examined."
            conditions.missing.append(f"drawing under load: {error}")
            return conditions
        if given.draws or not given.load_command:
            examine_tables(conditions, draws)
    return conditions


def examine_tables(conditions: Conditions, draws: Path) -> None:
    log_progress("the draws of the tables themselves")
    try:
        conditions.table_draws = table_draws.examine(draws.read_bytes())
    except (OSError, ValueError) as error:
        conditions.missing.append(f"the draws of the tables themselves: {error}")


def main() -> int:
    given = arguments()
    quiet = Conditions("Without load", f"Drawn by `Randomness` in processes of its own, {os.cpu_count()} processors.")
    plan = Plan(given.sequences, given.bits, not given.no_dieharder, given.all or given.thorough)
    tools = "dieharder"
    try:
        if plan.dieharder:
            install_dieharder()
            tools = dieharder.version()
        else:
            quiet.missing.append("dieharder was left out (--no-dieharder)")
    except dieharder.Unavailable as error:
        log_progress(str(error))
        quiet.missing.append(str(error))
        plan = Plan(plan.sequences, plan.bits, dieharder=False, every_dieharder=False)
    failure = Randomness().failure
    if failure:
        log_progress(failure)
        return EXIT_STATUSES["FAILED"]
    found = [quiet]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        log_progress(quiet.title)
        examine(quiet, plan, pool, lambda: None)
        if given.under_load:
            log_progress("while tables are played")
            found.append(examine_under_load(given, plan, pool))
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(markdown(datetime.now(UTC).astimezone(), tools, plan, found), encoding="utf-8")
    result = verdict(found)
    for conditions in found:
        for what in [*conditions.failed, *conditions.not_done]:
            log_progress(f"{conditions.title}: {what}")
    log_progress(f"{result}: {given.output}")
    return EXIT_STATUSES[result]


if __name__ == "__main__":
    sys.exit(main())
