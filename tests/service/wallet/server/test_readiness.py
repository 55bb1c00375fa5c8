"""A wallet serves once its database has its schema or a newer one; until then it says why not, and looks again."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from alembic import command
from alembic.config import Config
from sqlalchemy import Connection

from services.kit.database import postgresql, schema
from services.wallet.migrate import MIGRATIONS
from stack.servers.postgres import EmbeddedPostgres
from tests.processes.databases import OWNER_ROLE, WALLET_ROLE
from tests.service.wallet.server.starting_wallet import NOT_SERVING, start_wallet

NEEDED = schema.newest_revision(MIGRATIONS)

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
