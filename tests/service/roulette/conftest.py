"""One platform for all tests of this folder, and a driver for each; at the end its rounds are replayed and audited."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator

import pytest

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE
from tests.processes.databases import ROULETTE_ROLE as ROULETTE_USER
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.roulette import RouletteProcess
from tests.processes.wallet import WalletProcess
from tests.service.roulette.platform import INDIVIDUAL_TABLES, RouletteDriver, RoulettePlatform, SeatedPlayer
from tests.service.roulette.replay_check import differences

WALLET_DATABASE, ROULETTE_DATABASE = "feltro_wallet_of_tables", "feltro_roulette_of_tables"


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RoulettePlatform]:
    """The wallet and one replica of the roulette, on a bus of their own: they run no tables of other tests."""
    home = tmp_path_factory.mktemp("platform")
    postgres.ensure_database(WALLET_DATABASE, OWNER_ROLE, WALLET_USER, template=wallet_template)
    postgres.ensure_database(ROULETTE_DATABASE, OWNER_ROLE, ROULETTE_USER, template=game_template)
    with ephemeral.nats() as bus:
        wallet = WalletProcess(
            postgres.url(WALLET_USER, WALLET_DATABASE), bus.url, home, environment={"FELTRO_LOG_LEVEL": "debug"}
        )
        roulette = RouletteProcess(
            postgres.url(ROULETTE_USER, ROULETTE_DATABASE), bus.url, home, wallet_address=wallet.address
        )
        try:
            wallet.start()
            asyncio.run(wallet.ready())
            roulette.start()
            asyncio.run(roulette.ready())
            platform = RoulettePlatform(wallet, roulette, bus.url)
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
            roulette.end()
            wallet.end()
    postgres.drop_database(ROULETTE_DATABASE)
    postgres.drop_database(WALLET_DATABASE)
    assert not found
    assert audit.returncode == 0, audit.stdout + audit.stderr


@pytest.fixture
async def driver(platform: RoulettePlatform) -> AsyncIterator[RouletteDriver]:
    """The driver of this test."""
    async with platform.driver() as driver:
        yield driver


@pytest.fixture(params=["804", "807"])
def regulation(request: pytest.FixtureRequest) -> str:
    """Runs the test for American roulette (804) and for French roulette (807)."""
    return str(request.param)


@pytest.fixture
async def seated_player(driver: RouletteDriver, regulation: str) -> SeatedPlayer:
    """A player with 1000 euro at an individual table."""
    return await driver.seat_new_player(INDIVIDUAL_TABLES[regulation])
