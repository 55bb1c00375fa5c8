"""One wallet and every game for all tests of this folder; each test is run with each of the games."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.baccarat import BaccaratProcess
from tests.processes.blackjack import BlackjackProcess
from tests.processes.databases import OWNER_ROLE, WALLET_ROLE
from tests.processes.databases import ROULETTE_ROLE as GAME_ROLE
from tests.processes.poker import PokerProcess
from tests.processes.wallet import WalletProcess
from tests.service.every_game.platform import BANKED_GAMES, GAMES, Platform, PlayedGame

WALLET_DATABASE = "feltro_wallet_of_every_game"


@pytest.fixture(scope="package")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    """The wallet and a replica of each game, on a bus of their own: they run no tables of other tests."""
    home = tmp_path_factory.mktemp("platform")
    databases = {name: f"feltro_{name}_of_every_game" for name in GAMES}
    postgres.ensure_database(WALLET_DATABASE, OWNER_ROLE, WALLET_ROLE, template=wallet_template)
    for database in databases.values():
        postgres.ensure_database(database, OWNER_ROLE, GAME_ROLE, template=game_template)
    urls = {name: postgres.url(GAME_ROLE, database) for name, database in databases.items()}
    with ephemeral.nats() as bus:
        wallet = WalletProcess(postgres.url(WALLET_ROLE, WALLET_DATABASE), bus.url, home)
        baccarat = BaccaratProcess(urls["baccarat"], bus.url, home, wallet_address=wallet.address)
        blackjack = BlackjackProcess(urls["blackjack"], bus.url, home, wallet_address=wallet.address)
        poker = PokerProcess(urls["poker"], bus.url, home, wallet_address=wallet.address)
        platform = Platform(wallet, baccarat, blackjack, poker, bus.url)
        processes = (wallet, *platform.games)
        try:
            for process in processes:
                process.start()
                asyncio.run(process.ready())
            yield platform
        finally:
            for process in reversed(processes):
                process.end()
    for database in (WALLET_DATABASE, *databases.values()):
        postgres.drop_database(database)


@pytest.fixture(params=GAMES)
async def game(platform: Platform, request: pytest.FixtureRequest) -> AsyncIterator[PlayedGame]:
    """The game of this test."""
    async with platform.play(request.param) as played:
        yield played


@pytest.fixture(params=BANKED_GAMES)
async def banked_game(platform: Platform, request: pytest.FixtureRequest) -> AsyncIterator[PlayedGame]:
    """The game of a test that poker cannot take; the test says why."""
    async with platform.play(request.param) as played:
        yield played
