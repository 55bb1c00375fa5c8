"""One platform for all tests of this folder, and a driver for each; at the end its rounds are replayed and audited."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import pytest

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.baccarat import BaccaratProcess
from tests.processes.databases import OWNER_ROLE, connect_asyncpg
from tests.processes.databases import ROULETTE_ROLE as GAME_ROLE
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.wallet import WalletProcess
from tests.service.baccarat.platform import BaccaratDriver, BaccaratPlatform

WALLET_DATABASE, BACCARAT_DATABASE = "feltro_wallet_of_baccarat", "feltro_baccarat_of_tables"


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BaccaratPlatform]:
    """The wallet and one replica of the baccarat, on a bus of their own: they run no tables of other tests."""
    home = tmp_path_factory.mktemp("platform")
    postgres.ensure_database(WALLET_DATABASE, OWNER_ROLE, WALLET_USER, template=wallet_template)
    postgres.ensure_database(BACCARAT_DATABASE, OWNER_ROLE, GAME_ROLE, template=game_template)
    with ephemeral.nats() as bus:
        wallet = WalletProcess(postgres.url(WALLET_USER, WALLET_DATABASE), bus.url, home)
        baccarat = BaccaratProcess(
            postgres.url(GAME_ROLE, BACCARAT_DATABASE), bus.url, home, wallet_address=wallet.address
        )
        try:
            wallet.start()
            asyncio.run(wallet.ready())
            baccarat.start()
            asyncio.run(baccarat.ready())
            platform = BaccaratPlatform(wallet, baccarat, bus.url)
            asyncio.run(platform.open_tables())
            yield platform
            found = asyncio.run(differences(platform))
            audit = subprocess.run(
                [sys.executable, "-m", "services.kit.command", "audit", "--database-url", wallet.database_url],
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            baccarat.end()
            wallet.end()
    postgres.drop_database(BACCARAT_DATABASE)
    postgres.drop_database(WALLET_DATABASE)
    assert not found
    assert audit.returncode == 0, audit.stdout + audit.stderr


async def differences(platform: BaccaratPlatform) -> list[str]:
    """Replays every round that has ended, and returns the differences found, one sentence each (G10)."""
    connection = await connect_asyncpg(platform.baccarat.database_url)
    try:
        rows = await connection.fetch("SELECT round_id FROM rounds JOIN endings USING (round_no) ORDER BY round_no")
    finally:
        await connection.close()
    found: list[str] = []
    async with platform.baccarat.client() as client:
        for row in rows:
            answer = await client.replay(row[0])
            found += [f"{row[0]}: {difference}" for difference in answer.differences]
    return found


@pytest.fixture
async def driver(platform: BaccaratPlatform) -> AsyncIterator[BaccaratDriver]:
    """The driver of this test."""
    async with platform.driver() as driver:
        yield driver
