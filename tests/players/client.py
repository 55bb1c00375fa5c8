"""Calls a platform as a player or an operator: a command is sent again, over the next gateway, until it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import aiohttp

from stack.issuer import DevelopmentIssuer

# How long anything may take before it is called a hang.
TIMEOUT_S = 300.0
# A command without an answer for so long is sent again, over the other gateway.
ATTEMPT_TIMEOUT_S = 3.0
PAUSE_S = 0.1
TOO_MANY_REQUESTS = 429
DEPOSIT_CENTS = 100_000

Json = dict[str, Any]


class Refused(Exception):
    """The platform refused a command for good; the message is its answer."""

    def __init__(self, problem: Json) -> None:
        super().__init__(problem)
        self.reason = str(problem.get("reason", ""))


@dataclass(frozen=True, slots=True)
class Entrance:
    """How clients come to a platform."""

    gateway_url: Callable[[int], str]
    """Where its gateways are, in turn."""
    issuer: DevelopmentIssuer


class Client:
    """Calls the platform as one player or operator."""

    def __init__(self, entrance: Entrance, session: aiohttp.ClientSession, scope: str, subject: str) -> None:
        self._entrance = entrance
        self._session = session
        self._turn = 0
        self._scope, self._subject = scope, subject
        self.unanswered = 0
        """Attempts that got no answer, or none that says what was done."""

    async def call(self, path: str, body: Json | None = None) -> Json:
        """Returns the answer, however often the command has to be sent; raises `Refused`."""
        name = str(uuid4())
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                answer = await self._attempt(path, body, name)
                if answer is not None:
                    return answer
                self.unanswered += 1
                self._turn += 1
                await asyncio.sleep(PAUSE_S)

    async def _attempt(self, path: str, body: Json | None, name: str) -> Json | None:
        # Signed for each attempt: the issuer may have another key by now.
        token = self._entrance.issuer.token([self._scope], self._subject)
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": name}
        try:
            url = await asyncio.to_thread(self._entrance.gateway_url, self._turn) + path
            method = "GET" if body is None else "POST"
            async with (
                asyncio.timeout(ATTEMPT_TIMEOUT_S),
                self._session.request(method, url, json=body, headers=headers) as answer,
            ):
                content: Json = await answer.json(content_type=None)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError):
            return None
        if answer.status >= 500 or answer.status == TOO_MANY_REQUESTS:
            return None
        if not answer.ok:
            raise Refused(content)
        return content


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
