"""Starts NATS again after its disk was full: a stream that could not be written once takes nothing until then."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

CHECK_EVERY_S = 2.0
# Room that has to be there again: less would be used up at once.
NEEDED_BYTES = 64 * 1024 * 1024
# How NATS begins its account of a stream that it cannot write.
_WRITE_ERROR = "write error"


class Bus(Protocol):
    """A server that says what is wrong with it: `EmbeddedNats`."""

    home: Path

    def problem(self) -> str:
        """Returns what is wrong; empty if nothing is."""
        ...


class DiskWatch:
    """Looks at the bus now and then."""

    def __init__(
        self,
        bus: Bus,
        restart: Callable[[], None],
        report: Callable[[str], None],
        free_bytes: Callable[[Path], int] = lambda folder: shutil.disk_usage(folder).free,
    ) -> None:
        self._bus = bus
        self._restart = restart
        self._report = report
        self._free_bytes = free_bytes
        self._checked_at = float("-inf")
        self._reported = False

    def check(self, now: float) -> None:
        """Starts the bus again if it has stopped writing and there is room; says so, and once if there is none."""
        if now - self._checked_at < CHECK_EVERY_S:
            return
        self._checked_at = now
        if _WRITE_ERROR not in self._bus.problem():
            self._reported = False
        elif self._free_bytes(self._bus.home) >= NEEDED_BYTES:
            self._report("nats could write nothing more; there is room on its disk, so it is started again")
            self._restart()
        elif not self._reported:
            self._reported = True
            self._report(
                f"nats can write nothing more: its disk is full ({self._bus.home}). Players are told nothing;"
                f" nothing is lost. Free {NEEDED_BYTES // 1024**2} MB, and it is started again by itself"
            )
