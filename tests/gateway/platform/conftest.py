"""The platform that the tests of this folder share, unless they need one of their own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.platform.processes import GENEROUS_LIMITS, Platform, running_platform


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    """One platform for all files: a test that stops a process of it starts it again."""
    templates, home = (wallet_template, game_template), tmp_path_factory.mktemp("platform")
    with running_platform(postgres, templates, home, GENEROUS_LIMITS) as platform:
        yield platform


@pytest.fixture
async def session(platform: Platform) -> AsyncIterator[aiohttp.ClientSession]:
    """An HTTP client of the gateway."""
    async with aiohttp.ClientSession(platform.gateway.url) as session:
        yield session
