"""Finds and ends the processes that an earlier run on the same data folder left behind when it was killed."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import psutil

from stack.data_folder import RUN_VARIABLE

STOP_TIMEOUT_S = 15.0


def find(root: Path, postgres_data: Path) -> list[psutil.Process]:
    """The processes that certainly belong to the data folder: they carry its mark, or work in its database."""
    others = (process for process in psutil.process_iter() if process.pid != os.getpid())
    return [process for process in others if _belongs(process, root, postgres_data)]


def stop(found: list[psutil.Process], root: Path, postgres_data: Path) -> None:
    """Asks the topmost ones to stop, which stop their own children in order; then kills those that remain."""
    pids = {process.pid for process in found}
    for process in found:
        if _parent(process) not in pids:
            _signal(process, signal.SIGINT if has_working_folder(process.pid, postgres_data) else signal.SIGTERM)
    psutil.wait_procs(found, timeout=STOP_TIMEOUT_S)
    # Searched again: a process may have started another while it was stopping.
    remaining = find(root, postgres_data)
    for process in remaining:
        _signal(process, signal.SIGKILL)
    psutil.wait_procs(remaining, timeout=STOP_TIMEOUT_S)


def has_working_folder(process: int, folder: Path) -> bool:
    """Whether a process lives and works in the folder, as every PostgreSQL process does in its data."""
    try:
        # The system returns the real path; `folder` may be a link.
        return Path(psutil.Process(process).cwd()) == folder.resolve()
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        # Another user's process: it may be the server, so its lock stays.
        return True


def _belongs(process: psutil.Process, root: Path, postgres_data: Path) -> bool:
    try:
        # PostgreSQL writes its titles over its environment, but every process of it works in the data folder.
        return process.environ().get(RUN_VARIABLE) == str(root) or has_working_folder(process.pid, postgres_data)
    except (psutil.Error, OSError):
        return False


def _parent(process: psutil.Process) -> int | None:
    try:
        return process.ppid()
    except psutil.Error:
        return None


def _signal(process: psutil.Process, number: signal.Signals) -> None:
    try:
        process.send_signal(number)
    except psutil.Error:
        return
