"""The data folder: what lies in it, and who is using it."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
from pathlib import Path
from typing import IO

# Every process of a run carries it in its environment, so that a later run can tell what an earlier one left.
RUN_VARIABLE = "FELTRO_STACK"


class FolderInUse(RuntimeError):
    """Another run has the folder; the message says which."""


class FolderUnusable(RuntimeError):
    """The folder cannot be used; the message says what to do."""


class DataFolder:
    """One run at a time keeps all its files here."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.logs = root / "logs"
        self.postgres = root / "postgres"
        self.nats = root / "nats"
        self.issuer = root / "issuer"
        self._private = (self.logs, self.nats, self.issuer)
        self.supervisor_config = root / "supervisor.conf"
        # Points to the folder in the temporary one that holds the process manager's socket.
        self.socket_folder_link = root / "plain"
        self._lock_file = root / "run.lock"
        self._lock: IO[str] | None = None

    def prepare(self) -> None:
        """Make what is missing, readable by nobody else. What is there is left as it is, or refused."""
        try:
            if self.root.is_dir():
                self._check_mode()
                self._check_private()
            else:
                # Passable, not readable: PostgreSQL under root runs as a user that must reach its own folder in here.
                self.root.mkdir(mode=0o711, parents=True, exist_ok=True)
                # Whatever the umask has taken.
                self.root.chmod(0o711)
            for private in self._private:
                private.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise FolderUnusable(
                f"The data folder {self.root} is not usable by you: {error.strerror}.\n"
                "Set FELTRO_DATA to a folder of your own, or remove this one as whoever made it."
            ) from error

    def _check_mode(self) -> None:
        """Keys and money are to lie in here."""
        mode = self.root.stat().st_mode
        if mode & 0o022:
            # Everybody's is not to be closed.
            close = "" if mode & stat.S_ISVTX else f"\nIf it is yours alone, close it: chmod go-w {self.root}"
            raise FolderUnusable(
                f"Others may write to the data folder {self.root}: keys and money would not be safe there.\n"
                f"Set FELTRO_DATA to a folder of Feltro's own: {self.root / 'feltro'} would be made.{close}"
            )
        if os.geteuid() == 0 and not mode & 0o001 and (self.postgres / "data").exists():
            raise FolderUnusable(
                f"{self.root} was closed after PostgreSQL had made its data there: it may not run as root, and cannot"
                f" reach it any more.\nLet others pass, who can read nothing in there: chmod o+x {self.root}"
            )

    def _check_private(self) -> None:
        """Somebody may have chosen it who has folders of these names himself. Those that we make are closed."""
        for private in self._private:
            if private.exists() and private.stat().st_mode & 0o077:
                raise FolderUnusable(
                    f"{private} is open to others, so it is none of the folders that Feltro makes.\n"
                    f"Set FELTRO_DATA to a folder of Feltro's own: {self.root / 'feltro'} would be made.\n"
                    f"If it is Feltro's all the same, close it: chmod go= {private}"
                )

    def lock(self, address: str) -> None:
        """Hold the folder until this process ends; the kernel lets go of it even after a kill -9."""
        try:
            lock = self._lock_file.open("a+")
        except OSError as error:
            raise FolderUnusable(
                f"The data folder {self.root} is not usable by you: {error.strerror}.\n"
                "Set FELTRO_DATA to a folder of your own, or remove this one as whoever made it."
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = _holder(lock.read())
            lock.close()
            raise FolderInUse(
                f"Feltro is running already on {self.root}{holder}.\n"
                "Stop it with Ctrl-C where it runs; a second one needs its own FELTRO_DATA and ports."
            ) from None
        lock.truncate(0)
        json.dump({"process": os.getpid(), "address": address}, lock)
        lock.flush()
        self._lock = lock

    def unlock(self) -> None:
        """Let another run have it."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def empty(self) -> list[Path]:
        """Remove what runs made, and nothing else that may lie in a folder someone chose; give what went."""
        self._check_private()
        made = [
            self.logs,
            self.postgres,
            self.nats,
            self.issuer,
            self.supervisor_config,
            self.socket_folder_link,
            self._lock_file,
        ]
        gone = [path for path in made if path.exists() or path.is_symlink()]
        for path in gone:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        if self.root.is_dir() and not any(self.root.iterdir()):
            self.root.rmdir()
        return gone


def _holder(text: str) -> str:
    try:
        known = json.loads(text)
    except ValueError:
        return ""
    return f" (process {known['process']}, {known['address']})"
