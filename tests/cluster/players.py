"""Players at tables of their own, through the Service of the gateways; they repeat a command until it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import aiohttp

from stack.issuer import DevelopmentIssuer

# How long a command may stay unanswered before it is called lost.
WITHIN_S = 120.0
ATTEMPT_WITHIN_S = 5.0
PAUSE_S = 0.2
DEPOSIT_CENTS = 1_000_000
STAKE_CENTS = 500
MOVE = "type.googleapis.com/feltro.blackjack.v1.Move"
# One of these is always among what may be decided.
NEEDS_NO_MONEY = ("DECISION_STAND", "DECISION_DECLINE", "DECISION_DRAW")
# What a player is told who has to try again, and nothing else.
PASSING = frozenset({502, 503, 504, 429})

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class GameAtOwnTable:
    """How a game is played at a table for one."""

    name: str
    entry_table: str
    place: str
    closing: str
    """The player's command that closes the betting."""


GAMES = (
    GameAtOwnTable("roulette", "french-solo", "red", "spin"),
    GameAtOwnTable("baccarat", "baccarat-solo", "ponto", "deal"),
    GameAtOwnTable("blackjack", "blackjack-solo", "1", "deal"),
)


class Refused(Exception):
    """The platform refused a command for good; the message is its answer."""


class Client:
    """Calls the platform as one player or operator."""

    def __init__(self, url: str, session: aiohttp.ClientSession, token: str) -> None:
        self._url = url
        self._session = session
        self._token = token
        self.reconnects = 0
        """Attempts without an answer, or with one that says to try again."""

    async def call(self, path: str, body: Json | None = None) -> Json:
        """Returns the answer, however often the command has to be sent; raises `Refused`."""
        headers = {"Authorization": f"Bearer {self._token}", "Idempotency-Key": str(uuid4())}
        async with asyncio.timeout(WITHIN_S):
            while True:
                try:
                    async with (
                        asyncio.timeout(ATTEMPT_WITHIN_S),
                        self._session.request(
                            "GET" if body is None else "POST", self._url + path, json=body, headers=headers
                        ) as answer,
                    ):
                        content: Json = await answer.json(content_type=None)
                        if answer.ok:
                            return content
                        if answer.status not in PASSING:
                            raise Refused(f"{path}: {answer.status} {content}")
                except (aiohttp.ClientError, TimeoutError):
                    pass
                self.reconnects += 1
                await asyncio.sleep(PAUSE_S)


@dataclass
class Player:
    """A player of one game."""

    game: GameAtOwnTable
    client: Client
    name: str
    account: str
    table: str
    rounds: list[str] = field(default_factory=list)
    """The rounds that the player has bet in and played to their end."""

    async def play_round(self) -> None:
        """Bets, plays the round to its end, and takes what comes."""
        round_id = await self._betting_round()
        path = f"/v1/{self.game.name}/tables/{self.table}"
        bets = [{"place": self.game.place, "amount_cents": STAKE_CENTS}]
        await self.client.call(f"{path}/bets", {"round_id": round_id, "bets": bets})
        await self.client.call(f"{path}:{self.game.closing}", {"round_id": round_id})
        while (question := await self._question(round_id)) is not None:
            await self._decide(round_id, *question)
        self.rounds.append(round_id)

    async def assert_nothing_is_lost(self) -> None:
        """Every round is settled, none is void, none is open, and the money is what they paid."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                listed = await self._rounds()
                states = {each["round"]["round_id"]: each["round"]["state"] for each in listed}
                balance = (await self.client.call(f"/v1/accounts/{self.account}/balance"))["balance"]
                if set(states.values()) == {"ROUND_STATE_SETTLED"} and int(balance["locked_cents"]) == 0:
                    break
                assert "ROUND_STATE_VOIDED" not in states.values(), states
                await asyncio.sleep(PAUSE_S)
        assert sorted(states) == sorted(self.rounds)
        won = sum(int(each["payout_cents"]) - int(each["staked_cents"]) for each in listed)
        assert int(balance["free_cents"]) == DEPOSIT_CENTS + won

    async def _rounds(self) -> list[Json]:
        found: list[Json] = []
        page = ""
        while True:
            path = f"/v1/games/{self.game.name}/players/{self.name}/rounds?page_size=100&page_token={page}"
            answer = await self.client.call(path)
            found += answer["rounds"]
            if not (page := answer["next_page_token"]):
                return found

    async def _betting_round(self) -> str:
        async with asyncio.timeout(WITHIN_S):
            while True:
                shown = (await self.client.call(f"/v1/tables/{self.table}"))["table"]
                if shown["phase"] == "PHASE_BETTING":
                    round_id: str = shown["round"]["round_id"]
                    return round_id
                await asyncio.sleep(PAUSE_S)

    async def _question(self, round_id: str) -> tuple[int, Json] | None:
        """The turn, and what the player may decide in it; None once the round is over."""
        async with asyncio.timeout(WITHIN_S):
            while True:
                shown = await self.client.call(f"/v1/tables/{self.table}")
                current = shown["table"].get("round") or {}
                if current.get("round_id") != round_id or current.get("outcome"):
                    return None
                if own_view := (shown.get("own_seat") or {}).get("own_view"):
                    return current["turn"]["turn"], own_view
                await asyncio.sleep(PAUSE_S)

    async def _decide(self, round_id: str, turn: int, own_view: Json) -> None:
        places = {option["decision"]: option["place"] for option in own_view["options"]}
        decision = next(cheap for cheap in NEEDS_NO_MONEY if cheap in places)
        move = {"@type": MOVE, "place": places[decision], "decision": decision}
        await self.client.call(f"/v1/tables/{self.table}/rounds/{round_id}:act", {"turn": turn, "move": move})


@asynccontextmanager
async def seated(
    url: str, issuer: DevelopmentIssuer, games: Sequence[GameAtOwnTable] = GAMES
) -> AsyncIterator[list[Player]]:
    """Yields a player with money at a table of each game."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=5)
    async with aiohttp.ClientSession(connector=connector) as session:
        operator = Client(url, session, issuer.token(["operator"], "back-office"))

        async def sit(game: GameAtOwnTable) -> Player:
            name = f"player-{uuid4().hex[:12]}"
            opened = await operator.call("/v1/accounts", {"player_id": name, "mode": "MODE_REAL"})
            account: str = opened["balance"]["account_id"]
            await operator.call(f"/v1/accounts/{account}/deposits", {"amount_cents": DEPOSIT_CENTS})
            client = Client(url, session, issuer.token(["player"], name))
            entered = await client.call(f"/v1/tables/{game.entry_table}:enter", {})
            return Player(game, client, name, account, entered["table"]["table_id"])

        yield list(await asyncio.gather(*(sit(game) for game in games)))
