"""A wallet serves once its database has its schema or a newer one; until then it says why not, and looks again."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc
import pytest
from alembic import command
from alembic.config import Config
from grpc_health.v1 import health_pb2
from sqlalchemy import Connection

from services.kit.clock import SystemClock
from services.kit.database import postgresql, schema
from services.kit.supervision import TaskSupervisor
from services.wallet.migrate import MIGRATIONS
from services.wallet.server.process import WalletServer
from services.wallet.settings import WalletSettings
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.bus import password, plain_url
from tests.processes.databases import OWNER_ROLE, WALLET_ROLE
from tests.processes.wallet import WalletClient, WalletProcess

NEEDED = schema.newest_revision(MIGRATIONS)
SERVING, NOT_SERVING = health_pb2.HealthCheckResponse.SERVING, health_pb2.HealthCheckResponse.NOT_SERVING

_numbers = itertools.count(1)


@pytest.fixture
def empty_database(postgres: EmbeddedPostgres) -> Iterator[str]:
    """The name of a database without a schema."""
    name = f"feltro_wallet_unready_{next(_numbers)}"
    postgres.ensure_database(name, OWNER_ROLE, WALLET_ROLE)
    yield name
    postgres.drop_database(name)


async def migrate(postgres: EmbeddedPostgres, name: str, revision: str) -> None:
    def upgrade(connection: Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        config.attributes["connection"] = connection
        config.attributes["role"] = WALLET_ROLE
        command.upgrade(config, revision)

    owner = postgresql.connect(postgres.url(OWNER_ROLE, name), "test", 1)
    async with owner.begin() as connection:
        await connection.run_sync(upgrade)
    await owner.dispose()


@dataclass(frozen=True)
class StartingWallet:
    """A wallet that may not serve yet, and its client."""

    client: WalletClient
    server: WalletServer
    running: asyncio.Task[None]

    async def health(self) -> int:
        request = health_pb2.HealthCheckRequest()
        answer = await self.client.health.Check(request, wait_for_ready=True, timeout=60)
        return int(answer.status)

    async def wait_until_serving(self) -> None:
        ready = asyncio.create_task(self.server.ready.wait())
        await asyncio.wait([ready, self.running], return_when=asyncio.FIRST_COMPLETED, timeout=60)
        ready.cancel()
        assert self.server.ready.is_set()
        assert await self.health() == SERVING
        await self.client.open_account("ana")


@asynccontextmanager
async def start_wallet(url: str, nats_url: str, home: Path) -> AsyncIterator[StartingWallet]:
    described, supervisor = WalletProcess(url, nats_url, home), TaskSupervisor("wallet")
    settings = WalletSettings.model_validate(
        {
            "environment": "development",
            "nats_url": plain_url(nats_url),
            "nats_password": password(nats_url),
            "issuer_jwks": described.issuer.jwks,
            "database_url": url,
            "listen": described.address,
            "stop_grace_s": 0,
        }
    )
    server = WalletServer(settings, SystemClock())
    running = asyncio.create_task(server.run(supervisor))
    async with described.client() as client:
        yield StartingWallet(client, server, running)
    supervisor.request_stop()
    await running


@pytest.fixture(autouse=True)
def _poll_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "POLL_INTERVAL_S", 0.02)


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(
    ("revision", "reason"),
    [
        (None, f"its database has no schema, and revision {NEEDED} is needed. Run `feltro migrate wallet`."),
        ("0001", f"its database has the schema 0001, and {NEEDED} is needed. Run `feltro migrate wallet`."),
    ],
)
async def test_g12_a_wallet_waits_for_its_schema_and_then_serves(
    postgres: EmbeddedPostgres,
    empty_database: str,
    nats_url: str,
    clean_stream: None,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    revision: str | None,
    reason: str,
) -> None:
    if revision is not None:
        await migrate(postgres, empty_database, revision)
    with caplog.at_level(logging.WARNING):
        async with start_wallet(postgres.url(WALLET_ROLE, empty_database), nats_url, tmp_path) as wallet:
            assert await wallet.health() == NOT_SERVING
            with pytest.raises(grpc.aio.AioRpcError) as refused:
                await wallet.client.open_account("ana")
            # UNAVAILABLE, because nothing can have been done: the caller need not fear that something was.
            assert refused.value.code() == grpc.StatusCode.UNAVAILABLE
            assert refused.value.details() == "The wallet does not serve yet: its database is not ready."
            assert not wallet.server.ready.is_set()
            await migrate(postgres, empty_database, "head")
            await wallet.wait_until_serving()
    messages = [record.getMessage() for record in caplog.records if record.name == schema.__name__]
    assert messages == [f"the wallet does not serve yet: {reason}"]


async def test_a_newer_schema_is_served(
    postgres: EmbeddedPostgres, empty_database: str, nats_url: str, clean_stream: None, tmp_path: Path
) -> None:
    """Processes of the previous release meet a newer schema while they are replaced."""
    await migrate(postgres, empty_database, "head")
    newer = f"UPDATE alembic_version SET version_num = '{int(NEEDED) + 1:04}'"  # noqa: S608 - built from a constant
    postgres.sql(newer, empty_database)
    async with start_wallet(postgres.url(WALLET_ROLE, empty_database), nats_url, tmp_path) as wallet:
        await wallet.wait_until_serving()


async def test_a_waiting_wallet_can_be_stopped(
    postgres: EmbeddedPostgres, empty_database: str, nats_url: str, tmp_path: Path
) -> None:
    async with start_wallet(postgres.url(WALLET_ROLE, empty_database), nats_url, tmp_path) as wallet:
        assert await wallet.health() == NOT_SERVING
    assert not wallet.server.ready.is_set()
    assert wallet.running.done()


async def test_a_wallet_waits_for_a_missing_database(
    postgres: EmbeddedPostgres, nats_url: str, clean_stream: None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    name = f"feltro_wallet_unready_{next(_numbers)}"
    with caplog.at_level(logging.WARNING):
        async with start_wallet(postgres.url(WALLET_ROLE, name), nats_url, tmp_path) as wallet:
            assert await wallet.health() == NOT_SERVING
            postgres.ensure_database(name, OWNER_ROLE, WALLET_ROLE)
            await migrate(postgres, name, "head")
            await wallet.wait_until_serving()
    postgres.drop_database(name)
    (first, *_) = [record.getMessage() for record in caplog.records if record.name == schema.__name__]
    assert first.startswith("the wallet does not serve yet: its database cannot be read: ")
    assert first.endswith(f'database "{name}" does not exist')
