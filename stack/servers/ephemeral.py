"""A PostgreSQL and a NATS for one test run or one bench: on free ports, in a folder that goes with them."""

from __future__ import annotations

import itertools
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from stack.processes.child import ChildProcess
from stack.servers.nats import EmbeddedNats
from stack.servers.postgres import EmbeddedPostgres

START_ATTEMPTS = 5
READY_TIMEOUT_S = 30.0
# Below those that systems give to outgoing connections: one of these could be gone before a server listens on it.
PORTS = range(10_000, 32_500)
# Each process gives out ports of a block of its own: between a port's being found free and a server's listening on it
# nobody else of ours is given the same.
PORTS_PER_PROCESS = 500


# Kept for as long as the process runs.
_signs: list[socket.socket] = []


class Server(Protocol):
    """What both servers have in common."""

    def ready(self) -> bool:
        """Whether it answers."""
        ...


ServerT = TypeVar("ServerT", bound=Server)


@contextmanager
def postgres(settings: Mapping[str, str] | None = None, *, seed: Path | None = None) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL with no database of ours, or with those of a seed; durable unless `settings` say otherwise."""

    def start() -> tuple[EmbeddedPostgres, ChildProcess, Path]:
        server, log = _new_postgres(settings, seed)
        return server, _run_postgres(server, log, remove=_folders(server)), log

    server, leash = _started(start)
    try:
        yield server
    finally:
        leash.stop()


def make_seed(
    folder: Path, settings: Mapping[str, str] | None = None, *, fill: Callable[[EmbeddedPostgres], object]
) -> None:
    """Makes a seed in a new folder: what `fill` leaves in a PostgreSQL, for many others to start with."""

    def start() -> tuple[EmbeddedPostgres, ChildProcess, Path]:
        server, log = _new_postgres(settings)
        return server, _run_postgres(server, log), log

    server, leash = _started(start)
    try:
        try:
            fill(server)
        finally:
            leash.stop()
        folder.mkdir()
        server.save_seed(folder)
    finally:
        for left in _folders(server):
            shutil.rmtree(left)


def _new_postgres(settings: Mapping[str, str] | None, seed: Path | None = None) -> tuple[EmbeddedPostgres, Path]:
    home = _home("postgres")
    server = EmbeddedPostgres(home, free_port(), settings, seed=seed)
    server.initialise()
    return server, home / "log"


def _run_postgres(server: EmbeddedPostgres, log: Path, remove: Sequence[Path] = ()) -> ChildProcess:
    return ChildProcess(server.command(), log=log, stop_signal=signal.SIGINT, user=server.user, remove=remove)


def _folders(server: EmbeddedPostgres) -> list[Path]:
    return sorted({server.home, server.data.parent})


@contextmanager
def nats() -> Iterator[EmbeddedNats]:
    """A NATS with an empty JetStream."""

    def start() -> tuple[EmbeddedNats, ChildProcess, Path]:
        home = _home("nats")
        made = EmbeddedNats(home / "jetstream", free_port())
        return made, ChildProcess(made.command(), log=home / "log", remove=[home]), home / "log"

    made, leash = _started(start)
    try:
        yield made
    finally:
        leash.stop()


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on, and that nobody else of ours is given before its turn again."""
    for port in itertools.islice(_own_ports(), PORTS_PER_PROCESS):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise RuntimeError(
        f"None of this process' {PORTS_PER_PROCESS} ports between {PORTS.start} and {PORTS.stop} is free."
    )


@cache
def _own_ports() -> Iterator[int]:
    """The ports of a block that no other process has, round and round."""
    blocks = list(range(PORTS.start, PORTS.stop, PORTS_PER_PROCESS))
    secrets.SystemRandom().shuffle(blocks)
    for first in blocks:
        # UDP is used by nobody here, so a socket of that kind is a sign for others; it goes with the process.
        sign = socket.socket(type=socket.SOCK_DGRAM)
        try:
            sign.bind(("127.0.0.1", first))
        except OSError:
            sign.close()
            continue
        _signs.append(sign)
        return itertools.cycle(range(first, first + PORTS_PER_PROCESS))
    raise RuntimeError(f"All blocks of ports from {PORTS.start} to {PORTS.stop} are somebody's.")


def _home(name: str) -> Path:
    home = Path(tempfile.mkdtemp(prefix=f"feltro-{name}-"))
    # Passable, not readable: the user that PostgreSQL runs as under root must reach its data in it.
    home.chmod(0o711)
    return home


def _started(start: Callable[[], tuple[ServerT, ChildProcess, Path]]) -> tuple[ServerT, ChildProcess]:
    # Between asking for a free port and listening on it someone else may take it: then another one is asked for.
    said = ""
    for _ in range(START_ATTEMPTS):
        server, leash, log = start()
        deadline = time.monotonic() + READY_TIMEOUT_S
        with log.open(errors="replace") as output:
            while not leash.ended and time.monotonic() < deadline:
                if server.ready():
                    return server, leash
                time.sleep(0.01)
            leash.stop()
            said = output.read()[-2000:]
    raise RuntimeError(f"A server did not start in {START_ATTEMPTS} attempts; the last one said:\n{said}")
