"""A program that knows only the gateway's documents plays both roulettes on the real platform."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from uuid import uuid4

import aiohttp
import pytest
import pytest_asyncio

from tests.gateway.platform.asyncapi_recorder import AsyncApiDocument, JsonObject, RecordedSocket
from tests.gateway.platform.openapi_client import OpenApiClient
from tests.gateway.platform.processes import TIMEOUT_S, Platform
from tests.processes import ledger_audit
from tests.processes.roulette import configuration
from tests.processes.wallet import DEMO, REAL
from tests.service.roulette.platform import INDIVIDUAL, INDIVIDUAL_TABLES, WHEEL_BY_REGULATION, WINDOW_MS

MODES = {"MODE_REAL": REAL, "MODE_DEMO": DEMO}
CROWD_TABLE, CROWD_SIZE, CROWD_CENTS, CROWD_BET_CENTS = "crowd", 50, 10_000, 200
# All are sent the same: that each message is as documented is checked for so many of them.
VERIFIED_SOCKETS = 3


@pytest.fixture(scope="module", autouse=True)
def open_tables(platform: Platform) -> None:
    """A table of each regulation, mode and play."""
    tables = {}
    for regulation, wheel in WHEEL_BY_REGULATION.items():
        for name, mode in MODES.items():
            individual, shared = _tables(regulation, name)
            tables[individual] = configuration(wheel=wheel, play=INDIVIDUAL, mode=mode)
            tables[shared] = configuration(wheel=wheel, mode=mode, window_ms=WINDOW_MS)
    asyncio.run(platform.open_tables(tables))


def _tables(regulation: str, mode: str) -> tuple[str, str]:
    """Returns the ids of the individual table and of the multi-player table."""
    real = INDIVIDUAL_TABLES[regulation], f"multi_{regulation}"
    return real if mode == "MODE_REAL" else (f"{real[0]}_demo", f"{real[1]}_demo")


@pytest_asyncio.fixture
async def client(session: aiohttp.ClientSession) -> OpenApiClient:
    return await OpenApiClient.connect(session)


class OpenApiPlayer:
    """A player with a funded account, or a guest of a demonstration, who calls through the OpenAPI document."""

    def __init__(self, client: OpenApiClient, platform: Platform, name: str, mode: str = "MODE_REAL") -> None:
        self.name = name
        self.mode = mode
        self._client = client
        self.token = platform.gateway.issuer.token(["player"], name)
        self.operator_token = platform.gateway.issuer.token(["operator"], "back-office")
        self.account_id = ""

    async def arrive(self, cents: int) -> None:
        """Pays in, or enters a demonstration, as the mode has it."""
        if self.mode == "MODE_REAL":
            await self.fund(cents)
            return
        entered = await self._client.call("GatewayService_EnterDemo")
        self.token, self.name = entered["token"], entered["player_id"]

    async def find_account(self) -> None:
        """Finds the player's account, which a guest has only once seated."""
        found = await self._client.call("WalletService_FindAccount", self.token, player_id=self.name, mode=self.mode)
        self.account_id = found["balance"]["account_id"]

    async def fund(self, cents: int) -> None:
        opened = await self._client.call(
            "WalletService_OpenAccount", self.operator_token, {"player_id": self.name, "mode": "MODE_REAL"}
        )
        self.account_id = opened["balance"]["account_id"]
        await self._client.call(
            "WalletService_Deposit", self.operator_token, {"amount_cents": cents}, account_id=self.account_id
        )

    async def free_cents(self) -> int:
        answer = await self._client.call("WalletService_GetBalance", self.token, account_id=self.account_id)
        return int(answer["balance"]["free_cents"])

    async def betting_round_id(self, table_id: str) -> str:
        """Returns the round that takes bets, as soon as one does."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                table = (await self._client.call("TableService_GetTable", self.token, table_id=table_id))["table"]
                if table["phase"] == "PHASE_BETTING":
                    return str(table["round"]["round_id"])
                await asyncio.sleep(0.1)

    async def enter(self, table_id: str) -> str:
        """Enters, and returns the table that the player sits at: at an individual one, their own."""
        entered = await self._client.call("TableService_EnterTable", self.token, {}, table_id=table_id)
        return str(entered["table"]["table_id"])

    async def bet_on_black(self, table_id: str, cents: int) -> str:
        """Bets in the open round, and returns its id; tries the next one if betting has just closed."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                round_id = await self.betting_round_id(table_id)
                body = {"round_id": round_id, "bets": [{"place": "black", "amount_cents": str(cents)}]}
                status, answer = await self._client.request(
                    "RouletteService_PlaceBets", self.token, body, table_id=table_id
                )
                if status == 200:
                    return round_id
                assert answer["reason"] == "BETTING_CLOSED", answer

    async def wait_until_settled(self, table_id: str, round_id: str) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                page = await self._client.call("TableService_ListTableRounds", table_id=table_id)
                states = {past["round_id"]: past["state"] for past in page["rounds"]}
                if states.get(round_id) == "ROUND_STATE_SETTLED":
                    return
                await asyncio.sleep(0.1)


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("regulation", list(INDIVIDUAL_TABLES))
async def test_a_documented_client_plays_at_an_individual_table(
    platform: Platform, client: OpenApiClient, regulation: str, mode: str
) -> None:
    player = OpenApiPlayer(client, platform, f"alone_{regulation}", mode)
    entry_table_id, _ = _tables(regulation, mode)
    await player.arrive(10_000)
    (game,) = (await client.call("GatewayService_ListGames"))["games"]
    listed = await client.call("TableService_ListTables", game=game["game"], mode=mode)
    assert entry_table_id in [table["table_id"] for table in listed["tables"]]
    table_id = await player.enter(entry_table_id)
    await player.find_account()
    before = await player.free_cents()
    layout = await client.call("RouletteService_GetLayout", table_id=table_id)
    places = {place["place"] for place in layout["places"]}
    bets = [{"place": place, "amount_cents": 200} for place in ("red", "17") if place in places]
    round_id = await player.betting_round_id(table_id)

    body = {"round_id": round_id, "bets": bets}
    placed = await client.call("RouletteService_PlaceBets", player.token, body, key="b1", table_id=table_id)
    again = await client.call("RouletteService_PlaceBets", player.token, body, key="b1", table_id=table_id)
    spun = await client.call("RouletteService_Spin", player.token, {"round_id": round_id}, table_id=table_id)

    assert again["stake"] == placed["stake"]
    assert placed["stake"]["balance"]["mode"] == mode
    assert spun["staked_cents"] == "400"
    assert await player.free_cents() == before - 400 + int(spun["payout_cents"])
    history = await client.call(
        "TableService_ListPlayerRounds", player.token, game="roulette", player_id=player.name, page_size="1"
    )
    assert history["rounds"][0]["round"]["round_id"] == round_id
    assert history["rounds"][0]["stakes"][0]["bets"]["@type"].endswith("/feltro.roulette.v1.Bets")


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("regulation", list(INDIVIDUAL_TABLES))
async def test_a_documented_client_plays_at_a_multi_player_table(
    platform: Platform, client: OpenApiClient, regulation: str, mode: str
) -> None:
    player = OpenApiPlayer(client, platform, f"among_{regulation}", mode)
    await player.arrive(10_000)
    table_id = await player.enter(_tables(regulation, mode)[1])
    await player.find_account()
    before = await player.free_cents()
    round_id = await player.bet_on_black(table_id, 300)
    await platform.advance_tables(WINDOW_MS / 1_000)
    await player.wait_until_settled(table_id, round_id)
    history = await client.call(
        "TableService_ListPlayerRounds", player.token, game="roulette", player_id=player.name, table_id=table_id
    )
    assert history["rounds"][0]["payout_cents"] in {"0", "600"}
    assert await player.free_cents() == before - 300 + int(history["rounds"][0]["payout_cents"])


@pytest.mark.rule("903-B/2015:6.3.6.2")
async def test_the_recorded_address_is_the_one_that_the_gateway_sees(platform: Platform, client: OpenApiClient) -> None:
    player = OpenApiPlayer(client, platform, "far_away")
    await player.arrive(1)
    device = {"kind": "phone", "address": "203.0.113.99"}
    entered = await client.call(
        "TableService_EnterTable", player.token, {"device": device}, table_id=_tables("804", "MODE_REAL")[1]
    )
    assert entered["session"]["device"] == {"kind": "phone", "agent": "", "address": "127.0.0.1", "fingerprint": ""}


@pytest.mark.guarantee("G1")
async def test_g1_fifty_players_share_a_round_over_websockets_and_the_ledger_balances(
    platform: Platform, client: OpenApiClient
) -> None:
    # A table of this test alone: its first round stays open until all have bet, however long that takes.
    await platform.open_tables({CROWD_TABLE: configuration(window_ms=WINDOW_MS)})
    async with client.session.get("/asyncapi.json") as got:
        document = AsyncApiDocument(await got.json())
    async with AsyncExitStack() as stack:
        sockets = [
            RecordedSocket(await stack.enter_async_context(client.session.ws_connect("/v1/ws")))
            for _ in range(CROWD_SIZE)
        ]
        operator = RecordedSocket(await stack.enter_async_context(client.session.ws_connect("/v1/ws")))
        await operator.client.result("authenticate", token=platform.gateway.issuer.token(["operator"], "back-office"))
        crowd = [_CrowdPlayer(socket, f"crowd_{number}") for number, socket in enumerate(sockets)]
        await _fund(platform, operator, crowd)
        (round_id,) = {await player.enter(platform) for player in crowd}
        await asyncio.gather(*(player.bet(round_id) for player in crowd))
        await platform.advance_tables(WINDOW_MS / 1_000)
        results = await crowd[0].results(round_id)
        assert {result["seat"] for result in results} == {player.seat for player in crowd}
        for player in crowd:
            assert await player.results(round_id) == results
            (result,) = [result for result in results if result["seat"] == player.seat]
            assert int(result["staked_cents"]) == CROWD_BET_CENTS
            assert await player.free_cents() == CROWD_CENTS - CROWD_BET_CENTS + int(result["payout_cents"])
        for socket in (operator, *sockets[:VERIFIED_SOCKETS]):
            document.verify(socket)
    assert await ledger_audit.violations_at(platform.wallet.database_url) == []


class _CrowdPlayer:
    """One of many players at one table, each on a WebSocket."""

    def __init__(self, socket: RecordedSocket, name: str) -> None:
        self.name = name
        self.account_id = ""
        self.seat = 0
        self._client = socket.client
        self._socket = socket

    async def enter(self, platform: Platform) -> str:
        """Sits down, watches the table, and returns the round that takes bets."""
        await self._client.result("authenticate", token=platform.gateway.issuer.token(["player"], self.name))
        await self._client.result("subscribe", table_id=CROWD_TABLE)
        entered = await self._client.result("TableService.EnterTable", table_id=CROWD_TABLE, request_id=str(uuid4()))
        self.seat = entered["own_seat"]["seat"]
        return await self._client.next_open_round(entered["table"])

    async def bet(self, round_id: str) -> None:
        bets = [{"place": "red", "amount_cents": CROWD_BET_CENTS}]
        request = {"table_id": CROWD_TABLE, "round_id": round_id, "bets": bets, "request_id": str(uuid4())}
        await self._client.result("RouletteService.PlaceBets", **request)

    async def results(self, round_id: str) -> list[JsonObject]:
        """Returns the results of the round that this player was sent, as soon as they are."""
        while (results := self._received_results(round_id)) is None:
            await self._client.next_notification("table")
        return results

    def _received_results(self, round_id: str) -> list[JsonObject] | None:
        events = [message["params"] for message in self._socket.received if message.get("method") == "table"]
        settled = [event["round_settled"] for event in events if "round_settled" in event]
        return next((event["results"] for event in settled if event["round_id"] == round_id), None)

    async def free_cents(self) -> int:
        answer = await self._client.result("WalletService.GetBalance", account_id=self.account_id)
        return int(answer["balance"]["free_cents"])


async def _fund(platform: Platform, operator: RecordedSocket, crowd: list[_CrowdPlayer]) -> None:
    """Opens all accounts and pays in: a few over the operator's WebSocket, to verify its messages, and the rest."""
    for player in crowd[:VERIFIED_SOCKETS]:
        opened = await operator.client.result("WalletService.OpenAccount", player_id=player.name, mode="MODE_REAL")
        player.account_id = opened["balance"]["account_id"]
        deposit = {"account_id": player.account_id, "amount_cents": CROWD_CENTS, "request_id": str(uuid4())}
        await operator.client.result("WalletService.Deposit", **deposit)
    async with platform.wallet.client() as wallet:
        for player in crowd[VERIFIED_SOCKETS:]:
            player.account_id = await wallet.open_account(player.name, CROWD_CENTS)


async def test_refusals_carry_status_reason_and_domain(platform: Platform, client: OpenApiClient) -> None:
    player, other = OpenApiPlayer(client, platform, "poor"), OpenApiPlayer(client, platform, "other")
    await player.fund(100)
    await other.fund(100)
    table_id = await player.enter(INDIVIDUAL_TABLES["807"])
    round_id = await player.betting_round_id(table_id)

    async def reason(operation_id: str, token: str, body: dict[str, object] | None = None, **more: str) -> object:
        status, answer = await client.request(operation_id, token, body, **more)
        return status, answer["reason"], answer["domain"]

    def bet(place: str, cents: int, round_id: str = round_id) -> dict[str, object]:
        return {"round_id": round_id, "bets": [{"place": place, "amount_cents": cents}]}

    bets, token, operator = "RouletteService_PlaceBets", player.token, player.operator_token
    own, others = player.account_id, other.account_id
    assert await reason(bets, token, bet("red", 200), table_id=table_id) == (409, "INSUFFICIENT_FUNDS", "wallet.feltro")
    assert await reason(bets, token, bet("red", 5), table_id=table_id) == (400, "BELOW_MINIMUM", "table.feltro")
    assert await reason(bets, token, bet("38", 100), table_id=table_id) == (400, "BET_ILLEGAL", "table.feltro")
    assert await reason(bets, token, bet("red", 100), table_id="none") == (404, "TABLE_UNKNOWN", "table.feltro")
    closed = bet("red", 100, "none")
    assert await reason(bets, token, closed, table_id=table_id) == (409, "BETTING_CLOSED", "table.feltro")
    assert await reason(bets, operator, bet("red", 100), table_id=table_id) == (403, "SCOPE_MISSING", "table.feltro")
    assert await reason("WalletService_GetBalance", token, account_id=others) == (
        404,
        "ACCOUNT_UNKNOWN",
        "wallet.feltro",
    )
    assert await reason("WalletService_GetBalance", "", account_id=own) == (401, "TOKEN_INVALID", "gateway.feltro")
    assert await reason("TableService_ListTables", "", game="chess") == (404, "GAME_UNKNOWN", "gateway.feltro")
    expired = platform.gateway.issuer.token(["player"], player.name, -5)
    assert await reason("WalletService_GetBalance", expired, account_id=own) == (401, "TOKEN_EXPIRED", "gateway.feltro")


@pytest.mark.guarantee("G3")
async def test_g3_a_request_id_used_for_another_command_is_refused(platform: Platform, client: OpenApiClient) -> None:
    player = OpenApiPlayer(client, platform, "twice")
    await player.fund(100)
    deposit, token, account_id = "WalletService_Deposit", player.operator_token, player.account_id
    first = await client.call(deposit, token, {"amount_cents": 5}, key="twice-1", account_id=account_id)
    assert await client.call(deposit, token, {"amount_cents": 5}, key="twice-1", account_id=account_id) == first
    status, answer = await client.request(deposit, token, {"amount_cents": 6}, key="twice-1", account_id=account_id)
    assert (status, answer["reason"], answer["facts"]) == (409, "REQUEST_REUSED", {"request_id": "twice-1"})
    assert await player.free_cents() == 105


async def test_readiness_lists_every_replica_without_its_address(platform: Platform, client: OpenApiClient) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        readiness: dict[str, list[dict[str, str]]] = {}
        # A gateway that is held up for longer than a heartbeat lives sees no replica for a moment.
        while not readiness.get("replicas"):
            async with client.session.get("/readyz") as answer:
                readiness = await answer.json()
            await asyncio.sleep(0.05)
    assert [replica["game"] for replica in readiness["replicas"]] == ["roulette"]
    assert platform.roulette.address not in str(readiness)
