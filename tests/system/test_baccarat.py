"""A round of baccarat through the gateway, which knows no game: over REST, and over the WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import aiohttp
import pytest

from tests.system.client import Refused, RestClient
from tests.system.platform import TIMEOUT_S, Platform

pytestmark = pytest.mark.slow

CENTS = 100_000
BETS = [{"place": "ponto", "amount_cents": 500}, {"place": "banca", "amount_cents": 1000}]


async def player_with_money(platform: Platform, session: aiohttp.ClientSession) -> tuple[RestClient, str]:
    """A player's client, and the player's account."""
    player_id = f"player-{uuid4().hex[:12]}"
    operator = RestClient(platform, session, "operator", "back-office")
    opened = await operator.call("/v1/accounts", {"player_id": player_id, "mode": "MODE_REAL"})
    account: str = opened["balance"]["account_id"]
    await operator.call(f"/v1/accounts/{account}/deposits", {"amount_cents": CENTS})
    return RestClient(platform, session, "player", player_id), account


async def open_round(player: RestClient, table: str) -> str:
    """The round that takes bets at a table."""
    async with asyncio.timeout(TIMEOUT_S):
        while (shown := (await player.call(f"/v1/tables/{table}"))["table"])["phase"] != "PHASE_BETTING":
            await asyncio.sleep(0.05)
    round_id: str = shown["round"]["round_id"]
    return round_id


@pytest.mark.rule("812/2015:13", "812/2015:28", "812/2015:31")
async def test_a_round_at_an_individual_table_over_rest(platform: Platform) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session:
        player, account = await player_with_money(platform, session)
        table = (await player.call("/v1/tables/baccarat-solo:enter", {}))["table"]["table_id"]
        layout = await player.call(f"/v1/baccarat/tables/{table}/layout")
        assert [chance["place"] for chance in layout["chances"]] == [
            "ponto",
            "banca",
            "tie",
            "ponto-pair",
            "banca-pair",
        ]
        round_id = await open_round(player, table)
        too_close = [{"place": side, "amount_cents": 500} for side in ("ponto", "banca")]
        with pytest.raises(Refused, match="BETS_TOO_CLOSE"):
            await player.call(f"/v1/baccarat/tables/{table}/bets", {"round_id": round_id, "bets": too_close})
        placed = await player.call(f"/v1/baccarat/tables/{table}/bets", {"round_id": round_id, "bets": BETS})
        assert placed["stake"]["amount_cents"] == "1500"

        dealt = await player.call(f"/v1/baccarat/tables/{table}:deal", {"round_id": round_id})

        assert dealt["outcome"]["winner"] in {"WINNER_PONTO", "WINNER_BANCA", "WINNER_TIE"}
        free_cents = CENTS - 1500 + int(dealt["payout_cents"])
        assert (await player.call(f"/v1/accounts/{account}/balance"))["balance"]["free_cents"] == str(free_cents)
        roads = await player.call(f"/v1/baccarat/tables/{table}/roads")
        assert [cell["round_id"] for cell in roads["bead_road"]] == [round_id]
        subject = dealt["round_id"].rpartition(".")[0]
        assert subject == table
        repeated = await player.call(f"/v1/baccarat/tables/{table}:deal", {"round_id": round_id})
        assert repeated["outcome"] == dealt["outcome"]


@pytest.mark.rule("812/2015:5", "812/2015:27")
async def test_a_round_at_a_table_for_many_over_the_websocket(platform: Platform) -> None:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=TIMEOUT_S)) as session:
        player, _ = await player_with_money(platform, session)
        async with session.ws_connect(f"{platform.url}/v1/ws") as socket:
            numbers = iter(range(100))
            events: list[dict[str, Any]] = []

            async def call(method: str, params: Mapping[str, object]) -> dict[str, Any]:
                number = next(numbers)
                await socket.send_json({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
                while True:
                    message: dict[str, Any] = await socket.receive_json()
                    if message.get("id") == number:
                        assert "error" not in message, message
                        result: dict[str, Any] = message["result"]
                        return result
                    events.append(message)

            async def wait_for(kind: str, round_id: str) -> dict[str, Any]:
                while True:
                    for message in events:
                        found: dict[str, Any] = message.get("params", {}).get(kind, {})
                        if found.get("round_id") == round_id:
                            return found
                    events.append(await socket.receive_json())

            await call("authenticate", {"token": player.token})
            await call("TableService.EnterTable", {"table_id": "baccarat", "request_id": str(uuid4())})
            await call("subscribe", {"table_id": "baccarat"})
            round_id = await open_round(player, "baccarat")
            placed = await call(
                "BaccaratService.PlaceBets",
                {"table_id": "baccarat", "round_id": round_id, "bets": BETS, "request_id": str(uuid4())},
            )
            assert placed["stake"]["amount_cents"] == "1500"
            bets = await wait_for("bets_placed", round_id)
            assert bets["bets"]["bets"] == [
                {"place": bet["place"], "amount_cents": str(bet["amount_cents"])} for bet in BETS
            ]
            # The wall time of the window passes: this platform is one that a player finds.
            drawn = await wait_for("outcome_drawn", round_id)
            assert drawn["outcome"]["@type"].endswith("feltro.baccarat.v1.Outcome")
            cards = [*drawn["outcome"]["ponto"], *drawn["outcome"]["banca"]]
            assert 4 <= len(cards) <= 6
            settled = await wait_for("round_settled", round_id)
            assert [result["staked_cents"] for result in settled["results"]] == ["1500"]
