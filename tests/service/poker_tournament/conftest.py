"""The wallet and one replica of poker for these tests; at the end hands are replayed and the ledger audited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes import ledger_audit
from tests.processes.databases import OWNER_ROLE
from tests.processes.databases import ROULETTE_ROLE as GAME_ROLE
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.stacked_poker import StackedPokerProcess
from tests.processes.wallet import WalletProcess
from tests.service.one_game_platform import differences
from tests.service.poker_tournament.platform import TournamentDriver, TournamentPlatform

WALLET_DATABASE, POKER_DATABASE = "feltro_wallet_tournaments", "feltro_poker_tournaments"


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TournamentPlatform]:
    home = tmp_path_factory.mktemp("tournaments")
    postgres.ensure_database(WALLET_DATABASE, OWNER_ROLE, WALLET_USER, template=wallet_template)
    postgres.ensure_database(POKER_DATABASE, OWNER_ROLE, GAME_ROLE, template=game_template)
    with ephemeral.nats() as bus:
        wallet = WalletProcess(postgres.url(WALLET_USER, WALLET_DATABASE), bus.url, home)
        poker = StackedPokerProcess(
            postgres.url(GAME_ROLE, POKER_DATABASE), bus.url, home, wallet_address=wallet.address
        )
        try:
            wallet.start()
            asyncio.run(wallet.ready())
            poker.start()
            asyncio.run(poker.ready())
            yield TournamentPlatform(wallet, poker, postgres.url(OWNER_ROLE, WALLET_DATABASE))
            found = asyncio.run(differences(poker))
            violations = asyncio.run(ledger_audit.violations_at(wallet.database_url))
        finally:
            poker.end()
            wallet.end()
    postgres.drop_database(POKER_DATABASE)
    postgres.drop_database(WALLET_DATABASE)
    assert not found
    assert not violations


@pytest.fixture
async def driver(platform: TournamentPlatform) -> AsyncIterator[TournamentDriver]:
    """The driver of this test."""
    async with platform.driver() as driver:
        yield driver
