"""What tests of `feltro replay` need for any game: a ledger, a table that its owner has opened, and the command."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import grpc
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.table.v1 import types_pb2
from services.kit.clock import SystemClock
from services.kit.table.configuration.versions import Configurations
from services.kit.table.game import Game
from services.kit.table.journal.postgres import PostgresJournal
from services.kit.table.journal.replay.command import NOT_CHECKED, command
from services.kit.table.wallet.grpc_client import GrpcWallet
from services.kit.table.wallet.service_token import ServiceToken
from services.kit.table.wallet.table_wallet import TableWallet
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, WALLET_ROLE
from tests.processes.wallet import WalletClient, WalletProcess
from tests.service.table.configurations import register_anything


@dataclass(frozen=True)
class OwnedTable:
    """A table that is open in the ledger, and its owner's way there."""

    epoch: int
    client: WalletClient
    wallet: TableWallet


@contextmanager
def wallet_of_tests(
    postgres: EmbeddedPostgres, template: str, ledger: str, nats_url: str, home: Path
) -> Iterator[WalletProcess]:
    """Runs one wallet for all tests of a file: each has a table of its own."""
    postgres.ensure_database(ledger, OWNER_ROLE, WALLET_ROLE, template=template)
    process = WalletProcess(postgres.url(WALLET_ROLE, ledger), nats_url, home)
    process.start()
    try:
        asyncio.run(process.ready())
        yield process
    finally:
        process.kill()
    postgres.drop_database(ledger)


@asynccontextmanager
async def owned_table(
    wallet: WalletProcess,
    engine: AsyncEngine,
    journal: PostgresJournal,
    table_id: str,
    rules: types_pb2.TableConfiguration,
    game: Game[Any, Any],
) -> AsyncIterator[OwnedTable]:
    """Configures a table, takes it, and opens it in the ledger."""
    await Configurations(engine, SystemClock()).add_version(
        request_id="rules",
        table_id=table_id,
        configuration=rules,
        approval_reference="SRIJ/2026/17",
        effective_at=None,
        entered_by="back-office",
        game=game,
        register=register_anything,
    )
    token = wallet.issuer.service_token_file("roulette")
    async with wallet.client() as client, grpc.aio.insecure_channel(wallet.address) as channel:
        epoch = await journal.take_ownership(table_id)
        await client.open_table(table_id, epoch=epoch, regulation=rules.regulation)
        yield OwnedTable(epoch, client, TableWallet(GrpcWallet(channel, ServiceToken(token).metadata), table_id, epoch))


def replay_settings(game: str, wallet: WalletProcess, database_url: str) -> dict[str, str]:
    """Returns the settings with which a game's rounds are replayed."""
    return {
        f"FELTRO_{game.upper()}_DATABASE_URL": database_url,
        f"FELTRO_{game.upper()}_TOKEN_FILE": str(wallet.issuer.service_token_file("roulette")),
        "FELTRO_ENVIRONMENT": "development",
        "FELTRO_WALLET_ADDRESS": wallet.address,
    }


async def replay_here(arguments: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
    """Replays in this process, and returns status and output."""
    return await asyncio.to_thread(_replay_here, arguments, environment)


def _replay_here(arguments: tuple[str, ...], environment: Mapping[str, str]) -> tuple[int, str]:
    output = io.StringIO()
    with mock.patch.dict(os.environ, environment), redirect_stdout(output), redirect_stderr(output):
        try:
            status = command(list(arguments))
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else NOT_CHECKED
    return status, output.getvalue()
