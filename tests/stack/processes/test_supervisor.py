"""The process manager stops its programs in order, each before the next is asked to."""

from __future__ import annotations

import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from stack.data_folder import DataFolder
from stack.processes.supervisor import Program, SupervisionError, Supervisor, last_lines

# Writes down when it is asked to stop and when it ends.
PROGRAM = """
import signal, sys, threading

def write(event):
    with open(sys.argv[2], "a") as log:
        print(sys.argv[1], event, file=log, flush=True)

stopped = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopped.set())
write("starts")
stopped.wait()
write("stops")
write("ends")
"""
TIMEOUT_S = 240.0
NAMES = ("first", "second", "third")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """What the programs write."""
    return tmp_path / "journal"


@pytest.fixture
def supervisor(tmp_path: Path, journal: Path) -> Iterator[Supervisor]:
    """A process manager whose programs run."""
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    programs = [
        Program(name, [sys.executable, "-c", PROGRAM, name, str(journal)], tmp_path, priority)
        for priority, name in enumerate(NAMES)
    ]
    made = Supervisor(folder, programs, {})
    while not made.ready():
        time.sleep(0.02)
    for name in NAMES:
        made.start(name)
    while not journal.exists() or len(journal.read_text().splitlines()) < len(NAMES):
        time.sleep(0.02)
    yield made
    made.stop()


def test_the_highest_priority_stops_first_and_the_next_one_after_it(supervisor: Supervisor, journal: Path) -> None:
    supervisor.stop()
    assert supervisor.ended
    stops = journal.read_text().splitlines()[len(NAMES) :]
    assert stops == [f"{name} {event}" for name in reversed(NAMES) for event in ("stops", "ends")]


def test_a_program_that_has_ended_already_keeps_nothing_from_stopping(supervisor: Supervisor, journal: Path) -> None:
    pids = {name: state.pid for name, state in supervisor.states().items()}
    psutil.Process(pids["third"]).send_signal(signal.SIGKILL)
    supervisor.stop()
    assert supervisor.ended
    assert not any(psutil.pid_exists(pid) for pid in pids.values())


def test_one_that_was_killed_has_ended_for_whoever_asks_it_first(supervisor: Supervisor) -> None:
    (manager,) = psutil.Process(supervisor.pid).children()
    manager.kill()
    manager.wait(TIMEOUT_S)
    with pytest.raises(SupervisionError, match="was ended by something else"):
        supervisor.states()


def test_the_end_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "wallet.log"
    assert "empty" in last_lines(log, 2)
    log.write_text("one\ntwo\nthree\n")
    assert last_lines(log, 2) == "    two\n    three"


CHATTY = """
import sys, time
number = 0
while True:
    number += 1
    print("line", number, "x" * 200, flush=True)
    time.sleep(0.005)
"""


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="only Linux limits the files of another process")
def test_a_full_disk_costs_lines_of_logs_and_nothing_else(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    manager = Supervisor(folder, [Program("chatty", [sys.executable, "-c", CHATTY], tmp_path, 1)], {})
    log = folder.logs / "chatty.log"
    try:
        _wait_until(manager.ready)
        manager.start("chatty")
        _wait_until(lambda: log.exists() and "line 3 " in log.read_text())
        pid = manager.states()["chatty"].pid
        limited = [process for process in psutil.Process(manager.pid).children(recursive=True) if process.pid != pid]
        for process in limited:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
        written = log.stat().st_size
        # It writes to its own log, too, which is on the same disk.
        with pytest.raises(SupervisionError):
            manager.start("unknown")
        for _ in range(50):
            assert not manager.ended
            assert manager.states()["chatty"].pid == pid
            time.sleep(0.01)
        assert log.stat().st_size == written
        for process in limited:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        _wait_until(lambda: log.stat().st_size > written + 10_000)
        assert manager.states()["chatty"].pid == pid
    finally:
        manager.stop()


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)
