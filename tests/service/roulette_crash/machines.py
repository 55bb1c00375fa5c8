"""All that a casino runs on: PostgreSQL, NATS, the wallet and two replicas, each a process that may be killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psutil
from google.protobuf.json_format import MessageToDict

from feltro.table.v1 import types_pb2
from services.kit import background
from stack.ephemeral import free_port
from stack.leash import Leash
from stack.nats import EmbeddedNats
from stack.postgres import EmbeddedPostgres
from tests.conftest import OWNER, TEST_SETTINGS
from tests.conftest import USER as WALLET_USER
from tests.roulette_under_test import RouletteProcess
from tests.service.table.conftest import USER as ROULETTE_USER
from tests.sudden_death import kill
from tests.wallet_under_test import WalletProcess

WALLET_DATABASE, ROULETTE_DATABASE = "feltro_wallet", "feltro_roulette"
READY_WITHIN_S = 60.0
LOOK_EVERY_S = 0.1
# Whoever ends before he was ready, or so soon after his start, has not found what he needs; he is started again.
STARTING_S = 10.0
LOG_CHARACTERS = 20_000


class Part(Protocol):
    """One process of the casino."""

    leash: Leash | None

    def start(self) -> None: ...

    async def ready(self) -> None: ...

    def kill(self) -> None: ...


@dataclass
class Server:
    """A PostgreSQL or a NATS."""

    server: EmbeddedPostgres | EmbeddedNats
    log: Path
    leash: Leash | None = field(default=None, init=False)

    def start(self) -> None:
        user, stop_signal = None, signal.SIGTERM
        if isinstance(self.server, EmbeddedPostgres):
            self.server.forget_stale_lock()
            user, stop_signal = self.server.user, signal.SIGINT
        self.leash = Leash(self.server.command(), log=self.log, stop_signal=stop_signal, user=user)

    def kill(self) -> None:
        """SIGKILL for the server and every process it has begun: as if the machine had stopped."""
        if self.leash is None:
            return
        leash, self.leash = self.leash, None
        with contextlib.suppress(psutil.NoSuchProcess):
            processes = psutil.Process(leash.pid).children(recursive=True)
            for process in processes:
                kill(process)
            psutil.wait_procs(processes)
        leash.let_go()

    async def ready(self) -> None:
        async with asyncio.timeout(READY_WITHIN_S):
            while not await asyncio.to_thread(self.server.ready):
                await asyncio.sleep(0.02)


class Machines:
    """Everything, on ports of its own and in a folder of its own."""

    def __init__(self, home: Path, tables: Mapping[str, types_pb2.TableConfiguration]) -> None:
        self._postgres = EmbeddedPostgres(home / "postgres", free_port(), TEST_SETTINGS)
        bus = EmbeddedNats(home / "nats", free_port())
        self.bus_url = bus.url
        private = home / "services"
        private.mkdir(mode=0o700)
        seeds = private / "tables.json"
        seeds.write_text(json.dumps([_seed(table_id, rules) for table_id, rules in tables.items()]))
        self.wallet = WalletProcess(self._postgres.url(WALLET_USER, WALLET_DATABASE), bus.url, private)
        self.replicas = [
            RouletteProcess(
                self._postgres.url(ROULETTE_USER, ROULETTE_DATABASE),
                bus.url,
                private,
                {"FELTRO_ROULETTE_TABLES": str(seeds)},
                wallet_address=self.wallet.address,
            )
            for _ in range(2)
        ]
        self.postgres = Server(self._postgres, home / "postgres.log")
        self.bus = Server(bus, home / "nats.log")
        self.parts: dict[str, Part] = {
            "postgres": self.postgres,
            "nats": self.bus,
            "wallet": self.wallet,
            "roulette-0": self.replicas[0],
            "roulette-1": self.replicas[1],
        }
        self.ended_alone: list[str] = []
        """Parts that have ended although nobody had killed them."""
        self._down: set[str] = set()
        self._started: dict[str, float] = {}
        self._were_ready: set[str] = set()
        self._awaited: dict[str, asyncio.Task[None]] = {}

    @property
    def journal_url(self) -> str:
        return self.replicas[0].database_url

    @property
    def ledger_url(self) -> str:
        return self.wallet.database_url

    # -- starting ------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Everything is up, and whatever ends by itself is started again, as a supervisor does it."""
        keeping = None
        try:
            await asyncio.to_thread(self._postgres.initialise)
            self.start("postgres")
            self.start("nats")
            await asyncio.gather(self.postgres.ready(), self.bus.ready())
            await asyncio.to_thread(self._make_databases)
            self.start("wallet")
            await self.wallet.ready()
            for name in ("roulette-0", "roulette-1"):
                self.start(name)
            await asyncio.gather(*(replica.ready() for replica in self.replicas))
            keeping = asyncio.create_task(self._keep())
            yield
        finally:
            if keeping is not None:
                await background.end([keeping])
            await background.end([*self._awaited.values()])
            for part in reversed(self.parts.values()):
                part.kill()

    def _make_databases(self) -> None:
        for service, database, user in (
            ("wallet", WALLET_DATABASE, WALLET_USER),
            ("roulette", ROULETTE_DATABASE, ROULETTE_USER),
        ):
            self._postgres.ensure_database(database, OWNER, user)
            owner_url = self._postgres.url(OWNER, database)
            subprocess.run(
                [sys.executable, "-m", "services.kit.command", "migrate", service],
                env={**os.environ, f"FELTRO_{service.upper()}_OWNER_URL": owner_url},
                check=True,
                capture_output=True,
            )

    def start(self, name: str) -> None:
        self._down.discard(name)
        self._were_ready.discard(name)
        self._started[name] = time.monotonic()
        part = self.parts[name]
        part.start()
        if name in self._awaited:
            self._awaited[name].cancel()
        self._awaited[name] = asyncio.create_task(self._note_ready(name, part, part.leash))

    async def _note_ready(self, name: str, part: Part, leash: Leash | None) -> None:
        # One that never is says so in its own time: by ending, or by bets that do not go on.
        with contextlib.suppress(AssertionError, TimeoutError):
            await part.ready()
            if part.leash is leash:
                self._were_ready.add(name)

    def kill(self, name: str) -> None:
        """`kill -9`. It stays down until it is started."""
        self._down.add(name)
        self.parts[name].kill()

    async def stop(self, name: str) -> int:
        """SIGTERM for a replica; its exit status when it has ended by itself."""
        self._down.add(name)
        return await asyncio.to_thread(self.replicas[int(name[-1])].stop)

    async def _keep(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY_S)
            for name, part in self.parts.items():
                if name not in self._down and part.leash is not None and part.leash.ended:
                    if name in self._were_ready and time.monotonic() - self._started[name] > STARTING_S:
                        self.ended_alone.append(name)
                    part.kill()
                    self.start(name)

    @asynccontextmanager
    async def wallet_asleep(self) -> AsyncIterator[None]:
        """The wallet hears everything and does nothing."""
        leash = self.wallet.leash
        sleeping = [] if leash is None else psutil.Process(leash.pid).children()
        for process in sleeping:
            process.suspend()
        try:
            yield
        finally:
            for process in sleeping:
                process.resume()

    def logs(self) -> str:
        """The last words of every service, for whoever looks into a failure."""
        services = [self.wallet, *self.replicas]
        return "\n".join(
            f"== {one.log.name}\n{one.log.read_text()[-LOG_CHARACTERS:]}" for one in services if one.log.exists()
        )


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL's user can reach."""
    home = Path(tempfile.mkdtemp(prefix="feltro-crash-"))
    home.chmod(0o711)
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _seed(table_id: str, rules: types_pb2.TableConfiguration) -> dict[str, object]:
    configuration = MessageToDict(rules, preserving_proto_field_name=True)
    return {"table_id": table_id, "approval_reference": "SRIJ/test", "configuration": configuration}
