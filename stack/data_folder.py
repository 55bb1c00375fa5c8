"""The data folder of a run: its layout, its lock and its modes."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
from pathlib import Path
from typing import IO

# In the environment of every process of a run: a later run finds by it what an earlier one left behind.
RUN_VARIABLE = "FELTRO_STACK"


class FolderInUse(RuntimeError):
    """Another run uses the folder; the message says which."""


class FolderUnusable(RuntimeError):
    """The folder cannot be used; the message says what to do."""


class DataFolder:
    """The files of a run; one run at a time may use them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.logs = root / "logs"
        self.postgres = root / "postgres"
        self.nats = root / "nats"
        self.issuer = root / "issuer"
        self.keys = root / "keys"
        # The passwords of the bus, and the configuration of its server with them.
        self.bus = root / "bus"
        self._private = (self.logs, self.nats, self.issuer, self.keys, self.bus)
        self.supervisor_config = root / "supervisor.conf"
        # Points to a temporary folder that holds the process manager's socket.
        self.socket_folder_link = root / "plain"
        self._lock_file = root / "run.lock"
        self._lock: IO[str] | None = None

    def prepare(self) -> None:
        """Makes missing folders, readable by nobody else; refuses existing ones that are not safe."""
        try:
            if self.root.is_dir():
                self._check_mode()
                self._check_private()
            else:
                # Passable, not readable: under root PostgreSQL runs as another user, who must reach its folder in here.
                self.root.mkdir(mode=0o711, parents=True, exist_ok=True)
                # The umask may have removed some of it.
                self.root.chmod(0o711)
            for private in self._private:
                private.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise FolderUnusable(
                f"The data folder {self.root} is not usable by you: {error.strerror}.\n"
                "Set FELTRO_DATA to a folder of your own, or remove this one as the user who made it."
            ) from error

    def _check_mode(self) -> None:
        """Refuses a folder to which others may write: keys and money lie in it."""
        mode = self.root.stat().st_mode
        if mode & 0o022:
            # A folder for everybody, such as /tmp, must stay open.
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
        """Refuses folders of these names that others can read: a run did not make them, the user did."""
        for private in self._private:
            if private.exists() and private.stat().st_mode & 0o077:
                raise FolderUnusable(
                    f"{private} is open to others, so it is none of the folders that Feltro makes.\n"
                    f"Set FELTRO_DATA to a folder of Feltro's own: {self.root / 'feltro'} would be made.\n"
                    f"If it is Feltro's all the same, close it: chmod go= {private}"
                )

    def lock(self, address: str) -> None:
        """Locks the folder until this process ends; the kernel unlocks it even after a kill -9."""
        try:
            lock = self._lock_file.open("a+")
        except OSError as error:
            raise FolderUnusable(
                f"The data folder {self.root} is not usable by you: {error.strerror}.\n"
                "Set FELTRO_DATA to a folder of your own, or remove this one as the user who made it."
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
        """Lets another run use the folder."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def is_in_use(self) -> bool:
        """Whether a run uses the folder now; it is not locked to find out, for a run may be starting."""
        try:
            holder = json.loads(self._lock_file.read_text())
            os.kill(holder["process"], 0)
        except PermissionError:
            # Another user's process is alive.
            return True
        except (OSError, ValueError):
            return False
        return True

    def empty(self) -> list[Path]:
        """Removes what runs made and nothing else; returns what was removed."""
        self._check_private()
        made = [
            self.logs,
            self.postgres,
            self.nats,
            self.issuer,
            self.keys,
            self.bus,
            self.supervisor_config,
            self.socket_folder_link,
            self._lock_file,
        ]
        removed = [path for path in made if path.exists() or path.is_symlink()]
        for path in removed:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        if self.root.is_dir() and not any(self.root.iterdir()):
            self.root.rmdir()
        return removed


def _holder(text: str) -> str:
    try:
        holder = json.loads(text)
    except ValueError:
        return ""
    return f" (process {holder['process']}, {holder['address']})"


def write_private(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Replaces a file at once, never readable with another mode than this."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        file.write(content)
    fresh.replace(path)
