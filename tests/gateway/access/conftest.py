"""A bus that a test can stop and start again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.service.table.stoppable_nats import StoppableNats


@pytest.fixture
def nats() -> Iterator[StoppableNats]:
    with StoppableNats() as server:
        yield server
