"""A NATS server of one test, which can be stopped and started again, with its data or without."""

from __future__ import annotations

import resource
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from stack.processes.child import ChildProcess
from stack.servers.ephemeral import READY_TIMEOUT_S, EphemeralNats, free_port


class StoppableNats:
    """A server on one port, which runs inside the `with` block."""

    def __init__(self) -> None:
        self._home = Path(tempfile.mkdtemp(prefix="feltro-nats-"))
        self._server = EphemeralNats(self._home, free_port())
        self._process: ChildProcess | None = None

    @property
    def url(self) -> str:
        return self._server.url

    def start(self) -> None:
        self._process = ChildProcess(self._server.command(), log=self._home / "log")
        self._server.wait_ready(READY_TIMEOUT_S)
        self._server.create_streams()

    def stop(self, *, forget: bool = False) -> None:
        if self._process is not None:
            self._process.stop()
            self._process = None
        if forget:
            shutil.rmtree(self._server.home)

    def fill_disk(self) -> None:
        """Lets every write of the server fail, as on a full disk."""
        self._limit_files(0)

    def free_disk(self) -> None:
        """Lets the server write again, if it tries."""
        self._limit_files(resource.RLIM_INFINITY)

    def _limit_files(self, size: int) -> None:
        assert self._process is not None, "not started"
        (server,) = psutil.Process(self._process.pid).children()
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    @property
    def server(self) -> EphemeralNats:
        return self._server

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        shutil.rmtree(self._home)
