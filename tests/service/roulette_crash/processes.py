"""The processes of a platform: PostgreSQL, NATS, the wallet and two replicas; each may be killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import psutil
from google.protobuf.json_format import MessageToDict

from feltro.table.v1 import types_pb2
from services.kit import background
from stack.processes.child import ChildProcess
from stack.servers.ephemeral import EphemeralNats, free_port
from stack.servers.nats import EmbeddedNats
from stack.servers.postgres import EmbeddedPostgres
from stack.servers.scratch import scratch_folder
from tests.processes import databases
from tests.processes.databases import OWNER_ROLE, POSTGRES_TEST_SETTINGS
from tests.processes.databases import ROULETTE_ROLE as GAME_USER
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.kill import kill
from tests.processes.wallet import WalletProcess
from tests.service.roulette_crash.games import CrashGame

WALLET_DATABASE, GAME_DATABASE = "feltro_wallet", "feltro_game"
READY_WITHIN_S = 240.0
CHECK_EVERY_S = 0.1
# A service that ends before it was ready, or so soon after its start, has not reached what it needs: it is started
# again, and that is not unexpected.
STARTING_S = 10.0
LOG_CHARACTERS = 20_000


class KillableProcess(Protocol):
    """One process of the platform."""

    child: ChildProcess | None

    def start(self) -> None: ...

    async def ready(self) -> None: ...

    def kill(self) -> None: ...


@dataclass
class ServerProcess:
    """A PostgreSQL or a NATS."""

    server: EmbeddedPostgres | EmbeddedNats
    log: Path
    child: ChildProcess | None = field(default=None, init=False)

    def start(self) -> None:
        user, stop_signal = None, signal.SIGTERM
        if isinstance(self.server, EmbeddedPostgres):
            self.server.remove_stale_lock()
            user, stop_signal = self.server.user, signal.SIGINT
        self.child = ChildProcess(self.server.command(), log=self.log, stop_signal=stop_signal, user=user)

    def kill(self) -> None:
        """SIGKILL for the server and all its children, as if the machine had stopped."""
        if self.child is None:
            return
        child, self.child = self.child, None
        with contextlib.suppress(psutil.NoSuchProcess):
            processes = psutil.Process(child.pid).children(recursive=True)
            for process in processes:
                kill(process)
            psutil.wait_procs(processes)
        child.stop()

    async def ready(self) -> None:
        async with asyncio.timeout(READY_WITHIN_S):
            while not await asyncio.to_thread(self.server.ready):
                await asyncio.sleep(0.02)


class Processes:
    """All processes, on free ports and in one folder."""

    def __init__(
        self,
        home: Path,
        game: CrashGame[Any],
        tables: Mapping[str, types_pb2.TableConfiguration],
        seed: Path | None,
    ) -> None:
        """`seed`: a PostgreSQL with migrated templates to begin with; None migrates."""
        self.game = game
        self.tables = tables
        self._postgres = EmbeddedPostgres(home / "postgres", free_port(), POSTGRES_TEST_SETTINGS, seed=seed)
        bus = EphemeralNats(home, free_port())
        self.bus_url = bus.url
        private = home / "services"
        private.mkdir(mode=0o700)
        initial_tables = private / "tables.json"
        initial_tables.write_text(json.dumps([_initial_table(table_id, rules) for table_id, rules in tables.items()]))
        self.wallet = WalletProcess(self._postgres.url(WALLET_USER, WALLET_DATABASE), bus.url, private)
        self.replicas = [
            game.process(
                self._postgres.url(GAME_USER, GAME_DATABASE),
                bus.url,
                private,
                {f"FELTRO_{game.name.upper()}_TABLES": str(initial_tables)},
                wallet_address=self.wallet.address,
            )
            for _ in range(2)
        ]
        self.replica_names = [f"{game.name}-{number}" for number in range(len(self.replicas))]
        self.postgres = ServerProcess(self._postgres, home / "postgres.log")
        self.bus = ServerProcess(bus, home / "nats.log")
        self.by_name: dict[str, KillableProcess] = {
            "postgres": self.postgres,
            "nats": self.bus,
            "wallet": self.wallet,
            **dict(zip(self.replica_names, self.replicas, strict=True)),
        }
        self.unexpected_exits: list[str] = []
        """Processes that ended without being killed."""
        self._down: set[str] = set()
        self._started: dict[str, float] = {}
        self._ready: set[str] = set()
        self._readiness_checks: dict[str, asyncio.Task[None]] = {}

    @property
    def journal_url(self) -> str:
        return self.replicas[0].database_url

    @property
    def ledger_url(self) -> str:
        return self.wallet.database_url

    # -- starting ------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Starts all processes, and starts again what ends by itself, as a supervisor does."""
        supervision = None
        try:
            await asyncio.to_thread(self._postgres.initialise)
            self.start("postgres")
            self.start("nats")
            await asyncio.gather(self.postgres.ready(), self.bus.ready())
            await asyncio.to_thread(self._make_databases)
            self.start("wallet")
            await self.wallet.ready()
            for name in self.replica_names:
                self.start(name)
            await asyncio.gather(*(replica.ready() for replica in self.replicas))
            supervision = asyncio.create_task(self._supervise())
            yield
        finally:
            if supervision is not None:
                await background.cancel_and_wait([supervision])
            await background.cancel_and_wait([*self._readiness_checks.values()])
            for process in reversed(self.by_name.values()):
                process.kill()

    def _make_databases(self) -> None:
        for template, database, user in (
            (databases.WALLET_TEMPLATE, WALLET_DATABASE, WALLET_USER),
            (databases.ROULETTE_TEMPLATE, GAME_DATABASE, GAME_USER),
        ):
            migrated = databases.ensure_template(self._postgres, template)
            self._postgres.ensure_database(database, OWNER_ROLE, user, template=migrated)

    def start(self, name: str) -> None:
        self._down.discard(name)
        self._ready.discard(name)
        self._started[name] = time.monotonic()
        process = self.by_name[name]
        process.start()
        if name in self._readiness_checks:
            self._readiness_checks[name].cancel()
        self._readiness_checks[name] = asyncio.create_task(self._record_ready(name, process, process.child))

    async def _record_ready(self, name: str, process: KillableProcess, child: ChildProcess | None) -> None:
        # A process that never becomes ready shows elsewhere: it ends, or bets stop.
        with contextlib.suppress(AssertionError, TimeoutError):
            await process.ready()
            if process.child is child:
                self._ready.add(name)

    def kill(self, name: str) -> None:
        """`kill -9`; the process stays down until it is started."""
        self._down.add(name)
        self.by_name[name].kill()

    async def stop(self, name: str) -> int:
        """SIGTERM for a replica; its exit status when it has ended by itself."""
        self._down.add(name)
        return await asyncio.to_thread(self.replicas[int(name[-1])].stop)

    async def _supervise(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            for name, process in self.by_name.items():
                if name not in self._down and process.child is not None and process.child.ended:
                    if name in self._ready and time.monotonic() - self._started[name] > STARTING_S:
                        self.unexpected_exits.append(name)
                    process.kill()
                    self.start(name)

    @asynccontextmanager
    async def wallet_suspended(self) -> AsyncIterator[None]:
        """Suspends the wallet: it receives calls and does nothing."""
        child = self.wallet.child
        suspended = [] if child is None else psutil.Process(child.pid).children()
        for process in suspended:
            process.suspend()
        try:
            yield
        finally:
            for process in suspended:
                process.resume()

    def logs(self) -> str:
        """The end of the log of every service, to explain a failure."""
        services = [self.wallet, *self.replicas]
        return "\n".join(
            f"== {one.log.name}\n{one.log.read_text()[-LOG_CHARACTERS:]}" for one in services if one.log.exists()
        )


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that PostgreSQL's user can reach."""
    home = Path(tempfile.mkdtemp(prefix="feltro-crash-", dir=scratch_folder()))
    home.chmod(0o711)
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _initial_table(table_id: str, rules: types_pb2.TableConfiguration) -> dict[str, object]:
    configuration = MessageToDict(rules, preserving_proto_field_name=True)
    return {"table_id": table_id, "approval_reference": "SRIJ/test", "configuration": configuration}
