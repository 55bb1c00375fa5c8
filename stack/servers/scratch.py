"""Where the files go of servers that nobody needs after their run: to memory, where there is plenty of it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

# Linux shows memory as a folder. Making a database is making three hundred files: a disk's file system takes six times
# the processor time for that.
MEMORY = Path("/dev/shm")  # noqa: S108 - folders are made there by `tempfile`, private and with names of their own
# What several test workers fill, and as much again; most containers have 64 MB of it.
NEEDED_BYTES = 4 << 30


def scratch_folder() -> str | None:
    """The folder to make temporary folders in; None for the one that `tempfile` chooses."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    return str(MEMORY) if shutil.disk_usage(MEMORY).free >= NEEDED_BYTES else None
