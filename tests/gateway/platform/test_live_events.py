"""The real platform, watched and played over one WebSocket, and watched as server-sent events beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import aiohttp
import pytest

from stack.servers.postgres import EmbeddedPostgres
from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.gateway.platform.processes import Platform, running_platform
from tests.processes.roulette import configuration

TABLE = "live_table"
CENTS = 10_000
ROUND_WITHIN_S = 60.0


@pytest.fixture(scope="module")
def running(
    postgres: EmbeddedPostgres, wallet_template: str, game_template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Platform]:
    with running_platform(postgres, (wallet_template, game_template), tmp_path_factory.mktemp("platform")) as running:
        asyncio.run(_open_table(running))
        yield running


async def _open_table(running: Platform) -> None:
    async with running.roulette.client() as roulette:
        await roulette.configure(TABLE, configuration())


@pytest.fixture
async def session(running: Platform) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(running.gateway.url) as session:
        yield session


async def test_a_round_played_and_watched(running: Platform, session: aiohttp.ClientSession) -> None:
    player_id = f"p{uuid4().hex[:12]}"
    issuer = running.gateway.issuer
    async with session.ws_connect("/v1/ws", headers=_bearer(issuer.token(["operator"], "back-office"))) as office_ws:
        office = RpcClient(office_ws)
        opened = await office.result("WalletService.OpenAccount", player_id=player_id, mode="MODE_REAL")
        account_id = opened["balance"]["account_id"]
        await office.result("WalletService.Deposit", request_id=str(uuid4()), account_id=account_id, amount_cents=CENTS)
    async with (
        session.ws_connect("/v1/ws") as ws,
        session.get(f"/v1/tables/{TABLE}/events") as streamed,
    ):
        player = RpcClient(ws)
        await player.result("authenticate", token=issuer.token(["player"], player_id))
        subscribed = await player.result("subscribe", table_id=TABLE)
        await player.result("TableService.EnterTable", request_id=str(uuid4()), table_id=TABLE)
        events: list[JsonObject] = []
        told: list[JsonObject] = []
        async with asyncio.timeout(ROUND_WITHIN_S):
            bet_in = ""
            while not (bet_in in _settled(events) and any("balance_changed" in fact for fact in told)):
                said = player.notifications.pop(0) if player.notifications else await player.ws.receive_json()
                (events if said["method"] == "table" else told).append(said["params"])
                if "round_opened" in said["params"] and not bet_in:
                    round_id = said["params"]["round_opened"]["round"]["round_id"]
                    bets = [{"place": "red", "amount_cents": 500}]
                    placed = await player.call(
                        "RouletteService.PlaceBets",
                        request_id=str(uuid4()),
                        table_id=TABLE,
                        round_id=round_id,
                        bets=bets,
                    )
                    if "result" in placed:
                        bet_in = round_id
                    else:
                        # Too late is no harm: another round opens.
                        assert placed["error"]["data"]["reason"] == "BETTING_CLOSED", placed
            shown = [json.loads(line[6:]) async for line in _data(streamed, len(events) + 1)]
        if "snapshot_published" in events[0]:
            # The picture that was asked for may include the owner's own, which is told all the same.
            subscribed["seq"] = events.pop(0)["seq"]
        seqs = [int(event["seq"]) for event in events]
        seen = int(subscribed["seq"])
        assert seqs == list(range(seen + 1, seen + 1 + len(events)))
        happened = [next(name for name in event if name not in {"table_id", "seq", "at"}) for event in events]
        for name in ("seat_taken", "round_opened", "bets_placed", "betting_closed", "outcome_drawn", "round_settled"):
            assert name in happened
        by_seq = {event["seq"]: event for event in shown[1:]}
        assert all(by_seq.get(event["seq"], event) == event for event in events)


def _settled(events: list[JsonObject]) -> set[str]:
    """The rounds of which it was told that they are settled."""
    return {event["round_settled"]["round_id"] for event in events if "round_settled" in event}


async def _data(response: aiohttp.ClientResponse, count: int) -> AsyncIterator[bytes]:
    async for line in response.content:
        if line.startswith(b"data: "):
            yield line
            count -= 1
            if count == 0:
                return


async def test_a_gateway_that_stops_says_so(running: Platform, session: aiohttp.ClientSession) -> None:
    async with session.ws_connect("/v1/ws") as ws:
        client = RpcClient(ws)
        await client.result("ping")
        stopping = asyncio.create_task(asyncio.to_thread(running.gateway.stop))
        notice: JsonObject = await client.next_notification("notice")
        assert notice["kind"] == "draining"
        assert await client.wait_for_close() == 1012
        assert await stopping == 0


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
