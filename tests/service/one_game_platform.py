"""The real wallet and a game for a package of tests; at the end its rounds are replayed and the ledger is audited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes import ledger_audit
from tests.processes.databases import OWNER_ROLE, connect_asyncpg
from tests.processes.databases import ROULETTE_ROLE as GAME_ROLE
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.game import GameProcess
from tests.processes.wallet import WalletProcess

# No more than a replica has connections to its database.
CONCURRENT_REPLAYS = 8


class GamePlatform(Protocol):
    """The processes of the wallet and a game, with the tables that the tests share."""

    async def open_tables(self) -> None:
        """Opens the shared tables."""


Process = TypeVar("Process", bound=GameProcess)
Platform = TypeVar("Platform", bound=GamePlatform)


@dataclass(frozen=True, slots=True)
class OwnDatabases:
    """The databases of one package of tests."""

    postgres: EmbeddedPostgres
    wallet: str
    game: str


@dataclass(frozen=True, slots=True)
class PlatformDatabases:
    """Where the databases of a platform are made, and from which templates."""

    postgres: EmbeddedPostgres
    wallet_template: str
    game_template: str

    @contextmanager
    def made_for(self, package: str) -> Iterator[OwnDatabases]:
        """Makes the databases of a package of tests, and drops them at its end."""
        made = OwnDatabases(self.postgres, f"feltro_wallet_of_{package}", f"feltro_{package}_of_tables")
        self.postgres.ensure_database(made.wallet, OWNER_ROLE, WALLET_USER, template=self.wallet_template)
        self.postgres.ensure_database(made.game, OWNER_ROLE, GAME_ROLE, template=self.game_template)
        try:
            yield made
        finally:
            self.postgres.drop_database(made.game)
            self.postgres.drop_database(made.wallet)


@dataclass
class PlatformProcesses(Generic[Process]):
    """The processes of the wallet and of a game; each may be killed."""

    wallet: WalletProcess
    replicas: list[Process]
    bus_url: str
    databases: OwnDatabases
    owner: int = 0
    """The replica that had the tables when the last test ended."""

    async def start_first(self) -> None:
        """Starts the wallet and one replica."""
        self.wallet.start()
        await self.wallet.ready()
        self.replicas[0].start()
        await self.replicas[0].ready()


@contextmanager
def audited_processes(
    process_type: type[Process],
    databases: OwnDatabases,
    home: Path,
    *,
    replicas: int = 1,
    wallet_environment: Mapping[str, str] | None = None,
) -> Iterator[PlatformProcesses[Process]]:
    """Runs the wallet and one of the replicas of a game, on a bus of their own: they run no tables of other tests.

    At the end every round is replayed and the ledger audited.
    """
    postgres = databases.postgres
    with ephemeral.nats() as bus:
        wallet_url, game_url = postgres.url(WALLET_USER, databases.wallet), postgres.url(GAME_ROLE, databases.game)
        wallet = WalletProcess(wallet_url, bus.url, home, environment=dict(wallet_environment or {}))
        games = [process_type(game_url, bus.url, home, wallet_address=wallet.address) for _ in range(replicas)]
        processes = PlatformProcesses(wallet, games, bus.url, databases)
        try:
            asyncio.run(processes.start_first())
            yield processes
            found = asyncio.run(differences(games[processes.owner]))
            violations = asyncio.run(ledger_audit.violations_at(wallet.database_url))
        finally:
            for game in games:
                game.end()
            wallet.end()
    assert not found
    assert not violations


@contextmanager
def one_game_platform(
    process_type: type[Process],
    platform_type: Callable[[WalletProcess, Process, str], Platform],
    databases: PlatformDatabases,
    home: Path,
    wallet_environment: Mapping[str, str] | None = None,
) -> Iterator[Platform]:
    """Runs the wallet and one replica of a game, with the tables that the tests share."""
    with (
        databases.made_for(process_type.name) as own,
        audited_processes(process_type, own, home, wallet_environment=wallet_environment) as processes,
    ):
        platform = platform_type(processes.wallet, processes.replicas[0], processes.bus_url)
        asyncio.run(platform.open_tables())
        yield platform


async def differences(game: GameProcess) -> list[str]:
    """Replays every round that has ended, and returns the differences found, one sentence each (G10)."""
    connection = await connect_asyncpg(game.database_url)
    try:
        rows = await connection.fetch("SELECT round_id FROM rounds JOIN endings USING (round_no) ORDER BY round_no")
    finally:
        await connection.close()
    found: list[str] = []
    async with game.client() as client:
        for first in range(0, len(rows), CONCURRENT_REPLAYS):
            answers = await asyncio.gather(*(client.replay(row[0]) for row in rows[first : first + CONCURRENT_REPLAYS]))
            for answer in answers:
                found += [f"{answer.round.round_id}: {difference}" for difference in answer.differences]
    return found
