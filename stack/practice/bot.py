"""A bot: a guest of the demonstration with a style of its own, who decides in its turns at a table."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from random import Random

from services.poker.hand.state import Kind, Move
from stack.issuer import DevelopmentIssuer
from stack.platform_client import Json, PlatformClient, Refused, Route, Unanswered
from stack.practice.pace import Pace
from stack.practice.situation import question
from stack.practice.strategy import Style, decide
from stack.practice.table_feed import Receive, TableFeed

MOVE = "type.googleapis.com/feltro.poker.v1.Move"
# A token is renewed before it is so old: one that made no call for half an hour would not be accepted any more.
TOKEN_AGE_S = 600.0
TOKEN_MINUTES = 60

_log = logging.getLogger(__name__)


class Tokens:
    """The tokens of one subject, each used for a while."""

    def __init__(self, issuer: DevelopmentIssuer, scope: str, subject: str) -> None:
        self._issuer = issuer
        self._scope = scope
        self._subject = subject
        self._token = ""
        self._made_at = 0.0

    def __call__(self) -> str:
        now = time.monotonic()
        if not self._token or now - self._made_at > TOKEN_AGE_S:
            self._token = self._issuer.token([self._scope], self._subject, TOKEN_MINUTES)
            self._made_at = now
        return self._token


class Bot:
    """A player of demonstrations; what it calls is what any client could call."""

    def __init__(
        self, name: str, style: Style, route: Route, tokens: Callable[[], str], chance: Random, pace: Pace
    ) -> None:
        self.name = name
        self.client = PlatformClient(route, tokens)
        self._style = style
        self._route = route
        self._chance = chance
        self._pace = pace

    async def play(
        self, table_id: str, seat: int, on_event: Receive | None = None, hurried: Callable[[], bool] = lambda: False
    ) -> None:
        """Decides in its turns at a table until cancelled; `on_event` hears what the table tells, too."""
        asked = asyncio.Event()

        def receive(name: str, facts: Json) -> None:
            turn = (facts.get("round") or facts).get("turn") or {}
            if seat in (turn.get("seats") or ()):
                asked.set()
            if on_event is not None:
                on_event(name, facts)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(TableFeed(self._route, self.client, table_id).follow(receive))
            while True:
                await asked.wait()
                asked.clear()
                # A late or missing answer costs this turn alone: the next connection shows the one that is open.
                with suppress(Refused, Unanswered):
                    await self._answer(table_id, hurried=hurried())

    async def _answer(self, table_id: str, *, hurried: bool) -> None:
        found = question(await self.client.call(f"/v1/tables/{table_id}"))
        if found is None:
            return
        move = decide(found.situation, self._chance, self._style)
        await self._pace.think(move, found.shown_in_s, found.time_s, hurried=hurried)
        path = f"/v1/tables/{table_id}/rounds/{found.round_id}:act"
        try:
            await self.client.call(path, {"turn": found.turn, "move": _message(move)})
        except Refused as refused:
            _log.info("a decision was refused", extra={"bot": self.name, "reason": refused.reason})
            raise


def _message(move: Move) -> Json:
    message: Json = {"@type": MOVE, "action": move.kind.word}
    return {**message, "to_cents": move.to_cents} if move.kind is Kind.RAISE else message
