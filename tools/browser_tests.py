"""`make test-browser`: the tests of tests/browser, in the Chromium of this machine; root on Debian gets one.

Playwright's own browsers are not used: they are another download, from another place. Where the machine is large enough
several tests run side by side, each process with a platform of its own. Tests that measure (marked `alone`) run after
them, when nothing else runs.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPORT = ROOT / "build" / "browser-rules.json"
CHROMIUM_VARIABLE = "CHROMIUM"
DEBIAN_CHROMIUM = Path("/usr/bin/chromium")
# Without a graphics card a turning wheel takes a core, and the platform another one. With fewer, pages load too late
# for rounds that follow the clock.
CORES_PER_TEST_PROCESS = 2
EXIT_NO_TESTS = 5


class NoChromium(Exception):
    """There is no Chromium; the message says what to do."""


def main(arguments: list[str]) -> int:
    """Runs the tests; the rest of the command line is pytest's."""
    try:
        chromium = _chromium()
    except (NoChromium, subprocess.CalledProcessError) as missing:
        print(missing, file=sys.stderr)
        return 1
    # The report of an earlier run must not stand for one that does not finish.
    REPORT.unlink(missing_ok=True)
    side_by_side = max(1, (os.cpu_count() or 1) // CORES_PER_TEST_PROCESS)
    many = ["-n", str(side_by_side), "-m", "not alone", f"--rule-report={REPORT}"]
    statuses = [_pytest(chromium, [*options, *arguments]) for options in (many, ["-n", "0", "-m", "alone"])]
    # The tests that were asked for may all be in one of the two runs; in neither, nothing was tested.
    return next((status for status in statuses if status not in {0, EXIT_NO_TESTS}), min(statuses))


def _pytest(chromium: Path, arguments: list[str]) -> int:
    command = [sys.executable, "-m", "pytest", "tests/browser", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env={**os.environ, CHROMIUM_VARIABLE: str(chromium)}, check=False
    ).returncode


def _chromium() -> Path:
    named = os.environ.get(CHROMIUM_VARIABLE)
    if named:
        if not Path(named).is_file():
            raise NoChromium(f"{CHROMIUM_VARIABLE} is {named}, and there is no such file.")
        return Path(named)
    if DEBIAN_CHROMIUM.is_file():
        return DEBIAN_CHROMIUM
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NoChromium(
            f"These tests need Chromium. On Debian: apt-get install chromium, as root."
            f" Elsewhere name one, or Chrome: make test-browser {CHROMIUM_VARIABLE}=/path/to/chromium"
        )
    print("Chromium from the distribution", flush=True)
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-q"], env=quiet, check=True, stdout=subprocess.DEVNULL)
    install = ["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium", "fonts-liberation"]
    subprocess.run(install, env=quiet, check=True, stdout=subprocess.DEVNULL)
    if not DEBIAN_CHROMIUM.is_file():
        raise NoChromium(
            f"The package chromium did not bring {DEBIAN_CHROMIUM}: install Chromium and set {CHROMIUM_VARIABLE}."
        )
    return DEBIAN_CHROMIUM


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
