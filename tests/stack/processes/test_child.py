"""A child process ends with its owner, however the owner ends."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil

from stack.processes.child import ChildProcess

WAIT_S = 60.0
SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
STUBBORN = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(600)",
]


def test_stop_returns_the_exit_status(tmp_path: Path) -> None:
    child = ChildProcess([sys.executable, "-c", "raise SystemExit(7)"], log=tmp_path / "log")
    while not child.ended:
        time.sleep(0.01)
    assert child.stop() == 7


def test_stopping_ends_the_command_and_removes_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    child = ChildProcess(SLEEP, log=tmp_path / "log", remove=[home])
    command = _command_of(child.pid)
    child.stop()
    assert not command.is_running()
    assert not home.exists()


def test_a_command_that_will_not_stop_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    child = ChildProcess(STUBBORN, log=log, stop_seconds=0.2)
    command = _command_of(child.pid)
    while "up" not in log.read_text():
        assert command.is_running()
    child.stop()
    assert not command.is_running()


def test_a_killed_owner_takes_the_command_with_it(tmp_path: Path) -> None:
    program = f"""
import time
from pathlib import Path
from stack.processes.child import ChildProcess
print(ChildProcess({SLEEP!r}, log=Path({str(tmp_path / "log")!r})).pid, flush=True)
time.sleep(600)
"""
    owner = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    with owner.stdout:
        child = psutil.Process(int(owner.stdout.readline()))
    command = _command_of(child.pid)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    gone, alive = psutil.wait_procs([child, command], timeout=WAIT_S)
    assert not alive
    assert len(gone) == 2


def _command_of(child: int) -> psutil.Process:
    process = psutil.Process(child)
    while not (children := process.children()):
        assert process.is_running()
    return children[0]
