"""Every query of the dashboards has an answer on a platform that is played, and no alert or page names what is not."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import aiohttp
import pytest
import yaml

from feltro.wallet.v1 import types_pb2 as wallet_types
from stack.processes.child import ChildProcess
from stack.servers.ephemeral import free_port
from stack.servers.postgres import EmbeddedPostgres
from stack.settings import ROOT
from tests.gateway.blackjack_behind_gateway import blackjack_behind_gateway
from tests.gateway.live_gateway import RpcClient
from tests.gateway.platform.processes import TIMEOUT_S
from tests.gateway.platform.test_decisions import Hand, last_decision
from tests.gateway.platform.websocket_player import WebSocketPlayer
from tests.monitoring.files import Query, alerts, metrics_in, queries, write_rules
from tests.processes.blackjack import configuration
from tests.processes.gateway import GatewayProcess
from tests.processes.service import ServiceProcess
from tests.service.one_game_platform import PlatformDatabases
from tools.prometheus import program

TABLE = "measured"
# What looks like a metric in a page and is a database or its role.
_ROLE = re.compile("feltro_(?:wallet|[a-z]+_owner|roulette|)")
PAGES = ("docs/operating.md", "docs/kubernetes.md", "docs/scaling.md")


@dataclass(frozen=True)
class Measured:
    """A platform, and the Prometheus that scrapes it."""

    gateway: GatewayProcess
    prometheus: str


@pytest.fixture(scope="module")
def measured(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Measured]:
    home = tmp_path_factory.mktemp("measured")
    tables = {TABLE: configuration(play=wallet_types.PLAY_INDIVIDUAL, places=1)}
    auditing = {"FELTRO_WALLET_AUDIT_EVERY_S": "2"}
    with (
        PlatformDatabases(postgres, wallet_template, game_template).made_for("measurements") as databases,
        blackjack_behind_gateway(databases, home, tables, wallet_settings=auditing) as running,
    ):
        port = free_port()
        scraper = _prometheus(home, port, running.processes)
        try:
            yield Measured(running.gateway, f"http://127.0.0.1:{port}")
        finally:
            scraper.stop()


def _prometheus(home: Path, port: int, processes: tuple[ServiceProcess, ...]) -> ChildProcess:
    """Scrapes each process every half second, with the rules loaded."""
    write_rules(home)
    jobs = [
        {"job_name": process.name, "static_configs": [{"targets": [f"127.0.0.1:{process.metrics_port}"]}]}
        for process in processes
    ]
    scraping = {"scrape_interval": "500ms", "evaluation_interval": "1s"}
    file = home / "prometheus.yaml"
    file.write_text(yaml.safe_dump({"global": scraping, "rule_files": ["rules.yaml"], "scrape_configs": jobs}))
    command = [program("prometheus"), f"--config.file={file}", f"--storage.tsdb.path={home / 'prometheus'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}"]
    return ChildProcess(command, log=home / "prometheus.log", environment={}, stop_seconds=10)


async def play(gateway: GatewayProcess) -> None:
    """Plays a hand with a decision, and has a call refused by the gateway and another one by a service."""
    player = WebSocketPlayer(gateway)
    await player.fund(gateway)
    async with player.connect(gateway) as client:
        async with asyncio.timeout(TIMEOUT_S):
            while "error" in await client.call("TableService.GetRules", table_id=TABLE):
                await asyncio.sleep(0.1)
        table_id, round_id = await player.enter_table(client, TABLE)
        await client.result("subscribe", table_id=table_id)
        hand = Hand(client, table_id, round_id)
        told = await hand.deal_until_asked()
        while told:
            await client.result("TableService.Act", **hand.act(told, last_decision(told)))
            told = await hand.open_question()
        await _refused(client)


async def _refused(client: RpcClient) -> None:
    assert "error" in await client.call("WalletService.GetBalance", account_id=str(uuid4()))
    assert "error" in await client.call("WalletService.GetBalance", account=1)


async def ask(session: aiohttp.ClientSession, path: str) -> object:
    """The data of an answer of Prometheus; a query that it does not understand fails."""
    async with session.get(path) as answer:
        content = await answer.json()
    assert content["status"] == "success", content
    return content["data"]


async def unanswered(session: aiohttp.ClientSession) -> list[Query]:
    """The queries of dashboards without any series in their answers."""
    found = []
    for query in queries():
        data = await ask(session, f"/api/v1/query?query={quote(query.now)}")
        assert isinstance(data, dict)
        if not data["result"]:
            found.append(query)
    return found


async def test_every_query_of_the_dashboards_has_an_answer(measured: Measured) -> None:
    give_up_at = time.monotonic() + TIMEOUT_S
    async with aiohttp.ClientSession(measured.prometheus) as session:
        async with asyncio.timeout(TIMEOUT_S):
            while not await _is_ready(session):
                await asyncio.sleep(0.1)
        await play(measured.gateway)
        while missing := await unanswered(session):
            assert time.monotonic() < give_up_at, missing
            # Until the next scrape, and the one after it: a rate needs two.
            await asyncio.sleep(0.5)


async def test_every_metric_that_alerts_and_pages_name_is_there(measured: Measured) -> None:
    async with aiohttp.ClientSession(measured.prometheus) as session:
        give_up_at = time.monotonic() + TIMEOUT_S
        while not (known := await _described(session)) or "feltro_audit_violations" not in known:
            assert time.monotonic() < give_up_at, sorted(known)
            await asyncio.sleep(0.2)
        for alert in alerts():
            assert metrics_in(alert.expression) <= known, alert.name
            await ask(session, f"/api/v1/query?query={quote(alert.expression)}")
        loaded = await ask(session, "/api/v1/rules")
        assert isinstance(loaded, dict)
        health = {rule["name"]: rule["health"] for group in loaded["groups"] for rule in group["rules"]}
        assert set(health) == {alert.name for alert in alerts()}
        assert set(health.values()) <= {"ok", "unknown"}
    for page in PAGES:
        named = metrics_in((ROOT / page).read_text(encoding="utf-8"))
        assert {name for name in named if not _ROLE.fullmatch(name)} <= known, page


async def _described(session: aiohttp.ClientSession) -> set[str]:
    data = await ask(session, "/api/v1/metadata")
    assert isinstance(data, dict)
    return {name for each in data for name in metrics_in(each)}


async def _is_ready(session: aiohttp.ClientSession) -> bool:
    try:
        async with session.get("/-/ready") as answer:
            return answer.status == 200
    except aiohttp.ClientError:
        return False
