"""Runs the tests of tests/browser, in the Chromium of this machine; root on Debian gets one: `make test-browser`.

It is Chromium's headless shell, as Playwright itself chooses for tests: the same engine without the windows and menus
around it, whose drawing takes as much processor time as the pages. A machine that has only the whole browser uses that.
Playwright's own browsers are not used: they are another download, from another place. Tests on recorded answers run
side by side, one process per core. Those with a platform follow, one at a time for every two cores. Tests that measure
(marked `alone`) run last, when nothing else runs.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "build" / "browser-rules.json"
TESTS = "tests/browser"
# What needs no platform.
RECORDED = f"{TESTS}/recorded"
CHROMIUM_VARIABLE = "CHROMIUM"
HEADLESS_SHELL = "chromium-headless-shell"
DEBIAN_CHROMIUM = Path("/usr/bin") / HEADLESS_SHELL
DEBIAN_WHOLE_CHROMIUM = Path("/usr/bin/chromium")
# Letters as wide as those that most players have; without these fonts Debian's are a good deal wider.
DEBIAN_FONTS = Path("/usr/share/fonts/truetype/liberation")
# Without a graphics card a turning wheel takes a core, and the platform another one.
CORES_PER_TEST_PROCESS = 2
EXIT_NO_TESTS = 5


class NoChromium(Exception):
    """No Chromium; the message says what to do."""


def main(arguments: list[str]) -> int:
    """Runs the tests; the rest of the command line is pytest's."""
    try:
        chromium = _chromium()
    except NoChromium as missing:
        print(missing, file=sys.stderr)
        return 1
    cores = os.cpu_count() or 1
    platforms = max(1, cores // CORES_PER_TEST_PROCESS)
    with_platform = [TESTS, f"--ignore={RECORDED}"]
    runs = {
        "recorded": [RECORDED, "-n", str(cores)],
        "platform": [*with_platform, "-n", str(platforms), "-m", "not alone"],
        "alone": [*with_platform, "-n", "0", "-m", "alone"],
    }
    reports = {name: REPORT.with_name(f"browser-rules-{name}.json") for name in runs}
    # The report of an earlier run must not stand for one that does not finish.
    for report in (REPORT, *reports.values()):
        report.unlink(missing_ok=True)
    statuses = [
        _pytest(chromium, [*options, f"--rule-report={reports[name]}", *arguments]) for name, options in runs.items()
    ]
    if all(report.is_file() for report in reports.values()):
        _merge_reports([*reports.values()])
    # The tests that were asked for may all be in one of the runs; in none, nothing was tested.
    return next((status for status in statuses if status not in {0, EXIT_NO_TESTS}), min(statuses))


def _merge_reports(reports: list[Path]) -> None:
    """Makes one report of those of all runs: each test is in one of them."""
    found = [json.loads(report.read_text(encoding="utf-8")) for report in reports]
    tests = sorted((test for report in found for test in report["tests"]), key=lambda test: str(test["test"]))
    merged = {"complete": all(report["complete"] for report in found), "tests": tests}
    REPORT.write_text(json.dumps(merged, indent=1) + "\n", encoding="utf-8")


def _pytest(chromium: Path, arguments: list[str]) -> int:
    environment = {**os.environ, CHROMIUM_VARIABLE: str(chromium)}
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments], cwd=ROOT, env=environment, check=False
    ).returncode


def _chromium() -> Path:
    named = os.environ.get(CHROMIUM_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise NoChromium(f"{CHROMIUM_VARIABLE} is {named}, and there is no such file.")
        return Path(named)
    has_shell = DEBIAN_CHROMIUM.is_file() and DEBIAN_FONTS.is_dir()
    if not has_shell and os.geteuid() == 0 and shutil.which("apt-get") is not None:
        _install_chromium()
    for chromium in (DEBIAN_CHROMIUM, DEBIAN_WHOLE_CHROMIUM):
        if chromium.is_file() and DEBIAN_FONTS.is_dir():
            return chromium
    raise NoChromium(
        f"These tests need Chromium and fonts. On Debian, as root: apt-get install {HEADLESS_SHELL} fonts-liberation."
        f" Elsewhere name one, or Chrome: make test-browser {CHROMIUM_VARIABLE}=/path/to/chromium"
    )


def _install_chromium() -> None:
    """Installs Debian's packages; where that fails apt-get says why, and the whole browser may be there."""
    print("Chromium from the distribution", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", HEADLESS_SHELL, "fonts-liberation"]
    for command in (["apt-get", "update", "-q"], install):
        subprocess.run(command, env=quiet, check=False, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
