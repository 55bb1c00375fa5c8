"""Ctrl-C as it is in a terminal: every process in the foreground is interrupted, not only the one that is meant.

`make run` is the Makefile's own, but for what it builds before it starts: that is up to date, or no part of this.
"""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from stack.processes import leftovers
from tests.system.platform import RUN_COMMAND, TIMEOUT_S, Platform

pytestmark = pytest.mark.slow

# Makes the terminal the one of the session, with itself and what it starts in the foreground, as a shell does; and
# hears interrupts, which whoever runs these tests in the background may have had ignored.
IN_FRONT = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    " signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"
)
CTRL_C = b"\x03"


@dataclass(frozen=True)
class Terminal:
    """Its two ends."""

    ours: int
    its: int

    def press_ctrl_c(self) -> None:
        os.write(self.ours, CTRL_C)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal(*pty.openpty())
    yield made
    os.close(made.its)
    os.close(made.ours)


@pytest.fixture
def platform() -> Iterator[Platform]:
    """One that is not started yet."""
    with tempfile.TemporaryDirectory(prefix="feltro-") as folder:
        Path(folder).chmod(0o711)
        made = Platform(Path(folder) / "data")
        yield made
        if made.running:
            # Whoever of its group has not heard it yet.
            os.killpg(made.launcher.pid, signal.SIGINT)
            made.launcher.wait(TIMEOUT_S)
        left = made.processes()
        leftovers.stop(left, made.data, made.data / "postgres" / "data")
        assert not left, "processes were left behind"


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_it_stops_all_of_make_run(platform: Platform, terminal: Terminal, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\n[ "$2" = tools.web ] || exec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o700)
    # Nothing of a make that runs these tests.
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"):
        platform.environment.pop(name, None)
    platform.start(terminal.its, _in_front("make", "-o", "protos", "run", f"IN={python}"))
    terminal.press_ctrl_c()
    # Interrupted itself, make ends as one that was, after what it had started.
    assert platform.launcher.wait(TIMEOUT_S) == -signal.SIGINT, platform.output
    assert platform.processes() == []
    assert platform.output.rstrip().endswith("Feltro is stopped; its data stays."), platform.output


def test_while_the_database_is_made_it_is_no_failure(platform: Platform, terminal: Terminal) -> None:
    platform.launch(terminal.its, _in_front(*RUN_COMMAND))
    # From here on it fills the data folder, with a server that an interrupt ends.
    filling = platform.data / "postgres" / "data-being-made" / "pg_hba.conf"
    platform.wait(lambda: filling.exists() or "database  made" in platform.output)
    terminal.press_ctrl_c()
    assert platform.launcher.wait(TIMEOUT_S) == 0, platform.output
    assert platform.processes() == []
    # It was not cut short for that, and need not be made again.
    platform.start()
    assert "database  made" not in platform.output
    assert platform.stop() == 0


def _in_front(*command: str) -> list[str]:
    return [sys.executable, "-c", IN_FRONT, *command]
