"""A running wallet for tests: the real service in the test's own event loop, on the real PostgreSQL and NATS."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import nats
import pytest
import pytest_asyncio

from services.kit.clock import SystemClock
from services.kit.supervision import TaskSupervisor
from services.wallet.outbox import facts
from services.wallet.server.process import WalletServer
from services.wallet.settings import WalletSettings
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import WalletClient, WalletProcess


@pytest_asyncio.fixture
async def clean_stream(nats_url: str) -> None:
    """The wallet's stream as nobody has written to it yet."""
    connection = await nats.connect(nats_url)
    try:
        await connection.jetstream().delete_stream(facts.STREAM)
    except nats.js.errors.NotFoundError:
        pass
    finally:
        await connection.close()


@pytest.fixture
def wallet_process(
    wallet_database: WalletDatabase, nats_url: str, clean_stream: None, tmp_path: Path
) -> Iterator[WalletProcess]:
    """A wallet in a process of its own, not started yet; for tests that kill it."""
    process = WalletProcess(wallet_database.url, nats_url, tmp_path)
    yield process
    process.kill()


@pytest_asyncio.fixture
async def wallet(
    wallet_database: WalletDatabase, nats_url: str, clean_stream: None, tmp_path: Path
) -> AsyncIterator[WalletClient]:
    """A client of a wallet that runs in this event loop."""
    described = WalletProcess(wallet_database.url, nats_url, tmp_path)
    settings = WalletSettings.model_validate(
        {
            "environment": "development",
            "nats_url": nats_url,
            "issuer_jwks": described.issuer.jwks,
            "database_url": wallet_database.url,
            "listen": described.address,
            "session_clock": "advanceable",
            "stop_grace_s": 0,
        }
    )
    running, supervisor = WalletServer(settings, SystemClock()), TaskSupervisor("wallet")
    task = asyncio.create_task(running.run(supervisor))
    ready = asyncio.create_task(running.ready.wait())
    await asyncio.wait([task, ready], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        ready.cancel()
        await task
    async with described.client() as client:
        yield client
    supervisor.request_stop()
    await task
