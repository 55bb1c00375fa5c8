"""The whole platform as processes, with the gateway in front: for tests that know nothing but its address."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE
from tests.processes.databases import ROULETTE_ROLE as ROULETTE_USER
from tests.processes.databases import WALLET_ROLE as WALLET_USER
from tests.processes.gateway import GatewayProcess
from tests.processes.roulette import RouletteProcess
from tests.processes.wallet import WalletProcess

WALLET_DATABASE, ROULETTE_DATABASE = "feltro_wallet_of_gateway", "feltro_roulette_of_gateway"


@dataclass(frozen=True)
class Platform:
    """All processes, as they run."""

    wallet: WalletProcess
    roulette: RouletteProcess
    gateway: GatewayProcess


@contextmanager
def running_platform(
    postgres: EmbeddedPostgres,
    templates: tuple[str, str],
    home: Path,
    environment: dict[str, str] | None = None,
    log_level: str = "warning",
) -> Iterator[Platform]:
    """A platform on databases copied from these templates (wallet's, roulette's), and on a bus of its own."""
    common = {"FELTRO_LOG_LEVEL": log_level}
    names = WALLET_DATABASE, ROULETTE_DATABASE
    for name, user, template in zip(names, (WALLET_USER, ROULETTE_USER), templates, strict=True):
        postgres.ensure_database(name, OWNER_ROLE, user, template=template)
    with ephemeral.nats() as bus:
        wallet = WalletProcess(postgres.url(WALLET_USER, names[0]), bus.url, home, dict(common))
        common["FELTRO_DEMO_JWKS"] = str(wallet.issuer.demo_keys.jwks)
        wallet.environment.update(common)
        roulette = RouletteProcess(
            postgres.url(ROULETTE_USER, names[1]), bus.url, home, common, wallet_address=wallet.address
        )
        gateway = GatewayProcess("", bus.url, home, {**common, **(environment or {})}, wallet_address=wallet.address)
        try:
            for process in (wallet, roulette, gateway):
                process.start()
                asyncio.run(process.ready())
            yield Platform(wallet, roulette, gateway)
        finally:
            for process in (gateway, roulette, wallet):
                process.kill()
    for name in names:
        postgres.drop_database(name)
