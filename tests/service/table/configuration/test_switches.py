"""Switches: the last one of a table and the last one of the game hold, and all are kept."""

from __future__ import annotations

import asyncio
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, Any

import asyncpg
import grpc
import pytest
from sqlalchemy.ext.asyncio import AsyncEngine

from feltro.table.v1 import types_pb2
from services.kit import background
from services.kit.paging import PageRequest
from services.kit.table.configuration.cache import CatalogueCache
from services.kit.table.configuration.platform_switch import PlatformSwitch
from services.kit.table.configuration.switches import LOCK_KEY, REASON_CHARACTERS_LIMIT, Switches
from services.kit.table.configuration.versions import PLATFORM, Configurations, InitialTable
from services.kit.table.paging import page_request
from services.kit.table.refusals import TableRefused
from tests.service.table.configurations import NOON, EvenSeatsGame, ManualClock, configuration, register_anything

WITHIN_S = 240.0
TABLE, GAME = types_pb2.SWITCH_SCOPE_TABLE, types_pb2.SWITCH_SCOPE_GAME

if TYPE_CHECKING:
    Connection = asyncpg.Connection[asyncpg.Record]


@pytest.fixture
async def switches(engine: AsyncEngine, clock: ManualClock) -> Switches:
    tables = [InitialTable(table_id, configuration(), "SRIJ 2026/1") for table_id in ("t1", "t2")]
    await Configurations(engine, clock).add_initial_tables(tables, EvenSeatsGame(), register_anything)
    return Switches(engine, clock)


async def set_switch(switches: Switches, request_id: str, **changes: object) -> types_pb2.Switch:
    command: dict[str, Any] = {
        "request_id": request_id,
        "scope": TABLE,
        "table_id": "t1",
        "enabled": False,
        "reason": "the wheel sticks",
        "set_by": "olga",
    }
    command.update(changes)
    return await switches.set_switch(**command)


async def refusal(switches: Switches, request_id: str = "refused", **changes: object) -> dict[str, str]:
    with pytest.raises(TableRefused) as refused:
        await set_switch(switches, request_id, **changes)
    return {"reason": refused.value.reason} | refused.value.facts


@pytest.mark.rule("903-B/2015:6.3.1")
async def test_the_last_switch_of_table_or_game_decides(switches: Switches) -> None:
    async def off() -> tuple[str | None, str | None]:
        state = await switches.state()
        return state.off_reason("t1"), state.off_reason("t2")

    assert await off() == (None, None)
    await set_switch(switches, "1")
    assert await off() == ("the wheel sticks", None)
    await set_switch(switches, "2", scope=GAME, table_id="", reason="the source failed")
    assert await off() == ("the source failed", "the source failed")
    await set_switch(switches, "3", enabled=True, reason="repaired")
    assert await off() == ("the source failed", "the source failed")
    await set_switch(switches, "4", table_id="t2", reason="closed for the night")
    await set_switch(switches, "5", scope=GAME, table_id="", enabled=True, reason="repaired")
    assert await off() == (None, "closed for the night")
    await set_switch(switches, "6", table_id="t2", reason="closed for the week")
    assert await off() == (None, "closed for the week")
    state = await switches.state()
    assert (state.game_off_reason, state.table_off_reasons) == (None, {"t2": "closed for the week"})


@pytest.mark.rule("903-B/2015:6.3.6.6")
async def test_the_log_says_who_and_when_and_from_what_to_what(switches: Switches, clock: ManualClock) -> None:
    await set_switch(switches, "1")
    clock.advance(hours=1)
    # A switch that changes nothing is logged, too.
    await set_switch(switches, "2", set_by="rita", reason="still sticks")
    clock.advance(hours=1)
    await set_switch(switches, "3", scope=GAME, table_id="", enabled=True, reason="opening", set_by="platform")
    log = await switches.list_switches(PageRequest())
    assert [
        (
            each.switch_no,
            each.scope,
            each.table_id,
            each.enabled,
            each.reason,
            each.set_by,
            each.set_at.ToDatetime(UTC) - NOON,
        )
        for each in log.items
    ] == [
        (3, GAME, "", True, "opening", "platform", timedelta(hours=2)),
        (2, TABLE, "t1", False, "still sticks", "rita", timedelta(hours=1)),
        (1, TABLE, "t1", False, "the wheel sticks", "olga", timedelta()),
    ]
    assert log.next_page_token == ""


async def test_the_log_comes_in_pages(switches: Switches) -> None:
    for number in range(5):
        await set_switch(switches, str(number))
    pages, token = [], ""
    while True:
        page = await switches.list_switches(page_request(2, token))
        pages.append([each.switch_no for each in page.items])
        token = page.next_page_token
        if not token:
            break
    assert pages == [[5, 4], [3, 2], [1]]


@pytest.mark.guarantee("G3")
async def test_g3_a_repeated_switch_is_set_once(switches: Switches, clock: ManualClock) -> None:
    first = await set_switch(switches, "1")
    await set_switch(switches, "2", enabled=True, reason="repaired")
    clock.advance(hours=1)
    assert await set_switch(switches, "1") == first
    assert (await switches.state()).off_reason("t1") is None
    reused = {"reason": "REQUEST_REUSED", "request_id": "1"}
    for changes in (
        {"table_id": "t2"},
        {"enabled": True},
        {"reason": "another"},
        {"scope": GAME, "table_id": ""},
    ):
        assert await refusal(switches, "1", **changes) == reused
    assert len((await switches.list_switches(PageRequest())).items) == 2


@pytest.mark.guarantee("G3")
async def test_g3_concurrent_switches_are_numbered_without_a_gap(switches: Switches) -> None:
    answers = await asyncio.gather(*(set_switch(switches, str(number % 5)) for number in range(10)))
    assert answers[:5] == answers[5:]
    assert sorted(each.switch_no for each in answers[:5]) == [1, 2, 3, 4, 5]


async def test_invalid_switches_are_refused(switches: Switches, service_connection: Connection) -> None:
    assert await refusal(switches, table_id="t9") == {"reason": "TABLE_UNKNOWN", "table_id": "t9"}
    for scope in (types_pb2.SWITCH_SCOPE_UNSPECIFIED, 9):
        assert await refusal(switches, scope=scope) == {"reason": "INVALID", "field": "scope"}
    assert await refusal(switches, table_id="") == {"reason": "INVALID", "field": "table_id"}
    assert await refusal(switches, scope=GAME) == {"reason": "INVALID", "field": "table_id"}
    for reason in ("", "  ", "x" * 501):
        assert await refusal(switches, reason=reason) == {"reason": "INVALID", "field": "reason"}
    assert (await switches.list_switches(PageRequest())).items == []
    with pytest.raises(asyncpg.CheckViolationError):
        await service_connection.execute("INSERT INTO switches VALUES (1, 1, '', false, 'x', 'x', now(), 'x', '')")


@pytest.mark.guarantee("G12")
async def test_g12_a_fault_switches_off_at_once_and_no_refund_waits_for_the_log(
    switches: Switches, engine: AsyncEngine, clock: ManualClock, service_connection: Connection
) -> None:
    """The round that a fault ended is voided right after the switch: its stakes must not wait for this database."""
    bus = grpc.aio.insecure_channel("127.0.0.1:1")
    platform = PlatformSwitch(bus, lambda: ())
    catalogue: CatalogueCache[Any, Any] = CatalogueCache(
        EvenSeatsGame(), Configurations(engine, clock), switches, platform, clock
    )
    await catalogue.refresh()
    changes: list[str | None] = []
    catalogue.on_change = lambda: changes.append(catalogue.closed_reason("t1"))
    running = asyncio.create_task(catalogue.run())
    try:
        async with service_connection.transaction():
            # Nobody can log a switch, for as long as this takes.
            await service_connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK_KEY)
            catalogue.switch_off("t1", "a fault of the platform")
            catalogue.switch_off(None, "x" * 1_000)
            assert changes == ["a fault of the platform", "x" * REASON_CHARACTERS_LIMIT]
            assert (await switches.list_switches(PageRequest())).items == []
        async with asyncio.timeout(WITHIN_S):
            await catalogue.log_switches()
        logged = (await switches.list_switches(PageRequest())).items
        assert [(each.table_id, each.reason[:1], each.set_by) for each in logged] == [
            ("", "x", PLATFORM),
            ("t1", "a", PLATFORM),
        ]
        assert (await switches.state()).off_reason("t1") == "x" * REASON_CHARACTERS_LIMIT
    finally:
        await background.cancel_and_wait([running])
        await bus.close()
