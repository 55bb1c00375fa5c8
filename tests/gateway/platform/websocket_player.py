"""A player with money who plays over a WebSocket of the real platform."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import aiohttp

from tests.gateway.live_gateway import JsonObject, RpcClient
from tests.gateway.platform.processes import TIMEOUT_S
from tests.processes.gateway import GatewayProcess

STAKE_CENTS = 100


class WebSocketPlayer:
    """Bets one euro on red, at an individual table, and spins."""

    def __init__(self, gateway: GatewayProcess, cents: int = 1_000_000) -> None:
        self.name = f"p{uuid4().hex[:12]}"
        self.cents = cents
        self.account_id = ""
        self.issuer = gateway.issuer
        self.token = gateway.issuer.token(["player"], self.name)

    async def fund(self, gateway: GatewayProcess) -> None:
        """Opens the player's account, and pays in."""
        headers = {"Authorization": f"Bearer {self.issuer.token(['operator'], 'back-office')}"}
        async with aiohttp.ClientSession(gateway.url, headers=headers) as session, session.ws_connect("/v1/ws") as ws:
            client = RpcClient(ws)
            opened = await client.result("WalletService.OpenAccount", player_id=self.name, mode="MODE_REAL")
            self.account_id = opened["balance"]["account_id"]
            deposit = {"request_id": str(uuid4()), "account_id": self.account_id, "amount_cents": self.cents}
            await client.result("WalletService.Deposit", **deposit)

    @asynccontextmanager
    async def connect(self, gateway: GatewayProcess) -> AsyncIterator[RpcClient]:
        """Opens a connection of the player to this gateway."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with aiohttp.ClientSession(gateway.url, headers=headers) as session, session.ws_connect("/v1/ws") as ws:
            yield RpcClient(ws)

    async def free_cents(self, client: RpcClient) -> int:
        answer = await client.result("WalletService.GetBalance", account_id=self.account_id)
        return int(answer["balance"]["free_cents"])

    async def enter_table(self, client: RpcClient, entry_table_id: str) -> tuple[str, str]:
        """Returns the individual table that is the player's from now on, and the round that takes bets there."""
        entered = await client.result("TableService.EnterTable", table_id=entry_table_id, request_id=str(uuid4()))
        table_id = entered["table"]["table_id"]
        async with asyncio.timeout(TIMEOUT_S):
            while entered["table"]["phase"] != "PHASE_BETTING":
                # Without a pause a quick machine would run into the limit of calls.
                await asyncio.sleep(0.1)
                entered = await client.result("TableService.GetTable", table_id=table_id)
        return table_id, entered["table"]["round"]["round_id"]

    @staticmethod
    def bet(table_id: str, round_id: str, request_id: str = "") -> JsonObject:
        """The parameters of a bet."""
        bets = [{"place": "red", "amount_cents": STAKE_CENTS}]
        return {"table_id": table_id, "round_id": round_id, "bets": bets, "request_id": request_id or str(uuid4())}

    async def play_round(self, client: RpcClient, table_id: str, round_id: str) -> str:
        """Plays one round, and returns the id of the next one."""
        await client.result("RouletteService.PlaceBets", **self.bet(table_id, round_id))
        spun = await client.result("RouletteService.Spin", table_id=table_id, round_id=round_id)
        return str(spun["next_round_id"])
