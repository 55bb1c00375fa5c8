"""The betting window by the real clock: it ends by itself, and not before its time."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, timedelta

import pytest

from tests.service.roulette.platform import WHEEL_BY_REGULATION, RouletteDriver

# The shortest that the regulation allows.
WINDOW_MS = 3_000


@pytest.mark.rule("804/2015:14", "807/2015:16", "903-B/2015:6.1.4")
async def test_the_window_ends_by_itself_and_not_before_its_time(driver: RouletteDriver) -> None:
    tables = [await driver.new_table(wheel=wheel, window_ms=WINDOW_MS) for wheel in WHEEL_BY_REGULATION.values()]
    await asyncio.gather(*(_live_through_a_window(driver, table_id) for table_id in tables))


async def _live_through_a_window(driver: RouletteDriver, table_id: str) -> None:
    watcher = await driver.watch(table_id)
    began = time.monotonic()
    # The first round opens for the first player.
    await driver.seat_new_player(table_id)
    round_id = await watcher.next_round()
    closed = await watcher.wait_for("betting_closed", round_id)
    passed_s = time.monotonic() - began
    await watcher.wait_for("round_settled", round_id)

    opened = next(watcher.events_of("round_opened", round_id)).round_opened.round
    window = opened.closes_at.ToDatetime(UTC) - opened.opened_at.ToDatetime(UTC)
    assert window >= timedelta(milliseconds=WINDOW_MS)
    assert closed.at.ToDatetime(UTC) >= opened.closes_at.ToDatetime(UTC)
    assert passed_s >= WINDOW_MS / 1000
