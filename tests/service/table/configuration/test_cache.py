"""What one process knows of rules and switches: it answers at once, by time, also while the database is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import grpc
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from services.kit import background
from services.kit.table.configuration import cache
from services.kit.table.configuration.cache import CatalogueCache
from services.kit.table.configuration.platform_switch import PlatformSwitch
from services.kit.table.configuration.switches import Switches
from services.kit.table.configuration.versions import Configurations
from services.kit.table.refusals import TableRefused
from tests.service.table.configurations import NOON, EvenSeatsGame, ManualClock, configuration, register_anything

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]

GAME = EvenSeatsGame()


@pytest.fixture
async def catalogue(
    engine: AsyncEngine, configurations: Configurations, clock: ManualClock
) -> AsyncIterator[CatalogueCache[Any, Any]]:
    channel = grpc.aio.insecure_channel("127.0.0.1:1")
    platform = PlatformSwitch(channel, lambda: ())
    yield CatalogueCache(GAME, configurations, Switches(engine, clock), platform, clock)
    await channel.close()


async def enter(configurations: Configurations, table_id: str, seats: int, hours: float = 0) -> None:
    await configurations.add_version(
        request_id=f"{table_id} {seats}",
        table_id=table_id,
        configuration=configuration(seats),
        approval_reference="SRIJ 2026/17",
        effective_at=NOON + timedelta(hours=hours),
        entered_by="olga",
        game=GAME,
        register=register_anything,
    )


async def refused(call: Callable[[], Awaitable[object]]) -> dict[str, str]:
    with pytest.raises(TableRefused) as refusal:
        await call()
    return {"reason": refusal.value.reason} | refusal.value.facts


@pytest.mark.rule("903-B/2015:6.1.5")
async def test_rules_come_into_force_at_their_time_without_another_reading(
    catalogue: CatalogueCache[Any, Any], configurations: Configurations, clock: ManualClock
) -> None:
    await enter(configurations, "t1", 10)
    await enter(configurations, "t1", 20, hours=2)
    await enter(configurations, "t2", 6, hours=1)
    await catalogue.refresh()

    def in_force() -> dict[str, int]:
        return {each: catalogue.rules_in_force(each).configuration.seats for each in catalogue.placement_ids()}

    assert in_force() == {"t1": 10}
    clock.advance(minutes=59)
    assert in_force() == {"t1": 10}
    clock.advance(minutes=1)
    assert in_force() == {"t1": 10, "t2": 6}
    clock.advance(hours=1)
    assert in_force() == {"t1": 20, "t2": 6}
    # A round that was opened before keeps its version.
    assert (await catalogue.rules_of_version("t1", 1)).configuration.seats == 10


@pytest.mark.guarantee("G12")
async def test_g12_there_are_no_rules_of_a_table_or_version_that_nobody_has_entered(
    catalogue: CatalogueCache[Any, Any], configurations: Configurations
) -> None:
    await enter(configurations, "t1", 10)
    await enter(configurations, "later", 10, hours=1)
    await catalogue.refresh()

    async def in_force(table_id: str) -> object:
        return catalogue.rules_in_force(table_id)

    for table_id in ("nowhere", "later"):
        unknown = {"reason": "TABLE_UNKNOWN", "table_id": table_id}
        assert await refused(lambda table_id=table_id: in_force(table_id)) == unknown  # type: ignore[misc]
    unknown = {"reason": "TABLE_UNKNOWN", "table_id": "t1"}
    assert await refused(lambda: catalogue.rules_of_version("t1", 2)) == unknown


@pytest.mark.guarantee("G12")
async def test_g12_the_game_is_off_at_once_when_a_fault_has_switched_it_off(
    catalogue: CatalogueCache[Any, Any], configurations: Configurations
) -> None:
    await enter(configurations, "t1", 10)
    await catalogue.refresh()
    assert catalogue.game_enabled()
    catalogue.switch_off("t1", "a fault of one table")
    assert catalogue.game_enabled()
    catalogue.switch_off(None, "the source of randomness fails")
    assert not catalogue.game_enabled()
    assert catalogue.closed_reason("t1") == "the source of randomness fails"


@pytest.mark.guarantee("G9")
async def test_g9_rules_stay_in_force_while_the_database_is_away_and_are_read_when_it_is_back(
    catalogue: CatalogueCache[Any, Any],
    configurations: Configurations,
    owner_connection: Connection,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cache, "REFRESH_EVERY_S", 0.001)
    await enter(configurations, "t1", 10)
    await catalogue.refresh()
    await enter(configurations, "t2", 20)
    await owner_connection.execute("ALTER TABLE configurations RENAME TO away")
    running = asyncio.create_task(catalogue.run())
    try:
        async with asyncio.timeout(60):
            while "reading configurations and switches" not in caplog.text:
                await asyncio.sleep(0.001)
            assert catalogue.placement_ids() == {"t1"}
            assert catalogue.rules_in_force("t1").configuration.seats == 10
            await owner_connection.execute("ALTER TABLE away RENAME TO configurations")
            while catalogue.placement_ids() != {"t1", "t2"}:
                await asyncio.sleep(0.001)
    finally:
        await background.cancel_and_wait([running])
