"""Runs one command that cannot outlive its owner, the process that started it, however abruptly the owner ends.

The owner holds the writing end of our standard input. When it ends, even by `kill -9`, the kernel closes that end,
we read the end of the file, and stop the command with its own signal. No polling, and the same on every Unix.
"""

from __future__ import annotations

import argparse
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from stack.processes.user import arguments_for_user

STOP_TIMEOUT_S = 20.0


class ChildProcess:
    """The owner's side: a running command that ends with the owner."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        log: Path,
        stop_signal: signal.Signals = signal.SIGTERM,
        user: str | None = None,
        remove: Sequence[Path] = (),
        environment: dict[str, str] | None = None,
        stop_seconds: float = STOP_TIMEOUT_S,
    ) -> None:
        options = [f"--signal={stop_signal.name}", f"--seconds={stop_seconds}"]
        options += [f"--remove={path}" for path in remove]
        options += [f"--user={user}"] if user else []
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "stack.processes.child", *options, "--", *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
                # Out of our process group: the owner handles a Ctrl-C in the terminal, in its order.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The id of the process in between; the command is its only child."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the command has ended."""
        return self._process.poll() is not None

    def stop(self) -> int:
        """Stops the command, waits for it, and returns its exit status."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        return self._process.wait()


def main(arguments: Sequence[str]) -> int:
    """Runs the command until it ends, or until our standard input does."""
    parser = argparse.ArgumentParser(prog="stack.processes.child")
    parser.add_argument("--signal", default="SIGTERM", type=lambda name: signal.Signals[name])
    parser.add_argument("--seconds", default=STOP_TIMEOUT_S, type=float)
    parser.add_argument("--user")
    parser.add_argument("--remove", action="append", default=[], type=Path)
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args(arguments)
    child = subprocess.Popen(chosen.command, stdin=subprocess.DEVNULL, cwd="/", **arguments_for_user(chosen.user))
    # A handler may interrupt code that holds any lock: it only wakes the thread that stops the command.
    stop_reader, stop_writer = os.pipe()
    signal.signal(signal.SIGTERM, lambda *_: os.write(stop_writer, b"."))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(
        target=_stop_when_asked, args=(stop_reader, child, chosen.signal, chosen.seconds), daemon=True
    ).start()
    status = child.wait()
    for folder in chosen.remove:
        shutil.rmtree(folder, ignore_errors=True)
    return status


def _stop_when_asked(
    stop_reader: int, child: subprocess.Popen[bytes], stop_signal: signal.Signals, seconds: float
) -> None:
    # Nothing is written to our standard input: it becomes readable when it ends.
    select.select([sys.stdin, stop_reader], [], [])
    child.send_signal(stop_signal)
    time.sleep(seconds)
    child.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
