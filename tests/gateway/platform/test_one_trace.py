"""One trace leads from a client's call through gateway, game, wallet, outbox and bus, and back to the client."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import aiohttp
import pytest

from feltro.wallet.v1 import types_pb2 as wallet_types
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.blackjack_behind_gateway import BlackjackBehindGateway, blackjack_behind_gateway
from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.gateway.platform.processes import TIMEOUT_S
from tests.gateway.platform.test_decisions import Hand, last_decision
from tests.gateway.platform.websocket_player import WebSocketPlayer
from tests.processes import bus
from tests.processes.blackjack import BlackjackProcess, configuration
from tests.processes.collector import CollectedSpan, Collector, running_collector
from tests.processes.gateway import GatewayProcess
from tests.processes.service import ServiceProcess
from tests.service.one_game_platform import PlatformDatabases

TABLE = "traced"
CLIENT_SPAN = "00f067aa0ba902b7"
# The way of a bet, each step by the process that takes it.
BET = {
    ("feltro-gateway", "BlackjackService.PlaceBets"),
    ("feltro-blackjack", "feltro.blackjack.v1.BlackjackService/PlaceBets"),
    ("feltro-blackjack", "place stakes"),
    ("feltro-wallet", "feltro.wallet.v1.WalletService/PlaceStakes"),
    ("feltro-wallet", "place a stake"),
    ("feltro-wallet", "write a group"),
    ("feltro-wallet", "publish a fact"),
    ("feltro-blackjack", "publish events"),
    # Of the fact and of the event.
    ("feltro-gateway", "deliver"),
}
DECISION = {
    ("feltro-gateway", "TableService.Act"),
    ("feltro-blackjack", "feltro.table.v1.TableService/Act"),
    ("feltro-blackjack", "publish events"),
    ("feltro-gateway", "deliver"),
}


@dataclass(frozen=True)
class TracedPlatform:
    """The processes, and where their spans arrive."""

    running: BlackjackBehindGateway
    collector: Collector

    @property
    def processes(self) -> tuple[ServiceProcess, ...]:
        return self.running.processes

    @property
    def blackjack(self) -> BlackjackProcess:
        return self.running.blackjack

    @property
    def gateway(self) -> GatewayProcess:
        return self.running.gateway

    @property
    def entropy_keys(self) -> Path:
        return self.running.entropy_keys


@pytest.fixture(scope="module")
def platform(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TracedPlatform]:
    home = tmp_path_factory.mktemp("traces")
    tables = {TABLE: configuration(play=wallet_types.PLAY_INDIVIDUAL, places=1)}
    with (
        running_collector() as collector,
        PlatformDatabases(postgres, wallet_template, game_template).made_for("traces") as databases,
        blackjack_behind_gateway(
            databases, home, tables, settings={"FELTRO_LOG_LEVEL": "debug", **collector.variables}
        ) as running,
    ):
        yield TracedPlatform(running, collector)


def meta(trace_id: str) -> JsonObject:
    """The trace that a browser sends with its call."""
    return {"_meta": {"traceparent": f"00-{trace_id}-{CLIENT_SPAN}-01"}}


def steps(spans: Iterable[CollectedSpan]) -> set[tuple[str, str]]:
    return {(span.service, span.name) for span in spans}


def streams_delivered(spans: Iterable[CollectedSpan]) -> set[object]:
    """The streams whose messages were delivered to the client."""
    return {span.attributes["feltro.stream"] for span in spans if span.name == "deliver"}


async def whole_trace(
    collector: Collector, trace_id: str, wanted: set[tuple[str, str]], streams: int = 1
) -> list[CollectedSpan]:
    """Waits until all these steps of a trace have arrived, and everything between them and the client.

    `streams`: from how many messages were delivered; their spans may leave the gateway one after the other.
    """
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                spans = collector.of_trace(trace_id)
                known = {span.span_id for span in spans} | {CLIENT_SPAN}
                is_whole = steps(spans) >= wanted and len(streams_delivered(spans)) >= streams
                if is_whole and all(span.parent_id in known for span in spans):
                    return spans
                await asyncio.sleep(0.05)
    except TimeoutError:
        spans = collector.of_trace(trace_id)
        missing = wanted - steps(spans)
        raise AssertionError(f"missing: {missing} of {streams} streams; there are {spans}") from None


async def enter(player: WebSocketPlayer, platform: TracedPlatform, client: RpcClient) -> Hand:
    async with asyncio.timeout(TIMEOUT_S):
        while "error" in await client.call("TableService.GetRules", table_id=TABLE):
            await asyncio.sleep(0.1)
    table_id, round_id = await player.enter_table(client, TABLE)
    await client.result("subscribe", table_id=table_id)
    return Hand(client, table_id, round_id)


async def test_a_bet_and_a_decision_are_one_connected_trace_each(platform: TracedPlatform) -> None:
    player = WebSocketPlayer(platform.gateway)
    await player.fund(platform.gateway)
    async with player.connect(platform.gateway) as client:
        hand = await enter(player, platform, client)
        betting, deciding = secrets.token_hex(16), secrets.token_hex(16)
        place = {"table_id": hand.table_id, "round_id": hand.round_id, "request_id": str(uuid4())}
        bets = [{"place": "1", "amount_cents": 1_000}]
        await client.result("BlackjackService.PlaceBets", **place, bets=bets, **meta(betting))

        spans = await whole_trace(platform.collector, betting, BET, streams=2)
        assert len(streams_delivered(spans)) == 2

        told = await hand.deal_until_asked()
        await client.result("TableService.Act", **hand.act(told, last_decision(told)), **meta(deciding))

        await whole_trace(platform.collector, deciding, DECISION)


async def test_each_of_many_bets_keeps_its_own_trace_and_their_batch_is_linked_to_them(
    platform: TracedPlatform,
) -> None:
    players = [WebSocketPlayer(platform.gateway) for _ in range(8)]
    traces = [secrets.token_hex(16) for _ in players]

    async def bet(player: WebSocketPlayer, trace_id: str, all_seated: asyncio.Barrier) -> None:
        await player.fund(platform.gateway)
        async with player.connect(platform.gateway) as client:
            hand = await enter(player, platform, client)
            await all_seated.wait()
            place = {"table_id": hand.table_id, "round_id": hand.round_id, "request_id": str(uuid4())}
            bets = [{"place": "1", "amount_cents": 1_000}]
            await client.result("BlackjackService.PlaceBets", **place, bets=bets, **meta(trace_id))
            await whole_trace(platform.collector, trace_id, BET - {("feltro-wallet", "write a group")})

    all_seated = asyncio.Barrier(len(players))
    await asyncio.gather(*(bet(player, trace_id, all_seated) for player, trace_id in zip(players, traces, strict=True)))

    for trace_id in traces:
        written = [span for span in platform.collector.of_trace(trace_id) if span.name == "write a group"]
        linked = [span for span in platform.collector.all() if span.name == "write a group" and trace_id in span.links]
        # Alone in the trace of its only call, or in company and linked to each of them.
        assert len(written) + len(linked) == 1


@pytest.mark.guarantee("G7")
async def test_g7_no_token_and_no_hidden_card_is_in_a_span_a_log_or_a_metric(platform: TracedPlatform) -> None:
    player = WebSocketPlayer(platform.gateway)
    await player.fund(platform.gateway)
    async with player.connect(platform.gateway) as client:
        hand = await enter(player, platform, client)
        told = await hand.deal_until_asked()
        trace_id = secrets.token_hex(16)
        round_id = told["round_id"]
        late = hand.act(told, last_decision(told), "late")
        while told:
            await client.result("TableService.Act", **hand.act(told, last_decision(told)), **meta(trace_id))
            told = await hand.open_question()
        await whole_trace(platform.collector, trace_id, DECISION)
        # A refusal, which is logged.
        assert "error" in await client.call("TableService.Act", **late)
        operator = platform.gateway.issuer.token(["operator"], "back-office")
        entropy = await _entropy_of(platform, operator, round_id)

    # What tells the cards before they are seen: the round's entropy, the keys that seal it, and who may ask for it.
    keys = [line.split()[1] for line in platform.entropy_keys.read_text().splitlines() if line.strip()]
    markers = [player.token, player.token.split(".")[2], operator, *keys, entropy.hex()]
    markers += [base64.b64encode(entropy).decode(), bus.password(platform.running.wallet.nats_url)]
    seen = {"spans": b"".join(platform.collector.raw)}
    async with aiohttp.ClientSession() as session:
        for process in platform.processes:
            seen[f"log of {process.name}"] = process.log.read_bytes()
            async with session.get(f"http://127.0.0.1:{process.metrics_port}/metrics") as scraped:
                seen[f"metrics of {process.name}"] = await scraped.read()
    for where, content in seen.items():
        assert len(content) > 100, f"nothing was looked at in the {where}"
        for marker in [*(marker.encode() for marker in markers), entropy]:
            assert marker not in content, f"{marker[:8]!r}… is in the {where}"


async def _entropy_of(platform: TracedPlatform, operator: str, round_id: str) -> bytes:
    """The entropy of a round that has ended, which its replay tells."""
    headers = {"Authorization": f"Bearer {operator}"}
    async with aiohttp.ClientSession(platform.gateway.url, headers=headers) as session, asyncio.timeout(TIMEOUT_S):
        while True:
            async with session.get(f"/v1/games/blackjack/rounds/{round_id}:replay") as answer:
                replay = await answer.json()
            if replay.get("entropy"):
                return base64.b64decode(replay["entropy"])
            await asyncio.sleep(0.1)
