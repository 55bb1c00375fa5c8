"""Processes that a killed run left are found by their mark and ended; others are not touched."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from stack.data_folder import RUN_VARIABLE
from stack.processes import leftovers

SLEEP = "import signal, time; print(flush=True); time.sleep(600)"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"


def test_only_marked_processes_are_ended(tmp_path: Path) -> None:
    ours, other, data = tmp_path / "ours", tmp_path / "other", tmp_path / "ours" / "data"
    with _process(SLEEP, ours) as left, _process(SLEEP, other) as stranger:
        found = leftovers.find(ours, data)
        assert [process.pid for process in found] == [left.pid]
        leftovers.stop(found, ours, data)
        assert not psutil.pid_exists(left.pid)
        assert stranger.poll() is None


def test_a_process_that_does_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leftovers, "STOP_TIMEOUT_S", 0.3)
    with _process(STUBBORN, tmp_path) as left:
        leftovers.stop(leftovers.find(tmp_path, tmp_path / "data"), tmp_path, tmp_path / "data")
        assert not psutil.pid_exists(left.pid)


def test_a_process_in_the_data_folder_is_found_through_a_link(tmp_path: Path) -> None:
    """Like a PostgreSQL, which has written over its mark."""
    data = tmp_path / "disk" / "data"
    data.mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to("disk")
    with _process(SLEEP, tmp_path / "other", data) as left:
        found = leftovers.find(link, link / "data")
        assert [process.pid for process in found] == [left.pid]


@contextmanager
def _process(program: str, mark: Path, folder: Path | None = None) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, cwd=folder, env={**os.environ, RUN_VARIABLE: str(mark)}
    )
    try:
        assert started.stdout is not None
        started.stdout.readline()
        yield started
    finally:
        started.kill()
        started.wait()
        if started.stdout is not None:
            started.stdout.close()
