"""A tournament that cannot be directed is given up for the next owner, and counted: operators are woken by that."""

from __future__ import annotations

import asyncio
from typing import Any, cast
from unittest.mock import AsyncMock, MagicMock

import pytest
from prometheus_client import REGISTRY

from services.kit.table.chips.owned_tables import OwnedChipTables
from services.kit.table.chips.seam import ChipTables, Director
from services.kit.table.fencing import StaleOwner


class FailingDirector:
    """Fails once, when a test asks for it."""

    def __init__(self, failure: Exception) -> None:
        self.ready = asyncio.Event()
        self.fails = asyncio.Event()
        self._failure = failure

    async def run(self, tables: ChipTables, epoch: int) -> None:
        await self.fails.wait()
        raise self._failure


@pytest.mark.guarantee("G12")
@pytest.mark.parametrize(("failure", "counted"), [(ValueError("the books differ"), 1), (StaleOwner(), 0)])
async def test_a_failure_is_counted_and_the_loss_of_the_lease_is_none(failure: Exception, counted: int) -> None:
    director = FailingDirector(failure)
    journal = AsyncMock(take_ownership=AsyncMock(return_value=1), unfinished_rounds=AsyncMock(return_value=[]))
    tables: OwnedChipTables[Any, Any] = OwnedChipTables(
        "sunday", MagicMock(journal=journal), lambda _: cast("Director", director)
    )
    directed, failures = sample("feltro_tournaments"), sample("feltro_tournament_failures_total")

    running = asyncio.create_task(tables.run(AsyncMock(), asyncio.Event(), asyncio.Event()))
    await tables.ready.wait()
    assert sample("feltro_tournaments") == directed + 1

    director.fails.set()
    with pytest.raises(type(failure)):
        await running
    assert sample("feltro_tournaments") == directed
    assert sample("feltro_tournament_failures_total") == failures + counted


def sample(name: str) -> float:
    return REGISTRY.get_sample_value(name) or 0.0
