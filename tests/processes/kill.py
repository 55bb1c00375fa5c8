"""SIGKILL for a process that may end by itself at the same moment."""

from __future__ import annotations

import contextlib

import psutil


def kill(process: psutil.Process) -> None:
    """Kills a process, unless it has just ended."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.kill()
