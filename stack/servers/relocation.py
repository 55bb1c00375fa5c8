"""Folders that stand in for those which PostgreSQL's user cannot reach: its data and its binaries, under root."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

# Every user can reach it. Each folder made there is checked for its owner: see `stand_in_for`.
SHARED_FOLDER = Path("/var/tmp")  # noqa: S108


class PostgresError(RuntimeError):
    """PostgreSQL could not be made, reached or queried; the message says why."""


def stand_in_for(unreachable: Path) -> Path:
    """Makes a folder of root's that every user can reach, named after the path that it stands in for."""
    folder = _stand_in_path(unreachable)
    folder.mkdir(mode=0o711, exist_ok=True)
    found = folder.lstat()
    # Anyone may make folders there: one that is not root's own, or is open to writing, could be a trap.
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != 0 or found.st_mode & 0o022:
        raise PostgresError(f"{folder} belongs to someone else. Remove it, or set FELTRO_DATA to a folder of your own.")
    folder.chmod(0o711)
    return folder


def relocated_folders(*unreachable: Path) -> list[Path]:
    """The folders that stand in for these paths."""
    return [folder for path in unreachable if os.geteuid() == 0 and (folder := _stand_in_path(path)).exists()]


def copy_readable(source: Path, names: list[str], target: Path) -> None:
    """Copies folders of `source` so that every user can read them."""
    fresh = Path(tempfile.mkdtemp(prefix=f"{target.name}-", dir=target.parent))
    for name in names:
        if (source / name).is_dir():
            shutil.copytree(source / name, fresh / name, symlinks=True)
    for path in (fresh, *fresh.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    try:
        fresh.rename(target)
    except OSError:
        # Another process finished the same copy first.
        shutil.rmtree(fresh)


def _stand_in_path(unreachable: Path) -> Path:
    return SHARED_FOLDER / f"feltro-{hashlib.sha256(str(unreachable).encode()).hexdigest()[:12]}"
