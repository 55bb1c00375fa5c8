"""Ctrl-C in a terminal: every process in the foreground is interrupted, not only the one that is meant.

`make run` is the Makefile's own, without what it builds before it starts.
"""

from __future__ import annotations

import os
import pty
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.system.platform import RUN_COMMAND, TIMEOUT_S, Platform, temporary_platform

pytestmark = pytest.mark.slow

# Makes the terminal that of the session, with itself and its children in the foreground, as a shell does; and accepts
# interrupts, which a shell ignores for what it runs in the background, such as these tests.
FOREGROUND = (
    "import fcntl, os, signal, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0);"
    " signal.signal(signal.SIGINT, signal.SIG_DFL); os.execvp(sys.argv[1], sys.argv[1:])"
)
CTRL_C = b"\x03"
MADE = "database      made"


@dataclass(frozen=True)
class Terminal:
    """Both ends of a terminal."""

    keyboard: int
    programs: int

    def press_ctrl_c(self) -> None:
        os.write(self.keyboard, CTRL_C)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    made = Terminal(*pty.openpty())
    yield made
    os.close(made.programs)
    os.close(made.keyboard)


@pytest.fixture(scope="module")
def data_folder() -> Iterator[Platform]:
    """A platform that was never started."""
    with temporary_platform() as made:
        yield made


@pytest.fixture
def platform(data_folder: Platform) -> Iterator[Platform]:
    """The platform of both tests, stopped before and after each."""
    yield data_folder
    data_folder.end()


def test_ctrl_c_while_the_database_is_made_is_no_failure(platform: Platform, terminal: Terminal) -> None:
    platform.launch(terminal.programs, _in_foreground(*RUN_COMMAND))
    # From here on initdb fills the data folder, with a server that an interrupt would end.
    filling = platform.data / "postgres" / "data-being-made" / "pg_hba.conf"
    platform.wait(lambda: filling.exists() or MADE in platform.output)
    terminal.press_ctrl_c()
    assert platform.launcher.wait(TIMEOUT_S) == 0, platform.output
    assert platform.processes() == []
    # It was not cut short, and need not be made again.
    platform.start()
    assert MADE not in platform.output
    assert platform.stop() == 0


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_ctrl_c_stops_all_of_make_run(platform: Platform, terminal: Terminal, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\n[ "$2" = tools.web ] || exec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o700)
    # The make that runs these tests must not pass its options on.
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"):
        platform.environment.pop(name, None)
    platform.start(terminal.programs, _in_foreground("make", "-o", "protos", "run", f"IN={python}"))
    terminal.press_ctrl_c()
    # make reports that it was interrupted itself, after everything it started has ended.
    assert platform.launcher.wait(TIMEOUT_S) == -signal.SIGINT, platform.output
    assert platform.processes() == []
    assert platform.output.rstrip().endswith("Feltro is stopped; its data stays."), platform.output


def _in_foreground(*command: str) -> list[str]:
    return [sys.executable, "-c", FOREGROUND, *command]
