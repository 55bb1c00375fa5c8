"""One platform for all tests of this folder, and a driver for each; at the end its rounds are replayed and audited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from stack.servers.postgres import EmbeddedPostgres
from tests.processes.blackjack import BlackjackProcess
from tests.service.blackjack.platform import BlackjackDriver, BlackjackPlatform
from tests.service.one_game_platform import PlatformDatabases, one_game_platform


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BlackjackPlatform]:
    """The wallet and one replica of the blackjack."""
    databases = PlatformDatabases(postgres, wallet_template, game_template)
    with one_game_platform(
        BlackjackProcess, BlackjackPlatform, databases, tmp_path_factory.mktemp("platform")
    ) as platform:
        yield platform


@pytest.fixture
async def driver(platform: BlackjackPlatform) -> AsyncIterator[BlackjackDriver]:
    """The driver of this test."""
    async with platform.driver() as driver:
        yield driver
