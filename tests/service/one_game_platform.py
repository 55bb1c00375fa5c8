"""The real wallet and one replica of a game for a package of tests; at the end its rounds are replayed and audited."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

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
class PlatformDatabases:
    """Where the databases of a platform are made, and from which templates."""

    postgres: EmbeddedPostgres
    wallet_template: str
    game_template: str


@contextmanager
def one_game_platform(
    process_type: type[Process],
    platform_type: Callable[[WalletProcess, Process, str], Platform],
    databases: PlatformDatabases,
    home: Path,
    wallet_environment: Mapping[str, str] | None = None,
) -> Iterator[Platform]:
    """Runs the wallet and one replica of a game, on a bus of their own: they run no tables of other tests."""
    postgres = databases.postgres
    wallet_database = f"feltro_wallet_of_{process_type.name}"
    game_database = f"feltro_{process_type.name}_of_tables"
    postgres.ensure_database(wallet_database, OWNER_ROLE, WALLET_USER, template=databases.wallet_template)
    postgres.ensure_database(game_database, OWNER_ROLE, GAME_ROLE, template=databases.game_template)
    with ephemeral.nats() as bus:
        wallet_url = postgres.url(WALLET_USER, wallet_database)
        wallet = WalletProcess(wallet_url, bus.url, home, environment=dict(wallet_environment or {}))
        game = process_type(postgres.url(GAME_ROLE, game_database), bus.url, home, wallet_address=wallet.address)
        try:
            wallet.start()
            asyncio.run(wallet.ready())
            game.start()
            asyncio.run(game.ready())
            platform = platform_type(wallet, game, bus.url)
            asyncio.run(platform.open_tables())
            yield platform
            found = asyncio.run(differences(game))
            violations = asyncio.run(ledger_audit.violations_at(wallet.database_url))
        finally:
            game.end()
            wallet.end()
    postgres.drop_database(game_database)
    postgres.drop_database(wallet_database)
    assert not found
    assert not violations


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
