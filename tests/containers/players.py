"""Players who reach the platform over two gateways, and send a command again until it is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import aiohttp

from stack.issuer import DevelopmentIssuer

# How long anything may take before it is called a hang.
TIMEOUT_S = 300.0

# A command without an answer for so long is sent again, over the other gateway.
ATTEMPT_TIMEOUT_S = 3.0
PAUSE_S = 0.1
DEPOSIT_CENTS = 100_000
STAKE_CENTS = 1_000
# As the table decides when the time runs out: offers are declined, and up to 11 points nobody may stand.
DECISIONS = ("DECISION_DECLINE", "DECISION_STAND", "DECISION_DRAW")
MOVE = "type.googleapis.com/feltro.blackjack.v1.Move"

Json = dict[str, Any]


class Refused(Exception):
    """The platform refused a command for good; the message is its answer."""

    def __init__(self, problem: Json) -> None:
        super().__init__(problem)
        self.reason = str(problem.get("reason", ""))


@dataclass(frozen=True, slots=True)
class Game:
    """How a game is played at a table for one."""

    name: str
    entry_table: str
    place: str
    act: str
    """The player's command that closes the betting."""
    decides: bool = False
    """Whether the player decides after the deal."""


GAMES = (
    Game("roulette", "french-solo", "red", "spin"),
    Game("baccarat", "baccarat-solo", "ponto", "deal"),
    Game("blackjack", "blackjack-solo", "1", "deal", decides=True),
)


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
        self._token = entrance.issuer.token([scope], subject)
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
        headers = {"Authorization": f"Bearer {self._token}", "Idempotency-Key": name}
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
        if answer.status >= 500:
            return None
        if not answer.ok:
            raise Refused(content)
        return content


@dataclass
class Player:
    """A player of one game, at their own table."""

    game: Game
    client: Client
    name: str
    account: str
    table: str = ""
    rounds: list[str] = field(default_factory=list)
    """The rounds in which the player has bet."""

    async def state(self) -> Json:
        return await self.client.call(f"/v1/tables/{self.table}")

    async def begin_round(self) -> None:
        """Bets, and leaves the round in its middle: before the spin or deal, or with a decision to make."""
        while True:
            round_id = await self._bet()
            if not self.game.decides:
                return
            await self._close_betting(round_id)
            if await self._question(round_id) is not None:
                return
            # A blackjack has ended the round with nothing to decide.

    async def finish_round(self) -> None:
        """Plays the last round to its end; one whose table was taken over while it took bets is void already."""
        round_id = self.rounds[-1]
        if not self.game.decides:
            try:
                await self._close_betting(round_id)
            except Refused:
                if not _has_moved_on(await self.state(), round_id):
                    raise
            return
        while (question := await self._question(round_id)) is not None:
            turn, own_view = question
            places = {option["decision"]: option["place"] for option in own_view["options"]}
            decision = next(each for each in DECISIONS if each in places)
            move = {"@type": MOVE, "place": places[decision], "decision": decision}
            await self.client.call(f"/v1/tables/{self.table}/rounds/{round_id}:act", {"turn": turn, "move": move})

    async def books(self) -> tuple[list[Json], Json]:
        """Returns the rounds that have ended, as the game tells them, and the balance, as the wallet does."""
        path = f"/v1/games/{self.game.name}/players/{self.name}/rounds?page_size=100"
        listed = (await self.client.call(path))["rounds"]
        balance = (await self.client.call(f"/v1/accounts/{self.account}/balance"))["balance"]
        return listed, balance

    async def _bet(self) -> str:
        bets = [{"place": self.game.place, "amount_cents": STAKE_CENTS}]
        path = f"/v1/{self.game.name}/tables/{self.table}/bets"
        while True:
            shown = await self._wait_for(lambda shown: shown["table"]["phase"] == "PHASE_BETTING")
            round_id: str = shown["table"]["round"]["round_id"]
            try:
                await self.client.call(path, {"round_id": round_id, "bets": bets})
            except Refused as refused:
                # The table was taken over in the meantime, and its next owner has opened another round.
                if refused.reason != "BETTING_CLOSED":
                    raise
            else:
                self.rounds.append(round_id)
                return round_id

    async def _close_betting(self, round_id: str) -> None:
        await self.client.call(f"/v1/{self.game.name}/tables/{self.table}:{self.game.act}", {"round_id": round_id})

    async def _question(self, round_id: str) -> tuple[int, Json] | None:
        """Returns the turn and what the player may decide in it; None once the round is over."""
        shown = await self._wait_for(lambda shown: _has_moved_on(shown, round_id) or bool(_own_view(shown)))
        if _has_moved_on(shown, round_id):
            return None
        return shown["table"]["round"]["turn"]["turn"], _own_view(shown)

    async def _wait_for(self, condition: Callable[[Json], bool]) -> Json:
        async with asyncio.timeout(TIMEOUT_S):
            while not condition(shown := await self.state()):
                await asyncio.sleep(PAUSE_S)
        return shown


async def new_player(entrance: Entrance, session: aiohttp.ClientSession, game: Game) -> Player:
    """Opens an account with money, and sits down."""
    name = f"player-{uuid4().hex[:12]}"
    operator = Client(entrance, session, "operator", "back-office")
    opened = await operator.call("/v1/accounts", {"player_id": name, "mode": "MODE_REAL"})
    account: str = opened["balance"]["account_id"]
    await operator.call(f"/v1/accounts/{account}/deposits", {"amount_cents": DEPOSIT_CENTS})
    player = Player(game, Client(entrance, session, "player", name), name, account)
    player.table = (await player.client.call(f"/v1/tables/{game.entry_table}:enter", {}))["table"]["table_id"]
    return player


def _own_view(shown: Mapping[str, Any]) -> Json:
    found: Json = (shown.get("own_seat") or {}).get("own_view") or {}
    return found


def _has_moved_on(shown: Mapping[str, Any], round_id: str) -> bool:
    """Whether the table is at another round, or shows the result of this one."""
    round_ = shown["table"].get("round") or {}
    return round_.get("round_id") != round_id or bool(round_.get("outcome"))
