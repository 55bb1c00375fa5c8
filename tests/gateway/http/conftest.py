"""A client of the gateway's HTTP side, with a fake dispatcher behind it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.gateway.http_gateway import FakeDispatcher, HttpClient, http_gateway


@pytest.fixture
def dispatcher() -> FakeDispatcher:
    return FakeDispatcher()


@pytest_asyncio.fixture
async def client(dispatcher: FakeDispatcher) -> AsyncIterator[HttpClient]:
    async with http_gateway(dispatcher) as client:
        yield client
