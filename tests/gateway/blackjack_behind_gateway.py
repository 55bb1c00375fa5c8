"""Blackjack behind a gateway, on real processes and databases of their own: a game with decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from feltro.table.v1 import types_pb2
from stack.entropy_keys import entropy_keys_file
from stack.servers import ephemeral
from tests.gateway.platform.processes import GENEROUS_LIMITS
from tests.processes.blackjack import BlackjackProcess
from tests.processes.databases import ROULETTE_ROLE as GAME_ROLE
from tests.processes.databases import WALLET_ROLE
from tests.processes.gateway import GatewayProcess
from tests.processes.service import ServiceProcess
from tests.processes.wallet import WalletProcess
from tests.service.one_game_platform import OwnDatabases


@dataclass(frozen=True)
class BlackjackBehindGateway:
    """The processes."""

    wallet: WalletProcess
    blackjack: BlackjackProcess
    gateway: GatewayProcess
    entropy_keys: Path

    @property
    def processes(self) -> tuple[ServiceProcess, ...]:
        return self.wallet, self.blackjack, self.gateway


@contextmanager
def blackjack_behind_gateway(
    databases: OwnDatabases,
    home: Path,
    tables: Mapping[str, types_pb2.TableConfiguration],
    *,
    settings: Mapping[str, str] | None = None,
    wallet_settings: Mapping[str, str] | None = None,
) -> Iterator[BlackjackBehindGateway]:
    """Runs a wallet, a replica of blackjack with these tables, and a gateway, where demonstrations are played, too."""
    postgres = databases.postgres
    with ephemeral.nats() as bus:
        wallet = WalletProcess(postgres.url(WALLET_ROLE, databases.wallet), bus.url, home, dict(wallet_settings or {}))
        common = {**(settings or {}), "FELTRO_DEMO_JWKS": str(wallet.issuer.demo_keys.jwks)}
        wallet.environment.update(common)
        keys = entropy_keys_file(home, "blackjack")
        sealing = {"FELTRO_BLACKJACK_ENTROPY_KEYS_FILE": str(keys)}
        game_url = postgres.url(GAME_ROLE, databases.game)
        blackjack = BlackjackProcess(game_url, bus.url, home, {**common, **sealing}, wallet_address=wallet.address)
        gateway = GatewayProcess("", bus.url, home, {**common, **GENEROUS_LIMITS}, wallet_address=wallet.address)
        running = BlackjackBehindGateway(wallet, blackjack, gateway, keys)
        try:
            for process in running.processes:
                process.start()
                asyncio.run(process.ready())
            asyncio.run(_configure(blackjack, tables))
            yield running
        finally:
            for process in reversed(running.processes):
                process.kill()


async def _configure(blackjack: BlackjackProcess, tables: Mapping[str, types_pb2.TableConfiguration]) -> None:
    async with blackjack.client() as client:
        for table_id, configuration in tables.items():
            await client.configure(table_id, configuration)
