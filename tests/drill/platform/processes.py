"""All processes of a drill, on loopback and in one folder, with a bad network between any two of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from google.protobuf.json_format import MessageToDict

from feltro.table.v1 import types_pb2
from services.kit import background
from stack.processes.child import ChildProcess
from stack.servers.ephemeral import PASSWORD, free_port
from stack.servers.postgres import EmbeddedPostgres
from tests.drill.fault_proxy import FaultProxy, Network
from tests.drill.platform.bus_cluster import BUS, SERVERS, BusCluster
from tests.drill.platform.disks import SmallDisk
from tests.drill.platform.earlier import EarlierRelease
from tests.drill.play.games import DrillGame
from tests.drill.schedule import Targets
from tests.gateway.platform.processes import GENEROUS_LIMITS
from tests.processes import databases
from tests.processes.databases import (
    OWNER_ROLE,
    POSTGRES_TEST_SETTINGS,
    ROULETTE_ROLE,
    ROULETTE_TEMPLATE,
    WALLET_ROLE,
    WALLET_TEMPLATE,
    DatabaseTemplate,
)
from tests.processes.feltro import feltro
from tests.processes.game import GameProcess
from tests.processes.gateway import GatewayProcess
from tests.processes.service import ServiceProcess
from tests.processes.wallet import WalletProcess
from tests.service.roulette_crash.processes import ServerProcess

REPLICAS = 2
WALLET_DATABASE = "feltro_wallet"
# Both have to hold what a drill writes; the ledger grows with its length.
POSTGRES_MEGABYTES, BUS_MEGABYTES = 768, 256
POSTGRES_SETTINGS = {
    **POSTGRES_TEST_SETTINGS,
    "max_wal_size": "128MB",
    "min_wal_size": "32MB",
    "max_connections": "150",
}
CHECK_EVERY_S = 0.2
# What ends so soon after its start has not reached what it needs, and is started again like by any supervisor.
START_AGAIN_AFTER_S = 0.5
STOP_WITHIN_S = 100.0
EVERYTHING = "everything"
GATEWAYS = "gateways"


class NotStarted(RuntimeError):
    """The platform did not start; the message is the end of a log."""


@dataclass
class EndedAlone:
    """A process that ended although nobody asked it to."""

    name: str
    at: float
    log_end: str


class DrilledPlatform:
    """The processes by name, what is between them, and their disks."""

    def __init__(
        self,
        home: Path,
        games: Sequence[DrillGame],
        *,
        with_disks: bool,
        hours: float,
        earlier: EarlierRelease | None = None,
    ) -> None:
        """`earlier` is the release to begin with, which has these games; None is this one."""
        self.games = games
        self._earlier = earlier
        self.ended_alone: list[EndedAlone] = []
        self.hurt: set[str] = set()
        """What is being hurt: it may end."""
        self._home = home
        self._down: set[str] = set()
        # The process in between, and the command that it runs.
        self._commands: dict[str, tuple[int, psutil.Process]] = {}
        self._links: dict[tuple[str, str], list[FaultProxy]] = {}
        self.disks: dict[str, SmallDisk] = {}
        if with_disks:
            self.disks["postgres"] = SmallDisk(home / "postgres", round(POSTGRES_MEGABYTES * (1 + hours)))
            for number in range(SERVERS):
                self.disks[f"nats-{number}"] = SmallDisk(home / f"nats-{number}", round(BUS_MEGABYTES * (1 + hours)))
        self._postgres = EmbeddedPostgres(home / "postgres", free_port(), POSTGRES_SETTINGS)
        self._bus = BusCluster(home)
        self.servers = {
            "postgres": ServerProcess(self._postgres, home / "postgres.log"),
            **{server.name: ServerProcess(server, home / f"{server.name}.log") for server in self._bus.servers},
        }  # fmt: skip
        services = home / "services"
        services.mkdir(mode=0o700)
        self.wallet = self._make_wallet(services)
        self.replicas = {
            f"{game.name}-{n}": self._make_replica(game, n, services) for game in games for n in range(REPLICAS)
        }
        self.gateways = {f"gateway-{number}": self._make_gateway(number, services) for number in range(REPLICAS)}
        self.services: dict[str, ServiceProcess] = {"wallet": self.wallet, **self.replicas, **self.gateways}
        if earlier is not None:
            for service in self.services.values():
                service.environment |= earlier.variables

    # -- making --------------------------------------------------------------------------------------------------------

    def _link(self, client: str, server: str, port: int) -> int:
        proxy = FaultProxy(free_port(), port)
        self._links.setdefault((client, server), []).append(proxy)
        return proxy.port

    def _database_url(self, client: str, role: str, database: str) -> str:
        direct = self._postgres.url(role, database)
        return direct.replace(f":{self._postgres.port}/", f":{self._link(client, 'postgres', self._postgres.port)}/")

    def _bus_url(self, client: str) -> str:
        ports = (self._link(client, server.name, server.port) for server in self._bus.servers)
        return f"nats://operator:{PASSWORD}@" + ",".join(f"127.0.0.1:{port}" for port in ports)

    def _make_wallet(self, home: Path) -> WalletProcess:
        url = self._database_url("wallet", WALLET_ROLE, WALLET_DATABASE)
        return WalletProcess(url, self._bus_url("wallet"), home, {"FELTRO_WALLET_STREAM_REPLICAS": str(SERVERS)})

    def _make_replica(self, game: DrillGame, number: int, home: Path) -> GameProcess:
        name = f"{game.name}-{number}"
        port = free_port()
        tables = home / f"{game.name}.json"
        tables.write_text(
            json.dumps(
                [
                    {
                        "table_id": table_id,
                        "approval_reference": "SRIJ/drill",
                        "configuration": self._configuration(rules),
                    }
                    for table_id, rules in game.tables().items()
                ]
            )
        )
        prefix = f"FELTRO_{game.name.upper()}"
        environment = {
            f"{prefix}_TABLES": str(tables),
            f"{prefix}_ADVERTISE": f"127.0.0.1:{self._link(GATEWAYS, name, port)}",
        }
        return game.process(
            self._database_url(name, ROULETTE_ROLE, journal_of(game.name)),
            self._bus_url(name),
            home,
            environment,
            port,
            wallet_address=f"127.0.0.1:{self._link(name, 'wallet', self.wallet.port)}",
        )

    def _configuration(self, rules: types_pb2.TableConfiguration) -> dict[str, Any]:
        configuration = MessageToDict(rules, preserving_proto_field_name=True)
        return configuration if self._earlier is None else self._earlier.without_unknown(configuration)

    def _make_gateway(self, number: int, home: Path) -> GatewayProcess:
        name = f"gateway-{number}"
        wallet = f"127.0.0.1:{self._link(name, 'wallet', self.wallet.port)}"
        return GatewayProcess("", self._bus_url(name), home, dict(GENEROUS_LIMITS), wallet_address=wallet)

    # -- addresses -----------------------------------------------------------------------------------------------------

    @property
    def gateway_urls(self) -> list[str]:
        return [gateway.url for gateway in self.gateways.values()]

    @property
    def ledger_url(self) -> str:
        """The wallet's database, past the bad network."""
        return self._postgres.url(WALLET_ROLE, WALLET_DATABASE)

    @property
    def databases(self) -> dict[str, DatabaseTemplate]:
        """The databases by name, with the schema of each: all games have the same one, and here one role."""
        return {WALLET_DATABASE: WALLET_TEMPLATE, **{journal_of(game.name): ROULETTE_TEMPLATE for game in self.games}}

    def journal_url(self, game: str) -> str:
        """A game's database, past the bad network."""
        return self._postgres.url(ROULETTE_ROLE, journal_of(game))

    def targets(self) -> Targets:
        """What can be hurt."""
        processes = [*self.servers, *self.services]
        links = [f"{client}–{server}" for client, server in self._links if not server.startswith(BUS)]
        buses = [f"{client}–{BUS}" for client in self.services]
        whole = [f"{EVERYTHING}–{server}" for server in ("postgres", BUS, "wallet")]
        return Targets(processes, [*links, *buses, *self._bus.links, *whole], list(self.disks))

    # -- running -------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Starts everything, and starts again what ends by itself, as a supervisor does."""
        supervision: asyncio.Task[None] | None = None
        proxies = [*self._bus.proxies, *(proxy for proxies in self._links.values() for proxy in proxies)]
        try:
            await asyncio.gather(*(proxy.start() for proxy in proxies))
            await asyncio.to_thread(self._postgres.initialise)
            for server in self.servers.values():
                server.start()
            await asyncio.gather(*(server.ready() for server in self.servers.values()))
            await asyncio.to_thread(self._make_databases)
            for service in self.services.values():
                service.start()
            await self._wait_until_started()
            supervision = asyncio.create_task(self._supervise())
            yield
        finally:
            if supervision is not None:
                await background.cancel_and_wait([supervision])
            for name in [*self.services, *self.servers]:
                # A suspended process would not end by itself.
                with contextlib.suppress(psutil.NoSuchProcess):
                    self.resume(name)
            for name in [*self.services, *self.servers]:
                await asyncio.to_thread(self._process(name).kill)
            await asyncio.gather(*(proxy.stop() for proxy in proxies))
            for disk in self.disks.values():
                disk.remove()

    async def _wait_until_started(self) -> None:
        try:
            await asyncio.gather(*(service.ready() for service in self.services.values()))
        except AssertionError as failed:
            raise NotStarted(failed) from None

    def _make_databases(self) -> None:
        for name, schema in self.databases.items():
            if self._earlier is None:
                migrated = databases.ensure_template(self._postgres, schema)
                self._postgres.ensure_database(name, OWNER_ROLE, schema.role, template=migrated)
            else:
                self._postgres.ensure_database(name, OWNER_ROLE, schema.role)
                self.migrate(name, self._earlier.variables)

    async def _supervise(self) -> None:
        while True:
            await asyncio.sleep(CHECK_EVERY_S)
            for name in [*self.services, *self.servers]:
                child = self._child(name)
                if name in self._down or child is None or not child.ended:
                    continue
                self.ended_alone.append(EndedAlone(name, time.time(), self.log_end(name)))
                await asyncio.to_thread(self._process(name).kill)
                await asyncio.sleep(START_AGAIN_AFTER_S)
                if name not in self._down:
                    self._process(name).start()

    def log_end(self, name: str, characters: int = 1_500) -> str:
        """The end of the log of a process."""
        log = self.servers[name].log if name in self.servers else self.services[name].log
        return log.read_text(errors="replace")[-characters:] if log.exists() else ""

    def _process(self, name: str) -> ServerProcess | ServiceProcess:
        return self.servers[name] if name in self.servers else self.services[name]

    def _child(self, name: str) -> ChildProcess | None:
        return self._process(name).child

    # -- another release -----------------------------------------------------------------------------------------------

    def migrate(self, database: str, release: Mapping[str, str] | None = None) -> None:
        """`feltro migrate` of this release, or of the one of these variables; raises `NotStarted` if it fails."""
        service = self.databases[database].service
        owner = {f"FELTRO_{service.upper()}_OWNER_URL": self._postgres.url(OWNER_ROLE, database)}
        status, printed = feltro(["migrate", service], {**owner, **(release or {})})
        if status:
            raise NotStarted(f"feltro migrate {service}: {printed}")

    def be_of_this_release(self, name: str) -> None:
        """Has a process of the earlier release be one of this when it starts again."""
        if self._earlier is not None:
            for variable in self._earlier.variables:
                self.services[name].environment.pop(variable, None)

    # -- hurting -------------------------------------------------------------------------------------------------------

    def commands_of(self, name: str) -> list[psutil.Process]:
        """The processes of one part of the platform; of PostgreSQL all that it has started."""
        child = self._child(name)
        if child is None:
            return []
        with contextlib.suppress(psutil.NoSuchProcess):
            return psutil.Process(child.pid).children(recursive=True)
        return []

    def memory(self) -> dict[str, int]:
        """The memory of each part that runs, in bytes; each process of PostgreSQL counts what it shares with none."""
        found: dict[str, int] = {}
        for name in [*self.services, *self.servers]:
            child = self._child(name)
            if child is None:
                continue
            with contextlib.suppress(psutil.Error):
                if self._commands.get(name, (0,))[0] != child.pid:
                    # It may not have started its command yet.
                    for started in psutil.Process(child.pid).children():
                        self._commands[name] = child.pid, started
                if name not in self._commands:
                    continue
                command = self._commands[name][1]
                if name == "postgres":
                    infos = [process.memory_info() for process in (command, *command.children())]
                    found[name] = sum(info.rss - info.shared for info in infos)
                else:
                    found[name] = command.memory_info().rss
        return found

    async def kill(self, name: str) -> None:
        """`kill -9`; it stays down until it is started."""
        self._down.add(name)
        await asyncio.to_thread(self._process(name).kill)

    async def stop(self, name: str) -> int:
        """SIGTERM; the exit status when it has ended. It stays down until it is started."""
        self._down.add(name)
        if name in self.services:
            return await asyncio.to_thread(self.services[name].stop)
        child, self.servers[name].child = self.servers[name].child, None
        return 0 if child is None else await asyncio.to_thread(child.stop)

    def start(self, name: str) -> None:
        self._process(name).start()
        self._down.discard(name)

    def pause(self, name: str) -> None:
        """SIGSTOP."""
        for process in self.commands_of(name):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.suspend()

    def resume(self, name: str) -> None:
        """SIGCONT."""
        for process in self.commands_of(name):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.resume()

    def network(self, target: str, network: Network) -> None:
        """Changes the connections between two ends."""
        for proxy in self._proxies(target):
            proxy.be(network)

    def _proxies(self, target: str) -> Iterable[FaultProxy]:
        wanted_client, wanted_server = target.split("–")
        for (client, server), proxies in self._links.items():
            same_server = server == wanted_server or server.rpartition("-")[0] == wanted_server == BUS
            if same_server and wanted_client in {client, EVERYTHING}:
                yield from proxies
        yield from self._bus.between(wanted_client, wanted_server)

    async def ready(self, name: str) -> None:
        await self._process(name).ready()

    async def stop_games(self) -> dict[str, int]:
        """Stops the replicas of every game in order; their exit statuses."""
        statuses = await asyncio.gather(*map(self.stop, self.replicas))
        return dict(zip(self.replicas, statuses, strict=True))

    async def command(self, *arguments: str, environment: dict[str, str]) -> tuple[int, str]:
        """Runs `feltro …`; its exit status and all that it printed."""
        return await asyncio.to_thread(partial(feltro, arguments, environment))

    async def audit(self) -> tuple[int, str]:
        """`feltro audit`."""
        return await self.command("audit", "--database-url", self.ledger_url, environment={})

    async def replay(self, game: str, what: str = "--all") -> tuple[int, str]:
        """`feltro replay --all`, or of one tournament, while the game's replicas are stopped."""
        replica = self.replicas[f"{game}-0"]
        environment = {
            **replica.variables(),
            "FELTRO_ENVIRONMENT": "development",
            f"FELTRO_{game.upper()}_DATABASE_URL": self.journal_url(game),
        }
        return await self.command("replay", what, "--game", game, environment=environment)


def journal_of(game: str) -> str:
    """The name of a game's database."""
    return f"feltro_{game}"
