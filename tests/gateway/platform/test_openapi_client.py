"""The real platform through its front door: a program that knows only the documents plays both roulettes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from uuid import uuid4

import aiohttp
import pytest

from services.kit.database import postgresql
from services.wallet.audit.auditor import Auditor
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.platform.asyncapi_recorder import AsyncApiDocument, JsonObject, RecordedSocket
from tests.gateway.platform.openapi_client import OpenApiClient
from tests.gateway.platform.processes import Platform, running_platform
from tests.processes.roulette import configuration
from tests.processes.wallet import DEMO, REAL
from tests.service.roulette.platform import INDIVIDUAL, INDIVIDUAL_TABLES, WHEEL_BY_REGULATION

WITHIN_S = 60.0
MODES = {"MODE_REAL": REAL, "MODE_DEMO": DEMO}
CROWD, CROWD_OF, CROWD_CENTS, CROWD_BET_CENTS = "crowd", 50, 10_000, 200
# Time for all of them to bet, on a slow machine too; whoever is too late tries the next round.
CROWD_WINDOW_MS = 5_000
# Of so many it is read word for word what they were told: the same is told to all.
READ_WORD_FOR_WORD = 3


@pytest.fixture(scope="module")
def running(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    with running_platform(postgres, (wallet_template, game_template), tmp_path_factory.mktemp("platform")) as running:
        asyncio.run(_open_tables(running))
        yield running


async def _open_tables(running: Platform) -> None:
    async with running.roulette.client() as roulette:
        for regulation, wheel in WHEEL_BY_REGULATION.items():
            for name, mode in MODES.items():
                house, many = _tables(regulation, name)
                await roulette.configure(house, configuration(wheel=wheel, play=INDIVIDUAL, mode=mode))
                await roulette.configure(many, configuration(wheel=wheel, mode=mode))
        await roulette.configure(CROWD, configuration(window_ms=CROWD_WINDOW_MS))


def _tables(regulation: str, mode: str) -> tuple[str, str]:
    """The individual one, and the one for many."""
    real = INDIVIDUAL_TABLES[regulation], f"multi_{regulation}"
    return real if mode == "MODE_REAL" else (f"{real[0]}_demo", f"{real[1]}_demo")


@pytest.fixture
async def outside(running: Platform) -> AsyncIterator[OpenApiClient]:
    async with aiohttp.ClientSession(running.gateway.url) as session:
        yield await OpenApiClient.connect(session)


class OpenApiPlayer:
    """Somebody with money, and his token; or one who came to try."""

    def __init__(self, outside: OpenApiClient, running: Platform, name: str, mode: str = "MODE_REAL") -> None:
        self.name = name
        self.mode = mode
        self._outside = outside
        self.token = running.gateway.issuer.token(["player"], name)
        self.office = running.gateway.issuer.token(["operator"], "back-office")
        self.account_id = ""

    async def arrive(self, cents: int) -> None:
        """With money, or as one who has none here."""
        if self.mode == "MODE_REAL":
            await self.fund(cents)
            return
        entered = await self._outside.call("GatewayService_EnterDemo")
        self.token, self.name = entered["token"], entered["player_id"]

    async def find_account(self) -> None:
        """His own, as soon as he has sat down."""
        found = await self._outside.call("WalletService_FindAccount", self.token, player_id=self.name, mode=self.mode)
        self.account_id = found["balance"]["account_id"]

    async def fund(self, cents: int) -> None:
        opened = await self._outside.call(
            "WalletService_OpenAccount", self.office, {"player_id": self.name, "mode": "MODE_REAL"}
        )
        self.account_id = opened["balance"]["account_id"]
        await self._outside.call(
            "WalletService_Deposit", self.office, {"amount_cents": cents}, account_id=self.account_id
        )

    async def free_cents(self) -> int:
        said = await self._outside.call("WalletService_GetBalance", self.token, account_id=self.account_id)
        return int(said["balance"]["free_cents"])

    async def betting_round_id(self, table_id: str) -> str:
        """The round that takes bets, as soon as one does."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                table = (await self._outside.call("TableService_GetTable", self.token, table_id=table_id))["table"]
                if table["phase"] == "PHASE_BETTING":
                    return str(table["round"]["round_id"])
                await asyncio.sleep(0.1)

    async def enter(self, table_id: str) -> str:
        """The table that is his from now on."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                status, said = await self._outside.request("TableService_EnterTable", self.token, {}, table_id=table_id)
                if status == 200:
                    return str(said["table"]["table_id"])
                assert status in {404, 503}, said
                await asyncio.sleep(0.1)


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("regulation", list(INDIVIDUAL_TABLES))
async def test_a_program_from_outside_plays_alone(
    running: Platform, outside: OpenApiClient, regulation: str, mode: str
) -> None:
    player, (house, _) = OpenApiPlayer(outside, running, f"alone_{regulation}", mode), _tables(regulation, mode)
    await player.arrive(10_000)
    (game,) = (await outside.call("GatewayService_ListGames"))["games"]
    listed = await outside.call("TableService_ListTables", game=game["game"], mode=mode)
    assert house in [table["table_id"] for table in listed["tables"]]
    table_id = await player.enter(house)
    await player.find_account()
    before = await player.free_cents()
    layout = await outside.call("RouletteService_GetLayout", table_id=table_id)
    places = {place["place"] for place in layout["places"]}
    bets = [{"place": place, "amount_cents": 200} for place in ("red", "17") if place in places]
    round_id = await player.betting_round_id(table_id)

    body = {"round_id": round_id, "bets": bets}
    placed = await outside.call("RouletteService_PlaceBets", player.token, body, key="b1", table_id=table_id)
    again = await outside.call("RouletteService_PlaceBets", player.token, body, key="b1", table_id=table_id)
    spun = await outside.call("RouletteService_Spin", player.token, {"round_id": round_id}, table_id=table_id)

    assert again["stake"] == placed["stake"]
    assert placed["stake"]["balance"]["mode"] == mode
    assert spun["staked_cents"] == "400"
    assert await player.free_cents() == before - 400 + int(spun["payout_cents"])
    lived = await outside.call(
        "TableService_ListPlayerRounds", player.token, game="roulette", player_id=player.name, page_size="1"
    )
    assert lived["rounds"][0]["round"]["round_id"] == round_id
    assert lived["rounds"][0]["stakes"][0]["bets"]["@type"].endswith("/feltro.roulette.v1.Bets")


@pytest.mark.parametrize("mode", list(MODES))
@pytest.mark.parametrize("regulation", list(INDIVIDUAL_TABLES))
async def test_a_program_from_outside_plays_with_others(
    running: Platform, outside: OpenApiClient, regulation: str, mode: str
) -> None:
    player, (_, many) = OpenApiPlayer(outside, running, f"among_{regulation}", mode), _tables(regulation, mode)
    await player.arrive(10_000)
    table_id = await player.enter(many)
    await player.find_account()
    before = await player.free_cents()
    async with asyncio.timeout(WITHIN_S):
        status, round_id = 0, ""
        while status != 200:
            round_id = await player.betting_round_id(table_id)
            body = {"round_id": round_id, "bets": [{"place": "black", "amount_cents": "300"}]}
            status, said = await outside.request("RouletteService_PlaceBets", player.token, body, table_id=table_id)
            assert status == 200 or said["reason"] == "BETTING_CLOSED", said
        while True:
            rounds = await outside.call("TableService_ListTableRounds", table_id=table_id)
            if any(one["round_id"] == round_id and one["state"] == "ROUND_STATE_SETTLED" for one in rounds["rounds"]):
                break
            await asyncio.sleep(0.1)
    lived = await outside.call(
        "TableService_ListPlayerRounds", player.token, game="roulette", player_id=player.name, table_id=table_id
    )
    assert lived["rounds"][0]["payout_cents"] in {"0", "600"}
    assert await player.free_cents() == before - 300 + int(lived["rounds"][0]["payout_cents"])


@pytest.mark.rule("903-B/2015:6.3.6.2")
async def test_where_a_player_comes_from_is_what_the_gateway_sees(running: Platform, outside: OpenApiClient) -> None:
    player = OpenApiPlayer(outside, running, "far_away")
    await player.arrive(1)
    device = {"kind": "phone", "address": "203.0.113.99"}
    entered = await outside.call(
        "TableService_EnterTable", player.token, {"device": device}, table_id=_tables("804", "MODE_REAL")[1]
    )
    assert entered["session"]["device"] == {"kind": "phone", "agent": "", "address": "127.0.0.1", "fingerprint": ""}


@pytest.mark.guarantee("G1")
async def test_g1_fifty_play_a_round_over_websockets_and_the_ledger_agrees(
    running: Platform, outside: OpenApiClient
) -> None:
    async with outside.session.get("/asyncapi.json") as got:
        document = AsyncApiDocument(await got.json())
    async with AsyncExitStack() as stack:
        sockets = [
            RecordedSocket(await stack.enter_async_context(outside.session.ws_connect("/v1/ws")))
            for _ in range(CROWD_OF)
        ]
        office = RecordedSocket(await stack.enter_async_context(outside.session.ws_connect("/v1/ws")))
        await office.client.result("authenticate", token=running.gateway.issuer.token(["operator"], "back-office"))
        crowd = [_Guest(spoken, f"crowd_{number}") for number, spoken in enumerate(sockets)]
        for guest in crowd:
            await guest.come(office, running)
        # Those who were too late for a round all try the next one together.
        played: set[str] = set()
        while not any(all(round_id in guest.bets for guest in crowd) for round_id in played):
            round_id = await crowd[0].round()
            if round_id not in played:
                played.add(round_id)
                await asyncio.gather(*(guest.bet(round_id) for guest in crowd))
        told = await crowd[0].results()
        for guest in crowd:
            results = await guest.results()
            # Everybody is told the same of everybody.
            assert all(told.get(round_id, of_round) == of_round for round_id, of_round in results.items())
            mine = [result for of_round in results.values() for result in of_round if result["seat"] == guest.seat]
            assert sum(int(result["staked_cents"]) for result in mine) == CROWD_BET_CENTS * len(guest.bets)
            paid = sum(int(result["payout_cents"]) for result in mine)
            assert await guest.free_cents() == CROWD_CENTS - CROWD_BET_CENTS * len(guest.bets) + paid
        seats = {guest.seat for guest in crowd}
        assert any({result["seat"] for result in of_round} == seats for of_round in told.values())
        for spoken in (office, *sockets[:READ_WORD_FOR_WORD]):
            document.verify(spoken)
    assert await _violations(running) == []


class _Guest:
    """One of many at one table."""

    def __init__(self, spoken: RecordedSocket, name: str) -> None:
        self.client = spoken.client
        self._spoken = spoken
        self._name = name
        self.account_id = ""
        self.seat = 0
        self.bets: set[str] = set()
        """The rounds in which he has one."""

    async def come(self, office: RecordedSocket, running: Platform) -> None:
        opened = await office.client.result("WalletService.OpenAccount", player_id=self._name, mode="MODE_REAL")
        self.account_id = opened["balance"]["account_id"]
        deposit = {"account_id": self.account_id, "amount_cents": CROWD_CENTS, "request_id": str(uuid4())}
        await office.client.result("WalletService.Deposit", **deposit)
        await self.client.result("authenticate", token=running.gateway.issuer.token(["player"], self._name))
        await self.client.result("subscribe", table_id=CROWD)
        entered = await self.client.result("TableService.EnterTable", table_id=CROWD, request_id=str(uuid4()))
        self.seat = entered["own_seat"]["seat"]

    async def round(self) -> str:
        """The one that takes bets, as soon as one does."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                table = (await self.client.result("TableService.GetTable", table_id=CROWD))["table"]
                if table["phase"] == "PHASE_BETTING":
                    return str(table["round"]["round_id"])
                await asyncio.sleep(0.1)

    async def bet(self, round_id: str) -> None:
        bets = [{"place": "red", "amount_cents": CROWD_BET_CENTS}]
        said = {"table_id": CROWD, "round_id": round_id, "bets": bets, "request_id": str(uuid4())}
        answer = await self.client.call("RouletteService.PlaceBets", **said)
        if "result" in answer:
            self.bets.add(round_id)
        else:
            assert answer["error"]["data"]["reason"] == "BETTING_CLOSED", answer

    async def results(self) -> dict[str, list[JsonObject]]:
        """What he was told that the rounds he had bets in came to."""
        while not self.bets <= set(self._told()):
            await self.client.next_notification("table")
        return {round_id: results for round_id, results in self._told().items() if round_id in self.bets}

    def _told(self) -> dict[str, list[JsonObject]]:
        events = [said["params"] for said in self._spoken.received if said.get("method") == "table"]
        settled = [event["round_settled"] for event in events if "round_settled" in event]
        return {one["round_id"]: one["results"] for one in settled}

    async def free_cents(self) -> int:
        said = await self.client.result("WalletService.GetBalance", account_id=self.account_id)
        return int(said["balance"]["free_cents"])


async def _violations(running: Platform) -> list[str]:
    """What the ledger's own audit finds."""
    engine = postgresql.connect(running.wallet.database_url, "test", connections=1)
    found: list[str] = []
    await Auditor(engine).run(lambda check, sentence: found.append(f"{check.name}: {sentence}"))
    await engine.dispose()
    return found


async def test_errors_come_with_their_reasons(running: Platform, outside: OpenApiClient) -> None:
    player, other = OpenApiPlayer(outside, running, "poor"), OpenApiPlayer(outside, running, "other")
    await player.fund(100)
    await other.fund(100)
    table_id = await player.enter(INDIVIDUAL_TABLES["807"])
    round_id = await player.betting_round_id(table_id)

    async def reason(operation_id: str, token: str, body: dict[str, object] | None = None, **more: str) -> object:
        status, said = await outside.request(operation_id, token, body, **more)
        return status, said["reason"], said["domain"]

    def bet(place: str, cents: int, round_id: str = round_id) -> dict[str, object]:
        return {"round_id": round_id, "bets": [{"place": place, "amount_cents": cents}]}

    bets, me = "RouletteService_PlaceBets", player.token
    mine, his = player.account_id, other.account_id
    assert await reason(bets, me, bet("red", 200), table_id=table_id) == (409, "INSUFFICIENT_FUNDS", "wallet.feltro")
    assert await reason(bets, me, bet("red", 5), table_id=table_id) == (400, "BELOW_MINIMUM", "table.feltro")
    assert await reason(bets, me, bet("38", 100), table_id=table_id) == (400, "BET_ILLEGAL", "table.feltro")
    assert await reason(bets, me, bet("red", 100), table_id="none") == (404, "TABLE_UNKNOWN", "table.feltro")
    assert await reason(bets, me, bet("red", 100, "none"), table_id=table_id) == (409, "BETTING_CLOSED", "table.feltro")
    assert await reason(bets, player.office, bet("red", 100), table_id=table_id) == (
        403,
        "SCOPE_MISSING",
        "table.feltro",
    )
    assert await reason("WalletService_GetBalance", me, account_id=his) == (403, "NOT_YOURS", "wallet.feltro")
    assert await reason("WalletService_GetBalance", "", account_id=mine) == (401, "TOKEN_INVALID", "gateway.feltro")
    assert await reason("TableService_ListTables", "", game="chess") == (404, "GAME_UNKNOWN", "gateway.feltro")
    late = running.gateway.issuer.token(["player"], player.name, -5)
    assert await reason("WalletService_GetBalance", late, account_id=mine) == (401, "TOKEN_EXPIRED", "gateway.feltro")


@pytest.mark.guarantee("G3")
async def test_g3_a_name_used_for_something_else_is_refused(running: Platform, outside: OpenApiClient) -> None:
    player = OpenApiPlayer(outside, running, "twice")
    await player.fund(100)
    deposit, office, mine = "WalletService_Deposit", player.office, player.account_id
    first = await outside.call(deposit, office, {"amount_cents": 5}, key="twice-1", account_id=mine)
    assert await outside.call(deposit, office, {"amount_cents": 5}, key="twice-1", account_id=mine) == first
    status, said = await outside.request(deposit, office, {"amount_cents": 6}, key="twice-1", account_id=mine)
    assert (status, said["reason"], said["facts"]) == (409, "REQUEST_REUSED", {"request_id": "twice-1"})
    assert await player.free_cents() == 105


async def test_the_page_of_what_is_up_tells_of_every_replica(running: Platform, outside: OpenApiClient) -> None:
    async with asyncio.timeout(WITHIN_S):
        said: dict[str, list[dict[str, str]]] = {}
        # A gateway that is held up for longer than a heartbeat lives sees nobody for a moment.
        while not said.get("replicas"):
            async with outside.session.get("/readyz") as answer:
                said = await answer.json()
    assert [replica["game"] for replica in said["replicas"]] == ["roulette"]
    assert running.roulette.address not in str(said)
