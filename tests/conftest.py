"""Real servers for every test that wants them: a PostgreSQL and a NATS per test worker, started when first asked for.

Each worker has its own, so that a test which stops or fills one harms no other. Both are child processes
(`stack.processes.child`): they end with the worker, however it ends, and their folders go with them.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres

# A killed process loses nothing of what PostgreSQL wrote without fsync; only a power cut would, and no test makes one.
POSTGRES_TEST_SETTINGS = {"fsync": "off", "max_connections": "200"}
WALLET_TEMPLATE = "feltro_wallet_template"
OWNER_ROLE = "feltro_owner"
WALLET_ROLE = "feltro_wallet"

# An example that takes long on a busy machine is no failure.
settings.register_profile("whatever the machine does", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("whatever the machine does")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of the whole first: they take longest, and a worker that meets them last keeps the others waiting."""
    whole = Path(__file__).parent / "system"
    items.sort(key=lambda item: not item.path.is_relative_to(whole))


@dataclass(frozen=True)
class WalletDatabase:
    """A migrated, empty database of one test."""

    name: str
    url: str
    """As the service connects: role feltro_wallet, which may do only what the migrations grant."""
    owner_url: str
    """As `feltro migrate` connects: role feltro_owner, which owns the schema."""


@pytest.fixture(scope="session")
def postgres() -> Iterator[EmbeddedPostgres]:
    """The PostgreSQL of this test worker."""
    with ephemeral.postgres(POSTGRES_TEST_SETTINGS) as server:
        yield server


@pytest.fixture(scope="session")
def nats_url() -> Iterator[str]:
    """The NATS of this test worker, with JetStream; streams stay from one test to the next."""
    with ephemeral.nats() as server:
        yield server.url


@pytest.fixture(scope="session")
def wallet_template(postgres: EmbeddedPostgres) -> str:
    """A migrated database to copy from: copying takes a twentieth of migrating."""
    postgres.ensure_database(WALLET_TEMPLATE, OWNER_ROLE, WALLET_ROLE)
    migration = subprocess.run(
        [sys.executable, "-m", "services.kit.command", "migrate", "wallet"],
        env={**os.environ, "FELTRO_WALLET_OWNER_URL": postgres.url(OWNER_ROLE, WALLET_TEMPLATE)},
        capture_output=True,
        text=True,
        check=False,
    )
    if migration.returncode:
        pytest.fail(f"`feltro migrate` failed:\n{migration.stdout}{migration.stderr}", pytrace=False)
    return WALLET_TEMPLATE


@pytest.fixture
def wallet_database(postgres: EmbeddedPostgres, wallet_template: str) -> Iterator[WalletDatabase]:
    """A database of this test alone."""
    name = f"feltro_wallet_{next(_numbers)}"
    postgres.ensure_database(name, OWNER_ROLE, WALLET_ROLE, template=wallet_template)
    yield WalletDatabase(name=name, url=postgres.url(WALLET_ROLE, name), owner_url=postgres.url(OWNER_ROLE, name))
    postgres.drop_database(name)


_numbers = itertools.count(1)
