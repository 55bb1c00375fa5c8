"""One platform for all tests of this folder, and a driver for each; at the end its rounds are replayed and audited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from stack.servers.postgres import EmbeddedPostgres
from tests.processes.roulette import RouletteProcess
from tests.service.game_driver import SeatedPlayer
from tests.service.one_game_platform import PlatformDatabases, one_game_platform
from tests.service.roulette.platform import INDIVIDUAL_TABLES, RouletteDriver, RoulettePlatform


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RoulettePlatform]:
    """The wallet and one replica of the roulette."""
    databases = PlatformDatabases(postgres, wallet_template, game_template)
    home, environment = tmp_path_factory.mktemp("platform"), {"FELTRO_LOG_LEVEL": "debug"}
    with one_game_platform(RouletteProcess, RoulettePlatform, databases, home, environment) as platform:
        yield platform


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
