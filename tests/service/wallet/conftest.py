"""The wallet as its tests meet it: its services called directly, behind gRPC in this event loop, or in a process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import nats
import pytest
import pytest_asyncio

from services.kit.bus.subjects import FACTS_STREAM
from services.kit.clock import SystemClock
from services.kit.supervision import TaskSupervisor
from services.wallet.server.process import WalletServer
from services.wallet.settings import WalletSettings
from tests.processes.bus import password, plain_url, recreate_stream
from tests.processes.databases import WalletDatabase
from tests.processes.wallet import WalletClient, WalletProcess
from tests.service.wallet.in_process_wallet import InProcessWallet, open_wallet


@pytest_asyncio.fixture
async def wallet(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    """A wallet whose services the test calls directly, with a clock that the test advances."""
    async with open_wallet(wallet_database.url) as opened:
        yield opened


@pytest_asyncio.fixture
async def first_replica(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    """One of two wallets on the same database."""
    async with open_wallet(wallet_database.url) as opened:
        yield opened


@pytest_asyncio.fixture
async def second_replica(wallet_database: WalletDatabase) -> AsyncIterator[InProcessWallet]:
    """The other of two wallets on the same database."""
    async with open_wallet(wallet_database.url) as opened:
        yield opened


@pytest_asyncio.fixture
async def clean_stream(nats_url: str) -> None:
    """The wallet's stream before anything is published to it."""
    connection = await nats.connect(nats_url)
    await recreate_stream(connection, FACTS_STREAM)
    await connection.close()


@pytest.fixture
def wallet_process(
    wallet_database: WalletDatabase, nats_url: str, clean_stream: None, tmp_path: Path
) -> Iterator[WalletProcess]:
    """A wallet in a process of its own, not started yet, for tests that kill it."""
    process = WalletProcess(wallet_database.url, nats_url, tmp_path)
    yield process
    process.kill()


@pytest.fixture
def wallet_settings() -> dict[str, object]:
    """Settings of the wallet behind `wallet_client`; a test may set its own by parametrizing it."""
    return {}


@pytest_asyncio.fixture
async def wallet_client(
    wallet_database: WalletDatabase,
    nats_url: str,
    clean_stream: None,
    tmp_path: Path,
    wallet_settings: dict[str, object],
) -> AsyncIterator[WalletClient]:
    """A gRPC client of a wallet that runs in this event loop."""
    described = WalletProcess(wallet_database.url, nats_url, tmp_path)
    settings = WalletSettings.model_validate(
        {
            "environment": "development",
            "nats_url": plain_url(nats_url),
            "nats_password": password(nats_url),
            "issuer_jwks": described.issuer.jwks,
            "database_url": wallet_database.url,
            "listen": described.address,
            "session_clock": "advanceable",
            "stop_grace_s": 0,
        }
        | wallet_settings
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
