"""A command on a leash ends with its owner, however the owner ends."""

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


def test_the_exit_status_comes_back(tmp_path: Path) -> None:
    leash = ChildProcess([sys.executable, "-c", "raise SystemExit(7)"], log=tmp_path / "log")
    while not leash.ended:
        time.sleep(0.01)
    assert leash.stop() == 7


def test_letting_go_stops_the_command_and_removes_its_folder(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    leash = ChildProcess(SLEEP, log=tmp_path / "log", remove=[home])
    command = _child(leash.pid)
    leash.stop()
    assert not command.is_running()
    assert not home.exists()


def test_a_command_that_will_not_stop_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "log"
    leash = ChildProcess(STUBBORN, log=log, stop_seconds=0.2)
    command = _child(leash.pid)
    while "up" not in log.read_text():
        assert command.is_running()
    leash.stop()
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
        leash = psutil.Process(int(owner.stdout.readline()))
    command = _child(leash.pid)
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    gone, alive = psutil.wait_procs([leash, command], timeout=WAIT_S)
    assert not alive
    assert len(gone) == 2


def _child(leash: int) -> psutil.Process:
    process = psutil.Process(leash)
    while not (children := process.children()):
        assert process.is_running()
    return children[0]
