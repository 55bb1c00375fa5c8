"""One platform for all tests of this folder, and a driver for each; at the end its hands are replayed and audited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from stack.servers.postgres import EmbeddedPostgres
from tests.processes.poker import PokerProcess
from tests.service.one_game_platform import PlatformDatabases, one_game_platform
from tests.service.poker.platform import PokerDriver, PokerPlatform


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PokerPlatform]:
    """The wallet and one replica of poker."""
    databases = PlatformDatabases(postgres, wallet_template, game_template)
    with one_game_platform(PokerProcess, PokerPlatform, databases, tmp_path_factory.mktemp("platform")) as platform:
        yield platform


@pytest.fixture
async def driver(platform: PokerPlatform) -> AsyncIterator[PokerDriver]:
    """The driver of this test."""
    async with platform.driver() as driver:
        yield driver
