"""Keeps the platform busy during the drawing: a command that plays tables, restarted when it ends."""

from __future__ import annotations

import importlib.util
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO

BENCH = "tests.bench.table"
# How long the bench plays in each phase: long enough that the last one, the wallet without tables, is never reached.
RUN_S = 3600
STOP_S = 30
# A command that ends sooner has not played.
RUN_MIN_S = 5


class LoadFailed(Exception):
    """The command could not be started or failed: the samples were not drawn under load."""


def table_bench(draws: Path) -> list[str]:
    """The bench of the table runtime: real services and tables, which append the entropy they draw to a file."""
    if importlib.util.find_spec(BENCH) is None:
        raise LoadFailed(f"there is no {BENCH} to play tables with; name another load with --load-command")
    return [sys.executable, "-m", BENCH, "--seconds", str(RUN_S), "--draws", str(draws)]


def parse_command(text: str) -> list[str]:
    return shlex.split(text)


class Load:
    """The running command. A sample counts as drawn under load only if `check` passes before and after."""

    def __init__(self, command: list[str], warm_up_s: float) -> None:
        self.command = command
        self._warm_up_s = warm_up_s
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `stop`

    def start(self) -> None:
        """Starts the command and gives it time to get under way."""
        self._launch()
        until = time.monotonic() + self._warm_up_s
        while time.monotonic() < until:
            time.sleep(0.2)
            self.check()

    def check(self) -> None:
        """Restarts the command if it has ended; LoadFailed if it failed."""
        if self._process is None or self._process.poll() is None:
            return
        if self._process.returncode:
            self._output.seek(0)
            last = self._output.read().decode(errors="replace").strip().splitlines()[-5:]
            raise LoadFailed(f"`{shlex.join(self.command)}` ended with {self._process.returncode}: {' / '.join(last)}")
        if time.monotonic() - self._started < RUN_MIN_S:
            raise LoadFailed(f"`{shlex.join(self.command)}` ended within {RUN_MIN_S} seconds: that is no load")
        self._launch()

    def stop(self) -> None:
        """Ends the command as Ctrl-C would, and kills it if it does not end."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGINT)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()
        self._output.close()

    def _launch(self) -> None:
        self._started = time.monotonic()
        try:
            # A group of its own: its children are stopped with it, and it gets a Ctrl-C only from us.
            self._process = subprocess.Popen(
                self.command, stdout=self._output, stderr=subprocess.STDOUT, start_new_session=True
            )
        except OSError as error:
            raise LoadFailed(f"`{shlex.join(self.command)}` cannot be started: {error}") from error
