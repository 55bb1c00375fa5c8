"""The real gateway under attack: whoever attacks hears a clear no, its memory is bounded, and honest players play on.

What one connection may do to the others is in `test_hub`, `test_sse` and `test_websocket`: slow readers, floods, frames
that are oversized, malformed or never answered.
"""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4

import aiohttp
import psutil
import pytest

from stack.issuer import DevelopmentIssuer
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.live.test_event_stream import EventStreamReader
from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.gateway.platform.processes import Platform, running_platform
from tests.gateway.platform.websocket_player import STAKE_CENTS, WebSocketPlayer
from tests.processes.roulette import configuration
from tests.service.roulette.platform import INDIVIDUAL

SOLO, MANY = "solo_house", "many_house"
# As many as the machine lets a process have files for, if that is less; and what a test process has open besides.
BURST = 10_000
OTHER_FILES = 1_000
IN_ALL, PER_ADDRESS = 1_500, 500
# Of the gateway, for all connections that it may have, and what it needs to refuse the others.
GROWTH_BYTES_LIMIT = 96 * 1024 * 1024
REPLAYS = 40
# How long anything may take before it is called a hang, a burst included.
ROUND_WITHIN_S = 240.0
ENVIRONMENT = {
    "FELTRO_GATEWAY_CONNECTIONS": str(IN_ALL),
    "FELTRO_GATEWAY_CONNECTIONS_PER_ADDRESS": str(PER_ADDRESS),
    "FELTRO_GATEWAY_PLAYER_CALLS_PER_S": "9000",
    "FELTRO_GATEWAY_PLAYER_CALLS_AT_ONCE": "90000",
    "FELTRO_GATEWAY_CONNECTION_MESSAGES_PER_S": "9000",
    "FELTRO_GATEWAY_CONNECTION_MESSAGES_AT_ONCE": "90000",
}


@pytest.fixture(scope="module")
def running(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    home = tmp_path_factory.mktemp("platform")
    with running_platform(postgres, (wallet_template, game_template), home, ENVIRONMENT) as running:
        asyncio.run(_open_tables(running))
        yield running


async def _open_tables(running: Platform) -> None:
    async with running.roulette.client() as roulette:
        await roulette.configure(SOLO, configuration(play=INDIVIDUAL))
        await roulette.configure(MANY, configuration())


@pytest.fixture
async def ana(running: Platform) -> WebSocketPlayer:
    made = WebSocketPlayer(running.gateway)
    await made.fund(running.gateway)
    return made


class HonestPlay:
    """An honest player who goes on, whatever happens."""

    def __init__(self) -> None:
        self.rounds = 0
        self._over = asyncio.Event()

    def stop(self) -> None:
        self._over.set()

    async def play_rounds(self, player: WebSocketPlayer, client: RpcClient) -> None:
        table_id, round_id = await player.enter_table(client, SOLO)
        while not self._over.is_set():
            round_id = await player.play_round(client, table_id, round_id)
            self.rounds += 1


@asynccontextmanager
async def honest_play(player: WebSocketPlayer, running: Platform) -> AsyncIterator[HonestPlay]:
    """He plays meanwhile; every one of his calls has to have a result."""
    async with player.connect(running.gateway) as client:
        honest = HonestPlay()
        going_on = asyncio.create_task(honest.play_rounds(player, client))
        yield honest
        honest.stop()
        await going_on


class ConnectionBurst(threading.Thread):
    """Many who want to come in at once, in a thread and loop of their own. Those who are let in stay."""

    def __init__(self, port: int, addresses: list[str], count: int) -> None:
        super().__init__(daemon=True)
        self.answers: Counter[int] = Counter()
        self.refused: list[bytes] = []
        self.answered = threading.Event()
        self._leaves = threading.Event()
        self._port = port
        self._from = [addresses[number % len(addresses)] for number in range(count)]
        self._inside: list[asyncio.Transport] = []

    def run(self) -> None:
        asyncio.run(self._come())

    def disconnect(self) -> None:
        self._leaves.set()
        self.join()

    async def _come(self) -> None:
        try:
            await asyncio.gather(*map(self._knock, self._from))
        finally:
            self.answered.set()
        await asyncio.to_thread(self._leaves.wait)
        for transport in self._inside:
            transport.abort()

    async def _knock(self, source: str) -> None:
        transport, one = await asyncio.get_running_loop().create_connection(
            HandshakeClient, "127.0.0.1", self._port, local_addr=(source, 0)
        )
        await one.answered
        # Nothing is that he was not told why.
        status = int(one.received.split()[1]) if one.received else 0
        self.answers[status] += 1
        if status == 101:
            self._inside.append(transport)
        else:
            self.refused.append(one.received)
            transport.abort()


class HandshakeClient(asyncio.Protocol):
    """One who wants to come in. What has reached him counts, however his connection ends after it."""

    def __init__(self) -> None:
        self.received = b""
        self.answered = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(
            b"GET /v1/ws HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self.received.startswith(b"HTTP/1.1 101 ") and b"\r\n\r\n" in self.received:
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()

    def _end(self) -> None:
        if not self.answered.done():
            self.answered.set_result(None)


@pytest.mark.slow
@pytest.mark.guarantee("G11")
@pytest.mark.guarantee("G9")
@pytest.mark.parametrize(
    ("addresses", "let_in", "status", "limit"),
    [
        pytest.param(["127.0.0.2"], PER_ADDRESS, 429, PER_ADDRESS, id="from one address"),
        # The honest player has one of the places.
        pytest.param([f"127.0.2.{number}" for number in range(1, 41)], IN_ALL - 1, 503, IN_ALL, id="from many"),
    ],
)
async def test_ten_thousand_connects_in_a_burst(
    running: Platform, ana: WebSocketPlayer, many_files: int, addresses: list[str], let_in: int, status: int, limit: int
) -> None:
    gateway, burst = _process(running), min(BURST, many_files - OTHER_FILES)
    async with honest_play(ana, running) as honest:
        await _until(lambda: honest.rounds >= 1)
        before, played = gateway.memory_info().rss, honest.rounds
        crowd = ConnectionBurst(running.gateway.port, addresses, burst)
        crowd.start()
        await _until(crowd.answered.is_set)
        grown = gateway.memory_info().rss - before
        during = honest.rounds - played
        # With all places taken he goes on, and whoever supervises the process is answered.
        await _until(lambda: honest.rounds >= played + during + 1)
        async with aiohttp.ClientSession(running.gateway.url) as session, session.get("/healthz") as answer:
            assert answer.status == 200
        crowd.disconnect()
    print(f"{dict(crowd.answers)}: {grown / 2**20:.0f} MB more, {during} rounds meanwhile")
    assert crowd.answers == {101: let_in, status: burst - let_in}
    for refusal in crowd.refused:
        head, _, body = refusal.partition(b"\r\n\r\n")
        assert b"\r\nRetry-After: 5\r\n" in head + b"\r\n"
        assert b"Content-Type: application/problem+json" in head
        said = json.loads(body)
        assert (said["status"], said["reason"], said["facts"]) == (status, "OVERLOADED", {"limit": str(limit)})
    assert grown < GROWTH_BYTES_LIMIT
    assert during >= 1, "the honest player got nowhere"
    # There is room again.
    async with asyncio.timeout(ROUND_WITHIN_S):
        while True:
            one = ConnectionBurst(running.gateway.port, addresses[:1], 1)
            one.start()
            await _until(one.answered.is_set)
            one.disconnect()
            if one.answers[101]:
                break


@pytest.mark.guarantee("G11")
async def test_connections_that_never_ask_anything_take_nobody_elses_place(
    running: Platform, ana: WebSocketPlayer
) -> None:
    halves = []
    for number in range(2 * PER_ADDRESS):
        half = socket.create_connection(("127.0.0.1", running.gateway.port), source_address=("127.0.0.3", 0))
        half.sendall(b"GET /v1/ws HTTP/1.1\r\nHost:" if number % 2 else b"")
        halves.append(half)
    async with ana.connect(running.gateway) as client:
        await client.result("ping")
        table_id, round_id = await ana.enter_table(client, SOLO)
        await ana.play_round(client, table_id, round_id)
    for half in halves:
        half.close()


@pytest.mark.guarantee("G12")
async def test_a_token_that_does_not_hold_opens_nothing_anywhere(
    running: Platform, ana: WebSocketPlayer, tmp_path: Path
) -> None:
    stranger = DevelopmentIssuer(tmp_path)
    stranger.prepare()
    mine = running.gateway.issuer.token(["player"], ana.name)
    head, claims, signature = mine.split(".")
    # Only a published key's name lets a token come as far as its algorithm.
    kid = json.loads(_decoded(head))["kid"]
    unsigned = f"{_encoded({'alg': 'none', 'typ': 'JWT', 'kid': kid})}.{claims}."
    by_public_key = f"{_encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': kid})}.{claims}"
    (published,) = (key for key in json.loads(running.gateway.issuer.jwks.read_text())["keys"] if key["kid"] == kid)
    stamp = hmac.digest(_decoded(published["x"]), by_public_key.encode(), "sha256")
    tokens = {
        "of another issuer": (stranger.token(["player"], ana.name), "TOKEN_INVALID"),
        "unsigned": (unsigned, "TOKEN_INVALID"),
        "signed with the public key": (f"{by_public_key}.{_base64(stamp)}", "TOKEN_INVALID"),
        "changed": (f"{head}.{_changed(claims, sub='rui')}.{signature}", "TOKEN_INVALID"),
        "with more scopes": (f"{head}.{_changed(claims, scope='operator')}.{signature}", "TOKEN_INVALID"),
        "expired": (running.gateway.issuer.token(["player"], ana.name, -5), "TOKEN_EXPIRED"),
        "nonsense": ("a.b.c", "TOKEN_INVALID"),
        "no ASCII": ("a.\u00e9.c", "TOKEN_INVALID"),
    }
    async with aiohttp.ClientSession(running.gateway.url) as session:
        for kind, (token, reason) in tokens.items():
            sent = {"Authorization": f"Bearer {token}"}
            for path in ("/v1/ws", f"/v1/tables/{MANY}/events", f"/v1/accounts/{ana.account_id}/balance"):
                async with session.get(path, headers=sent) as got:
                    assert (got.status, (await got.json(content_type=None))["reason"]) == (401, reason), (kind, path)
            async with session.ws_connect("/v1/ws") as ws:
                client = RpcClient(ws)
                answer = await client.call_with_token("authenticate", token)
                assert answer["error"]["data"]["reason"] == reason, kind
                answer = await client.call_with_token("refresh", token)
                assert answer["error"]["data"]["status"] in {401, 403}, kind
                balance = await client.call("WalletService.GetBalance", account_id=ana.account_id)
                assert balance["error"]["data"]["reason"] == "TOKEN_INVALID"


@pytest.mark.guarantee("G12")
async def test_what_is_between_services_is_not_offered_to_anybody(running: Platform, ana: WebSocketPlayer) -> None:
    """Whatever token is shown: the way to the ledger's own commands does not lead through the gateway."""
    issuer, thief = running.gateway.issuer, "a game service whose token was stolen"
    for scopes in (["game"], ["game", "operator"], ["player", "game"]):
        stolen = {"Authorization": f"Bearer {issuer.token(scopes, thief)}"}
        async with aiohttp.ClientSession(running.gateway.url, headers=stolen) as session:
            for path in ("/v1/ws", f"/v1/tables/{MANY}/events", "/v1/games", f"/v1/accounts/{ana.account_id}/balance"):
                async with session.get(path) as got:
                    assert (got.status, (await got.json(content_type=None))["reason"]) == (401, "TOKEN_INVALID"), path
    stranger = issuer.token(["operator"], thief)
    async with aiohttp.ClientSession(running.gateway.url) as session, session.ws_connect("/v1/ws") as ws:
        client = RpcClient(ws)
        await client.call_with_token("authenticate", stranger)
        for method in ("OpenTable", "PlaceStake", "SettleRound", "VoidRound", "CashOut", "RefillDemoAccount"):
            answer = await client.call(f"WalletService.{method}")
            assert answer["error"]["data"]["reason"] == "METHOD_UNKNOWN", method
        async with session.get("/asyncapi.json") as got:
            operations = (await got.json())["operations"]
        assert "WalletService.GetBalance" in operations
        assert "WalletService.SettleRound" not in operations


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}", 415),
        ("Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n", 400),
    ],
)
async def test_a_body_that_is_garbled_is_the_senders_fault(running: Platform, sent: str, status: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", running.gateway.port)
    head = "POST /v1/demo:enter HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\n"
    writer.write((head + sent).encode())
    async with asyncio.timeout(ROUND_WITHIN_S):
        said, _, body = (await reader.read()).partition(b"\r\n\r\n")
    writer.close()
    assert int(said.split()[1]) == status
    assert json.loads(body)["reason"] == "INVALID"


@pytest.mark.guarantee("G3")
async def test_a_bet_that_is_sent_again_and_again_counts_once(running: Platform, ana: WebSocketPlayer) -> None:
    rui = WebSocketPlayer(running.gateway)
    await rui.fund(running.gateway)
    async with (
        ana.connect(running.gateway) as client,
        ana.connect(running.gateway) as other,
        rui.connect(running.gateway) as thief,
    ):
        table_id, round_id = await ana.enter_table(client, SOLO)
        bet = ana.bet(table_id, round_id, "replayed")
        first = await client.result("RouletteService.PlaceBets", **bet)
        for number in range(REPLAYS):
            call = {"jsonrpc": "2.0", "id": number, "method": "RouletteService.PlaceBets", "params": bet}
            for one in (client, other):
                await one.ws.send_json(call)
        for one in (client, other):
            stakes = [await _answered(one) for _ in range(REPLAYS)]
            assert all(answer["result"]["stake"] == first["stake"] for answer in stakes if "result" in answer)
            # What is too much at once is refused, and has changed nothing.
            refused = [answer["error"]["data"]["reason"] for answer in stakes if "error" in answer]
            assert set(refused) <= {"OVERLOADED"}
            assert len(refused) < REPLAYS
        # Whoever has overheard the call can do nothing with it.
        stolen = await thief.call("RouletteService.PlaceBets", **bet)
        assert stolen["error"]["data"]["status"] in {403, 404, 409}
        assert "stake" not in str(stolen["error"]["data"]["facts"])
        assert await ana.free_cents(client) == ana.cents - STAKE_CENTS
        assert await rui.free_cents(thief) == rui.cents
        await client.result("RouletteService.Spin", table_id=table_id, round_id=round_id)
        late = await client.call("RouletteService.PlaceBets", **{**bet, "request_id": str(uuid4())})
        assert late["error"]["data"]["reason"] == "BETTING_CLOSED"


@pytest.mark.guarantee("G7")
async def test_nobody_hears_what_is_told_to_another(running: Platform, ana: WebSocketPlayer) -> None:
    rui = WebSocketPlayer(running.gateway)
    await rui.fund(running.gateway)
    async with ana.connect(running.gateway) as client, rui.connect(running.gateway) as other:
        table_id, round_id = await ana.enter_table(client, SOLO)
        for method, params in {
            "subscribe": {"table_id": table_id},
            "TableService.GetTable": {"table_id": table_id},
            "WalletService.GetBalance": {"account_id": ana.account_id},
            "TableService.ListPlayerRounds": {"game": "roulette", "player_id": ana.name},
        }.items():
            answer = await other.call(method, **params)
            assert answer["error"]["data"]["status"] in {403, 404}, method
        sent = {"Authorization": f"Bearer {rui.token}"}
        async with aiohttp.ClientSession(running.gateway.url) as session:
            for headers in (sent, {}):
                async with session.get(f"/v1/tables/{table_id}/events", headers=headers) as got:
                    assert got.status in {401, 403, 404}
        # Both watch a table for many; only one plays there.
        async with (
            aiohttp.ClientSession(running.gateway.url) as session,
            session.get(f"/v1/tables/{MANY}/events", headers=sent) as streamed,
        ):
            reader = EventStreamReader(streamed)
            for one in (client, other):
                await one.result("subscribe", table_id=MANY)
            await client.result("TableService.EnterTable", table_id=MANY, request_id=str(uuid4()))
            await ana.play_round(client, table_id, round_id)
            events: list[JsonObject] = []
            async with asyncio.timeout(ROUND_WITHIN_S):
                while not any("round_opened" in event for event in events):
                    events.append((await reader.next())[1])
                while not any("balance_changed" in fact for fact in [await client.next_notification("player")]):
                    pass
            await other.result("ping")
            # He hears of the table, and of his own deposit.
            assert {said["method"] for said in other.notifications} - {"player"} == {"table"}
            assert ana.name not in json.dumps([events, other.notifications])
            assert ana.account_id not in json.dumps([events, other.notifications])


async def _answered(client: RpcClient) -> JsonObject:
    while True:
        said: JsonObject = await client.ws.receive_json()
        if "id" in said:
            return said


def _process(running: Platform) -> psutil.Process:
    assert running.gateway.child is not None
    (gateway,) = psutil.Process(running.gateway.child.pid).children()
    return gateway


async def _until(true: object) -> None:
    assert callable(true)
    async with asyncio.timeout(ROUND_WITHIN_S):
        while not true():
            await asyncio.sleep(0.01)


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _encoded(said: JsonObject) -> str:
    return _base64(json.dumps(said).encode())


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


def _changed(claims: str, **more: str) -> str:
    return _encoded({**json.loads(_decoded(claims)), **more})
