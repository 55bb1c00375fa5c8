"""A table of the real platform, watched and played over one WebSocket, and watched as server-sent events beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from uuid import uuid4

import aiohttp

from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.gateway.platform.processes import TIMEOUT_S, Platform
from tests.processes.roulette import configuration
from tests.service.roulette.platform import WINDOW_MS

TABLE = "live_table"
CENTS = 10_000
# What a table publishes of a round that is played, until the next one opens.
ROUND_EVENTS = {"bets_placed", "betting_closed", "outcome_drawn", "round_settled", "round_opened"}


async def test_a_round_is_shown_alike_on_a_websocket_and_on_an_event_stream(
    platform: Platform, session: aiohttp.ClientSession
) -> None:
    await platform.open_tables({TABLE: configuration(window_ms=WINDOW_MS)})
    player_id = f"p{uuid4().hex[:12]}"
    issuer = platform.gateway.issuer
    async with session.ws_connect("/v1/ws", headers=_bearer(issuer.token(["operator"], "back-office"))) as ws:
        operator = RpcClient(ws)
        opened = await operator.result("WalletService.OpenAccount", player_id=player_id, mode="MODE_REAL")
        deposit = {"account_id": opened["balance"]["account_id"], "amount_cents": CENTS}
        await operator.result("WalletService.Deposit", request_id=str(uuid4()), **deposit)
    async with (
        session.ws_connect("/v1/ws") as ws,
        session.get(f"/v1/tables/{TABLE}/events") as stream,
    ):
        player = RpcClient(ws)
        await player.result("authenticate", token=issuer.token(["player"], player_id))
        subscribed = await player.result("subscribe", table_id=TABLE)
        entered = await player.result("TableService.EnterTable", request_id=str(uuid4()), table_id=TABLE)
        bet = {"table_id": TABLE, "bets": [{"place": "red", "amount_cents": 500}], "request_id": str(uuid4())}
        # The first round opens once a player is seated.
        round_id = await player.next_open_round(entered["table"])
        await player.result("RouletteService.PlaceBets", round_id=round_id, **bet)
        await platform.advance_tables(WINDOW_MS / 1_000)
        events: list[JsonObject] = []
        facts: list[JsonObject] = []
        while not _shows_a_round(events) or not any("balance_changed" in fact for fact in facts):
            message = await player.next_message()
            (events if message["method"] == "table" else facts).append(message["params"])
        streamed = [json.loads(line[6:]) async for line in _data(stream, len(events) + 1)]
    if "snapshot_published" in events[0]:
        # The requested snapshot may include the owner's own, which is published all the same.
        subscribed["seq"] = events.pop(0)["seq"]
    first = int(subscribed["seq"]) + 1
    assert [int(event["seq"]) for event in events] == list(range(first, first + len(events)))
    assert "seat_taken" in [_kind(event) for event in events]
    by_seq = {event["seq"]: event for event in streamed[1:]}
    assert all(by_seq.get(event["seq"], event) == event for event in events)


def _kind(event: JsonObject) -> str:
    return next(name for name in event if name not in {"table_id", "seq", "at"})


def _shows_a_round(events: list[JsonObject]) -> bool:
    kinds = [_kind(event) for event in events]
    placed = kinds.index("bets_placed") if "bets_placed" in kinds else len(kinds)
    return set(kinds[placed:]) >= ROUND_EVENTS


async def _data(response: aiohttp.ClientResponse, count: int) -> AsyncIterator[bytes]:
    async with asyncio.timeout(TIMEOUT_S):
        async for line in response.content:
            if line.startswith(b"data: "):
                yield line
                count -= 1
                if count == 0:
                    return


async def test_a_stopping_gateway_notifies_its_clients(platform: Platform, session: aiohttp.ClientSession) -> None:
    try:
        async with session.ws_connect("/v1/ws") as ws:
            client = RpcClient(ws)
            await client.result("ping")
            stopping = asyncio.create_task(asyncio.to_thread(platform.gateway.stop))
            notice: JsonObject = await client.next_notification("notice")
            assert notice["kind"] == "draining"
            assert await client.wait_for_close() == 1012
            assert await stopping == 0
    finally:
        platform.gateway.start()
        await platform.gateway.ready()


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
