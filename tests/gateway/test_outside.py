"""The real platform through its front door: a program that knows only the OpenAPI document plays both roulettes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from stack.postgres import EmbeddedPostgres
from tests.gateway.outside import Outside
from tests.gateway.platform import Platform, platform
from tests.roulette_under_test import configuration
from tests.service.roulette.casino import HOUSES, INDIVIDUAL, REGULATIONS
from tests.service.table.conftest import game_template

__all__ = ["game_template"]

WITHIN_S = 60.0


@pytest.fixture(scope="module")
def running(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    with platform(postgres, (wallet_template, game_template), tmp_path_factory.mktemp("platform")) as running:
        asyncio.run(_open_tables(running))
        yield running


async def _open_tables(running: Platform) -> None:
    async with running.roulette.client() as roulette:
        for regulation, house in HOUSES.items():
            await roulette.configure(house, configuration(wheel=REGULATIONS[regulation], play=INDIVIDUAL))
            await roulette.configure(f"multi_{regulation}", configuration(wheel=REGULATIONS[regulation]))


@pytest.fixture
async def outside(running: Platform) -> AsyncIterator[Outside]:
    async with aiohttp.ClientSession(running.gateway.url) as session:
        yield await Outside.meet(session)


class Player:
    """Somebody with money, and his token."""

    def __init__(self, outside: Outside, running: Platform, name: str) -> None:
        self.name = name
        self._outside = outside
        self.token = running.gateway.issuer.token(["player"], name)
        self.office = running.gateway.issuer.token(["operator"], "back-office")
        self.account_id = ""

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

    async def round_at(self, table_id: str) -> str:
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
                status, said = await self._outside.ask("TableService_EnterTable", self.token, {}, table_id=table_id)
                if status == 200:
                    return str(said["table"]["table_id"])
                assert status in {404, 503}, said
                await asyncio.sleep(0.1)


@pytest.mark.parametrize("regulation", list(HOUSES))
async def test_a_program_from_outside_plays_alone(running: Platform, outside: Outside, regulation: str) -> None:
    player = Player(outside, running, f"alone_{regulation}")
    await player.fund(10_000)
    (game,) = (await outside.call("GatewayService_ListGames"))["games"]
    listed = await outside.call("TableService_ListTables", game=game["game"])
    assert HOUSES[regulation] in [table["table_id"] for table in listed["tables"]]
    table_id = await player.enter(HOUSES[regulation])
    layout = await outside.call("RouletteService_GetLayout", table_id=table_id)
    places = {place["place"] for place in layout["places"]}
    bets = [{"place": place, "amount_cents": 200} for place in ("red", "17") if place in places]
    round_id = await player.round_at(table_id)

    body = {"round_id": round_id, "bets": bets}
    placed = await outside.call("RouletteService_PlaceBets", player.token, body, key="b1", table_id=table_id)
    again = await outside.call("RouletteService_PlaceBets", player.token, body, key="b1", table_id=table_id)
    spun = await outside.call("RouletteService_Spin", player.token, {"round_id": round_id}, table_id=table_id)

    assert again["stake"] == placed["stake"]
    assert spun["staked_cents"] == "400"
    assert await player.free_cents() == 10_000 - 400 + int(spun["payout_cents"])
    lived = await outside.call(
        "TableService_ListPlayerRounds", player.token, game="roulette", player_id=player.name, page_size="1"
    )
    assert lived["rounds"][0]["round"]["round_id"] == round_id
    assert lived["rounds"][0]["stakes"][0]["bets"]["@type"].endswith("/feltro.roulette.v1.Bets")


@pytest.mark.parametrize("regulation", list(HOUSES))
async def test_a_program_from_outside_plays_with_others(running: Platform, outside: Outside, regulation: str) -> None:
    player = Player(outside, running, f"among_{regulation}")
    await player.fund(10_000)
    table_id = await player.enter(f"multi_{regulation}")
    async with asyncio.timeout(WITHIN_S):
        status, round_id = 0, ""
        while status != 200:
            round_id = await player.round_at(table_id)
            body = {"round_id": round_id, "bets": [{"place": "black", "amount_cents": "300"}]}
            status, said = await outside.ask("RouletteService_PlaceBets", player.token, body, table_id=table_id)
            assert status == 200 or said["reason"] == "BETTING_CLOSED", said
        while True:
            rounds = await outside.call("TableService_ListTableRounds", table_id=table_id)
            if any(one["round_id"] == round_id and one["status"] == "ROUND_STATUS_SETTLED" for one in rounds["rounds"]):
                break
            await asyncio.sleep(0.1)
    lived = await outside.call(
        "TableService_ListPlayerRounds", player.token, game="roulette", player_id=player.name, table_id=table_id
    )
    assert lived["rounds"][0]["payout_cents"] in {"0", "600"}
    assert await player.free_cents() == 10_000 - 300 + int(lived["rounds"][0]["payout_cents"])


async def test_errors_come_with_their_reasons(running: Platform, outside: Outside) -> None:
    player, other = Player(outside, running, "poor"), Player(outside, running, "other")
    await player.fund(100)
    await other.fund(100)
    table_id = await player.enter(HOUSES["807"])
    round_id = await player.round_at(table_id)

    async def reason(operation_id: str, token: str, body: dict[str, object] | None = None, **more: str) -> object:
        status, said = await outside.ask(operation_id, token, body, **more)
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
async def test_g3_a_name_used_for_something_else_is_refused(running: Platform, outside: Outside) -> None:
    player = Player(outside, running, "twice")
    await player.fund(100)
    deposit, office, mine = "WalletService_Deposit", player.office, player.account_id
    first = await outside.call(deposit, office, {"amount_cents": 5}, key="twice-1", account_id=mine)
    assert await outside.call(deposit, office, {"amount_cents": 5}, key="twice-1", account_id=mine) == first
    status, said = await outside.ask(deposit, office, {"amount_cents": 6}, key="twice-1", account_id=mine)
    assert (status, said["reason"], said["facts"]) == (409, "REQUEST_REUSED", {"request_id": "twice-1"})
    assert await player.free_cents() == 105


async def test_the_page_of_what_is_up_tells_of_every_replica(running: Platform, outside: Outside) -> None:
    async with asyncio.timeout(WITHIN_S):
        said: dict[str, list[dict[str, str]]] = {}
        # A gateway that is held up for longer than a heartbeat lives sees nobody for a moment.
        while not said.get("replicas"):
            async with outside.session.get("/readyz") as answer:
                said = await answer.json()
    assert [replica["game"] for replica in said["replicas"]] == ["roulette"]
    assert running.roulette.address not in str(said)
