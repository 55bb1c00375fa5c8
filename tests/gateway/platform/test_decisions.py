"""A game with decisions through the gateway: blackjack, on real processes, as a client of the documents plays it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from uuid import uuid4

import aiohttp
import pytest

from feltro.wallet.v1 import types_pb2 as wallet_types
from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.blackjack_behind_gateway import BlackjackBehindGateway, blackjack_behind_gateway
from tests.gateway.live.test_event_stream import EventStreamReader
from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.gateway.platform.processes import TIMEOUT_S
from tests.gateway.platform.websocket_player import WebSocketPlayer
from tests.processes.blackjack import configuration
from tests.processes.gateway import GatewayProcess
from tests.service.one_game_platform import PlatformDatabases

TABLE, TABLE_FOR_MANY, STAKE_CENTS = "alone", "shared", 1_000
MOVE = "type.googleapis.com/feltro.blackjack.v1.Move"
# A round in which nobody decides is a blackjack: one in twenty.
ROUNDS_LIMIT = 20


@pytest.fixture(scope="module")
def processes(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BlackjackBehindGateway]:
    tables = {
        TABLE: configuration(play=wallet_types.PLAY_INDIVIDUAL, places=1),
        TABLE_FOR_MANY: configuration(places=3),
    }
    with (
        PlatformDatabases(postgres, wallet_template, game_template).made_for("decisions") as databases,
        blackjack_behind_gateway(databases, tmp_path_factory.mktemp("decisions"), tables) as processes,
    ):
        yield processes


class Hand:
    """A player's rounds at their own table, over one WebSocket."""

    def __init__(self, client: RpcClient, table_id: str, round_id: str) -> None:
        self.client = client
        self.table_id = table_id
        self.round_id = round_id

    async def deal_until_asked(self) -> JsonObject:
        """Plays rounds until the player has something to decide, and returns their private view."""
        for _ in range(ROUNDS_LIMIT):
            self.client.notifications.clear()
            bets = [{"place": "1", "amount_cents": STAKE_CENTS}]
            place = {"table_id": self.table_id, "round_id": self.round_id, "bets": bets, "request_id": str(uuid4())}
            await self.client.result("BlackjackService.PlaceBets", **place)
            dealt = await self.client.call("BlackjackService.Deal", table_id=self.table_id, round_id=self.round_id)
            assert "result" in dealt, dealt
            while True:
                message = await self.client.next_message()
                if message["method"] == "own_view" and message["params"]["turn"]:
                    return dict(message["params"])
                if message["method"] == "table" and "round_opened" in message["params"]:
                    self.round_id = message["params"]["round_opened"]["round"]["round_id"]
                    break
        raise AssertionError(f"no decision in {ROUNDS_LIMIT} rounds")

    async def open_question(self) -> JsonObject:
        """Returns what the player may decide now, as a client reads it that has missed it; empty if that is nothing."""
        read = await self.client.result("TableService.GetTable", table_id=self.table_id)
        round_, own_view = read["table"].get("round"), read["own_seat"].get("own_view")
        if not own_view:
            return {}
        return {"round_id": round_["round_id"], "turn": round_["turn"]["turn"], "own_view": own_view}

    def act(self, own_view: JsonObject, decision: str, request_id: str = "") -> JsonObject:
        """The parameters of a decision."""
        move = {"@type": MOVE, "place": 1, "decision": decision}
        return {
            "request_id": request_id or str(uuid4()),
            "table_id": self.table_id,
            "round_id": own_view["round_id"],
            "turn": own_view["turn"],
            "move": move,
        }


@asynccontextmanager
async def seated(gateway: GatewayProcess) -> AsyncIterator[tuple[WebSocketPlayer, Hand]]:
    player = WebSocketPlayer(gateway)
    await player.fund(gateway)
    async with player.connect(gateway) as client:
        async with asyncio.timeout(TIMEOUT_S):
            while "error" in await client.call("TableService.GetRules", table_id=TABLE):
                await asyncio.sleep(0.1)
        table_id, round_id = await player.enter_table(client, TABLE)
        await client.result("subscribe", table_id=table_id)
        yield player, Hand(client, table_id, round_id)


def last_decision(own_view: JsonObject) -> str:
    """The decision that ends the hand soonest: below a score of 12 a card has to be drawn (`805/2015:15.c`)."""
    possible = {option["decision"] for option in own_view["own_view"]["options"]}
    wanted = ("DECISION_STAND", "DECISION_DECLINE", "DECISION_DRAW")
    return next(each for each in wanted if each in possible)


@pytest.mark.guarantee("G3")
@pytest.mark.guarantee("G7")
async def test_g3_a_decision_counts_once_over_every_way_and_after_a_takeover(processes: BlackjackBehindGateway) -> None:
    gateway = processes.gateway
    async with seated(gateway) as (player, hand):
        bearer = {"Authorization": f"Bearer {player.token}"}
        async with (
            aiohttp.ClientSession(gateway.url, headers=bearer) as session,
            session.get(f"/v1/tables/{hand.table_id}/events") as response,
        ):
            stream = EventStreamReader(response)
            told = await hand.deal_until_asked()
            assert (told["table_id"], told["player_id"]) == (hand.table_id, player.name)
            streamed = await stream.next()
            while streamed[0] != "own_view" or streamed[1] != told:
                streamed = await stream.next()
            read = await hand.client.result("TableService.GetTable", table_id=hand.table_id)
            assert read["own_seat"]["own_view"] == told["own_view"]
            assert read["table"]["phase"] == "PHASE_PLAYING"
            assert read["table"]["round"]["turn"]["turn"] == told["turn"]

            while True:
                params = hand.act(told, last_decision(told))
                first = await hand.client.result("TableService.Act", **params)
                told = await hand.open_question()
                if not told:
                    break
            assert await hand.client.result("TableService.Act", **params) == first
            path = f"/v1/tables/{params['table_id']}/rounds/{params['round_id']}:act"
            body = {"turn": params["turn"], "move": params["move"]}
            async with session.post(path, json=body, headers={"Idempotency-Key": params["request_id"]}) as again:
                assert (again.status, await again.json()) == (200, first)
            async with session.post(path, json=body, headers={"Idempotency-Key": str(uuid4())}) as late:
                assert (late.status, (await late.json())["reason"]) == (409, "TURN_OVER")
            async with session.post(
                path, json={**body, "turn": params["turn"] + 1}, headers={"Idempotency-Key": params["request_id"]}
            ) as other:
                assert (other.status, (await other.json())["reason"]) == (409, "REQUEST_REUSED")

        processes.blackjack.kill()
        processes.blackjack.start()
        await processes.blackjack.ready()
        async with asyncio.timeout(TIMEOUT_S):
            while "error" in (answer := await hand.client.call("TableService.Act", **params)):
                assert answer["error"]["data"]["reason"] in {"UNAVAILABLE", "TABLE_ELSEWHERE"}, answer
                await asyncio.sleep(0.1)
        assert answer["result"] == first
        listed = await hand.client.result("TableService.ListPlayerRounds", game="blackjack", player_id=player.name)
        (played,) = [each for each in listed["rounds"] if each["round"]["round_id"] == params["round_id"]]
        own = [move for move in played["moves"] if move["position"] == first["position"]]
        assert [move["acted_by"] for move in own] == ["ACTED_BY_PLAYER"]


@pytest.mark.guarantee("G7")
async def test_g7_nobody_else_acts_on_a_hand_or_learns_of_its_decisions(processes: BlackjackBehindGateway) -> None:
    gateway = processes.gateway
    async with seated(gateway) as (_, hand), seated(gateway) as (stranger, other):
        other.client.notifications.clear()
        told = await hand.deal_until_asked()
        params = hand.act(told, last_decision(told))
        refused = await other.client.call("TableService.Act", **params)
        assert refused["error"]["data"]["reason"] == "TABLE_UNKNOWN"
        assert (await other.client.call("subscribe", table_id=hand.table_id))["error"]["data"][
            "reason"
        ] == "TABLE_UNKNOWN"
        await hand.client.result("TableService.Act", **params)
        # Also where the stranger names the command exactly.
        assert (await other.client.call("TableService.Act", **params))["error"]["data"]["reason"] == "TABLE_UNKNOWN"
        assert not [each for each in other.client.notifications if each["method"] == "own_view"]
        assert stranger.name not in str(told)


async def test_anybody_sees_which_seats_are_free_and_a_player_takes_one(processes: BlackjackBehindGateway) -> None:
    gateway = processes.gateway
    ana, rui = WebSocketPlayer(gateway), WebSocketPlayer(gateway)
    for player in (ana, rui):
        await player.fund(gateway)
    enter = {"table_id": TABLE_FOR_MANY, "seat": 2}
    async with (
        ana.connect(gateway) as at_ana,
        rui.connect(gateway) as at_rui,
        aiohttp.ClientSession(gateway.url) as anybody,
    ):

        async def seats() -> list[tuple[int, bool]]:
            async with anybody.get(f"/v1/tables/{TABLE_FOR_MANY}") as response:
                assert response.status == 200, await response.text()
                return [(seat["seat"], seat["taken"]) for seat in (await response.json())["table"]["seats"]]

        async with asyncio.timeout(TIMEOUT_S):
            while "error" in (seen := await at_rui.call("subscribe", table_id=TABLE_FOR_MANY)):
                await asyncio.sleep(0.1)
        assert [seat["taken"] for seat in seen["result"]["table"]["seats"]] == [False, False, False]
        await at_ana.result("TableService.EnterTable", request_id=str(uuid4()), **enter)
        assert await seats() == [(1, False), (2, True), (3, False)]
        while "seat_taken" not in (told := await at_rui.next_message())["params"]:
            pass
        assert told["params"]["seat_taken"] == {"seat": 2}
        refused = await at_rui.call("TableService.EnterTable", request_id=str(uuid4()), **enter)
        data = refused["error"]["data"]
        assert (data["reason"], data["facts"]) == ("SEAT_TAKEN", {"table_id": TABLE_FOR_MANY, "seat": "2"})
