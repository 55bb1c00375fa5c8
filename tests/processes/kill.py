"""SIGKILL for a process that may be ending by itself while we reach for it."""

from __future__ import annotations

import contextlib

import psutil


def kill(process: psutil.Process) -> None:
    """Let it be dead: by our hand, or by its own a moment before."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.kill()
