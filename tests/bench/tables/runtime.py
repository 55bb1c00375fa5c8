"""The runtime of one game's tables in this process, put together as in a game service, with players for them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import BinaryIO, Generic

import nats

from feltro.table.v1 import events_pb2, types_pb2
from feltro.wallet.v1 import types_pb2 as wallet_types
from services.kit import background
from services.kit.clock import SystemClock
from services.kit.database import postgresql
from services.kit.randomness.source import Randomness
from services.kit.rpc.relay_channel import RelayChannel
from services.kit.table.chips.owned_tables import OwnedChipTables
from services.kit.table.chips.seam import Director
from services.kit.table.configuration.catalogue import VersionedRules
from services.kit.table.events.own_views import BusOwnViews
from services.kit.table.events.publisher import EventStream
from services.kit.table.game import Bets, Outcome
from services.kit.table.journal.entries import Drawn, Moved
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.sealing import KEY_BYTES, EntropyKey, EntropyKeys
from services.kit.table.journal.seats import Seats
from services.kit.table.journal.tournament_facts import PostgresFacts
from services.kit.table.live.dependencies import RuntimeDependencies
from services.kit.table.live.individual_ids import IndividualTableIds
from services.kit.table.live.table import LiveTable
from services.kit.table.owned.owned_tables import OwnedTables
from services.kit.table.wallet.grpc_client import GrpcWallet
from stack.servers.postgres import EmbeddedPostgres
from tests.bench.tables.games import BenchGame
from tests.processes.wallet import WalletClient, WalletProcess

OWNER = "feltro_owner"
MONEY_CENTS = 10**10
# How the placements of individual tables are named.
INDIVIDUAL = "solo"


class BenchCatalogue(Generic[Bets, Outcome]):
    """A catalogue whose rules depend on the name of the table."""

    def __init__(self, game: BenchGame[Bets, Outcome]) -> None:
        self._game = game
        self._multi = _configured(game, wallet_types.PLAY_MULTI_PLAYER)
        self._individual = _configured(game, wallet_types.PLAY_INDIVIDUAL)
        self._tournaments: dict[str, VersionedRules[Bets, Outcome]] = {}

    def enter_tournament(self, tournament_id: str, configuration: types_pb2.TableConfiguration) -> None:
        self._tournaments[tournament_id] = _versioned(self._game, configuration)

    def rules_in_force(self, placement_id: str) -> VersionedRules[Bets, Outcome]:
        if placement_id in self._tournaments:
            return self._tournaments[placement_id]
        return self._individual if placement_id.startswith(INDIVIDUAL) else self._multi

    async def rules_of_version(self, placement_id: str, version: int) -> VersionedRules[Bets, Outcome]:
        return self.rules_in_force(placement_id)

    def closed_reason(self, placement_id: str) -> str | None:
        return None

    def switch_off(self, placement_id: str | None, reason: str) -> None:
        raise RuntimeError(f"a table switched itself off: {reason}")


def _configured(game: BenchGame[Bets, Outcome], play: wallet_types.Play.ValueType) -> VersionedRules[Bets, Outcome]:
    return _versioned(game, game.configuration(play))


def _versioned(
    game: BenchGame[Bets, Outcome], configuration: types_pb2.TableConfiguration
) -> VersionedRules[Bets, Outcome]:
    entered = types_pb2.ConfigurationVersion(table_id="bench", version=1, configuration=configuration)
    return VersionedRules(entered, game.game.rules(configuration))


class CountingJournal(PostgresJournal):
    """Counts the rounds that are drawn and the decisions, and writes the entropy to `draws`, if there is a file."""

    rounds = 0
    decisions = 0
    draws: BinaryIO | None = None

    async def write_drawn(self, epoch: int, entry: Drawn) -> None:
        await super().write_drawn(epoch, entry)
        self.rounds += 1
        if self.draws is not None:
            self.draws.write(entry.entropy)

    async def write_moved(self, epoch: int, entry: Moved) -> None:
        await super().write_moved(epoch, entry)
        self.decisions += 1


class ReadOwnViews:
    """Publishes what players alone may see, as in the service, and lets bots read it: so they learn of their turn."""

    def __init__(self, published: BusOwnViews) -> None:
        self._published = published
        self._readers: dict[str, asyncio.Queue[events_pb2.OwnViewChanged]] = {}

    def read_by(self, player_id: str) -> asyncio.Queue[events_pb2.OwnViewChanged]:
        """Returns the queue of a player's questions from now on."""
        return self._readers.setdefault(player_id, asyncio.Queue())

    def publish(self, changed: events_pb2.OwnViewChanged) -> None:
        self._published.publish(changed)
        reader = self._readers.get(changed.player_id)
        if reader is not None and changed.HasField("own_view"):
            reader.put_nowait(changed)


class BenchTables(Generic[Bets, Outcome]):
    """Tables of one game and their players."""

    def __init__(
        self,
        game: BenchGame[Bets, Outcome],
        catalogue: BenchCatalogue[Bets, Outcome],
        dependencies: RuntimeDependencies[Bets, Outcome],
        journal: CountingJournal,
        own_views: ReadOwnViews,
        client: WalletClient,
        wallet: GrpcWallet,
        facts: PostgresFacts,
    ) -> None:
        """`wallet` and `facts` are what tournaments use besides."""
        self.game = game
        self.journal = journal
        self.own_views = own_views
        self.client = client
        self.wallet = wallet
        self.facts = facts
        self._dependencies = dependencies
        self._catalogue = catalogue
        self._tasks: list[asyncio.Task[None]] = []

    async def open(self, placement_ids: Sequence[str]) -> list[OwnedTables[Bets, Outcome]]:
        owned = [OwnedTables(placement_id, self._dependencies) for placement_id in placement_ids]
        for tables in owned:
            self._run(tables.run(_announce, asyncio.Event(), asyncio.Event()))
        for tables in owned:
            await tables.ready.wait()
        return owned

    async def open_tournament(
        self, tournament_id: str, configuration: types_pb2.TableConfiguration, director: Director
    ) -> OwnedChipTables[Bets, Outcome]:
        """Opens a tournament; its tables open when it begins."""
        self._catalogue.enter_tournament(tournament_id, configuration)
        tables = OwnedChipTables(tournament_id, self._dependencies, lambda _: director)
        self._run(tables.run(_announce, asyncio.Event(), asyncio.Event()))
        await director.ready.wait()
        return tables

    def _run(self, running: Coroutine[None, None, None]) -> None:
        self._tasks.append(asyncio.create_task(running))

    async def seat_players(self, table: LiveTable[Bets, Outcome], player_ids: Sequence[str]) -> None:
        """Opens accounts with money, and starts sessions."""
        await self.client.sit_down_all(player_ids, table.table_id, MONEY_CENTS)
        for session in await self._dependencies.wallet.list_table_sessions(table.table_id):
            table.apply_session(session)

    async def stop(self) -> None:
        """Drops the tables: left in good order, one whose round takes bets would wait for the end of its window."""
        await background.cancel_and_wait(self._tasks)


async def _announce(_epoch: int) -> None:
    """Tells nobody: there is one process."""


def database_of(game: str) -> str:
    """Returns the name of a game's database, and of its service's role there."""
    return f"feltro_{game}"


def make_database(postgres: EmbeddedPostgres, game: str) -> None:
    postgres.ensure_database(database_of(game), OWNER, database_of(game))
    owner_url = postgres.url(OWNER, database_of(game))
    environment = {**os.environ, f"FELTRO_{game.upper()}_OWNER_URL": owner_url}
    subprocess.run([sys.executable, "-m", "services.kit.command", "migrate", game], check=True, env=environment)


@asynccontextmanager
async def bench_tables(
    game: BenchGame[Bets, Outcome],
    postgres: EmbeddedPostgres,
    nats_url: str,
    process: WalletProcess,
    draws: BinaryIO | None = None,
) -> AsyncIterator[BenchTables[Bets, Outcome]]:
    """The runtime of the tables of one game."""
    make_database(postgres, game.name)
    url = postgres.url(database_of(game.name), database_of(game.name))
    writing = postgresql.connect(url, "bench journal", 1, settings=postgresql.PLANNED_ONCE)
    reading = postgresql.connect(url, "bench", 8, settings=postgresql.BY_INDEX)
    journal = CountingJournal(writing, reading, EntropyKeys([EntropyKey("bench", bytes(KEY_BYTES))]))
    journal.draws = draws
    bus = await nats.connect(nats_url)
    table_bus, published = EventStream(bus, game.name), BusOwnViews(bus, game.name)
    own_views = ReadOwnViews(published)
    tasks = [asyncio.create_task(journal.run()), asyncio.create_task(published.run())]
    channel = RelayChannel(process.address)
    try:
        async with process.client() as client:
            token = client.bearer("game", game.name)
            catalogue, wallet = BenchCatalogue(game), GrpcWallet(channel, lambda: token)
            dependencies = RuntimeDependencies(
                game=game.game,
                kind=game.kind,
                catalogue=catalogue,
                wallet=wallet,
                journal=journal,
                randomness=Randomness(),
                clock=SystemClock(),
                publisher_of=lambda table_id, epoch: table_bus.open_publisher(table_id, 0, epoch),
                own_views=own_views,
                individual_ids=IndividualTableIds(b"bench"),
                seats=Seats(reading),
            )
            facts = PostgresFacts(reading)
            tables = BenchTables(game, catalogue, dependencies, journal, own_views, client, wallet, facts)
            yield tables
            await tables.stop()
    finally:
        await background.cancel_and_wait(tasks)
        await channel.close()
        await bus.close()
        await writing.dispose()
        await reading.dispose()
