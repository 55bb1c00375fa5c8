"""A connection to the bus, and a table of its own for each test of the events."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator

import nats
import pytest
import pytest_asyncio
from nats.aio.client import Client as Nats


@pytest_asyncio.fixture
async def bus(nats_url: str) -> AsyncIterator[Nats]:
    connection = await nats.connect(nats_url)
    yield connection
    await connection.close()


@pytest.fixture
def table_id() -> str:
    """A table that no other test has published events of."""
    return f"table-{next(_numbers)}"


_numbers = itertools.count(1)
