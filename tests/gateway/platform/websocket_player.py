"""Somebody with money who plays over a WebSocket of the real platform."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import aiohttp

from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.processes.gateway import GatewayProcess

STAKE_CENTS = 100


class WebSocketPlayer:
    """He bets one euro on red, at a table of his own, and spins."""

    def __init__(self, gateway: GatewayProcess, cents: int = 1_000_000) -> None:
        self.name = f"p{uuid4().hex[:12]}"
        self.cents = cents
        self.account_id = ""
        self.issuer = gateway.issuer
        self.token = gateway.issuer.token(["player"], self.name)

    async def fund(self, gateway: GatewayProcess) -> None:
        office = {"Authorization": f"Bearer {self.issuer.token(['operator'], 'back-office')}"}
        async with aiohttp.ClientSession(gateway.url, headers=office) as session, session.ws_connect("/v1/ws") as ws:
            client = RpcClient(ws)
            opened = await client.result("WalletService.OpenAccount", player_id=self.name, mode="MODE_REAL")
            self.account_id = opened["balance"]["account_id"]
            deposit = {"request_id": str(uuid4()), "account_id": self.account_id, "amount_cents": self.cents}
            await client.result("WalletService.Deposit", **deposit)

    @asynccontextmanager
    async def connect(self, gateway: GatewayProcess) -> AsyncIterator[RpcClient]:
        """His connection there."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with aiohttp.ClientSession(gateway.url, headers=headers) as session, session.ws_connect("/v1/ws") as ws:
            yield RpcClient(ws)

    async def free_cents(self, client: RpcClient) -> int:
        said = await client.result("WalletService.GetBalance", account_id=self.account_id)
        return int(said["balance"]["free_cents"])

    async def enter_table(self, client: RpcClient, entry_table_id: str) -> tuple[str, str]:
        """The table that is his from now on, and the round that takes bets."""
        entered = await client.result("TableService.EnterTable", table_id=entry_table_id, request_id=str(uuid4()))
        table_id = entered["table"]["table_id"]
        while entered["table"]["phase"] != "PHASE_BETTING":
            entered = await client.result("TableService.GetTable", table_id=table_id)
        return table_id, entered["table"]["round"]["round_id"]

    @staticmethod
    def bet(table_id: str, round_id: str, request_id: str = "") -> JsonObject:
        """The parameters of a bet."""
        bets = [{"place": "red", "amount_cents": STAKE_CENTS}]
        return {"table_id": table_id, "round_id": round_id, "bets": bets, "request_id": request_id or str(uuid4())}

    async def play_round(self, client: RpcClient, table_id: str, round_id: str) -> str:
        """One round; the next one's name."""
        await client.result("RouletteService.PlaceBets", **self.bet(table_id, round_id))
        spun = await client.result("RouletteService.Spin", table_id=table_id, round_id=round_id)
        return str(spun["next_round_id"])
