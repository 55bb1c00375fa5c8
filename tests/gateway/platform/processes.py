"""The whole platform as processes, with the gateway in front: for tests that know only its address."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from feltro.table.v1 import types_pb2
from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.certificates import CertificateAuthority
from tests.processes.databases import OWNER_ROLE, ROULETTE_ROLE, WALLET_ROLE
from tests.processes.gateway import GatewayProcess
from tests.processes.roulette import RouletteProcess
from tests.processes.wallet import WalletProcess

# How long anything may take before it is called a hang.
TIMEOUT_S = 240.0
# No test may be refused because its machine is quick: what the limits do has tests of its own, on clocks that stand.
GENEROUS_LIMITS = {
    f"FELTRO_GATEWAY_{limit}_{kind}": value
    for limit in (
        "PLAYER_CALLS",
        "OPERATOR_CALLS",
        "ADDRESS_CALLS",
        "ADDRESS_TOKENS",
        "CONNECTION_MESSAGES",
        "DEMO_VISITS",
        "DEMO_CALLS",
    )
    for kind, value in (("PER_S", "9000"), ("AT_ONCE", "90000"))
}


@dataclass(frozen=True)
class Platform:
    """All processes, while they run."""

    wallet: WalletProcess
    roulette: RouletteProcess
    gateway: GatewayProcess

    async def open_tables(self, configurations: Mapping[str, types_pb2.TableConfiguration]) -> None:
        """Configures tables, and returns when players can enter all of them."""
        async with self.roulette.client() as roulette:
            for table_id, configuration in configurations.items():
                await roulette.configure(table_id, configuration)
        async with aiohttp.ClientSession(self.gateway.url) as session, asyncio.timeout(TIMEOUT_S):
            for table_id in configurations:
                while not await _is_open(session, table_id):
                    await asyncio.sleep(0.05)

    async def advance_tables(self, seconds: float) -> None:
        """Moves the clock of all tables forward."""
        async with self.roulette.client() as roulette:
            await roulette.advance_tables(seconds)


@contextmanager
def running_platform(
    postgres: EmbeddedPostgres,
    templates: tuple[str, str],
    home: Path,
    environment: Mapping[str, str] | None = None,
    log_level: str = "warning",
    name: str = "gateway",
    authority: CertificateAuthority | None = None,
) -> Iterator[Platform]:
    """Runs a platform on a bus of its own and on copies of these templates (the wallet's, the roulette's).

    `environment` is the gateway's; platforms of one PostgreSQL that run at the same time need different names. With
    an authority all processes talk over mutual TLS, and tests call them with the gateway's certificate.
    """
    common = {"FELTRO_LOG_LEVEL": log_level}
    databases = f"feltro_wallet_of_{name}", f"feltro_roulette_of_{name}"
    for database, role, template in zip(databases, (WALLET_ROLE, ROULETTE_ROLE), templates, strict=True):
        postgres.ensure_database(database, OWNER_ROLE, role, template=template)
    with ephemeral.nats() as bus:
        wallet = WalletProcess(postgres.url(WALLET_ROLE, databases[0]), bus.url, home, dict(common))
        common["FELTRO_DEMO_JWKS"] = str(wallet.issuer.demo_keys.jwks)
        wallet.environment.update(common)
        roulette = RouletteProcess(
            postgres.url(ROULETTE_ROLE, databases[1]), bus.url, home, common, wallet_address=wallet.address
        )
        gateway = GatewayProcess("", bus.url, home, {**common, **(environment or {})}, wallet_address=wallet.address)
        if authority is not None:
            for process in (wallet, roulette, gateway):
                process.environment = {**process.environment, **authority.variables(process.name)}
                process.transport = authority.transport("gateway")
        try:
            for process in (wallet, roulette, gateway):
                process.start()
                asyncio.run(process.ready())
            yield Platform(wallet, roulette, gateway)
        finally:
            for process in (gateway, roulette, wallet):
                process.kill()
    for database in databases:
        postgres.drop_database(database)


async def _is_open(session: aiohttp.ClientSession, table_id: str) -> bool:
    async with session.get(f"/v1/tables/{table_id}/rules") as answer:
        return answer.status == 200
