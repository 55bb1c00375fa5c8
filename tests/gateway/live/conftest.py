"""The live side of one gateway, with the tables and the authenticator behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.gateway.live_gateway import FakeAuthenticator, FakeTables, LiveGateway, live_gateway

_Parts = tuple[LiveGateway, FakeTables, FakeAuthenticator]


@pytest_asyncio.fixture
async def _parts(nats_url: str) -> AsyncIterator[_Parts]:
    async with live_gateway(nats_url) as parts:
        yield parts


@pytest.fixture
def gateway(_parts: _Parts) -> LiveGateway:
    """The gateway; closing it fails if a task that never ends has ended."""
    return _parts[0]


@pytest.fixture
def tables(_parts: _Parts) -> FakeTables:
    """The tables behind the gateway."""
    return _parts[1]


@pytest.fixture
def authenticator(_parts: _Parts) -> FakeAuthenticator:
    """The authenticator that the gateway asks."""
    return _parts[2]
