"""Counts the crashes of programs: one now and then is restarted, one that keeps crashing ends the run."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from stack.processes.supervisor import ProgramState

CRASHES_LIMIT = 5
CRASHES_WINDOW_S = 60.0


class CrashMonitor:
    """Finds the programs that crashed since the last look, and those that crash too often to go on."""

    def __init__(self, crashes_limit: int = CRASHES_LIMIT, window_s: float = CRASHES_WINDOW_S) -> None:
        self._crashes_limit = crashes_limit
        self._window_s = window_s
        self._pids: dict[str, int] = {}
        self._crashes: dict[str, deque[float]] = {}

    def crashed(self, states: Mapping[str, ProgramState], now: float) -> list[str]:
        """The programs whose process is another one than at the last look."""
        found = []
        for name, state in states.items():
            last = self._pids.get(name, 0)
            if last and state.pid != last:
                found.append(name)
                self._crashes.setdefault(name, deque(maxlen=self._crashes_limit)).append(now)
            self._pids[name] = state.pid
        return found

    def expect_another_process(self, name: str) -> None:
        """A program is started again on purpose: its next process is no sign of a crash."""
        self._pids.pop(name, None)

    def crash_looping(self, states: Mapping[str, ProgramState], now: float) -> str | None:
        """A program that keeps crashing, if there is one."""
        for name, state in states.items():
            recent = sum(1 for crashed_at in self._crashes.get(name, ()) if now - crashed_at <= self._window_s)
            if state.given_up or recent >= self._crashes_limit:
                return name
        return None
