"""The wallet and one replica of poker for these tests; at the end hands are replayed and the ledger audited."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE
from tests.processes.stacked_poker import StackedPokerProcess
from tests.service.one_game_platform import PlatformDatabases, audited_processes
from tests.service.poker_tournament.platform import TournamentDriver, TournamentPlatform


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TournamentPlatform]:
    home = tmp_path_factory.mktemp("tournaments")
    with (
        PlatformDatabases(postgres, wallet_template, game_template).made_for("tournaments") as databases,
        audited_processes(StackedPokerProcess, databases, home) as processes,
    ):
        (poker,) = processes.replicas
        yield TournamentPlatform(processes.wallet, poker, postgres.url(OWNER_ROLE, databases.wallet))


@pytest.fixture
async def driver(platform: TournamentPlatform) -> AsyncIterator[TournamentDriver]:
    """The driver of this test."""
    async with platform.driver() as driver:
        yield driver
