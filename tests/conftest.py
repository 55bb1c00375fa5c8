"""Real servers for every test that needs them: a PostgreSQL and a NATS per test worker, started on first use.

Each worker has its own, so that a test which stops or fills one harms no other. Both are child processes
(`stack.processes.child`): they end with the worker, however it ends, and their folders go with them. Fixtures are
found here and in the `conftest.py` of a folder; they are never imported, which would make a second one of each.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from xdist.remote import Producer

from stack.servers import ephemeral
from stack.servers.postgres import EmbeddedPostgres
from tests import schedule
from tests.processes import databases
from tests.processes.databases import (
    POSTGRES_TEST_SETTINGS,
    ROULETTE_TEMPLATE,
    WALLET_TEMPLATE,
    DatabaseCopier,
    GameDatabase,
    WalletDatabase,
)

# An example that takes long on a busy machine is no failure. The examples are the same in each run, so that a run fails
# by what was changed and not by what was drawn; FELTRO_TEST_EFFORT=1 draws others.
settings.register_profile(
    "any machine",
    deadline=None,
    derandomize="FELTRO_TEST_EFFORT" not in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("any machine")

# Where coverage.py looks, when a process starts, for what to count there.
_COUNTS_LINES = "COVERAGE_PROCESS_CONFIG"


# Objects that are made between two looks at the youngest ones: Python's 700 have a worker look thousands of times.
_GC_YOUNG_THRESHOLD = 50_000


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Keeps the garbage collector from what is collected: thousands of tests and all modules, which stay to the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()
        gc.set_threshold(_GC_YOUNG_THRESHOLD, 20, 50)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Orders the tests for several workers, and chooses those whose lines are counted."""
    items.sort(key=lambda item: schedule.rank_of(item.nodeid))
    for item in items:
        if not schedule.is_measured(item.nodeid):
            item.add_marker(pytest.mark.no_cover)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hides from the processes of a test that lines are counted, where its own are not."""
    hidden = {} if schedule.is_measured(item.nodeid) else {_COUNTS_LINES: os.environ.pop(_COUNTS_LINES, None)}
    try:
        return (yield)
    finally:
        os.environ.update({name: value for name, value in hidden.items() if value is not None})


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> schedule.GroupScheduling:
    """Divides the tests among the workers."""
    # The order of the collection, not that of the sizes of groups.
    config.option.loadscopereorder = False
    return schedule.GroupScheduling(config, log)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Removes what the workers shared, once they have ended."""
    if not _is_worker(session.config) and (factory := getattr(session.config, "_tmp_path_factory", None)) is not None:
        shutil.rmtree(factory.getbasetemp() / databases.SEED, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    """The PostgreSQL of this test worker."""
    seed = databases.shared_seed(tmp_path_factory.getbasetemp().parent) if _is_worker(request.config) else None
    with ephemeral.postgres(POSTGRES_TEST_SETTINGS, seed=seed) as server:
        yield server


@pytest.fixture(scope="session")
def seed_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PostgreSQL with migrated databases to copy: each crash run has its own server, and none migrates again."""
    folder = tmp_path_factory.getbasetemp()
    return databases.shared_seed(folder.parent if _is_worker(request.config) else folder)


@pytest.fixture(scope="session")
def nats_url() -> Iterator[str]:
    """The NATS of this test worker, with JetStream; streams stay from one test to the next."""
    with ephemeral.nats() as server:
        yield server.url


@pytest.fixture(scope="session")
def wallet_template(postgres: EmbeddedPostgres) -> str:
    """The name of a migrated wallet database to copy from."""
    return databases.ensure_template(postgres, WALLET_TEMPLATE)


@pytest.fixture(scope="session")
def game_template(postgres: EmbeddedPostgres) -> str:
    """The name of a game's migrated database to copy from."""
    return databases.ensure_template(postgres, ROULETTE_TEMPLATE)


@pytest.fixture(scope="session")
def database_copier(postgres: EmbeddedPostgres) -> Iterator[DatabaseCopier]:
    """Copies the templates of this test worker."""
    copier = DatabaseCopier(postgres)
    yield copier
    copier.close()


@pytest.fixture
def wallet_database(database_copier: DatabaseCopier, wallet_template: str) -> Iterator[WalletDatabase]:
    """A wallet's database of this test alone."""
    name = f"feltro_wallet_{next(_numbers)}"
    with database_copier.copy(name, WALLET_TEMPLATE) as (url, owner_url):
        yield WalletDatabase(name, url, owner_url)


@pytest.fixture
def game_database(database_copier: DatabaseCopier, game_template: str) -> Iterator[GameDatabase]:
    """A game's database of this test alone."""
    name = f"feltro_roulette_{next(_numbers)}"
    with database_copier.copy(name, ROULETTE_TEMPLATE) as (url, owner_url):
        yield GameDatabase(name, url, owner_url)


_numbers = itertools.count(1)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")
