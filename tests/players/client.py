"""Calls a platform as a player or an operator: a command is sent again, over the next gateway, until it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from uuid import uuid4

import aiohttp

from stack.issuer import DevelopmentIssuer
from stack.platform_client import PAUSE_S, Json, PlatformClient, Refused, Route

__all__ = ["PAUSE_S", "Account", "Client", "Entrance", "Json", "Refused", "new_account", "wait_for_table"]

# How long anything may take before it is called a hang.
TIMEOUT_S = 300.0
DEPOSIT_CENTS = 100_000


@dataclass(frozen=True, slots=True)
class Entrance:
    """How clients come to a platform."""

    gateway_url: Callable[[int], str]
    """Where its gateways are, in turn."""
    issuer: DevelopmentIssuer


class Client(PlatformClient):
    """Calls the platform as one player or operator."""

    def __init__(self, entrance: Entrance, session: aiohttp.ClientSession, scope: str, subject: str) -> None:
        async def gateway_url(turn: int) -> str:
            return await asyncio.to_thread(entrance.gateway_url, turn)

        def token() -> str:
            # Signed for each attempt: the issuer may have another key by now.
            return entrance.issuer.token([scope], subject)

        super().__init__(Route(session, gateway_url, TIMEOUT_S), token)


@dataclass(frozen=True, slots=True)
class Account:
    """A player with money."""

    client: Client
    name: str
    account: str

    async def balance(self) -> Json:
        found: Json = (await self.client.call(f"/v1/accounts/{self.account}/balance"))["balance"]
        return found

    async def rounds(self, game: str) -> list[Json]:
        """Returns the player's rounds, newest first, as the game tells them."""
        found: list[Json] = []
        page = ""
        while True:
            path = f"/v1/games/{game}/players/{self.name}/rounds?page_size=100&page_token={page}"
            answer = await self.client.call(path)
            found += answer["rounds"]
            if not (page := answer["next_page_token"]):
                return found


async def new_account(entrance: Entrance, session: aiohttp.ClientSession) -> Account:
    """Opens an account, and deposits money."""
    name = f"player-{uuid4().hex[:12]}"
    operator = Client(entrance, session, "operator", "back-office")
    opened = await operator.call("/v1/accounts", {"player_id": name, "mode": "MODE_REAL"})
    account: str = opened["balance"]["account_id"]
    await operator.call(f"/v1/accounts/{account}/deposits", {"amount_cents": DEPOSIT_CENTS})
    return Account(Client(entrance, session, "player", name), name, account)


async def wait_for_table(client: Client, table: str, condition: Callable[[Json], bool]) -> Json:
    """Waits until a table is as wanted, and returns it with what the player alone may see."""
    async with asyncio.timeout(TIMEOUT_S):
        while not condition(shown := await client.call(f"/v1/tables/{table}")):
            await asyncio.sleep(PAUSE_S)
    return shown
