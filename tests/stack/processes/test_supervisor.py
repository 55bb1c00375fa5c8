"""The process manager stops its programs in order, each before the next is asked to."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from stack.data_folder import DataFolder
from stack.processes.supervisor import Program, Supervisor, last_lines

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


def test_the_end_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "wallet.log"
    assert "empty" in last_lines(log, 2)
    log.write_text("one\ntwo\nthree\n")
    assert last_lines(log, 2) == "    two\n    three"
