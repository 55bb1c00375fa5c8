"""The time of these tests, which stands still until a test moves it, and the configurations on a real PostgreSQL."""

from __future__ import annotations

import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit.table.configuration.versions import Configurations
from tests.service.table.configurations import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def configurations(engine: AsyncEngine, clock: ManualClock) -> Configurations:
    return Configurations(engine, clock)
