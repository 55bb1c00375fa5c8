"""`make logs`: follows the log of every process, each line with its name in front."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import NoReturn, TextIO

from services.kit.settings import load_or_exit
from stack.data_folder import DataFolder
from stack.settings import StackSettings

POLL_INTERVAL_S = 0.3
RECENT_BYTES = 2000
# Of the longest program.
NAME_WIDTH = 13
COLOURS = (36, 32, 33, 35, 34, 31)


class FollowedLog:
    """One log, read on from the last position, also through the process manager's rotation."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: TextIO | None = None
        self._inode = 0
        self._rest = ""

    def new_lines(self) -> list[str]:
        """The complete lines that were added since the last call."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return []
        if self._file is None:
            self._open(max(0, found.st_size - RECENT_BYTES))
        lines = self._read()
        if found.st_ino != self._inode or self._position() > found.st_size:
            self._open(0)
            lines += self._read()
        return lines

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _open(self, start: int) -> None:
        self.close()
        self._file = self.path.open(errors="replace")
        self._inode = self.path.stat().st_ino
        self._file.seek(start)
        if start:
            self._file.readline()

    def _position(self) -> int:
        return self._file.tell() if self._file is not None else 0

    def _read(self) -> list[str]:
        text = self._rest + (self._file.read() if self._file is not None else "")
        *lines, self._rest = text.split("\n")
        return lines


def follow(folder: Path, output: TextIO) -> NoReturn:
    """Prints what is added to any log in the folder, until interrupted."""
    followed: dict[Path, FollowedLog] = {}
    while True:
        for path in sorted(folder.glob("*.log")):
            log = followed.setdefault(path, FollowedLog(path))
            prefix = _prefix(path.stem, list(followed).index(path), coloured=output.isatty())
            for line in log.new_lines():
                print(f"{prefix}{line}", file=output)
        output.flush()
        time.sleep(POLL_INTERVAL_S)


def _prefix(name: str, number: int, *, coloured: bool) -> str:
    text = f"{name:<{NAME_WIDTH}} │ "
    return f"\x1b[{COLOURS[number % len(COLOURS)]}m{text}\x1b[0m" if coloured else text


def main() -> int:
    """Follows until Ctrl-C."""
    folder = DataFolder(load_or_exit(StackSettings).data)
    if not folder.logs.is_dir():
        print(f"There are no logs in {folder.logs} yet: `make run` makes them.", file=sys.stderr)
        return 1
    try:
        follow(folder.logs, sys.stdout)
    except (KeyboardInterrupt, BrokenPipeError):
        return 0  # following ends in no other way


if __name__ == "__main__":
    sys.exit(main())
