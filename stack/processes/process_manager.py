"""Runs supervisord so that a full disk costs it lines of its logs, and not the programs that it runs."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from supervisor import loggers, supervisord


class LossyFileHandler(loggers.RotatingFileHandler):  # type: ignore[misc]  # supervisor is not typed
    """A log that drops the lines that cannot be written, and goes on with the next ones."""

    def emit(self, record: Any) -> None:  # noqa: ANN401 - supervisor is not typed
        # It reports a failed write on standard error, which is a file on the same disk, and ends when that fails, too.
        with suppress(OSError):
            super().emit(record)

    def handleError(self) -> None:  # noqa: N802 - supervisor's name
        """Says nothing: see `emit`."""

    def close(self) -> None:
        # A line that is still to be written is written or lost now.
        with suppress(OSError):
            super().close()


def main() -> None:
    """Runs supervisord with the arguments of this process."""
    loggers.RotatingFileHandler = LossyFileHandler
    supervisord.main(sys.argv[1:])


if __name__ == "__main__":
    main()
