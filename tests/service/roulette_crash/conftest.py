"""The PostgreSQL that every crash run begins with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.processes import databases


@pytest.fixture(scope="session")
def seed_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PostgreSQL with migrated databases to copy: each run has its own server, and none migrates again."""
    folder = tmp_path_factory.getbasetemp()
    return databases.shared_seed(folder.parent if hasattr(request.config, "workerinput") else folder)
