"""A PostgreSQL and a NATS for one test run or one bench: on free ports, in folders that are removed with them."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Protocol, TypeVar

from services.kit.bus.connection import BusEndpoint, connect
from services.kit.bus.permissions import OPERATOR
from services.kit.bus.stream_keeper import StreamKeeper
from stack.games import GAMES
from stack.processes.child import ChildProcess
from stack.servers.nats import BusPasswords, EmbeddedNats
from stack.servers.postgres import EmbeddedPostgres
from stack.servers.scratch import scratch_folder

# Of every user of the NATS servers of this process; the games that have users there.
PASSWORD = secrets.token_hex(16)
USERS_OF_GAMES = (*(game.name for game in GAMES), "other_game")
START_ATTEMPTS = 5
READY_TIMEOUT_S = 30.0
# Below the ports of outgoing connections: one of those could be taken before a server listens on it.
PORTS = range(10_000, 32_500)
# Each process gives out ports of a block of its own: no other process of ours is given a port between the moment when
# it is found free and the moment when its server listens on it.
PORTS_PER_PROCESS = 500
# Open for as long as the process runs: each marks the block of a process.
_block_markers: list[socket.socket] = []


class Server(Protocol):
    """A server that can say whether it is ready."""

    def ready(self) -> bool:
        """Whether it answers."""
        ...


ServerT = TypeVar("ServerT", bound=Server)


@contextmanager
def postgres(settings: Mapping[str, str] | None = None, *, seed: Path | None = None) -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL without databases of ours, or with those of a seed; durable unless `settings` say otherwise."""

    def start() -> tuple[EmbeddedPostgres, ChildProcess, Path]:
        server, log = _new_postgres(settings, seed)
        return server, _run_postgres(server, log, remove=_folders(server)), log

    server, child = _started(start)
    try:
        yield server
    finally:
        child.stop()


def make_seed(
    folder: Path, settings: Mapping[str, str] | None = None, *, fill: Callable[[EmbeddedPostgres], object]
) -> None:
    """Makes a seed in a new folder: what `fill` leaves in a PostgreSQL, for many others to start with."""

    def start() -> tuple[EmbeddedPostgres, ChildProcess, Path]:
        server, log = _new_postgres(settings)
        return server, _run_postgres(server, log), log

    server, child = _started(start)
    try:
        try:
            fill(server)
        finally:
            child.stop()
        folder.mkdir()
        server.save_seed(folder)
    finally:
        for left in _folders(server):
            shutil.rmtree(left)


def _new_postgres(settings: Mapping[str, str] | None, seed: Path | None = None) -> tuple[EmbeddedPostgres, Path]:
    # One without fsync is to survive its processes, and nothing else: it may be in memory.
    home = _home("postgres", scratch_folder() if (settings or {}).get("fsync") == "off" else None)
    server = EmbeddedPostgres(home, free_port(), settings, seed=seed)
    server.initialise()
    return server, home / "log"


def _run_postgres(server: EmbeddedPostgres, log: Path, remove: Sequence[Path] = ()) -> ChildProcess:
    return ChildProcess(server.command(), log=log, stop_signal=signal.SIGINT, user=server.user, remove=remove)


def _folders(server: EmbeddedPostgres) -> list[Path]:
    return sorted({server.home, server.data.parent})


class EphemeralNats(EmbeddedNats):
    """A NATS with the users and permissions of a platform, which all have one password."""

    def __init__(self, home: Path, port: int) -> None:
        passwords = BusPasswords(home / "bus", USERS_OF_GAMES, lambda: PASSWORD)
        super().__init__(home / "jetstream", port, passwords, home / "bus" / "nats.conf")

    @property
    def url(self) -> str:
        """The address with the credentials of the operator, who may do everything."""
        return f"nats://{OPERATOR}:{PASSWORD}@127.0.0.1:{self.port}"

    def create_streams(self) -> None:
        """Creates the platform's streams, as the wallet does when it starts."""
        # The caller may have an event loop of its own.
        with ThreadPoolExecutor(1) as thread:
            thread.submit(asyncio.run, self._create_streams()).result()

    async def _create_streams(self) -> None:
        bus = await connect(BusEndpoint(self.url), "streams")
        try:
            await StreamKeeper(bus).create_missing()
        finally:
            await bus.close()


@contextmanager
def nats() -> Iterator[EphemeralNats]:
    """A NATS with the platform's streams, which are empty."""

    def start() -> tuple[EphemeralNats, ChildProcess, Path]:
        home = _home("nats")
        server = EphemeralNats(home, free_port())
        return server, ChildProcess(server.command(), log=home / "log", remove=[home]), home / "log"

    server, child = _started(start)
    try:
        server.create_streams()
        yield server
    finally:
        child.stop()


def free_port() -> int:
    """A free TCP port of 127.0.0.1, which no process of ours is given again before all others had their turn."""
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
    """The ports of a block that no other process has, over and over."""
    blocks = list(range(PORTS.start, PORTS.stop, PORTS_PER_PROCESS))
    secrets.SystemRandom().shuffle(blocks)
    for first in blocks:
        # Nothing here uses UDP, so a UDP socket marks the block for other processes; it closes with this one.
        marker = socket.socket(type=socket.SOCK_DGRAM)
        try:
            marker.bind(("127.0.0.1", first))
        except OSError:
            marker.close()
            continue
        _block_markers.append(marker)
        return itertools.cycle(range(first, first + PORTS_PER_PROCESS))
    raise RuntimeError(f"All blocks of ports from {PORTS.start} to {PORTS.stop} are in use.")


def _home(name: str, folder: str | None = None) -> Path:
    home = Path(tempfile.mkdtemp(prefix=f"feltro-{name}-", dir=folder))
    # Passable, not readable: under root PostgreSQL runs as another user, who must reach its data in here.
    home.chmod(0o711)
    return home


def _started(start: Callable[[], tuple[ServerT, ChildProcess, Path]]) -> tuple[ServerT, ChildProcess]:
    # Another program may take the free port before the server listens on it: then another one is tried.
    output_end = ""
    for _ in range(START_ATTEMPTS):
        server, child, log = start()
        deadline = time.monotonic() + READY_TIMEOUT_S
        with log.open(errors="replace") as output:
            while not child.ended and time.monotonic() < deadline:
                if server.ready():
                    return server, child
                time.sleep(0.01)
            child.stop()
            output_end = output.read()[-2000:]
    raise RuntimeError(f"A server did not start in {START_ATTEMPTS} attempts; the last one printed:\n{output_end}")
