"""The whole platform in containers, in production's settings: two replicas of each game and of the gateway."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from nats.js import JetStreamContext
from testcontainers.core.network import Network

from feltro.table.v1.placement_pb2 import Lease
from services.kit.bus.buckets import Bucket
from services.kit.bus.connection import connect
from services.kit.bus.outages import BUS_FAILURES
from services.kit.bus.streams import PLATFORM_STREAMS
from services.kit.bus.subjects import LEASES_BUCKET
from stack.commands.container_secrets import ADMIN, INSIDE
from stack.databases import DATABASES
from stack.games import GAMES, StackGame
from tests.containers.nodes import Networks, Node
from tests.containers.secrets import BUS_NODES, Secrets, database_of
from tests.players.client import TIMEOUT_S, Entrance
from tools.images import name_of

POLL_S = 0.5
POSTGRES_IMAGE = os.environ.get("POSTGRES_IMAGE", "postgres:18")
NATS_IMAGE = os.environ.get("NATS_IMAGE", "nats:2.15")
GATEWAY_PORT, BUS_PORT = 8700, 4222
# Of every stream: with two of three servers nothing is missing.
STREAM_REPLICAS = 3

# Costs little: it is asked of every process while all of them start.
ASK_READY = """
import http.client, sys
connection = http.client.HTTPConnection("127.0.0.1", int(sys.argv[1]))
connection.request("GET", "/readyz")
sys.exit(connection.getresponse().status != 200)
"""

_T = TypeVar("_T")


def each(act: Callable[[_T], object], things: Iterable[_T]) -> None:
    """Does something with each at the same time: the engine takes its time for every container."""
    with ThreadPoolExecutor() as pool:
        list(pool.map(act, things))


class Platform:
    """All containers, while they run."""

    def __init__(self, home: Path, networks: Networks) -> None:
        self.secrets = Secrets(home)
        self._networks = networks
        self.postgres = self._postgres()
        self.bus = [self._bus_node(name) for name in BUS_NODES]
        self.wallet = self._service("wallet", "wallet")
        self.games = {game.name: [self._game(game, number) for number in (1, 2)] for game in GAMES}
        self.gateways = [self._gateway(number) for number in (1, 2)]

    @property
    def nodes(self) -> list[Node]:
        """All containers."""
        games = [replica for replicas in self.games.values() for replica in replicas]
        return [self.postgres, *self.bus, self.wallet, *games, *self.gateways]

    def start(self) -> None:
        """Starts everything at once, but for the migrations, which need the database: services wait for them."""
        each(Node.start, self.nodes)
        self._wait_for("the database", lambda: self.postgres.run("pg_isready", "-h", "127.0.0.1", "-q")[0] == 0)
        each(self._migrate, [database.service for database in DATABASES])
        asyncio.run(self._replicate_streams())
        self.wait_until_ready()

    def wait_until_ready(self, nodes: Sequence[Node] = ()) -> None:
        """Returns when every process of a service says of itself that it can work, or each of those that are named."""
        games = (replica for replicas in self.games.values() for replica in replicas)
        each(self._wait_for_node, nodes or [self.wallet, *games, *self.gateways])

    def replace(self, nodes: Sequence[Node]) -> None:
        """Ends processes of services, and starts others in their place with the settings and files of now."""
        each(lambda node: node.replace(self._settings(node.name, service_of(node))), nodes)
        self.wait_until_ready(nodes)

    def restart_bus(self, nodes: Iterable[Node]) -> None:
        """Restarts servers of the bus one after the other, each when the others have all streams."""
        for node in nodes:
            node.stop()
            node.start_again()
            asyncio.run(self._streams_are_whole())

    def audit(self) -> tuple[int, str]:
        """Runs `feltro audit` where the wallet is; returns its status and report."""
        return self.wallet.run("feltro", "audit")

    @property
    def entrance(self) -> Entrance:
        """How players come in: over both gateways in turn."""
        return Entrance(lambda turn: self.gateways[turn % len(self.gateways)].url(GATEWAY_PORT), self.secrets.issuer)

    async def owner(self, game: str, entry_table_id: str) -> Node:
        """Returns the replica that runs a configured table, with all tables that players have of it."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                lease = await self._lease(game, entry_table_id)
                if lease is not None and lease.epoch:
                    return next(node for node in self.games[game] if lease.address == f"{node.name}:{port_of(game)}")
                await asyncio.sleep(POLL_S)

    async def _lease(self, game: str, entry_table_id: str) -> Lease | None:
        bus = await connect(self.secrets.bus(self._bus_urls()), "tests")
        try:
            entry = await Bucket(bus, LEASES_BUCKET, lambda: None).read(f"{game}.{entry_table_id}")
        except BUS_FAILURES:
            return None
        finally:
            await bus.close()
        return Lease.FromString(entry.value) if entry.value else None

    async def _replicate_streams(self) -> None:
        """Does what `nats stream edit` does: how many servers keep a stream is the operator's to say."""
        bus = await connect(self.secrets.bus(self._bus_urls()), "tests")
        try:
            async with asyncio.timeout(TIMEOUT_S):
                for config in PLATFORM_STREAMS:
                    await _replicate(bus.jetstream(), str(config.name))
        finally:
            await bus.close()

    async def _streams_are_whole(self) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while not await self._are_whole():
                await asyncio.sleep(POLL_S)

    async def _are_whole(self) -> bool:
        """Whether all servers have all of every stream."""
        try:
            bus = await connect(self.secrets.bus(self._bus_urls()), "tests")
            try:
                found = [await bus.jetstream().stream_info(str(config.name)) for config in PLATFORM_STREAMS]
            finally:
                await bus.close()
        except BUS_FAILURES:
            return False
        followers = [peer for stream in found if stream.cluster for peer in stream.cluster.replicas or ()]
        return len(followers) == (STREAM_REPLICAS - 1) * len(found) and all(peer.current for peer in followers)

    def _bus_urls(self) -> str:
        """The address of those of the bus's servers that can be reached."""
        running = [node for node in self.bus if node.status() == "running"]
        return "tls://" + ",".join(node.url(BUS_PORT).removeprefix("http://") for node in running)

    def _migrate(self, service: str) -> None:
        database = database_of(service)
        url = self.secrets.database_url(database.owner, database)
        node = Node(
            f"migrate-{service}",
            name_of(service),
            self._networks,
            environment={f"FELTRO_{service.upper()}_OWNER_URL": url},
            command=["feltro", "migrate", service],
        )
        node.start()
        try:
            if node.wait():
                raise RuntimeError(f"the migration of {service} has failed:\n{node.log()}")
        finally:
            node.remove()

    def _wait_for_node(self, node: Node) -> None:
        try:
            self._wait_for(node.name, lambda: is_ready(node))
        except RuntimeError as late:
            raise RuntimeError(f"{late}, and is {node.status()}:\n{node.log()[-2000:]}") from None

    def _wait_for(self, name: str, ready: Callable[[], bool]) -> None:
        asyncio.run(_until(name, ready))

    def _postgres(self) -> Node:
        file = "databases.sql"
        files = {self.secrets.folder("postgres") / file: f"/docker-entrypoint-initdb.d/{file}"}
        settings = {"POSTGRES_PASSWORD": self.secrets.password(ADMIN)}
        return Node("postgres", POSTGRES_IMAGE, self._networks, environment=settings, files=files, hardened=False)

    def _bus_node(self, name: str) -> Node:
        files = {self.secrets.folder(name): INSIDE}
        command = ["--config", f"{INSIDE}/nats.conf"]
        return Node(name, NATS_IMAGE, self._networks, files=files, command=command, ports=[BUS_PORT], hardened=False)

    def _service(self, name: str, service: str, ports: Iterable[int] = ()) -> Node:
        files = {self.secrets.folder(service): INSIDE}
        settings = self._settings(name, service)
        return Node(name, name_of(service), self._networks, environment=settings, files=files, ports=list(ports))

    def _game(self, game: StackGame, number: int) -> Node:
        return self._service(f"{game.name}-{number}", game.name)

    def _gateway(self, number: int) -> Node:
        return self._service(f"gateway-{number}", "gateway", [GATEWAY_PORT])

    def _settings(self, name: str, service: str) -> dict[str, str]:
        for game in GAMES:
            if game.name == service:
                # By its name, which stays when a container is given another address.
                advertised = {game.variable("ADVERTISE"): f"{name}:{game.port}"}
                return {**self.secrets.game_settings(game), **advertised}
        return self.secrets.wallet_settings() if service == "wallet" else self.secrets.gateway_settings()


@contextmanager
def running_platform(home: Path) -> Iterator[Platform]:
    """Runs a platform, and removes all of it."""
    with ExitStack() as made:
        edge = made.enter_context(Network())
        platform = Platform(home, Networks(made.enter_context(Network(docker_network_kw={"internal": True})), edge))
        made.callback(each, Node.remove, platform.nodes)
        try:
            platform.start()
        except (RuntimeError, TimeoutError) as failed:
            logs = "\n\n".join(f"{node.name} {node.status()}\n{node.log()[-2000:]}" for node in platform.nodes)
            raise RuntimeError(f"The platform has not started: {failed}\n{logs}") from failed
        yield platform


def port_of(game: str) -> int:
    """Returns where a game's service listens."""
    return next(each_game.port for each_game in GAMES if each_game.name == game)


def service_of(node: Node) -> str:
    """Returns the service of a replica: `roulette` of `roulette-1`."""
    return node.name.partition("-")[0]


def is_ready(node: Node) -> bool:
    """Whether a process of a service says that it can work, as the probes of Kubernetes ask it."""
    service = service_of(node)
    port = {"wallet": 8711, "gateway": GATEWAY_PORT}.get(service) or port_of(service) + 1
    return node.run("python", "-ISc", ASK_READY, str(port))[0] == 0


async def _until(name: str, ready: Callable[[], bool]) -> None:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while not await asyncio.to_thread(ready):
                await asyncio.sleep(POLL_S)
    except TimeoutError:
        raise RuntimeError(f"{name} was not ready within {TIMEOUT_S:.0f} s") from None


async def _replicate(jetstream: JetStreamContext, stream: str) -> None:
    """Waits until the wallet has made a stream, and lets all servers keep it."""
    while True:
        try:
            config = (await jetstream.stream_info(stream)).config
            config.num_replicas = STREAM_REPLICAS
            await jetstream.update_stream(config)
            break
        except BUS_FAILURES:
            await asyncio.sleep(POLL_S)
