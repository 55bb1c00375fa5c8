"""Disks of a few hundred megabytes that can be filled: file systems in memory that only the drill's processes see."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

_CLONE_NEWNS = 0x00020000
BALLAST = "ballast"
_PIECE = bytes(1024 * 1024)


def can_mount() -> str:
    """Enters a mount namespace of our own, whose mounts end with our last process; returns why it cannot, if so.

    To be called before any thread is started, for a thread has a namespace of its own.
    """
    if os.geteuid() != 0:
        return "only root may mount a small file system"
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.unshare(_CLONE_NEWNS) != 0:
            return f"a mount namespace is refused ({os.strerror(ctypes.get_errno())})"
        subprocess.run(["mount", "--make-rprivate", "/"], check=True, capture_output=True, text=True)
    except (OSError, AttributeError, subprocess.CalledProcessError) as failed:
        return f"a mount namespace cannot be had ({failed})"
    return ""


class SmallDisk:
    """A folder on a file system of its own, of a given size."""

    def __init__(self, folder: Path, megabytes: int) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        options = f"size={megabytes}m,mode=0711"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "feltro-drill", str(folder)], check=True)

    def fill(self) -> None:
        """Takes all that is left."""
        with (self.folder / BALLAST).open("ab", buffering=0) as ballast:
            for size in (len(_PIECE), 4096):
                try:
                    while ballast.write(_PIECE[:size]) == size:
                        pass
                except OSError:
                    continue

    def free(self) -> None:
        """Gives it back."""
        (self.folder / BALLAST).unlink(missing_ok=True)

    def remove(self) -> None:
        subprocess.run(["umount", "--lazy", str(self.folder)], check=False, capture_output=True)
